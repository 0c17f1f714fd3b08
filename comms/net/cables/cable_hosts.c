/* SPDX-License-Identifier: BSD-3-Clause */
#include "cable_hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/core/comms.h"
#include "comms/torus/cable_routes.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "rte/text/text.h"

enum { HOST_NAME = 256 };

struct cable_ports {
	char port[2][TORUS_PORT];
};

static struct {
	int nodes, node; /* of the job, and this PE's */
	int *node_of;	 /* by PE */
	int *pes;	 /* by node */
	struct torus_cables cables;
	struct cable_ports *ports; /* by cable */
	struct torus_cable_between *between;
	int count, dead; /* cables in use, and those behind them, which have no carrier */
	int **distance;	 /* of all nodes from each node; NULL: not computed yet */
	int *queue;
	int longest;
} hosts;

static void *cable_allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);

	if (!memory)
		rte_die("shmem_init", "no memory for the cables of %d PEs", rte.n_pes);
	return memory;
}

/* --- The shape file --- */

/* Returns false if there is no shape file. */
static bool read_shape(struct torus_file *file)
{
	const char *path = setting_text(SETTING_TORUS_FILE), *found = getenv(RTE_TORUS_FOUND);
	char problem[TORUS_PROBLEM], *text;

	if (!path[0])
		return found && torus_file_read_line(file, found);
	text = text_of_file(path, problem, sizeof problem);
	if (!text || !torus_file_read(file, text, problem))
		rte_die_together("shmem_init", "SHMEM_TORUS_FILE=%s: %s", path, problem);
	free(text);
	return true;
}

bool cable_hosts_are_cabled(void)
{
	struct torus_file file = {0};
	bool cabled = read_shape(&file) && file.cables > 0;

	torus_file_free(&file);
	return cabled;
}

/* --- Nodes --- */

static uint64_t number_of_host(int pe)
{
	uint64_t number;

	if (comms.node_size > 0)
		return (uint64_t)(pe / comms.node_size);
	return rte_node(pe, &number) ? number : 0;
}

static void find_nodes(void)
{
	uint64_t *number = cable_allocate((size_t)rte.n_pes, sizeof *number), mine;

	hosts.node_of = cable_allocate((size_t)rte.n_pes, sizeof *hosts.node_of);
	hosts.pes = cable_allocate((size_t)rte.n_pes, sizeof *hosts.pes);
	for (int pe = 0; pe < rte.n_pes; pe++) {
		int node = 0;

		mine = number_of_host(pe);
		while (node < hosts.nodes && number[node] != mine)
			node++;
		number[node] = mine;
		hosts.nodes += node == hosts.nodes;
		hosts.node_of[pe] = node;
		hosts.pes[node]++;
	}
	hosts.node = hosts.node_of[rte.pe];
	free(number);
}

static int first_pe_of(int node)
{
	int pe = 0;

	while (hosts.node_of[pe] != node)
		pe++;
	return pe;
}

/* The i-th PE of a node, counted round. */
static int pe_of(int node, int i)
{
	int pe = first_pe_of(node);

	for (i %= hosts.pes[node]; i > 0; i--)
		do
			pe++;
		while (hosts.node_of[pe] != node);
	return pe;
}

static int index_on_node(int pe)
{
	int index = 0;

	for (int other = 0; other < pe; other++)
		index += hosts.node_of[other] == hosts.node_of[pe];
	return index;
}

/*
 * The node of each host of the file; -1: the job has no PE there. Nodes that SHMEM_NODE_PES makes
 * are its hosts in their order.
 */
static int *nodes_of_hosts(const struct torus_file *file)
{
	int *node_of = cable_allocate((size_t)file->hosts, sizeof *node_of);
	char name[HOST_NAME];

	for (int h = 0; h < file->hosts; h++)
		node_of[h] = -1;
	for (int n = 0; comms.node_size > 0 && n < hosts.nodes && n < file->hosts; n++)
		node_of[n] = n;
	for (int n = 0, h = -1; comms.node_size == 0 && n < hosts.nodes; n++) {
		h = rte_host(first_pe_of(n), name, sizeof name) ? torus_file_host(file, name, h + 1) : -1;
		if (h >= 0 && h < file->hosts)
			node_of[h] = n;
	}
	return node_of;
}

