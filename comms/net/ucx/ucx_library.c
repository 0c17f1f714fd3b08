/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads UCX on demand, from the folder of configure --with-ucx=DIR or the system's search path. */
#include "ucx_library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "rte/host/variables.h"
#include "rte/rte.h"
#include "rte/signal_handlers.h"
#include "rte/text/text.h"

#define UCP_FILE "libucp.so.0"

struct ucp_library ucp;
struct ucs_library ucs;

static void find_in_ucx(void *library, const char *name, void *to)
{
	void *function = dlsym(library, name); /* also searches the libraries that this one needs */

	if (!function)
		rte_die_together(
			"shmem_init",
			"this UCX has no %s; torushmem was built with UCX %s and needs that version or a later one",
			name, UCX_VERSION);
	memcpy(to, &function, sizeof function);
}

/*
 * UCX's madvise hooks take a lock, which the thread sanitizer intercepts. A thread that ends calls
 * madvise after the sanitizer has forgotten it, and crashes. UCX reads this setting only while it
 * is loaded.
 */
static void spare_thread_sanitizer(void)
{
	if (dlsym(RTLD_DEFAULT, "__tsan_init") && !getenv("UCX_MEM_EVENTS"))
		rte_variable_set("UCX_MEM_EVENTS", "n");
}

/*
 * By default UCX writes to standard output, which has the program's results. It reads this setting,
 * too, only while it is loaded. Child processes need not inherit it.
 */
static void *open_logging_to_stderr(const char *file, int how)
{
	bool ours = !getenv("UCX_LOG_FILE");
	void *library;

	if (ours)
		rte_variable_set("UCX_LOG_FILE", "stderr");
	library = dlopen(file, how | RTLD_GLOBAL);
	if (ours)
		rte_variable_set("UCX_LOG_FILE", NULL);
	return library;
}

/*
 * The component libraries first: their search paths might lead to those of another UCX. They depend
 * on each other.
 */
static void *open_in_folder(void)
{
	static const char *const parts[] = {UCX_FOLDER "/libucm.so.0", UCX_FOLDER "/libucs.so.0",
					    UCX_FOLDER "/libuct.so.0"};

	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		open_logging_to_stderr(parts[i], RTLD_LAZY);
	return open_logging_to_stderr(UCX_FOLDER "/" UCP_FILE, RTLD_NOW);
}

static _Noreturn void refuse(const char *problem)
{
	rte_die_together("shmem_init", "UCX cannot be loaded (%s); %s", problem,
			 text_library_advice(problem, "install it (on Debian: apt-get install libucx0), or put its "
						      "folder into LD_LIBRARY_PATH"));
}

static void *open_ucx(void)
{
	void *library = UCX_FOLDER[0] ? open_in_folder() : NULL;

	if (!library)
		library = open_logging_to_stderr(UCP_FILE, RTLD_NOW);
	return library;
}

/* UCX 1.10 crashes over TCP if two PEs connect to each other at the same time. */
static void refuse_old(void *library)
{
	__typeof__(ucp_get_version) *get_version;
	unsigned major, minor, release;

	find_in_ucx(library, "ucp_get_version", &get_version);
	get_version(&major, &minor, &release);
	if (major == 1 && minor < 11)
		rte_die_together(
			"shmem_init",
			"UCX %u.%u crashes when PEs connect to each other; install UCX 1.13 or later, or put its "
			"folder into LD_LIBRARY_PATH",
			major, minor);
}

/*
 * While UCX is loaded, it installs handlers for SIGHUP and, in some versions, for fatal signals,
 * where they write a page per process. The program's handlers are restored; users who want UCX's
 * set UCX_HANDLE_ERRORS or UCX_DEBUG_SIGNO.
 */
void ucx_library_load(void)
{
	const bool wanted = getenv("UCX_HANDLE_ERRORS") || getenv("UCX_DEBUG_SIGNO");
	struct rte_signals saved;
	void *library;

	if (ucp.init_version)
		return;
	spare_thread_sanitizer();
	rte_signals_save(&saved);
	library = open_ucx();
	if (wanted)
		rte_signals_unblock(&saved);
	else
		rte_signals_restore(&saved);
	if (!library)
		refuse(dlerror()); /* not before: the launcher ends other PEs by a signal */
	refuse_old(library);
#define UCX_FIND(library_, name) find_in_ucx(library, #library_ "_" #name, &library_.name);
	UCP_FUNCTIONS(UCX_FIND)
	UCS_FUNCTIONS(UCX_FIND)
#undef UCX_FIND
}
