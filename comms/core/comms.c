/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of the layer: coming up, the card that every PE publishes, first contact, going down.
 *
 * A peer's record is made once, under a lock, and then published by a release store into the table; readers
 * load with acquire and take no lock. A record never changes after that, but for its ucx part, which
 * ucx.c publishes in the same way.
 */
#include "comms.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "globals.h"
#include "comms/wait/hang.h"
#include "comms/groups/job_torus.h"
#include "comms/rdma/events.h"
#include "memory.h"
#include "near.h"
#include "comms/groups/numa.h"
#include "reorder.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "comms/net/tofu/tofu.h"
#include "comms/torus/shape.h"
#include "comms/net/ucx/ucx.h"
#include "comms/wait/wait.h"
#include "comms/observe/counters.h"

struct comms comms;

static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;

/* What a PE publishes; UCX's address and keys follow. All PEs of a job run the same library. */
struct card {
	uint64_t magic;
	struct memory_handle memory[COMMS_SEGMENTS];
	uint64_t base[COMMS_SEGMENTS];
	uint64_t size[COMMS_SEGMENTS];
	uint64_t layout;
	uint64_t tofu[TOFU_ENGINES]; /* its queues */
	uint64_t watched; /* see watch_agreement */
	int32_t memory_group, memory_groups;
	uint64_t ucx_bytes;
};

#define CARD_MAGIC 0x37306d6873726f74 /* changes when the card or struct comms_system does */

enum comms_segment_id comms_find_segment(const void *address)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		if ((size_t)((const char *)address - comms.segments[i].base) < comms.segments[i].size)
			return i;
	return COMMS_SEGMENTS;
}

int comms_compare_ints(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	return (a > b) - (a < b);
}

/* Which PEs are of my node, by the paths allowed and by SHMEM_NODE_PES. */
static bool on_my_node(int pe)
{
	if (!comms.local_path)
		return pe == comms.pe;
	if (comms.node_size > 0 && pe / comms.node_size != comms.pe / comms.node_size)
		return false;
	if (comms.tofu && tofu_node(pe) != tofu_node(comms.pe))
		return false;
	return bsearch(&pe, rte.local_pes, (size_t)rte.n_local, sizeof pe, comms_compare_ints) != NULL;
}

static void count_node(void)
{
	comms.node_pes = malloc((size_t)rte.n_local * sizeof *comms.node_pes);
	if (!comms.node_pes)
		rte_die("shmem_init", "no memory");
	for (int i = 0; i < rte.n_local; i++) {
		int pe = rte.local_pes[i];

		if (!on_my_node(pe))
			continue;
		if (pe == comms.pe)
			comms.node_index = comms.n_node;
		comms.node_pes[comms.n_node++] = pe;
	}
}

static void read_paths(void)
{
	char *copy = strdup(setting_text(SETTING_PATHS)), *rest = copy;
	bool good = copy != NULL, tofu = false;

	comms.local_path = comms.ucx_path = false;
	for (char *name; good && (name = strsep(&rest, ", "));) {
		if (!strcmp(name, "local"))
			comms.local_path = true;
		else if (!strcmp(name, "ucx"))
			comms.ucx_path = true;
		else if (!strcmp(name, "tofu"))
			tofu = true;
		else if (name[0])
			good = false;
	}
	free(copy);
	if (!good || !(comms.local_path || comms.ucx_path || tofu))
		rte_die_together("shmem_init", "SHMEM_PATHS=%s: give one or more of local, tofu and ucx", setting_text(SETTING_PATHS));
	comms.tofu = tofu && tofu_find(setting_given(SETTING_PATHS) && rte.n_pes > 1);
}

/* A slip in a setting that this job does not need is one in the next job. */
static void check_values(void)
{
	char values[128], problem[TORUS_PROBLEM];
	struct torus_shape shape;

	for (int id = 0; id < SETTING_COUNT; id++) {
		if (setting_is_possible((enum setting_id)id))
			continue;
		rte_die_together("shmem_init", "%s=%s: give %s", settings_table[id].name, setting_text((enum setting_id)id),
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
	static const char *const barriers[] = {"auto", "gate", "dissemination", "torus"};
	int barrier = setting_choice(SETTING_BARRIER_ALGORITHM, barriers, 4);

	comms.checks = checks_wanted();
	comms.threads |= comms.checks; /* one of the library's own carries out what was held back */
	comms.barrier = (enum comms_barrier)barrier;
	check_values();
	setting_number(SETTING_NODE_PES, &comms.node_size);
}

static void publish_card(void)
{
	size_t ucx_bytes = 0;
	void *ucx_card = comms.network == &ucx_network ? ucx_make_card(&ucx_bytes) : NULL;
	struct card *card = calloc(1, sizeof *card + ucx_bytes);

	if (!card)
		rte_die("shmem_init", "no memory");
	card->magic = CARD_MAGIC;
	card->layout = globals.layout;
	card->watched = watch_agreement();
	card->memory_group = comms.memory_group;
	card->memory_groups = comms.memory_groups;
	card->ucx_bytes = ucx_bytes;
	if (comms.tofu && comms.network)
		tofu_queues(card->tofu);
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		memory_describe(&comms.segments[i], &card->memory[i]);
		card->base[i] = (uint64_t)(uintptr_t)comms.segments[i].base;
		card->size[i] = comms.segments[i].size;
	}
	if (ucx_bytes)
		memcpy(card + 1, ucx_card, ucx_bytes);
	free(ucx_card);
	if (rte_exchange(card, sizeof *card + ucx_bytes) != RTE_OK)
		rte_die("shmem_init", "the PEs could not exchange their addresses (%s); did one of them end early?",
			rte.problem);
	free(card);
}

static void reach_locally(struct comms_peer *peer, const struct card *card)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++) {
		if (card->memory[i].fd < 0 || (i == COMMS_GLOBALS && !peer->same_program))
			continue;
		peer->reach[i].base = memory_map_peer(&card->memory[i], card->size[i], peer->pe);
		peer->reach[i].size = card->size[i];
	}
	peer->bell = &((struct comms_system *)peer->reach[COMMS_HEAP].base)->bell;
}

