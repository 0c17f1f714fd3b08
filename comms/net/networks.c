/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of networks. A new one is registered in comms/networks.def. */
#include "networks.h"

#include <stdio.h>
#include <string.h>

#include "rte/rte.h"

/* The address of a network, by configure's result: HAVE_TOFU is 1 or 0. */
#define ADDRESS_1(name) &name##_network
#define ADDRESS_0(name) NULL
#define ADDRESS_OF(have, name) ADDRESS_(have, name)
#define ADDRESS_(have, name) ADDRESS_##have(name)

/*
 * By their names in SHMEM_PATHS, in order of preference. NULL: this library was configured without
 * it.
 */
static const struct {
	const char *name;
	const struct comms_network *network;
} networks[] = {
#define NETWORK(NAME, name) {#name, ADDRESS_OF(HAVE_##NAME, name)},
#include "comms/networks.def"
#undef NETWORK
};
enum { COUNT = sizeof networks / sizeof networks[0] };

bool networks_add(unsigned *set, const char *name)
{
	for (unsigned i = 0; i < COUNT; i++)
		if (!strcmp(name, networks[i].name)) {
			*set |= 1U << i;
			return true;
		}
	return false;
}

const struct comms_network *networks_find(unsigned set, bool must)
{
	for (unsigned i = 0; i < COUNT; i++) {
		const struct comms_network *network = networks[i].network;

		if (!(set >> i & 1))
			continue;
		if (network && (!network->find || network->find(must)))
			return network;
		if (!network && must)
			rte_die_together(
				"shmem_init",
				"SHMEM_PATHS names %s, and this library was configured --without-%s; configure it without "
				"that, or leave %s out",
				networks[i].name, networks[i].name, networks[i].name);
	}
	return NULL;
}

void networks_names(char *text, size_t size)
{
	size_t used = 0;

	for (unsigned i = 0; i < COUNT && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i == 0		 ? ""
					 : i + 1 < COUNT ? ", "
							 : " and ",
					 networks[i].name);
}