/* --- Cables --- */

/* The direction in which this end of a cable leaves. Cables beside the torus are last. */
static int rank_of(const struct torus_file *file, const struct torus_cable *cable, int side)
{
	int from = file->place[cable->host[side]], to = file->place[cable->host[!side]];

	for (int direction = 0; direction < 2 * file->shape.axes; direction++)
		if (torus_neighbour(&file->shape, from, direction) == to &&
		    !strcmp(torus_file_port(file, from, direction), cable->port[side]))
			return direction;
	return TORUS_DIRECTIONS;
}

static bool is_dead(const struct torus_file *file, const struct torus_cable *cable)
{
	for (int i = 0; i < file->flaws; i++)
		for (int side = 0; side < 2; side++) {
			int place = file->place[cable->host[side]];

			if (file->flaw[i].share == 0 && file->flaw[i].place == place &&
			    !strcmp(torus_file_port(file, place, file->flaw[i].direction), cable->port[side]))
				return true;
		}
	return false;
}

static void add_cable(const int node[2], const int rank[2], const char *port, const char *its_port)
{
	struct cable_ports *ports = &hosts.ports[hosts.count];

	hosts.between[hosts.count++] = (struct torus_cable_between){{node[0], node[1]}, {rank[0], rank[1]}};
	snprintf(ports->port[0], TORUS_PORT, "%s", port);
	snprintf(ports->port[1], TORUS_PORT, "%s", its_port);
}

/* Directions come in pairs: + and, one more, -. */
static void take_torus(const char *text)
{
	char problem[TORUS_PROBLEM];
	struct torus_shape shape;

	if (!torus_shape_read(&shape, text, problem))
		rte_die_together("shmem_init", "SHMEM_TORUS=%s: %s", text, problem);
	hosts.between = cable_allocate((size_t)(shape.places * shape.axes), sizeof *hosts.between);
	hosts.ports = cable_allocate((size_t)(shape.places * shape.axes), sizeof *hosts.ports);
	for (int n = 0; n < hosts.nodes && n < shape.places; n++)
		for (int up = 0; up < 2 * shape.axes; up += 2) {
			int other = torus_neighbour(&shape, n, up);

			if (other >= 0 && other < hosts.nodes && other != n)
				add_cable((int[]){n, other}, (int[]){up, up + 1}, torus_direction_name(up),
					  torus_direction_name(up + 1));
		}
}

static void take_cables(const struct torus_file *file)
{
	int *node_of = nodes_of_hosts(file);

	hosts.between = cable_allocate((size_t)file->cables, sizeof *hosts.between);
	hosts.ports = cable_allocate((size_t)file->cables, sizeof *hosts.ports);
	for (int i = 0; i < file->cables; i++) {
		const struct torus_cable *cable = &file->cable[i];
		int one = node_of[cable->host[0]], other = node_of[cable->host[1]];

		if (one < 0 || other < 0 || one == other || is_dead(file, cable))
			continue;
		add_cable((int[]){one, other}, (int[]){rank_of(file, cable, 0), rank_of(file, cable, 1)},
			  cable->port[0], cable->port[1]);
	}
	free(node_of);
}

static int *distances_memory(int node)
{
	hosts.distance[node] = cable_allocate((size_t)hosts.nodes, sizeof **hosts.distance);
	return hosts.distance[node];
}

/* Computed when the first message goes to the node. */
static const int *distances_from(int node)
{
	if (!hosts.distance[node])
		torus_cables_distances(&hosts.cables, node, distances_memory(node), hosts.queue);
	return hosts.distance[node];
}

static void find_distances(void)
{
	if (!torus_cables_make(&hosts.cables, hosts.nodes, hosts.between, hosts.count))
		rte_die("shmem_init", "no memory for the cables of %d PEs", rte.n_pes);
	hosts.distance = cable_allocate((size_t)hosts.nodes, sizeof *hosts.distance);
	hosts.queue = cable_allocate((size_t)hosts.nodes, sizeof *hosts.queue);
	hosts.longest = 0;
	if (hosts.count > 0)
		hosts.longest = 2 * torus_cables_distances(&hosts.cables, hosts.node, distances_memory(hosts.node),
							   hosts.queue);
}