static void reach_self(struct comms_peer *peer)
{
	for (int i = 0; i < COMMS_SEGMENTS; i++)
		peer->reach[i] = (struct comms_reach){comms.segments[i].base, comms.segments[i].size};
	peer->bell = &comms.system->bell;
}

static struct comms_peer *make_acquaintance(int pe)
{
	struct comms_peer *peer = calloc(1, sizeof *peer);
	size_t size = 0;
	struct card *card = rte.connected ? rte_fetch(pe, &size) : NULL;

	if (!peer || (rte.connected && !card))
		rte_die(NULL, "what PE %d published cannot be had (%s); has it ended?", pe,
			peer ? rte.problem : "no memory");
	peer->pe = pe;
	if (card && (size < sizeof *card || card->magic != CARD_MAGIC))
		rte_die(NULL, "PE %d runs another version of torushmem; build all programs of a job with one", pe);
	for (int i = 0; card && i < COMMS_SEGMENTS; i++) {
		peer->remote_base[i] = (char *)(uintptr_t)card->base[i];
		peer->remote_size[i] = card->size[i];
	}
	peer->same_program = !card || (card->layout == globals.layout && card->size[COMMS_GLOBALS] == globals.size);
	if (pe == comms.pe)
		reach_self(peer);
	else if (on_my_node(pe))
		reach_locally(peer, card);
	if (comms.tofu && comms.network)
		tofu_meet(peer, card->tofu);
	peer->card = card;
	return peer;
}

struct comms_peer *comms_meet(int pe)
{
	struct comms_peer *peer = comms_peer(pe);

	if (peer->met)
		return peer;
	pthread_mutex_lock(&meeting);
	peer = comms_peer(pe);
	if (!peer->met) {
		peer = make_acquaintance(pe);
		peer->met = true;
		atomic_store_explicit(&comms.peers[pe], peer, memory_order_release);
	}
	pthread_mutex_unlock(&meeting);
	return peer;
}

static bool read_card(int pe, struct card *card)
{
	size_t size = 0;
	struct card *theirs = rte_fetch(pe, &size);
	bool good = theirs && size >= sizeof *card && theirs->magic == CARD_MAGIC;

	if (good)
		*card = *theirs;
	free(theirs);
	return good;
}

int comms_memory_group(int pe, int *groups)
{
	const struct card *known = comms_peer(pe)->card;
	struct card card = {.memory_group = -1};

	if (pe == comms.pe)
		card = (struct card){.memory_group = comms.memory_group, .memory_groups = comms.memory_groups};
	else if (known)
		card = *known;
	else if (!read_card(pe, &card))
		rte_die(NULL, "what PE %d published cannot be had (%s); has it ended?", pe, rte.problem);
	*groups = card.memory_groups;
	return card.memory_group;
}

bool comms_can_meet(int pe)
{
	struct card card;

	if (comms_peer(pe)->met || !on_my_node(pe))
		return true;
	return read_card(pe, &card) && (card.memory[COMMS_HEAP].fd < 0 || memory_is_there(&card.memory[COMMS_HEAP]));
}

bool comms_read_ucx_card(int pe, void *into, size_t bytes)
{
	size_t size = 0;
	struct card *theirs = rte_fetch(pe, &size);
	bool good = theirs && size >= sizeof *theirs + bytes && theirs->magic == CARD_MAGIC && theirs->ucx_bytes >= bytes;

	if (good)
		memcpy(into, theirs + 1, bytes);
	free(theirs);
	return good;
}

/* A process that has ended and that nobody has waited for yet runs no program. */
static bool process_is_there(const struct memory_handle *handle)
{
	char path[64], program[8];

	if (handle->fd >= 0)
		return memory_is_there(handle);
	snprintf(path, sizeof path, "/proc/%d/exe", handle->pid);
	return readlink(path, program, sizeof program) >= 0 || errno != ENOENT;
}

