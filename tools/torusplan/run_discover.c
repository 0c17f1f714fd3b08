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
		if (gathered->joined[rows[i].kind])
			length += snprintf(text + length, (size_t)(KNOWN_BY - length), "%s%s (%d ports)",
					   length ? ", " : "", rows[i].name, gathered->joined[rows[i].kind]);
	return text;
}

static int report_torus(const struct torus_found *found, const struct gathered *gathered, const char *text,
			const char *const value[OPTIONS])
{
	struct machine machine;
	int code = machine_of_text(&machine, text), routes;
	char by[KNOWN_BY];

	printf("answered   %d of %d hosts\n", gathered->answered, gathered->cabling.hosts);
	printf("known by   %s\n", known_by(gathered, by));
	if (code == 0)
		code = show_machine(&machine, 0, value);
	for (int i = 0; i < found->faults; i++)
		printf("wrong      %s\n", found->fault[i]);
	if (!found->faults)
		puts("cabling    nothing is wrong");
	if (code == 0) {
		fflush(stdout);
		routes = show_routes(&machine, NULL, value);
		if (routes == 0 && value[OPT_ROUTES])
			routes = show_routes(&machine, "all", value);
		code = routes;
	}
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
