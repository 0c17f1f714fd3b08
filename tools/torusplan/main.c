/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "agent.h"
#include "rte/text/text.h"
#include "torusplan.h"

#define BIT(option) (1UL << (option))
#define ANY (BIT(OPT_HELP) | BIT(OPT_VERSION))
#define WHERE (BIT(OPT_SHAPE) | BIT(OPT_FILE) | BIT(OPT_NODES) | BIT(OPT_HOSTS))

static const struct command commands[] = {
	{"show", "the shape: its axes, the box of a job in it, cables, trees; as text or as a drawing", run_show,
	 ANY | WHERE | BIT(OPT_LINKS) | BIT(OPT_TREES) | BIT(OPT_ROOT) | BIT(OPT_KIND) | BIT(OPT_SVG) | BIT(OPT_PAGE)},
	{"place", "a grid of PEs onto it, so that neighbours are neighbours; rank files for launchers", run_place,
	 ANY | WHERE | BIT(OPT_PES) | BIT(OPT_DIMS) | BIT(OPT_FORMAT) | BIT(OPT_OUTPUT)},
	{"tni", "assigns the messages of a node to its TNIs", run_tni,
	 ANY | BIT(OPT_TILE) | BIT(OPT_TNIS) | BIT(OPT_RATE) | BIT(OPT_LINK_RATE) | BIT(OPT_MEMORY_RATE) |
		 BIT(OPT_VOLUME) | BIT(OPT_ASSIGN)},
	{"routes", "addresses and routes for hosts that are cabled as a torus, as ip commands", run_routes,
	 ANY | WHERE | BIT(OPT_ADDRESS) | BIT(OPT_HOST) | BIT(OPT_DEVICE) | BIT(OPT_NO_CYCLES) | BIT(OPT_BATCH)},
	{"discover", "finds the torus that the cables between hosts form, and its faults", run_discover,
	 ANY | BIT(OPT_HOSTFILE) | BIT(OPT_HOST_LIST) | BIT(OPT_OUTPUT) | BIT(OPT_ROUTES) | BIT(OPT_TIMEOUT) |
		 BIT(OPT_CACHED) | BIT(OPT_LINKS) | BIT(OPT_TREES) | BIT(OPT_SVG) | BIT(OPT_PAGE) | BIT(OPT_ADDRESS) |
		 BIT(OPT_DEVICE) | BIT(OPT_NO_CYCLES)},
	{"view", "a page with the torus and the load of its links over time, from a trace of SHMEM_TRACE", run_view,
	 ANY | BIT(OPT_TRACE) | BIT(OPT_OUTPUT)},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

int say(const char *format, ...)
{
	va_list arguments;

	fputs("torusplan: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return MISTAKE;
}

static void print_help(void)
{
	puts("usage: torusplan COMMAND [options]\n"
	     "\n"
	     "Plans for a torus on paper: what a shape offers and how best to use it. Changes nothing; only discover\n"
	     "starts programs, on the hosts that it examines.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].purpose);
	puts("\n"
	     "  torusplan COMMAND --help lists the options of a command; see also torusplan(1).\n"
	     "\n"
	     "  torusplan show --shape 4x4mx2\n"
	     "  torusplan show --shape 3x3x3 --trees --page trees.html\n"
	     "  torusplan place --shape 4mx6mx8mx2x3x2 --dims 12x16x12 --format openmpi\n"
	     "  torusplan tni --tile 2x2 --tnis 6 --volume x=2,y=1 --assign best\n"
	     "  torusplan routes --shape 3x3x3 --address 10.60.0.0/16 --host 4\n"
	     "  torusplan discover --hostfile hosts --output torus.shape\n"
	     "  torusplan view trace.json");
}

static int finish(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	say("cannot write: %s", strerror(errno));
	return FAILED;
}

static int refuse_command(const char *word)
{
	const char *names[COMMANDS], *nearest;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i].name;
	nearest = text_nearest(word, names, COMMANDS);
	if (nearest)
		return say("unknown command %s; did you mean %s?", word, nearest);
	return say("unknown command %s; there are show, place, tni, routes, discover and view, see torusplan --help",
		   word);
}

int main(int argc, char **argv)
{
	const char *value[OPTIONS] = {NULL};
	const char *word = argc > 1 ? argv[1] : "";

	if (argc < 2)
		return say("no command; there are show, place, tni, routes, discover and view, see torusplan --help");
	if (!strcmp(word, "-h") || !strcmp(word, "--help")) {
		print_help();
		return finish(0);
	}
	if (!strcmp(word, "-V") || !strcmp(word, "--version")) {
		printf("torusplan (torushmem) %s\n", PACKAGE_VERSION);
		return finish(0);
	}
	/* The command that discover starts on the hosts. */
	if (!strcmp(word, "agent") && (argc == 3 || argc == 4))
		return finish(agent_run(argv[2], argv[3]));
	for (size_t i = 0; i < COMMANDS; i++) {
		bool done;
		int code;

		if (strcmp(word, commands[i].name) != 0)
			continue;
		code = options_read(&commands[i], argc - 1, argv + 1, value, &done);
		if (code == 0 && !done)
			code = commands[i].run(value);
		return finish(code);
	}
	return refuse_command(word);
}