static void free_distances(void)
{
	for (int n = 0; n < hosts.nodes; n++)
		free(hosts.distance[n]);
	free(hosts.distance);
	free(hosts.queue);
	torus_cables_free(&hosts.cables);
}

void cable_hosts_start(void)
{
	struct torus_file file = {0};

	find_nodes();
	if (hosts.nodes > 1 && setting_text(SETTING_TORUS)[0] && !setting_text(SETTING_TORUS_FILE)[0])
		take_torus(setting_text(SETTING_TORUS));
	else if (hosts.nodes > 1 && read_shape(&file))
		take_cables(&file);
	torus_file_free(&file);
	find_distances();
}

/* --- Cables without a carrier --- */

static void exchange_cables(int one, int other)
{
	const struct torus_cable_between between = hosts.between[one];
	const struct cable_ports ports = hosts.ports[one];

	hosts.between[one] = hosts.between[other];
	hosts.ports[one] = hosts.ports[other];
	hosts.between[other] = between;
	hosts.ports[other] = ports;
}

static const char *flaw_of_cable(int i, const char *(*flaw_of)(const int pe[2], const char *const port[2]))
{
	const struct torus_cable_between *cable = &hosts.between[i];

	return flaw_of((const int[]){first_pe_of(cable->node[0]), first_pe_of(cable->node[1])},
		       (const char *const[]){hosts.ports[i].port[0], hosts.ports[i].port[1]});
}

static void report_dead_cables(const char *flaw)
{
	const struct torus_cable_between *first = &hosts.between[hosts.count];
	const struct cable_ports *ports = &hosts.ports[hosts.count];
	char host[2][HOST_NAME] = {"?", "?"}, others[40] = "";

	if (hosts.dead > 1)
		snprintf(others, sizeof others, ", and %d more cannot be used", hosts.dead - 1);
	for (int side = 0; side < 2; side++)
		rte_host(first_pe_of(first->node[side]), host[side], HOST_NAME);
	rte_report(NULL, "the cable from %s %s to %s %s %s%s; messages take detours", host[0], ports->port[0], host[1],
		   ports->port[1], flaw, others);
}

void cable_hosts_check(const char *(*flaw_of)(const int pe[2], const char *const port[2]))
{
	const char *latest = NULL;

	for (int i = 0; i < hosts.count; i++) {
		const char *flaw = flaw_of_cable(i, flaw_of);

		if (!flaw)
			continue;
		exchange_cables(i--, --hosts.count);
		hosts.dead++;
		latest = flaw;
	}
	if (hosts.dead == 0)
		return;
	free_distances();
	find_distances();
	if (rte.pe == 0)
		report_dead_cables(latest);
}

/* Cables join all hosts or leave some out, whichever PE asks, so all PEs end together. */
void cable_hosts_check_reach(void)
{
	char host[2][HOST_NAME] = {"?", "?"};
	bool only = false;

	setting_bool(SETTING_CABLES_ONLY, &only);
	for (int n = 0; only && n < hosts.nodes; n++) {
		if (n == hosts.node || distances_from(hosts.node)[n] >= 0)
			continue;
		rte_host(rte.pe, host[0], HOST_NAME);
		rte_host(first_pe_of(n), host[1], HOST_NAME);
		rte_die_together(
			"shmem_init",
			"SHMEM_CABLES_ONLY=yes, and no cables lead from %s to %s (PE %d); see torusplan discover, "
			"or let messages take another network by SHMEM_CABLES_ONLY=no",
			host[0], host[1], first_pe_of(n));
	}
}

void cable_hosts_stop(void)
{
	free_distances();
	free(hosts.between);
	free(hosts.ports);
	free(hosts.node_of);
	free(hosts.pes);
	memset(&hosts, 0, sizeof hosts);
}

/* --- Routes --- */

struct cable_route cable_route_to(int pe, bool second)
{
	int to = hosts.node_of[pe], side;
	struct cable_route route = {.way = to == hosts.node ? CABLE_WAY_HOST : CABLE_WAY_OTHER, .next = pe};
	const struct torus_cable_end *end = NULL;
	const int *distance;

