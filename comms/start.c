/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts and stops the layer. */
#include <stdlib.h>
#include <string.h>

#include "comms/core/comms.h"
#include "comms/core/globals.h"
#include "comms/core/memory.h"
#include "comms/ops/fault.h"
#include "comms/core/peers.h"
#include "comms/ops/reorder.h"
#include "comms/nodes/find_torus.h"
#include "comms/nodes/job_torus.h"
#include "comms/plans/commands.h"
#include "comms/nodes/costs.h"
#include "comms/groups/numa.h"
#include "comms/net/networks.h"
#include "comms/observe/cables.h"
#include "comms/observe/counters.h"
#include "comms/rdma/events.h"
#include "comms/torus/shape.h"
#include "comms/wait/hang.h"
#include "comms/wait/wait.h"
#include "rte/rte.h"
#include "rte/settings.h"

/*
 * The first network that the job's paths name and the machine has; NULL: none. It starts if the job
 * needs it.
 */
static const struct comms_network *chosen_network;
static bool network_is_open;

static void complain_of_paths(void)
{
	char names[128];

	networks_names(names, sizeof names);
	rte_die_together("shmem_init", "SHMEM_PATHS=%s: give one or more of local, %s", setting_text(SETTING_PATHS),
			 names);
}

/*
 * Decides which network carries what load and store cannot, before it is known whether the job
 * needs one.
 */
static void read_paths(void)
{
	char *copy = strdup(setting_text(SETTING_PATHS)), *rest = copy;
	unsigned wanted = 0;
	bool good = copy != NULL;

	comms.local_path = false;
	for (char *name; good && (name = strsep(&rest, ", "));) {
		if (!strcmp(name, "local"))
			comms.local_path = true;
		else if (name[0])
			good = networks_add(&wanted, name);
	}
	free(copy);
	if (!good || !(comms.local_path || wanted))
		complain_of_paths();
	chosen_network = networks_find(wanted, setting_given(SETTING_PATHS) && rte.n_pes > 1);
	comms.map = chosen_network ? chosen_network->map : NULL;
}

/* A misspelt setting that this job does not need would hurt the next one. */
static void check_setting_values(void)
{
	char values[128], problem[TORUS_PROBLEM];
	struct torus_shape shape;

	for (int id = 0; id < SETTING_COUNT; id++) {
		if (setting_is_possible((enum setting_id)id))
			continue;
		rte_die_together("shmem_init", "%s=%s: give %s", settings_table[id].name,
				 setting_text((enum setting_id)id),
				 setting_values((enum setting_id)id, values, sizeof values));
	}
	if (setting_text(SETTING_TORUS)[0] && !torus_shape_read(&shape, setting_text(SETTING_TORUS), problem))
		rte_die_together("shmem_init", "SHMEM_TORUS=%s", problem);
}

static bool checks_wanted(void)
{
	bool wanted = false;

	setting_bool(SETTING_CHECK, &wanted);
	return wanted || (ARGUMENT_CHECKS && setting_given(SETTING_DEBUG) && !setting_given(SETTING_CHECK));
}

static void check_settings(void)
{
	check_setting_values();
	comms.checks = checks_wanted();
	comms.threads |= comms.checks; /* a thread of the library carries out held operations */
	comms.barrier = (enum comms_barrier)setting_choice(SETTING_BARRIER_ALGORITHM);
	setting_number(SETTING_NODE_PES, &comms.node_size);
}

/*
 * Does any pair of PEs need a network? All PEs must get the same answer, because the network's part
 * is then in every endpoint info.
 */
static bool network_needed(void)
{
	bool globals_private = globals.size > 0 && globals.fd < 0;

	return comms.n_pes > 1 && (comms.n_node < comms.n_pes || globals_private);
}

/*
 * PE 0 compares with all PEs if it counts or checks; another PE that does compares with PE 0. So
 * every difference is found.
 */
static void agree_on_counters(void)
{
	int first = comms.pe == 0 ? 1 : 0, last = comms.pe == 0 ? comms.n_pes : 1;
	uint64_t theirs;

	for (int pe = first; (comms.observed || comms.checks) && pe < last; pe++)
		if (peers_agreement(pe, &theirs))
			counters_agree_with(pe, theirs);
}

static void start_network(void)
{
	char names[64];

	networks_names(names, sizeof names);
	if (!chosen_network && comms.n_node == comms.n_pes)
		rte_die_together("shmem_init",
				 "global data that is not in shared memory (%s) needs a network, and SHMEM_PATHS=%s "
				 "names none that this job can use; add one of %s",
				 globals.why_private ? globals.why_private : "of another PE",
				 setting_text(SETTING_PATHS), names);
	if (!chosen_network)
		rte_die_together("shmem_init",
				 "PEs or data outside this node's shared memory need a network, and SHMEM_PATHS=%s "
				 "names none that this job can use; add one of %s",
				 setting_text(SETTING_PATHS), names);
	chosen_network->start();
	comms.network = chosen_network;
	comms.network_atomics = chosen_network->traits & NETWORK_OWN_ATOMICS;
	if (comms.network_atomics)
		comms.quick_atomic_pes = 0;
}

