/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpirun and prterun print nothing while they wait for the daemons of their hosts, for minutes if a
 * firewall drops packets. Each daemon connects to the launcher and keeps that connection, so the
 * launcher's sockets in /proc show the hosts whose daemons have connected. A daemon may connect
 * from an address that its host's name does not have. The line can then only say so, and give the
 * number of hosts awaited.
 */
#include "await_hosts.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "launcher_options.h"
#include "say.h"

#define SECONDS 10
#define MOST_PEERS 256
/* Hosts whose daemons connect to the launcher directly; other daemons connect to these. */
#define MOST_DIRECT 64
#define MOST_NAMED 8
#define ESTABLISHED 1

/* IPv4 addresses are stored in their IPv6-mapped form. */
struct peers {
	struct in6_addr address[MOST_PEERS];
	bool named[MOST_PEERS]; /* belongs to one of the job's hosts */
	int count;
};

static struct in6_addr mapped(struct in_addr address)
{
	struct in6_addr six = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	memcpy(&six.s6_addr[12], &address, sizeof address);
	return six;
}

static bool read_address(const struct sockaddr *from, struct in6_addr *address)
{
	if (from && from->sa_family == AF_INET)
		*address = mapped(((const struct sockaddr_in *)(const void *)from)->sin_addr);
	else if (from && from->sa_family == AF_INET6)
		*address = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	else
		return false;
	return true;
}

static bool is_own(const struct in6_addr *address, const struct ifaddrs *own)
{
	struct in6_addr one;

	for (; own; own = own->ifa_next)
		if (read_address(own->ifa_addr, &one) && IN6_ARE_ADDR_EQUAL(&one, address))
			return true;
	return false;
}

static void add_peer(struct peers *peers, const struct in6_addr *address)
{
	for (int i = 0; i < peers->count; i++)
		if (IN6_ARE_ADDR_EQUAL(&peers->address[i], address))
			return;
	if (peers->count < MOST_PEERS)
		peers->address[peers->count++] = *address;
}

static bool holds_socket(pid_t pid, unsigned long inode)
{
	char path[64], link[64], wanted[64];
	struct dirent *entry;
	bool holds = false;
	DIR *folder;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
	folder = opendir(path);
	while (folder && !holds && (entry = readdir(folder))) {
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);

		link[length > 0 ? length : 0] = '\0';
		holds = !strcmp(link, wanted);
	}
	if (folder)
		closedir(folder);
	return holds;
}

/*
 * The kernel prints an address as hexadecimal numbers of four bytes, each in the byte order of this
 * machine.
 */
static bool parse_address(const char *text, struct in6_addr *address)
{
	size_t words = strlen(text) / 8;
	uint32_t word[4];

	for (size_t i = 0; i < words && i < 4; i++)
		if (sscanf(text + 8 * i, "%8x", &word[i]) != 1)
			return false;
	if (words == 1)
		*address = mapped((struct in_addr){.s_addr = word[0]});
	else if (words == 4)
		memcpy(address, word, sizeof *address);
	return words == 1 || words == 4;
}

/* Adds the addresses at the other ends of the process's connections. */
static void list_peers(struct peers *peers, pid_t pid, const char *table, const struct ifaddrs *own)
{
	char path[64], line[512], text[33];
	struct in6_addr address;
	unsigned long inode;
	unsigned state;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, table);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		if (sscanf(line, " %*d: %*[0-9A-F]:%*x %32[0-9A-F]:%*x %x %*s %*s %*s %*d %*d %lu", text, &state,
			   &inode) == 3 &&
		    state == ESTABLISHED && parse_address(text, &address) && !is_own(&address, own) &&
		    holds_socket(pid, inode))
			add_peer(peers, &address);
	}
	if (file)
		fclose(file);
}

static bool has_come(struct peers *peers, const char *name)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all = NULL;
	struct in6_addr address;
	bool come = false;

	if (getaddrinfo(name, NULL, &hints, &all))
		return false;
	for (const struct addrinfo *entry = all; entry; entry = entry->ai_next)
		for (int i = 0; read_address(entry->ai_addr, &address) && i < peers->count; i++)
			if (IN6_ARE_ADDR_EQUAL(&peers->address[i], &address))
				come = peers->named[i] = true;
	freeaddrinfo(all);
	return come;
}

/* Names separated by commas; only the first if there are many. */
static void add_name(char *text, size_t size, int number, const char *name)
{
	size_t length = strlen(text);

	if (number < MOST_NAMED)
		snprintf(text + length, size - length, "%s%.100s", number ? ", " : "", name);
	else if (number == MOST_NAMED)
		snprintf(text + length, size - length, " and others");
}

static void add_strangers(const struct peers *peers, char *text, size_t size, int *come)
{
	char name[INET6_ADDRSTRLEN];

	for (int i = 0; i < peers->count; i++) {
		const struct in6_addr *address = &peers->address[i];

		if (peers->named[i])
			continue;
		if (IN6_IS_ADDR_V4MAPPED(address))
			inet_ntop(AF_INET, &address->s6_addr[12], name, sizeof name);
		else
			inet_ntop(AF_INET6, address, name, sizeof name);
		add_name(text, size, (*come)++, name);
	}
}

static void name_the_missing(const struct launcher *launcher, const struct hosts *hosts, struct peers *peers)
{
	char missing[1024] = "", came[1024] = "", own[65] = "";
	int others = 0, absent = 0, come = 0, awaited;

	for (size_t h = 0; h < hosts->names.count; h++) {
		const char *name = hosts->names.list[h];

		if (hosts_is_here(name))
			continue;
		others++;
		if (has_come(peers, name))
			add_name(came, sizeof came, come++, name);
		else
			add_name(missing, sizeof missing, absent++, name);
	}
	awaited = (others < MOST_DIRECT ? others : MOST_DIRECT) - peers->count;
	if (awaited <= 0 || !absent)
		return;
	add_strangers(peers, came, sizeof came, &come);
	gethostname(own, sizeof own - 1);
	say("after %d s %s still waits for %d of %d hosts: no connection to %s from %s; connected: %s; see "
	    "whether daemons start "
	    "there and reach %s by TCP (routes, firewalls), or set %s to this host's interface for it",
	    SECONDS, launcher->kind->name, awaited, others, own, missing, come ? came : "none", own,
	    launcher->kind->interface);
}

static _Noreturn void look_later(const struct launcher *launcher, const struct hosts *hosts, pid_t pid)
{
	static struct peers peers;
	struct ifaddrs *own = NULL;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/*
	 * This process keeps no file of the job open, because readers of its output wait for the
	 * last writer.
	 */
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	sleep(SECONDS);
	getifaddrs(&own);
	list_peers(&peers, pid, "tcp", own);
	list_peers(&peers, pid, "tcp6", own);
	name_the_missing(launcher, hosts, &peers);
	_exit(0);
}

void await_hosts(const struct launcher *launcher, const struct options *options, const struct hosts *hosts)
{
	struct hosts allocated;
	char problem[160];
	pid_t pid = getpid();

	if (options->quiet || !launcher->kind->interface)
		return;
	if (!hosts->names.count && launcher->hostfile) {
		if (!hosts_read_file(&allocated, launcher->hostfile, problem, sizeof problem))
			return;
		hosts = &allocated;
	}
	if (!hosts->other || fork() != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != pid)
		_exit(0);
	look_later(launcher, hosts, pid);
}
