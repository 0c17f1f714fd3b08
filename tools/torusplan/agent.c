/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torusplan agent: reports the ports of this host and the ports at their other ends. See agent.h.
 */
#include "agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "rte/host/command.h"
#include "rte/host/ports.h"
#include "rte/host/rdma_ports.h"
#include "torusplan.h"

enum { MOST_PORTS = 64, MOST_HEARD = 1024 };
#define EACH_MS 20	  /* between probes */
#define ROUNDS 2	  /* of probes for a newline */
#define PATIENCE_MS 3000  /* for addresses that are not usable yet */
#define LLDP_SECONDS 1	  /* for lldpcli */
#define LIFETIME_MS 60000 /* if the input never ends */

struct agent {
	const char *session;
	char host[AGENT_NAME];
	struct port port[MOST_PORTS];
	int ports, socket;
	int echo;			    /* for ICMP; -1: this user may not have one */
	char heard[MOST_HEARD][AGENT_LINE]; /* lines printed, each once */
	int count;
};

__attribute__((format(printf, 2, 3))) static void agent_say(const struct agent *agent, const char *format, ...)
{
	va_list arguments;

	printf(AGENT_MARK " %s %s ", agent->session, agent->host);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

/* --- What the kernel and lldpd know --- */

static bool is_port(const struct agent *agent, const char *name)
{
	for (int p = 0; p < agent->ports; p++)
		if (!strcmp(agent->port[p].name, name))
			return true;
	return false;
}

static void print_link_address(const struct agent *agent, const struct ifaddrs *entry)
{
	const struct sockaddr_in6 *address = (const void *)entry->ifa_addr;
	char text[INET6_ADDRSTRLEN];

	if (address && address->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr) &&
	    is_port(agent, entry->ifa_name))
		agent_say(agent, "link %s %s", entry->ifa_name,
			  inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text));
}

static void print_addresses(const struct agent *agent)
{
	struct ifaddrs *all;
	char text[INET_ADDRSTRLEN];

	if (getifaddrs(&all))
		return;
	for (struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
		const struct sockaddr_in *address = (const void *)entry->ifa_addr;

		print_link_address(agent, entry);
		if (address && address->sin_family == AF_INET &&
		    ntohl(address->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
			agent_say(agent, "address %s", inet_ntop(AF_INET, &address->sin_addr, text, sizeof text));
	}
	freeifaddrs(all);
}

static void print_neighbours(const struct agent *agent)
{
	FILE *file = fopen("/proc/net/arp", "re");
	char line[256], address[64], hardware[64], name[IF_NAMESIZE];
	unsigned flags;

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "%63s %*s %x %63s %*s %15s", address, &flags, hardware, name) == 4 && flags &&
		    is_port(agent, name))
			agent_say(agent, "neighbour %s %s %s", name, address, hardware);
	if (file)
		fclose(file);
}

static void print_routes(const struct agent *agent)
{
	FILE *file = fopen("/proc/net/route", "re");
	char line[256], name[IF_NAMESIZE], text[INET_ADDRSTRLEN];
	struct in_addr gateway;
	unsigned value;

	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%15s %*x %x", name, &value) != 2 || value == 0 || !is_port(agent, name))
			continue;
		gateway.s_addr = value;
		agent_say(agent, "route %s %s", name, inet_ntop(AF_INET, &gateway, text, sizeof text));
	}
	if (file)
		fclose(file);
}

static bool kernel_forwards(void)
{
	FILE *file = fopen("/proc/sys/net/ipv4/ip_forward", "re");
	int value = 0;

	if (file && fscanf(file, "%d", &value) != 1)
		value = 0;
	if (file)
		fclose(file);
	return value == 1;
}

/* Is a gateway reached over the port? Reads the kernel's table of IPv4 routes. */
static bool has_gateway(const char *port, bool *is_default)
{
	FILE *file = fopen("/proc/net/route", "re");
	char line[256], name[IF_NAMESIZE];
	unsigned to, gateway;
	bool found = false;

	*is_default = false;
	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%15s %x %x", name, &to, &gateway) != 3 || gateway == 0 || strcmp(name, port) != 0)
			continue;
		found = true;
		*is_default = *is_default || to == 0;
	}
	if (file)
		fclose(file);
	return found;
}

/* What discover needs to know where each cable may be a network of its own. */
static void print_forwarding(const struct agent *agent)
{
	struct rdma_port rdma;
	bool is_default;

	agent_say(agent, "forwards %d", kernel_forwards());
	for (int p = 0; p < agent->ports; p++) {
		const char *name = agent->port[p].name;

		if (has_gateway(name, &is_default))
			agent_say(agent, "gateway %s %d", name, is_default);
		if (rdma_port_find(RDMA_FOLDER, name, &rdma))
			agent_say(agent, "rdma %s %s %d", name, rdma.device, rdma.gid);
	}
}

