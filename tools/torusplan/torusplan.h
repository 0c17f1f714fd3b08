/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torusplan: plans for a torus on paper. The computations are in comms/torus; this folder has
 * options, files and text.
 */
#ifndef TORUSPLAN_H
#define TORUSPLAN_H

#include <stdbool.h>
#include <stdio.h>

#include "comms/torus/file.h"
#include "comms/torus/sites.h"

/* Exit codes. */
enum { MISTAKE = 2, FAILED = 1 };

enum option_id {
	OPT_SHAPE,
	OPT_FILE,
	OPT_NODES,
	OPT_HOSTS,
	OPT_PES,
	OPT_LINKS,
	OPT_TREES,
	OPT_ROOT,
	OPT_KIND,
	OPT_PAGE,
	OPT_SVG,
	OPT_DIMS,
	OPT_FORMAT,
	OPT_OUTPUT,
	OPT_TILE,
	OPT_TNIS,
	OPT_RATE,
	OPT_LINK_RATE,
	OPT_MEMORY_RATE,
	OPT_VOLUME,
	OPT_ASSIGN,
	OPT_ADDRESS,
	OPT_HOST,
	OPT_DEVICE,
	OPT_NO_CYCLES,
	OPT_BATCH,
	OPT_HOSTFILE,
	OPT_HOST_LIST,
	OPT_ROUTES,
	OPT_TIMEOUT,
	OPT_CACHED,
	OPT_TRACE,
	OPT_HELP,
	OPT_VERSION,
	OPTIONS
};

struct command {
	const char *name, *purpose;
	int (*run)(const char *const value[OPTIONS]);
	unsigned long takes; /* one bit per option */
};

/*
 * The text of each option by its id, NULL if not given. Returns 0, or an exit code; *done: nothing
 * is left to do.
 */
int options_read(const struct command *command, int argc, char **argv, const char *value[OPTIONS], bool *done);

/*
 * A whole number from least to most, or fallback if not given. Returns false after an error
 * message.
 */
bool options_number(const char *const value[OPTIONS], enum option_id id, int least, int most, int fallback,
		    int *number);
bool options_rate(const char *const value[OPTIONS], enum option_id id, double fallback, double *rate);
const char *options_name(enum option_id id);

/* One line to standard error. Returns MISTAKE. */
int say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The machine that --shape, --file or --nodes describe. */
struct machine {
	struct torus_shape whole; /* of the machine */
	struct torus_box box;	  /* the part of it with hosts */
	struct torus_sites sites; /* that part */
	struct torus_file file;	  /* names of hosts, if there is a file */
	const char *pattern;	  /* for names, if there is none */
	bool logical;		  /* invented from a number of nodes */
	int pes;
};

/* Returns 0, or an exit code after one line. */
int machine_read(struct machine *machine, const char *const value[OPTIONS]);
void machine_free(struct machine *machine);

/*
 * The place of a node in the whole machine; and the node that an option names by number,
 * coordinates or host.
 */
int machine_place(const struct machine *machine, int node);
int machine_node(const struct machine *machine, enum option_id id, const char *text, int *node);
const char *machine_host(const struct machine *machine, int node, char *buffer, size_t size);

/* From the text of a shape file. */
int machine_of_text(struct machine *machine, const char *text);

int show_machine(const struct machine *machine, int root, const char *const value[OPTIONS]);
/* The quality of the routes; or the commands of one host, or of all. */
int show_routes(const struct machine *machine, const char *host, const char *const value[OPTIONS]);

int run_discover(const char *const value[OPTIONS]);
int run_show(const char *const value[OPTIONS]);
int run_place(const char *const value[OPTIONS]);
int run_tni(const char *const value[OPTIONS]);
int run_routes(const char *const value[OPTIONS]);
int run_view(const char *const value[OPTIONS]);

/* A drawing for a browser. Returns 0 or an exit code. */
int draw_svg(const struct machine *machine, const char *path);
/* The trees from a node, as text and, if requested, as drawings. */
int show_trees(const struct machine *machine, int root, const char *const value[OPTIONS]);

#endif
