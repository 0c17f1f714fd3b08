/* SPDX-License-Identifier: BSD-3-Clause */
#include "provider.h"
#include "rte/rte.h"

struct rte rte;
const struct rte_provider *rte_provider;

bool rte_is_local(int pe)
{
	int low = 0, high = rte.n_local;

	while (low < high) {
		int middle = (low + high) / 2;

		if (rte.local_pes[middle] < pe)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rte.n_local && rte.local_pes[low] == pe;
}
