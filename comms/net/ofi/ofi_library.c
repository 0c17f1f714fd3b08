/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads libfabric, from the folder of configure --with-ofi=DIR or the system's search path, and
 * selects the providers that can carry OpenSHMEM.
 */
#include "ofi_library.h"

#include <dlfcn.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rte/host/variables.h"
#include "rte/signal_handlers.h"
#include "rte/text/text.h"

struct ofi_library ofi_library;

static bool load_libfabric(char problem[OFI_PROBLEM])
{
	static const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{"fi_dupinfo", &ofi_library.dupinfo}, {"fi_freeinfo", &ofi_library.freeinfo},
		{"fi_fabric", &ofi_library.fabric},   {"fi_strerror", &ofi_library.strerror},
		{"fi_version", &ofi_library.version}, {"fi_getinfo", &ofi_library.getinfo},
	};
	void *library = ofi_library.getinfo
				? NULL
				: dlopen(OFI_FOLDER[0] ? OFI_FOLDER "/libfabric.so.1" : "libfabric.so.1", RTLD_NOW);

	for (size_t i = 0; library && i < sizeof wanted / sizeof wanted[0]; i++) {
		void *function = dlsym(library, wanted[i].name);

		memcpy(wanted[i].to, &function, sizeof function);
	}
	if (!ofi_library.getinfo) {
		const char *text = dlerror();

		if (!text)
			text = "it lacks functions";
		snprintf(problem, OFI_PROBLEM, "libfabric cannot be loaded (%s); %s", text,
			 text_library_advice(text, "install it (on Debian: apt-get install libfabric1)"));
	}
	return ofi_library.getinfo;
}

/*
 * Puts, gets and atomics to any other PE, which complete when they have taken effect. The provider
 * may require a context for each operation, and registration of memory that others access, in any
 * mode.
 */
static struct fi_info *find_provider(char problem[OFI_PROBLEM])
{
	struct fi_info *hints = ofi_library.dupinfo(NULL), *found = NULL;
	int code = -FI_ENOMEM;

	if (hints) {
		hints->caps = FI_RMA | FI_ATOMIC | FI_LOCAL_COMM | FI_REMOTE_COMM;
		hints->mode = FI_CONTEXT | FI_CONTEXT2;
		hints->ep_attr->type = FI_EP_RDM;
		hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
		hints->domain_attr->threading = FI_THREAD_SAFE;
		hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
		hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
		code = ofi_library.getinfo(FI_VERSION(1, 11), NULL, NULL, 0, hints, &found);
		ofi_library.freeinfo(hints);
	}
	if (code != 0)
		snprintf(
			problem, OFI_PROBLEM,
			"libfabric finds no provider with puts, gets and atomics (fi_getinfo: %s); see fi_info, FI_PROVIDER",
			ofi_library.strerror(-code));
	return code == 0 ? found : NULL;
}

/*
 * Finds a provider with what we ask of libfabric unless the user set its variable. libfabric reads
 * these at its first call; what the program starts need not inherit them.
 *
 * FI_OFI_RXM_BUFFER_SIZE  ofi_rxm makes 2048 such buffers or more, and writes to each. Messages use
 *                         them, and here only atomics of one word become messages
 * FI_TCP_MAX_RX_SIZE      tcp of libfabric 2 makes as many, for the same messages
 * FI_PROVIDER             verbs looks through all symbols of the kernel when it is asked; it has
 *                         nothing to offer where there is no such device
 */
static struct fi_info *find_with_settings(char problem[OFI_PROBLEM])
{
	const struct {
		const char *variable, *value;
		bool wanted;
	} choices[] = {
		{"FI_OFI_RXM_BUFFER_SIZE", "2048", true},
		{"FI_TCP_MAX_RX_SIZE", "2048", true},
		{"FI_PROVIDER", "^verbs", access("/sys/class/infiniband", F_OK) != 0},
	};
	enum { CHOICES = sizeof choices / sizeof choices[0] };
	struct fi_info *found;
	bool ours[CHOICES];

	for (int i = 0; i < CHOICES; i++) {
		ours[i] = choices[i].wanted && !getenv(choices[i].variable);
		if (ours[i])
			rte_variable_set(choices[i].variable, choices[i].value);
	}
	found = find_provider(problem);
	for (int i = 0; i < CHOICES; i++)
		if (ours[i])
			rte_variable_set(choices[i].variable, NULL);
	return found;
}

/*
 * Libraries of some providers install signal handlers when they are loaded, some when they look for
 * devices. The program's handlers are restored, and a signal in between reaches them.
 */
struct fi_info *ofi_providers(char problem[OFI_PROBLEM])
{
	struct rte_signals saved;
	struct fi_info *found = NULL;
	bool loaded;

	rte_signals_save(&saved);
	loaded = load_libfabric(problem);
	rte_signals_settle(&saved);
	if (loaded)
		found = find_with_settings(problem);
	rte_signals_restore(&saved);
	return found;
}
