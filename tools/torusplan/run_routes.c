/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torusplan routes: routing tables for hosts that forward for each other. A host's own address is
 * on an interface that is always up; a neighbour is reached by its own address over the cable to
 * it, so cables need no addresses.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/routes.h"
#include "rte/text/progress.h"
#include "torusplan.h"

#define MOST_HOSTS 16384

struct plan {
	const struct machine *machine;
	uint32_t network; /* host n has this plus 1 plus n */
	const char *device;
	bool cautious, batch;
};

static const char *address_of(const struct plan *plan, int node, char text[INET_ADDRSTRLEN])
{
	struct in_addr address = {htonl(plan->network + 1 + (uint32_t)node)};

	return inet_ntop(AF_INET, &address, text, INET_ADDRSTRLEN);
}

static int read_network(struct plan *plan, const char *text)
{
	char copy[64], *slash, *end;
	struct in_addr address;
	long bits = 0;

	snprintf(copy, sizeof copy, "%s", text);
	slash = strchr(copy, '/');
	if (slash) {
		*slash = '\0';
		bits = strtol(slash + 1, &end, 10);
	}
	if (!slash || end == slash + 1 || *end || bits < 1 || bits > 30 || inet_pton(AF_INET, copy, &address) != 1)
		return say("--address %s: not a network; give one as in 10.60.0.0/16", text);
	plan->network = ntohl(address.s_addr);
	if (plan->network & (UINT32_MAX >> bits))
		return say("--address %s: it has bits beyond its first %ld; give the address of the network itself",
			   text, bits);
	if (plan->machine->sites.nodes > (int64_t)(UINT32_MAX >> bits) - 1)
		return say("--address %s: too small for %d hosts; give a network with fewer bits", text,
			   plan->machine->sites.nodes);
	return 0;
}

/* --- Commands of one host --- */

/* The interface of a cable: from the shape file, otherwise named after the direction. */
static const char *port_of(const struct plan *plan, int place, int direction)
{
	const struct machine *machine = plan->machine;

	return torus_file_port(&machine->file,
			       torus_box_outside(&machine->box, &machine->whole, &machine->sites.shape, place),
			       direction);
}

/* Packets of this type of service take the second cable of a pair (comms/net/ucx/ucx_inside.h). */
#define SECOND_CABLE_TOS "0x08"

/* Does the second cable of a pair leave there in this direction, and is it whole? */
static bool is_second_cable(const struct torus_sites *sites, int place, int direction)
{
	return torus_is_second_cable(&sites->shape, direction) && torus_sites_share(sites, place, direction) == 1;
}

static void print_settings(const struct plan *plan, int place)
{
	const struct torus_sites *sites = &plan->machine->sites;

	/*
	 * Routes there and back differ, so the kernel must not check that it would answer on the
	 * receiving interface.
	 */
	puts("echo 1 >/proc/sys/net/ipv4/ip_forward\necho 0 >/proc/sys/net/ipv4/conf/all/rp_filter");
	for (int direction = 0; direction < 2 * sites->shape.axes; direction++)
		if (torus_sites_share(sites, place, direction) > 0)
			printf("echo 0 >/proc/sys/net/ipv4/conf/%s/rp_filter\n", port_of(plan, place, direction));
	/* Answers to a connection by the second cable use it, too. */
	for (int direction = 0; direction < 2 * sites->shape.axes; direction++)
		if (is_second_cable(sites, place, direction)) {
			puts("echo 1 >/proc/sys/net/ipv4/tcp_reflect_tos");
			break;
		}
}

/* A route like the last one, by the other cable between the same two hosts. */
static void print_second_route(const struct plan *plan, int node, int direction, const char *to, const char *via)
{
	const struct torus_sites *sites = &plan->machine->sites;
	char own[INET_ADDRSTRLEN];

	if (is_second_cable(sites, sites->place[node], direction ^ 1))
		printf("%sroute add %s/32 tos " SECOND_CABLE_TOS " via %s dev %s onlink src %s\n",
		       plan->batch ? "" : "ip ", to, via, port_of(plan, sites->place[node], direction ^ 1),
		       address_of(plan, node, own));
}

static void print_host(const struct plan *plan, const struct torus_routes *routes, int node)
{
	const struct torus_sites *sites = &plan->machine->sites;
	const char *ip = plan->batch ? "" : "ip ";
	char own[INET_ADDRSTRLEN], to[INET_ADDRSTRLEN], via[INET_ADDRSTRLEN], text[TORUS_TEXT], name[512];
	int place = sites->place[node];

	printf("# host %d %s at %s\n", node, machine_host(plan->machine, node, name, sizeof name),
	       torus_place_text(&plan->machine->whole, machine_place(plan->machine, node), text));
	address_of(plan, node, own);
	if (!plan->batch)
		print_settings(plan, place);
	printf("%saddress add %s/32 dev %s\n%slink set %s up\n", ip, own, plan->device, ip, plan->device);
	for (int direction = 0; direction < 2 * sites->shape.axes; direction++)
		if (torus_sites_share(sites, place, direction) > 0)
			printf("%slink set %s up\n", ip, port_of(plan, place, direction));
	for (int n = 0; n < sites->nodes; n++) {
		int direction, next;

		if (n == node)
			continue;
		direction = routes->next[(size_t)n * (size_t)sites->shape.places + (size_t)place];
		next = torus_neighbour(&sites->shape, place, direction);
		printf("%sroute add %s/32 via %s dev %s onlink src %s\n", ip, address_of(plan, n, to),
		       address_of(plan, sites->node[next], via), port_of(plan, place, direction), own);
		print_second_route(plan, node, direction, to, via);
	}
}