/* Users other than root often have no sbin folder in PATH. */
static char *ask_lldpd(void)
{
	static const char *const programs[] = {"lldpcli", "/usr/sbin/lldpcli"};
	char *output = NULL;

	for (size_t i = 0; !output && i < sizeof programs / sizeof programs[0]; i++) {
		const char *const words[] = {programs[i], "-f", "keyvalue", "show", "neighbors", NULL};

		output = command_output(words, LLDP_SECONDS);
	}
	return output;
}

/* "lldp.eth0.chassis.name=node7" and "lldp.eth0.port.ifname=eth1", or with port.descr. */
static void print_lldp(const struct agent *agent)
{
	char port[IF_NAMESIZE], key[64], value[AGENT_NAME], host[AGENT_NAME] = "", of[IF_NAMESIZE] = "";
	char *output = ask_lldpd(), *rest = output, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		if (sscanf(line, "lldp.%15[^.].%63[^=]=%255s", port, key, value) != 3)
			continue;
		if (!strcmp(key, "chassis.name")) {
			snprintf(host, sizeof host, "%s", value);
			snprintf(of, sizeof of, "%s", port);
		} else if ((!strcmp(key, "port.ifname") || !strcmp(key, "port.descr")) && !strcmp(of, port)) {
			agent_say(agent, "lldp %s %s %s", port, host, value);
			of[0] = '\0';
		}
	}
	free(output);
}

static void print_ports(const struct agent *agent)
{
	bool all = true;

	agent_say(agent, "state %016llx", (unsigned long long)ports_state());
	for (int p = 0; p < agent->ports; p++) {
		const struct port *port = &agent->port[p];

		agent_say(agent, "port %s %s %d %d %d %d %d %d", port->name, port->hardware, port->carrier,
			  port->can_probe, port->network, port->speed, port->infiniband, port->address);
		all = all && (port->can_probe || !port->carrier);
	}
	print_forwarding(agent);
	print_addresses(agent);
	print_lldp(agent);
	/* Tables are long on hosts of a large torus, and probes are better if they are possible. */
	if (!all) {
		print_neighbours(agent);
		print_routes(agent);
	}
	agent_say(agent, "ready");
}

/* --- Probes --- */

static bool open_socket(struct agent *agent)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(AGENT_UDP_PORT)};
	int yes = 1, no = 0;

	agent->socket = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (agent->socket < 0)
		return false;
	setsockopt(agent->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	setsockopt(agent->socket, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
	setsockopt(agent->socket, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &no, sizeof no);
	setsockopt(agent->socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, &yes, sizeof yes);
	if (!bind(agent->socket, (struct sockaddr *)&address, sizeof address))
		return true;
	close(agent->socket);
	agent->socket = -1;
	return false;
}

/* A probe that cannot be sent is retried soon, and dropped if the cable has been unplugged. */
static void send_probes(const struct agent *agent)
{
	struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(AGENT_UDP_PORT)};
	char text[AGENT_LINE];

	inet_pton(AF_INET6, "ff02::1", &to.sin6_addr);
	for (int p = 0; p < agent->ports; p++) {
		int length = snprintf(text, sizeof text, AGENT_MARK " %s %s %s", agent->session, agent->host,
				      agent->port[p].name);

		if (!agent->port[p].carrier || !agent->port[p].can_probe)
			continue;
		to.sin6_scope_id = agent->port[p].index;
		sendto(agent->socket, text, (size_t)length, 0, (struct sockaddr *)&to, sizeof to);
	}
}

static const char *port_of_index(const struct agent *agent, unsigned index)
{
	for (int p = 0; p < agent->ports; p++)
		if (agent->port[p].index == index)
			return agent->port[p].name;
	return NULL;
}

/* Prints what a port has received, once. */
static void print_heard(struct agent *agent, const char *kind, const char *text)
{
	char line[AGENT_LINE];
	int i = 0;

	snprintf(line, sizeof line, "%s %.480s", kind, text);
	while (i < agent->count && strcmp(agent->heard[i], line) != 0)
		i++;
	if (i < agent->count || agent->count == MOST_HEARD)
		return;
	memcpy(agent->heard[agent->count++], line, sizeof line);
	agent_say(agent, "%s", line);
}

static void hear_probe(struct agent *agent, const char *text, unsigned index)
{
	const char *port = port_of_index(agent, index);
	char session[AGENT_NAME], host[AGENT_NAME], name[IF_NAMESIZE], line[AGENT_LINE];

	if (!port || sscanf(text, AGENT_MARK " %255s %255s %15s", session, host, name) != 3 ||
	    strcmp(session, agent->session) != 0)
		return;
	snprintf(line, sizeof line, "%s %.255s %s", port, host, name);
	print_heard(agent, "heard", line);
}

static void take_probes(struct agent *agent)
{
	char text[AGENT_LINE], control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	struct iovec part = {text, sizeof text - 1};

	for (;;) {
		struct msghdr message = {.msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = control,
					 .msg_controllen = sizeof control};
		ssize_t length = recvmsg(agent->socket, &message, 0);

		if (length < 0)
			return;
		text[length] = '\0';
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
			struct in6_pktinfo info;

			if (c->cmsg_level != IPPROTO_IPV6 || c->cmsg_type != IPV6_PKTINFO)
				continue;
			memcpy(&info, CMSG_DATA(c), sizeof info);
			hear_probe(agent, text, info.ipi6_ifindex);
		}
	}
}

