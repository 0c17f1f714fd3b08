/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torusplan discover: asks hosts for the other ends of their ports, and reports the torus that they
 * form and its faults.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/cabling/cabling.h"
#include "run_discover.h"
#include "gather_cables.h"
#include "rte/host/torus_cache.h"
#include "torusplan.h"

/* The hosts of the batch system's allocation. */
static int read_allocation(struct hosts *hosts)
{
	static const char *const files[] = {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"};
	char problem[TORUS_PROBLEM];

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		if (getenv(files[i]))
			return hosts_read_file(hosts, getenv(files[i]), problem, sizeof problem)
				       ? 0
				       : say("%s=%s: %s", files[i], getenv(files[i]), problem);
	if (getenv("SLURM_JOB_NODELIST")) {
		FILE *names = popen("scontrol show hostnames", "re");
		char name[256];

		while (names && fscanf(names, "%255s", name) == 1)
			arguments_add(&hosts->names, "%s", name);
		if (names)
			pclose(names);
		return hosts->names.count ? 0 : say("scontrol does not name the hosts of this allocation; give -H");
	}
	return say("no hosts; give --hostfile FILE, or -H with their names, as in -H node1,node2");
}

static int read_hosts(struct hosts *hosts, const char *const value[OPTIONS])
{
	char problem[TORUS_PROBLEM];

	if (value[OPT_HOSTFILE] && value[OPT_HOST_LIST])
		return say("--hostfile and -H both name the hosts; give one of them");
	if (value[OPT_HOSTFILE] && !hosts_read_file(hosts, value[OPT_HOSTFILE], problem, sizeof problem))
		return say("--hostfile %s: %s", value[OPT_HOSTFILE], problem);
	if (value[OPT_HOST_LIST] && !hosts_read_list(hosts, value[OPT_HOST_LIST], problem, sizeof problem))
		return say("-H %s: %s", value[OPT_HOST_LIST], problem);
	return hosts->names.count ? 0 : read_allocation(hosts);
}

static int write_output(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	bool good = file && fputs(text, file) >= 0;

	if (file && fclose(file))
		good = false;
	if (good)
		return 0;
	say("--output %s: cannot be written: %s", path, strerror(errno));
	return FAILED;
}

/* --- The report --- */

enum { KNOWN_BY = 160 };

/* "probes (34 ports), LLDP (2 ports)": what identified the other ends. */
static const char *known_by(const struct gathered *gathered, char text[KNOWN_BY])
{
	static const struct {
		enum record_kind kind;
		const char *name;
	} rows[] = {{RECORD_HEARD, "probes"},
		    {RECORD_LLDP, "LLDP"},
		    {RECORD_NEIGHBOUR, "the kernel's neighbours"},
		    {RECORD_ROUTE, "the kernel's routes"}};
	int length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (gathered->records.joined[rows[i].kind])
			length += snprintf(text + length, (size_t)(KNOWN_BY - length), "%s%s (%d ports)",
					   length ? ", " : "", rows[i].name, gathered->records.joined[rows[i].kind]);
	return text;
}

/* "h0 eth2 (mlx5_0, GID 3)" */
static void print_end(const struct gathered *gathered, int port)
{
	const struct record_port *of = &gathered->records.port[port];

	printf("%s %s", gathered->cabling.name[of->host], of->name);
	if (of->rdma[0])
		printf(" (%s, GID %d)", of->rdma, of->gid);
}

/* A cable has the lower rate of its ends. */
static void print_rate(const struct cabling_port *from, const struct cabling_port *to)
{
	int speed = from->speed > 0 && (to->speed <= 0 || from->speed < to->speed) ? from->speed : to->speed;

	if (speed >= 1000)
		printf(", %g Gbit/s", speed / 1000.0);
	else if (speed > 0)
		printf(", %d Mbit/s", speed);
}

static int print_cables(const struct torus_found *found, const struct gathered *gathered)
{
	const struct cabling *cabling = &gathered->cabling;
	int *port, count = found_cables(found, cabling, &port);

	puts("forwarding no: every cable is a network of its own");
	for (int c = 0; c < count; c++) {
		int peer = cabling->port[port[c]].peer;

		printf("cable      ");
		print_end(gathered, port[c]);
		printf(" to ");
		print_end(gathered, peer);
		print_rate(&cabling->port[port[c]], &cabling->port[peer]);
		if (found->direction[port[c]] < 0)
			printf(", not part of the shape");
		putchar('\n');
	}
	free(port);
	return count < 0 ? say("no memory for the cables of %d hosts", cabling->hosts) : 0;
}

/* The quality of the kernel's routes. They lead nowhere where hosts forward nothing. */
static int report_routes(const struct machine *machine, const struct gathered *gathered,
			 const char *const value[OPTIONS])
{
	int code = 0;

	fflush(stdout);
	if (!gathered->cabling.own_networks || value[OPT_ROUTES])
		code = show_routes(machine, NULL, value);
	if (code == 0 && value[OPT_ROUTES])
		code = show_routes(machine, "all", value);
	return code;
}

static int report_torus(const struct torus_found *found, const struct gathered *gathered, const char *text,
			const char *const value[OPTIONS])
{
	struct machine machine;
	int code = machine_of_text(&machine, text);
	char by[KNOWN_BY];

	printf("answered   %d of %d hosts\n", gathered->answered, gathered->cabling.hosts);
	printf("known by   %s\n", known_by(gathered, by));
	if (code == 0 && gathered->cabling.own_networks)
		code = print_cables(found, gathered);
	if (code == 0)
		code = show_machine(&machine, 0, value);
	for (int i = 0; i < found->faults; i++)
		printf("wrong      %s\n", found->fault[i]);
	if (found->row && gathered->cabling.hosts > 2)
		puts("row        the cables follow no axes: the shape is one row of all hosts, and jobs use every cable");
	if (!found->faults)
		puts("cabling    nothing is wrong");
	if (code == 0)
		code = report_routes(&machine, gathered, value);
	if (code == 0 && found->faults)
		code = FAILED;
	machine_free(&machine);
	return code;
}

static int report(const struct torus_found *found, const struct gathered *gathered, const char *text,
		  const char *const value[OPTIONS])
{
	int code;

	if (found->shape.axes == 0) {
		printf("no torus here: %s\n", found->why);
		return FAILED;
	}
	code = value[OPT_OUTPUT] ? write_output(value[OPT_OUTPUT], text) : 0;
	return code ? code : report_torus(found, gathered, text, value);
}

/* For a job that starts: one line, with only a remark if there are faults. */
static int report_line(const struct torus_found *found, const struct gathered *gathered, const char *line)
{
	puts(line);
	if (found->shape.axes && found->faults)
		say("the cabling of the hosts has %d fault%s, the first: %s; torusplan discover names all",
		    found->faults, found->faults == 1 ? "" : "s", found->fault[0]);
	else if (gathered->answered < gathered->cabling.hosts)
		say("%d of %d hosts did not answer in time, so nothing is known of their cables; SHMEM_TORUS_DISCOVER=no "
		    "asks no more",
		    gathered->cabling.hosts - gathered->answered, gathered->cabling.hosts);
	return 0;
}

/*
 * A torus with hosts that did not answer is not used for a job. Without a torus the line is empty.
 */
static int conclude(const struct torus_found *found, const struct gathered *gathered, const struct hosts *hosts,
		    const char *const value[OPTIONS])
{
	char by[KNOWN_BY];
	bool usable = found->shape.axes && gathered->answered == gathered->cabling.hosts;
	char *text = found->shape.axes ? found_file(found, &gathered->cabling, known_by(gathered, by)) : strdup("");
	char *line = text ? found_line(usable ? text : "") : NULL;
	int code;

	if (line)
		torus_cache_write(hosts, gathered->state, line);
	if (!line)
		code = say("no memory for a shape file");
	else if (value[OPT_CACHED])
		code = report_line(found, gathered, line);
	else
		code = report(found, gathered, text, value);
	free(text);
	free(line);
	return code;
}

static int discover(const struct hosts *hosts, int seconds, const char *const value[OPTIONS])
{
	struct gathered gathered = {.answered = 0};
	struct torus_found found;
	char problem[TORUS_PROBLEM];
	int code;

	if (!gather(&gathered, hosts, seconds, problem, sizeof problem)) {
		code = say("%s", problem);
	} else if (!torus_cabling_find(&found, &gathered.cabling)) {
		code = say("no memory for the cables of %zu hosts", hosts->names.count);
	} else {
		code = conclude(&found, &gathered, hosts, value);
		torus_found_free(&found);
	}
	gathered_free(&gathered);
	return code;
}

int run_discover(const char *const value[OPTIONS])
{
	struct hosts hosts = {.slots = 0};
	int code = read_hosts(&hosts, value), seconds;
	char *line = NULL;

	if (code == 0 && !options_number(value, OPT_TIMEOUT, 1, 3600, 10, &seconds))
		code = MISTAKE;
	if (code == 0 && value[OPT_PAGE] && !value[OPT_TREES])
		code = say("%s is about trees; give --trees as well", options_name(OPT_PAGE));
	if (code == 0 && value[OPT_CACHED])
		line = torus_cache_read(&hosts);
	if (line)
		puts(line);
	else if (code == 0)
		code = discover(&hosts, seconds, value);
	free(line);
	hosts_forget(&hosts);
	return code;
}