const char *comms_process_in_words(int pe)
{
	struct card card;

	if (!bsearch(&pe, rte.local_pes, (size_t)rte.n_local, sizeof pe, comms_compare_ints) || !read_card(pe, &card))
		return "whether its process still runs cannot be seen from here: look at that host, and at the network in between";
	return process_is_there(&card.memory[COMMS_HEAP]) ? "its process still runs" : "its process has ended";
}

const void *comms_ucx_card(const struct comms_peer *peer, size_t *size)
{
	const struct card *card = peer->card;

	*size = card ? card->ucx_bytes : 0;
	return card ? card + 1 : NULL;
}

void comms_count_peers(uint64_t *peers, uint64_t *bytes)
{
	for (int pe = 0; pe < comms.n_pes; pe++) {
		const struct comms_peer *peer = comms_peer(pe);
		size_t ucx_bytes;

		if (peer == &comms.unmet)
			continue;
		++*peers;
		comms_ucx_card(peer, &ucx_bytes);
		*bytes += sizeof *peer + (peer->card ? sizeof(struct card) + ucx_bytes : 0);
	}
}

/* PE 0 looks at all, if it watches or checks; who does looks at PE 0. So every difference is seen by somebody. */
static void agree_on_watching(void)
{
	struct card card;
	int first = comms.pe == 0 ? 1 : 0, last = comms.pe == 0 ? comms.n_pes : 1;

	for (int pe = first; (comms.watched || comms.checks) && rte.connected && pe < last; pe++)
		if (read_card(pe, &card))
			watch_agree_with(pe, card.watched);
}

/* Does any pair of PEs need a network? All PEs must come to the same answer: every card then has its part. */
static bool network_needed(void)
{
	bool globals_private = globals.size > 0 && globals.fd < 0;

	return comms.n_pes > 1 && (comms.n_node < comms.n_pes || globals_private);
}

/* Tofu does all that UCX does, so where it is there UCX is not started. */
static void start_network(void)
{
	if (comms.tofu) {
		comms.network = tofu_start();
		comms.network_atomics = true;
		comms.quick_atomic_pes = 0;
		return;
	}
	if (!comms.ucx_path)
		rte_die_together("shmem_init", "PEs or data outside this node's shared memory need UCX, and SHMEM_PATHS=%s leaves it out; "
					       "add ucx",
				 setting_text(SETTING_PATHS));
	ucx_start();
	comms.network = &ucx_network;
}

void comms_start(void)
{
	comms.pe = rte.pe;
	check_settings();
	read_paths();
	count_node();
	comms.segments[COMMS_GLOBALS] = (struct comms_segment){globals.start, globals.size, globals.fd};
	memory_make_heap();
	comms.peers = malloc((size_t)rte.n_pes * sizeof *comms.peers);
	if (!comms.peers)
		rte_die("shmem_init", "no memory for a table of %d PEs", rte.n_pes);
	for (int pe = 0; pe < rte.n_pes; pe++)
		atomic_init(&comms.peers[pe], &comms.unmet);
	comms.n_pes = rte.n_pes;
	hang_start();
	watch_start();
	comms.quick_pes = comms.quick_atomic_pes = comms.watched || comms.checks ? 0 : comms.n_pes;
	wait_start();
	numa_start();
	if (network_needed())
		start_network();
	comms.quiets = comms.network || comms.checks;
	comms_mail_start();
	publish_card();
	if (comms.network == &ucx_network)
		ucx_open();
	agree_on_watching();
	comms_meet(comms.pe);
	rte.explain = comms_explain_fault;
	comms_torus_start();
	reorder_start();
	watch_links_start();
	if (comms.network == &ucx_network)
		ucx_serve();
}

static void forget_peer(struct comms_peer *peer)
{
	for (int i = 0; peer->pe != comms.pe && i < COMMS_SEGMENTS; i++)
		if (peer->reach[i].base)
			memory_unmap(peer->reach[i].base, peer->reach[i].size);
	if (peer_ucx(peer))
		ucx_forget(peer_ucx(peer));
	free(peer->card);
	free(peer);
}

void comms_stop(void)
{
	bool ucx = comms.network == &ucx_network;

	hang_stop();
	reorder_stop();
	if (ucx)
		ucx_expect_end();
	if (comms.network)
		comms.network->complete();
	if (ucx)
		ucx_take_down_spares();
	/* What UCX still owes a peer is owed through that peer's software: all go on until all are done. */
	if (comms.network && rte_fence() != RTE_OK)
		rte_die("shmem_finalize", "the PEs could not finish together (%s)", rte.problem);
	if (ucx)
		ucx_rest();
	rte.explain = NULL;
	for (int pe = 0; pe < comms.n_pes; pe++)
		if (comms_peer(pe) != &comms.unmet)
			forget_peer(comms_peer(pe));
	free(comms.peers);
	free(comms.node_pes);
	watch_links_stop();
	comms_torus_stop();
	if (ucx)
		ucx_stop();
	else if (comms.network)
		tofu_stop();
	if (comms.tofu)
		tofu_lose();
	memory_unmake_heap();
	wait_stop();
	memset(&comms, 0, sizeof comms);
}