/*
 * --- Others at the link ---
 *
 * Two hosts at a switch hear each other's probes alone, as over a cable. Hosts that run no agent
 * answer echo requests. Linux lets groups send these that net.ipv4.ping_group_range names, usually
 * all, and root.
 */

static void open_echo(struct agent *agent)
{
	const int flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
	struct icmp6_filter filter;
	int no = 0;

	agent->echo = socket(AF_INET6, SOCK_DGRAM | flags, IPPROTO_ICMPV6);
	if (agent->echo < 0)
		agent->echo = socket(AF_INET6, SOCK_RAW | flags, IPPROTO_ICMPV6);
	if (agent->echo < 0)
		return;
	ICMP6_FILTER_SETBLOCKALL(&filter);
	ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
	setsockopt(agent->echo, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter);
	setsockopt(agent->echo, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, &no, sizeof no);
}

/* Twice for each port, and where two hosts are asked for only: all hosts of a network answer. */
static void ask_for_others(const struct agent *agent)
{
	struct icmp6_hdr request = {.icmp6_type = ICMP6_ECHO_REQUEST};
	struct sockaddr_in6 to = {.sin6_family = AF_INET6};

	inet_pton(AF_INET6, "ff02::1", &to.sin6_addr);
	for (int p = 0; agent->echo >= 0 && p < agent->ports; p++) {
		const struct port *port = &agent->port[p];

		if (!port->carrier || !port->can_probe)
			continue;
		to.sin6_scope_id = port->index;
		sendto(agent->echo, &request, sizeof request, 0, (struct sockaddr *)&to, sizeof to);
	}
}

static void take_answers(struct agent *agent)
{
	struct sockaddr_in6 from = {0};
	socklen_t size = sizeof from;
	char text[INET6_ADDRSTRLEN], line[AGENT_LINE], bytes[64];

	while (agent->echo >= 0 &&
	       recvfrom(agent->echo, bytes, sizeof bytes, 0, (struct sockaddr *)&from, &size) >= 0) {
		const char *port = port_of_index(agent, from.sin6_scope_id);

		size = sizeof from;
		if (!port || !IN6_IS_ADDR_LINKLOCAL(&from.sin6_addr))
			continue;
		snprintf(line, sizeof line, "%s %s", port, inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof text));
		print_heard(agent, "answer", line);
	}
}

/* A newline requests a round of probes. Returns false at the end of the input. */
static bool read_input(int *rounds, bool *others)
{
	char bytes[64];
	ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);

	if (got > 0 && memchr(bytes, '\n', (size_t)got))
		*rounds = ROUNDS;
	*others = got > 0 && memchr(bytes, AGENT_OTHERS[0], (size_t)got);
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

static double agent_clock(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Handles input until the next probes are due, or a request arrives. */
static void wait_for_input(struct agent *agent, struct pollfd fds[2])
{
	double end = agent_clock() + EACH_MS * 1e-3, left = end - agent_clock();

	fds[0].revents = 0;
	for (; left > 0 && !fds[0].revents; left = end - agent_clock()) {
		poll(fds, 2, (int)(left * 1000) + 1);
		if (agent->socket >= 0)
			take_probes(agent);
		take_answers(agent);
	}
}

static void probe(struct agent *agent)
{
	struct pollfd fds[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = agent->socket, .events = POLLIN}};
	bool others = false;
	int rounds = 0;

	for (int left = LIFETIME_MS; left > 0 && !ferror(stdout); left -= EACH_MS) {
		if (agent->socket >= 0)
			send_probes(agent);
		wait_for_input(agent, fds);
		if (fds[0].revents && !read_input(&rounds, &others))
			return;
		if (fds[0].revents && others)
			ask_for_others(agent);
		if (!fds[0].revents && rounds > 0 && --rounds == 0)
			agent_say(agent, "done");
	}
}

static void list_ports_soon(struct agent *agent)
{
	for (int waited = 0;; waited += EACH_MS) {
		bool waits = false;

		agent->ports = ports_list(agent->port, MOST_PORTS);
		for (int p = 0; p < agent->ports; p++)
			waits = waits || (agent->port[p].carrier && agent->port[p].waits && !agent->port[p].can_probe);
		if (!waits || waited >= PATIENCE_MS)
			return;
		poll(NULL, 0, EACH_MS);
	}
}

int agent_run(const char *session, const char *host)
{
	struct agent *agent = calloc(1, sizeof *agent);
	const char *slurm = getenv("SLURMD_NODENAME");

	if (!agent)
		return say("agent: no memory");
	agent->session = session;
	if (host || slurm)
		snprintf(agent->host, sizeof agent->host, "%s", host ? host : slurm);
	else
		gethostname(agent->host, sizeof agent->host - 1);
	list_ports_soon(agent);
	if (!open_socket(agent))
		for (int p = 0; p < agent->ports; p++)
			agent->port[p].can_probe = false;
	open_echo(agent);
	print_ports(agent);
	probe(agent);
	free(agent);
	return 0;
}