/* --- Quality of the routes --- */

static void report_cycle(const struct plan *plan, const struct torus_routes *routes)
{
	const struct torus_sites *sites = &plan->machine->sites;

	if (!routes->cycle) {
		puts("cycles     none: no links wait for each other in a circle, so routes cannot block each other");
		return;
	}
	printf("cycles     yes, for one:");
	for (int i = 0; i < routes->cycle && i < 12; i++)
		printf(" %d %s", sites->node[routes->places[i]], torus_direction_name(routes->directions[i]));
	printf("%s %d\n", routes->cycle > 12 ? " ..." : "", sites->node[routes->places[0]]);
	puts("           Hosts that forward drop a packet when a queue is full, so traffic cannot stop for good;\n"
	     "           under full load it is lost and sent again. Where links stop the sender instead (pause\n"
	     "           frames), a circle can block: turn them off, or use --no-cycles.");
}

static int report_unreached(const struct plan *plan, const struct torus_routes *routes)
{
	char from[512], to[512];

	say("%ld of %ld pairs are not reached: no cables lead from %s to %s through hosts",
	    routes->pairs - routes->reached, routes->pairs,
	    machine_host(plan->machine, routes->from, from, sizeof from),
	    machine_host(plan->machine, routes->to, to, sizeof to));
	return FAILED;
}

static int report(const struct plan *plan, const struct torus_routes *routes)
{
	const struct torus_sites *sites = &plan->machine->sites;
	char text[TORUS_TEXT];

	if (plan->cautious && routes->cycle) {
		say("--no-cycles: routes around holes and dead or slow cables make a cycle of %d links; without the option they are printed anyway",
		    routes->cycle);
		return FAILED;
	}
	printf("shape      %s, %d hosts\n", torus_shape_text(&sites->shape, text), sites->nodes);
	printf("reached    all %ld pairs, in %.3f hops on average and %d at most\n", routes->pairs,
	       routes->pairs ? (double)routes->hops / (double)routes->pairs : 0, routes->longest);
	if (routes->around)
		printf("around     %ld pairs go round a hole or a dead or slow cable\n", routes->around);
	report_cycle(plan, routes);
	return 0;
}

static int print_commands(const struct plan *plan, const struct torus_routes *routes, const char *host)
{
	int node, code;

	if (!strcmp(host, "all")) {
		for (node = 0; node < plan->machine->sites.nodes; node++) {
			progress_line("torusplan: hosts", node, plan->machine->sites.nodes);
			print_host(plan, routes, node);
		}
		progress_line("torusplan: hosts", node, node);
		return 0;
	}
	code = machine_node(plan->machine, OPT_HOST, host, &node);
	if (code == 0)
		print_host(plan, routes, node);
	return code;
}

static int print_routes(const struct plan *plan, const char *host)
{
	const struct torus_sites *sites = &plan->machine->sites;
	struct torus_routes routes;
	int code;

	if (sites->nodes > MOST_HOSTS)
		return say("routes of %d hosts take too long to check; at most %d", sites->nodes, MOST_HOSTS);
	if (!torus_routes_check(&routes, sites, plan->cautious))
		return say("no memory to check the routes of %d hosts", sites->nodes);
	if (routes.reached < routes.pairs)
		code = report_unreached(plan, &routes);
	else
		code = host ? print_commands(plan, &routes, host) : report(plan, &routes);
	torus_routes_free(&routes);
	return code;
}

int show_routes(const struct machine *machine, const char *host, const char *const value[OPTIONS])
{
	struct plan plan = {machine, 0, value[OPT_DEVICE] ? value[OPT_DEVICE] : "lo", value[OPT_NO_CYCLES] != NULL,
			    value[OPT_BATCH] != NULL};
	int code = read_network(&plan, value[OPT_ADDRESS] ? value[OPT_ADDRESS] : "10.60.0.0/16");

	return code ? code : print_routes(&plan, host);
}

int run_routes(const char *const value[OPTIONS])
{
	struct machine machine;
	int code = machine_read(&machine, value);

	if (code)
		return code;
	if (machine.logical)
		code = say("--nodes: routes need cables that are there, not a shape made up; give --shape or --file");
	if (code == 0)
		code = show_routes(&machine, value[OPT_HOST], value);
	machine_free(&machine);
	return code;
}
