/* SPDX-License-Identifier: BSD-3-Clause */
/* torusplan discover: asks hosts who is at the other end of their ports, and says which torus that is and what is wrong with it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "comms/torus/cabling.h"
#include "gather.h"
#include "torusplan.h"

static int read_hosts(struct hosts *hosts, const char *const value[OPTIONS])
{
	char problem[TORUS_PROBLEM];

	if (value[OPT_HOSTFILE] && value[OPT_HOST_LIST])
		return say("--hostfile and -H both name the hosts; give one of them");
	if (!value[OPT_HOSTFILE] && !value[OPT_HOST_LIST])
		return say("no hosts; give --hostfile FILE, or -H with their names, as in -H node1,node2");
	if (value[OPT_HOSTFILE] && !hosts_read_file(hosts, value[OPT_HOSTFILE], problem, sizeof problem))
		return say("--hostfile %s: %s", value[OPT_HOSTFILE], problem);
	if (value[OPT_HOST_LIST] && !hosts_read_list(hosts, value[OPT_HOST_LIST], problem, sizeof problem))
		return say("-H %s: %s", value[OPT_HOST_LIST], problem);
	return 0;
}

/* --- A shape file --- */

static void write_ports(FILE *file, const struct torus_found *found, const struct cabling *cabling)
{
	for (int p = 0; p < cabling->ports; p++) {
		const struct cabling_port *port = &cabling->port[p];

		if (found->direction[p] >= 0 && strcmp(port->name, torus_direction_name(found->direction[p])) != 0)
			fprintf(file, "port %s %s %s\n", cabling->name[port->host],
				torus_direction_name(found->direction[p]), port->name);
	}
}

static const char *host_at(const struct torus_found *found, const struct cabling *cabling, int place)
{
	for (int h = 0; h < cabling->hosts; h++)
		if (found->place[h] == place)
			return cabling->name[h];
	return "";
}

static void write_flaws(FILE *file, const struct torus_found *found, const struct cabling *cabling)
{
	for (int i = 0; i < found->flaws; i++) {
		const struct torus_flaw *flaw = &found->flaw[i];

		if (flaw->share > 0)
			fprintf(file, "slow %.4g ", 1 / (double)flaw->share);
		else
			fputs("dead ", file);
		fprintf(file, "%s %s\n", host_at(found, cabling, flaw->place), torus_direction_name(flaw->direction));
	}
}

static char *shape_file(const struct torus_found *found, const struct cabling *cabling)
{
	char *text = NULL, place[TORUS_TEXT], day[32] = "";
	time_t now = time(NULL);
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	strftime(day, sizeof day, "%Y-%m-%d %H:%M", localtime(&now));
	fprintf(file, "# Found by torusplan discover, %s.\nshape %s\n", day, torus_shape_text(&found->shape, place));
	for (int h = 0; h < cabling->hosts; h++)
		if (found->place[h] >= 0)
			fprintf(file, "host %s %s\n", cabling->name[h],
				torus_place_text(&found->shape, found->place[h], place));
	for (int h = 0; h < cabling->hosts; h++)
		if (found->place[h] >= 0 && cabling->silent[h])
			fprintf(file, "dead %s\n", cabling->name[h]);
	write_ports(file, found, cabling);
	write_flaws(file, found, cabling);
	for (int i = 0; i < found->faults; i++)
		fprintf(file, "# wrong: %s\n", found->fault[i]);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
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

static int report_torus(const struct torus_found *found, const struct gathered *gathered, const char *text,
			const char *const value[OPTIONS])
{
	struct machine machine;
	int code = machine_of_text(&machine, text), routes;

	printf("answered   %d of %d hosts\n", gathered->answered, gathered->cabling.hosts);
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

static int report(const struct torus_found *found, const struct gathered *gathered, const char *const value[OPTIONS])
{
	char *text;
	int code;

	if (found->shape.axes == 0) {
		printf("no torus here: %s\n", found->why);
		return FAILED;
	}
	text = shape_file(found, &gathered->cabling);
	if (!text)
		return say("no memory for a shape file");
	code = value[OPT_OUTPUT] ? write_output(value[OPT_OUTPUT], text) : 0;
	if (code == 0)
		code = report_torus(found, gathered, text, value);
	free(text);
	return code;
}

int run_discover(const char *const value[OPTIONS])
{
	struct hosts hosts = {.slots = 0};
	struct gathered gathered = {.answered = 0};
	struct torus_found found;
	char problem[TORUS_PROBLEM];
	int code = read_hosts(&hosts, value), seconds;

	if (code == 0 && !options_number(value, OPT_TIMEOUT, 1, 3600, 10, &seconds))
		code = MISTAKE;
	if (code == 0 && value[OPT_PAGE] && !value[OPT_TREES])
		code = say("%s is about trees; give --trees as well", options_name(OPT_PAGE));
	if (code == 0 && !gather(&gathered, &hosts, seconds, problem, sizeof problem))
		code = say("%s", problem);
	if (code == 0 && !torus_cabling_find(&found, &gathered.cabling)) {
		code = say("no memory for the cables of %zu hosts", hosts.names.count);
	} else if (code == 0) {
		code = report(&found, &gathered, value);
		torus_found_free(&found);
	}
	gathered_free(&gathered);
	hosts_forget(&hosts);
	return code;
}