static void start_memory(void)
{
	peers_start(); /* before the heap, which is shared if other PEs are on this node */
	comms.segments[COMMS_GLOBALS] =
		(struct comms_segment){globals.start, globals.size, globals.fd, COMMS_KIND_GLOBALS};
	memory_make_heap();
	comms.n_pes = rte.n_pes; /* addresses can be checked from now on */
}

/* This PE now knows everything that others ask for, so they may connect to it when this returns. */
static bool publish(void)
{
	char *torus = comms.pe == 0 ? comms_find_torus() : NULL;

	peers_publish(counters_agreement(), torus);
	free(torus);
	if (rte_is_broken())
		return false;
	agree_on_counters();
	comms_connect(comms.pe);
	return true;
}

/*
 * No call is quick any more, and none that sleeps goes on sleeping. Any thread calls this: a call
 * that looks at the same time may still be quick, which does no harm before shmem_finalize.
 */
static void when_broken(void)
{
	comms.quick_pes = 0;
	comms.quick_atomic_pes = 0;
	for (int i = 0; comms.shortcuts && i < COMMS_SHORTCUTS; i++)
		for (int segment = 0; segment < COMMS_FIXED_SEGMENTS; segment++)
			atomic_store_explicit(&comms.shortcuts[i].room[segment], 0, memory_order_relaxed);
	atomic_store_explicit(&comms.spin, 0, memory_order_relaxed);
	comms_wake_sleepers(&comms.system->wakeup);
}

/* comms_stop undoes these steps in the opposite order. False: the job is broken. */
bool comms_start(void)
{
	comms.pe = rte.pe;
	check_settings(); /* before any code reads a setting */
	read_paths();	  /* before nodes are counted: load and store may be left out */
	start_memory();
	/* Before the first wait for others, so that a PE that hangs below can be asked about it. */
	hang_start();
	counters_start(); /* calls that are counted or recorded are not quick */
	comms.quick_pes = comms.quick_atomic_pes =
		comms.observed || comms.checks || comms.device_wanted ? 0 : comms.n_pes;
	wait_start(); /* after the heap, where other PEs read whether the node is oversubscribed */
	comms_lists_start();
	numa_start();
	/* Before publishing, because the published data includes the network's. */
	if (network_needed())
		start_network();
	comms_costs_start(comms_network_name());
	comms.quiets = comms.network || comms.checks;
	comms_events_start();
	if (!publish())
		return false;
	/* Needs the peers' memory, to find the PE of an address. */
	rte.explain = comms_explain_fault;
	comms_torus_start();	/* PE 0 has published what it found */
	counters_start_links(); /* there is a counter for each link of the torus */
	/* Other PEs may send requests from now on, and everything that they need exists. */
	if (comms.network && comms.network->open)
		comms.network->open();
	network_is_open = comms.network;
	reorder_start();	      /* its thread calls the network, and the links are counted */
	rte_when_broken(when_broken); /* last: everything above sets what it changes */
	return true;
}

/* A network ends in step with the networks of the other PEs. */
static void finish_network(void)
{
	if (!network_is_open)
		return;
	network_is_open = false;
	comms.network->finish();
	/*
	 * This PE's operations complete through the peers' software, so all PEs continue until all
	 * are done.
	 */
	if (rte_fence() != RTE_OK)
		rte_break(RTE_ERROR_OTHER, -1, "shmem_finalize", "the PEs could not finish together (%s)", rte.problem);
	if (comms.network->rest)
		comms.network->rest();
}

static void stop_network(void)
{
	if (comms.network)
		comms.network->stop();
	if (chosen_network && chosen_network->leave)
		chosen_network->leave();
	chosen_network = NULL;
}

void comms_stop(void)
{
	/*
	 * Not in reverse order: the reporting thread reads other PEs' memory through the network.
	 */
	rte_when_broken(NULL);
	hang_stop();
	reorder_stop();
	finish_network();
	peers_disconnect(); /* connections first, because they may use the torus */
	counters_stop_links();
	cables_stop();
	comms_torus_stop();
	rte.explain = NULL;
	stop_network();
	comms_lists_stop();
	wait_stop();
	memory_unmake_heap();
	peers_stop();
	memset(&comms, 0, sizeof comms);
}

const char *comms_network_name(void)
{
	return comms.network ? comms.network->name : NULL;
}

const char *comms_network_connections(void)
{
	return comms.network && comms.network->connections ? comms.network->connections() : NULL;
}

const char *comms_network_routes(void)
{
	return comms.network && comms.network->routes ? comms.network->routes() : NULL;
}

const char *comms_network_threads(void)
{
	return comms.network && comms.network->threads ? comms.network->threads() : NULL;
}
