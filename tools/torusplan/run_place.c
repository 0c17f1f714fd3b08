/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * torusplan place: places a grid of PEs on a torus, shows the gain, and writes rank files for
 * launchers.
 */
#include <errno.h>
#include <string.h>

#include "comms/torus/place.h"
#include "torusplan.h"

enum format { FORMAT_NONE, FORMAT_OPENMPI, FORMAT_PRRTE, FORMAT_SLURM, FORMAT_FUJITSU };

static const char *const format_names[] = {"none", "openmpi", "prrte", "slurm", "fujitsu"};

static int read_format(const char *text, const struct machine *machine, enum format *format)
{
	*format = FORMAT_NONE;
	if (!text)
		return 0;
	for (int f = FORMAT_OPENMPI; f <= FORMAT_FUJITSU; f++)
		if (!strcmp(text, format_names[f]))
			*format = (enum format)f;
	if (*format == FORMAT_NONE)
		return say("--format %s: no such form; give openmpi, prrte, slurm or fujitsu", text);
	if (*format == FORMAT_FUJITSU && machine->sites.shape.axes > 3)
		return say("--format fujitsu: its rank maps have at most three coordinates, the shape has %d axes; "
			   "give the logical shape of the job, as in --shape 8x6x12",
			   machine->sites.shape.axes);
	return 0;
}

/* One line for each PE of the grid, in the order of the ranks. */
static void write_ranks(FILE *file, enum format format, const struct machine *machine, const struct torus_plan *plan,
			int pes)
{
	char text[TORUS_TEXT], name[512];

	for (int pe = 0; pe < pes; pe++) {
		const char *host = machine_host(machine, plan->node[pe], name, sizeof name);

		if (format == FORMAT_FUJITSU)
			fprintf(file, "(%s)\n",
				torus_place_text(&machine->sites.shape, machine->sites.place[plan->node[pe]], text));
		else if (format == FORMAT_SLURM)
			fprintf(file, "%s\n", host);
		else
			fprintf(file, "rank %d=%s slot=%d\n", pe, host, plan->slot[pe]);
	}
}

static int write_file(const char *path, enum format format, const struct machine *machine,
		      const struct torus_plan *plan, int pes)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return say("--output %s: cannot be written: %s", path, strerror(errno));
	write_ranks(file, format, machine, plan, pes);
	if (ferror(file) | fclose(file)) {
		say("--output %s: cannot be written: %s", path, strerror(errno));
		return FAILED;
	}
	return 0;
}

static double per_message(const struct torus_cost *cost)
{
	return cost->messages ? (double)cost->hops / (double)cost->messages : 0;
}

static void report_row(const char *name, const struct torus_cost *cost)
{
	printf("%-11s %9.3f %8d %11ld  ", name, per_message(cost), cost->longest, cost->worst);
	for (int h = 0; h < cost->n_by_hops; h++)
		if (cost->by_hops[h])
			printf(" %d:%ld", h, cost->by_hops[h]);
	puts("");
}

static void report(const struct machine *machine, const struct torus_grid *grid, const char *dims,
		   const struct torus_plan *plan)
{
	char text[TORUS_TEXT];

	printf("%d PEs as %s on %s, %d on each node%s\n", grid->cells, dims,
	       torus_shape_text(&machine->sites.shape, text), machine->pes,
	       machine->logical ? " (logical: made up from the number of nodes)" : "");
	printf("placed %s", plan->how);
	if (machine->pes > 1 && plan->tile[0]) {
		printf(", a node has a tile of ");
		for (int i = 0; i < grid->dims; i++)
			printf("%s%d", i ? "x" : "", plan->tile[i]);
	}
	printf("\n\n            mean hops  longest  worst link   messages by hops\n");
	report_row("rank order", &plan->before);
	report_row("placed", &plan->after);
}

static int place(const struct machine *machine, const char *const value[OPTIONS])
{
	char problem[TORUS_PROBLEM];
	struct torus_grid grid;
	struct torus_plan plan;
	enum format format;
	int code = read_format(value[OPT_FORMAT], machine, &format);

	if (code)
		return code;
	if (value[OPT_OUTPUT] && format == FORMAT_NONE)
		return say("--output %s: a file in which form? Give --format as well", value[OPT_OUTPUT]);
	if (!value[OPT_DIMS])
		return say("no grid; give its sizes, as in --dims 8x8mx4");
	if (!torus_grid_read(&grid, value[OPT_DIMS], problem))
		return say("--dims %s", problem);
	if (!torus_place(&plan, &machine->sites, machine->pes, &grid, problem))
		return say("--dims %s: %s", value[OPT_DIMS], problem);
	if (value[OPT_OUTPUT])
		code = write_file(value[OPT_OUTPUT], format, machine, &plan, grid.cells);
	else if (format != FORMAT_NONE)
		write_ranks(stdout, format, machine, &plan, grid.cells);
	if (code == 0 && (format == FORMAT_NONE || value[OPT_OUTPUT]))
		report(machine, &grid, value[OPT_DIMS], &plan);
	torus_plan_free(&plan);
	return code;
}

int run_place(const char *const value[OPTIONS])
{
	struct machine machine;
	int code = machine_read(&machine, value);

	if (code == 0) {
		code = place(&machine, value);
		machine_free(&machine);
	}
	return code;
}
