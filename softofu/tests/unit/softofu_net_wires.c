/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links between hosts, which here are processes that share nothing but a loopback interface: random
 * packets with faults, strangers at the port, networks that do not fit together, and hosts that go
 * away.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/unit.h"
#include "softofu/net/wires_inside.h"
#include "softofu/tests/traffic.h"
#include "softofu/tests/worker.h"

enum { NODES = 16 };

/* 4x4: a row to each host, or a checkerboard in which every link is between hosts. */
static const int by_rows[NODES] = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
static const int mixed[NODES] = {0, 1, 2, 3, 1, 2, 3, 0, 2, 3, 0, 1, 3, 0, 1, 2};

static const int by_halves[NODES] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

/* Ports of the hosts, as a run directory would hold them. */
struct ports {
	_Atomic int port[WORKERS];
	_Atomic bool probed;
	struct worker_board board;
};

struct host {
	struct net *net;
	struct net_wires *wires;
	char problem[NET_PROBLEM];
};

struct plan {
	int hosts;
	const int *host_of;
	const char *settings, *token;
	double seconds; /* to connect in */
};

static bool start(struct host *host, const struct plan *plan, int me, struct ports *ports)
{
	struct net_party party = {.hosts = plan->hosts, .me = me, .host_of = plan->host_of};
	struct net_host others[WORKERS];
	struct net_settings settings;

	net_settings_default(&settings);
	settings.tnis = 2;
	settings.cqs = WORKERS;
	snprintf((char *)party.token, sizeof party.token, "%s", plan->token);
	if (!net_settings_read(&settings, "shape=4x4", host->problem) ||
	    !net_settings_read(&settings, plan->settings, host->problem) ||
	    !(host->net = traffic_network(&settings, host->problem)) ||
	    !(host->wires = net_wires_open(host->net, &party, "127.0.0.1", host->problem)))
		return false;
	ports->port[me] = net_wires_port(host->wires);
	for (int h = 0; h < plan->hosts; h++) {
		while (!ports->port[h])
			usleep(1000);
		others[h] = (struct net_host){"127.0.0.1", ports->port[h]};
	}
	return net_wires_join(host->wires, others, plan->seconds, host->problem);
}

static void send_all(const char *list, const int *host_of, int me, struct ports *ports)
{
	static struct worker worker;
	struct plan plan = {WORKERS, host_of, list, "the same for all", 20};
	struct host host = {0};

	if (!start(&host, &plan, me, ports)) {
		fprintf(stderr, "host %d: %s\n", me, host.problem);
		_exit(1);
	}
	worker = (struct worker){.net = host.net,
				 .wires = host.wires,
				 .board = &ports->board,
				 .me = me,
				 .owner = host_of};
	worker_run(&worker);
	if (net_trouble(host.net))
		fprintf(stderr, "host %d: %s\n", me, net_trouble(host.net));
	net_wires_close(host.wires);
	_exit(net_trouble(host.net) != NULL);
}

static struct ports *new_ports(void)
{
	struct ports *ports = mmap(NULL, sizeof *ports, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (ports == MAP_FAILED)
		exit(1);
	return ports;
}

static void check_traffic(const char *list, const int *host_of)
{
	struct ports *ports = new_ports();
	struct worker_board *board = &ports->board;
	pid_t children[WORKERS];

	board->senders = WORKERS;
	for (int w = 0; w < WORKERS; w++)
		if ((children[w] = fork()) == 0)
			send_all(list, host_of, w, ports);
	for (int w = 0; w < WORKERS; w++) {
		int status;

		EXPECT(waitpid(children[w], &status, 0) == children[w] && status == 0, "%s: host %d: %x", list, w,
		       (unsigned)status);
	}
	EXPECT(board->faults == 0 && board->arrived == board->sent && board->sent >= WORKERS * WORKER_MESSAGES,
	       "%s: %llu of %llu packets, %d wrong", list, (unsigned long long)board->arrived,
	       (unsigned long long)board->sent, board->faults);
	munmap(ports, sizeof *ports);
}

/* A stranger that knows the port and nothing else. */
static void probe(struct ports *ports)
{
	struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)ports->port[0])};
	int file = socket(AF_INET, SOCK_STREAM, 0);
	char rubbish[100] = "GET / HTTP/1.0";

	there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT(connect(file, (struct sockaddr *)&there, sizeof there) == 0, "the port is open");
	EXPECT(send(file, rubbish, sizeof rubbish, MSG_NOSIGNAL) == sizeof rubbish, "and accepts bytes");
	ports->probed = true;
	EXPECT(recv(file, rubbish, sizeof rubbish, 0) <= 0, "but does not answer");
	close(file);
}

/*
 * Two hosts that must refuse each other, the second in another process, and what each of them
 * reports.
 */