	if (to == hosts.node || hosts.count == 0)
		return route;
	distance = distances_from(to);
	if (distance[hosts.node] < 0)
		return route;
	if (second && distance[hosts.node] == 1)
		end = torus_cables_next(&hosts.cables, distance, hosts.node, 1);
	route.second = end != NULL;
	if (!end)
		end = torus_cables_next(&hosts.cables, distance, hosts.node, 0);
	side = hosts.between[end->cable].node[0] == hosts.node ? 0 : 1;
	route.way = CABLE_WAY_CABLE;
	route.hops = distance[end->other];
	route.port = hosts.ports[end->cable].port[side];
	route.its_port = hosts.ports[end->cable].port[!side];
	if (route.hops > 0)
		route.next = pe_of(end->other, index_on_node(pe));
	return route;
}

int cable_hosts_longest(void)
{
	return hosts.longest;
}

bool cable_hosts_have_second_cables(void)
{
	for (int i = 0; i < hosts.count; i++)
		for (int j = 0; j < i; j++)
			if ((hosts.between[i].node[0] == hosts.between[j].node[0] &&
			     hosts.between[i].node[1] == hosts.between[j].node[1]) ||
			    (hosts.between[i].node[0] == hosts.between[j].node[1] &&
			     hosts.between[i].node[1] == hosts.between[j].node[0]))
				return true;
	return false;
}

bool cable_hosts_is_cabled(int pe, const char *port)
{
	for (int i = 0; i < hosts.count + hosts.dead; i++)
		for (int side = 0; side < 2; side++)
			if (hosts.between[i].node[side] == hosts.node_of[pe] &&
			    !strcmp(hosts.ports[i].port[side], port))
				return true;
	return false;
}

/* The number of the first cable that leads from one node to another, among those of the former. */
static int end_towards(int from, int to)
{
	const int first = hosts.cables.first[from], last = hosts.cables.first[from + 1];

	for (int i = first; i < last; i++)
		if (hosts.cables.end[i].other == to)
			return i - first;
	return last - first;
}

int cable_hosts_reporter(int lost)
{
	int node = hosts.node_of[lost], turn = end_towards(node, hosts.node);
	int ends = hosts.cables.first[node + 1] - hosts.cables.first[node];

	turn += turn == end_towards(hosts.node, node) && rte.pe > lost;
	return turn + index_on_node(rte.pe) * ends;
}

static int neighbours_text(char text[CABLE_HOSTS_TEXT], int rdma, int tcp)
{
	const char *first = rdma > 0 ? "RDMA" : "TCP";
	int many = rdma > 0 ? rdma : tcp;
	int used =
		snprintf(text, CABLE_HOSTS_TEXT, "%s over cables to %d neighbour%s", first, many, many == 1 ? "" : "s");

	if (rdma > 0 && tcp > 0)
		used += snprintf(text + used, (size_t)(CABLE_HOSTS_TEXT - used), ", TCP to %d", tcp);
	return used;
}

const char *cable_hosts_text(char text[CABLE_HOSTS_TEXT], bool (*has_rdma)(const struct cable_route *route))
{
	int rdma = 0, tcp = 0, relayed = 0, others = 0, used;

	for (int n = 0; n < hosts.nodes; n++) {
		int distance = distances_from(hosts.node)[n];

		if (n != hosts.node && distance == 1) {
			const struct cable_route route = cable_route_to(first_pe_of(n), false);

			*(has_rdma(&route) ? &rdma : &tcp) += 1;
		}
		relayed += distance > 1;
		others += n != hosts.node && distance < 0;
	}
	used = neighbours_text(text, rdma, tcp);
	if (relayed > 0)
		used += snprintf(text + used, (size_t)(CABLE_HOSTS_TEXT - used), ", relayed to %d more", relayed);
	if (others > 0)
		used += snprintf(text + used, (size_t)(CABLE_HOSTS_TEXT - used), ", over the common network to %d",
				 others);
	if (hosts.dead > 0)
		snprintf(text + used, (size_t)(CABLE_HOSTS_TEXT - used), "; detours round %d cable%s", hosts.dead,
			 hosts.dead == 1 ? "" : "s");
	return text;
}