static void check_join(const char *settings, const char *token, const char *first, const char *second)
{
	struct plan plan = {2, by_halves, "", "secret", 1.5};
	struct ports *ports = new_ports();
	struct host host = {0};
	int status;
	pid_t child = fork(), prober;
	bool joined;

	if (child == 0) {
		plan.settings = settings;
		plan.token = token;
		while (!ports->probed)
			usleep(1000);
		joined = start(&host, &plan, 1, ports);
		_exit(joined || !strstr(host.problem, second));
	}
	prober = fork();
	if (prober == 0) {
		while (!ports->port[0])
			usleep(1000);
		probe(ports);
		_exit(unit_failures != 0);
	}
	joined = start(&host, &plan, 0, ports);
	EXPECT(!joined && strstr(host.problem, first), "the first host finds: %s", host.problem);
	net_wires_close(host.wires);
	waitpid(prober, &status, 0);
	EXPECT(status == 0, "the stranger: %x", (unsigned)status);
	waitpid(child, &status, 0);
	EXPECT(status == 0, "the second host finds: %s", second);
	munmap(ports, sizeof *ports);
}

/*
 * How the second host goes: killed, after announcing its end, or so that its end resets the
 * connection.
 */
enum departure { KILLED, ANNOUNCED, RESET };

static void depart(struct host *host, enum departure how)
{
	const struct linger none = {.l_onoff = 1};

	if (how == RESET)
		setsockopt(host->wires->wire[0]->file, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	if (how != KILLED)
		net_wires_close(host->wires);
	kill(getpid(), SIGKILL);
}

static void check_departure(enum departure how)
{
	struct plan plan = {2, by_halves, "", "secret", 20};
	struct ports *ports = new_ports();
	struct net_message message = {.from = {0, 0, 0}, .to = {8, 0, 0}, .bytes = 8};
	struct host host = {0};
	uint64_t done = 0;
	pid_t child = fork();

	if (child == 0) {
		start(&host, &plan, 1, ports);
		depart(&host, how);
	}
	EXPECT(start(&host, &plan, 0, ports), "%s", host.problem);
	waitpid(child, NULL, 0);
	for (int i = 0; i < 200 && net_wires_move(host.wires) >= 0; i++)
		net_wires_sleep(host.wires, 1);
	EXPECT((how == KILLED) == (net_trouble(host.net) != NULL), "%s",
	       net_trouble(host.net) ? net_trouble(host.net) : "no trouble");
	if (how != KILLED)
		EXPECT(net_inject(host.net, &message, "8 bytes", &done) == 1, "into the TNI it goes");
	for (int i = 0; i < 200 && net_step(host.net, 10) >= 0 && net_wires_move(host.wires) >= 0; i++)
		;
	EXPECT(net_trouble(host.net) && strstr(net_trouble(host.net), "the links to host 1 are lost"),
	       "and there it ends");
	net_wires_close(host.wires);
	munmap(ports, sizeof *ports);
}

static bool takes_it(void *context, const struct net_packet *packet, const void *data)
{
	(void)packet;
	(void)data;
	*(bool *)context = true;
	return true;
}

/* The second host goes as soon as it has a packet, whose first acknowledgement mostly gets lost. */
static void check_last_packet(int seed)
{
	char settings[40];
	struct plan plan = {2, by_halves, settings, "secret", 20};
	struct ports *ports = new_ports();
	struct net_message message = {.from = {0, 0, 0}, .to = {8, 1, 0}, .bytes = 8};
	struct host host = {0};
	uint64_t done = 0;
	bool taken = false, gone = false;
	pid_t child;

	snprintf(settings, sizeof settings, "errors=0.7,seed=%d", seed);
	child = fork();
	if (child == 0) {
		start(&host, &plan, 1, ports);
		while (!taken && net_wires_move(host.wires) >= 0 && net_step(host.net, 10) >= 0)
			net_take(host.net, &message.to, NET_REQUEST, 1, takes_it, &taken);
		net_wires_close(host.wires);
		_exit(!taken);
	}
	EXPECT(start(&host, &plan, 0, ports), "%s", host.problem);
	EXPECT(net_inject(host.net, &message, "8 bytes", &done) == 1, "into the TNI it goes");
	while (!gone && net_step(host.net, 10) >= 0 && net_wires_move(host.wires) >= 0)
		gone = waitpid(child, NULL, WNOHANG) == child;
	for (int i = 0; i < 20 && net_step(host.net, 10) >= 0 && net_wires_move(host.wires) >= 0; i++)
		;
	EXPECT(!net_trouble(host.net), "%s", net_trouble(host.net));
	if (!gone)
		waitpid(child, NULL, 0);
	net_wires_close(host.wires);
	munmap(ports, sizeof *ports);
}

int main(void)
{
	check_traffic("", by_rows);
	check_traffic("errors=0.01,buffers=2,receive-queue=2", mixed);
	check_traffic("errors=0.05,window=8", by_rows);
	check_join("", "wrong", "did not call", "is not of this job");
	check_join("buffers=3", "secret", "another network", "another network");
	check_departure(KILLED);
	check_departure(ANNOUNCED);
	check_departure(RESET);
	for (int seed = 1; seed <= 10; seed++)
		check_last_packet(seed);
	return unit_failures != 0;
}
