/* SPDX-License-Identifier: BSD-3-Clause */
/* torusplan tni: assigns a node's messages to its TNIs, and computes the time of a step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/program_grid.h"
#include "comms/torus/tni.h"
#include "torusplan.h"

static int read_tile(struct torus_step *step, const char *text)
{
	char problem[TORUS_PROBLEM];
	struct torus_grid tile;

	if (!text)
		return say("no tile; give the part of the grid that a node has, as in --tile 2x2");
	if (!torus_grid_read(&tile, text, problem))
		return say("--tile %s", problem);
	if (strchr(text, 'm'))
		return say("--tile %s: marks mean nothing for a tile; give sizes, as in 2x2", text);
	step->dims = tile.dims;
	memcpy(step->tile, tile.size, sizeof step->tile);
	if (!torus_step_complete(step, problem))
		return say("--tile %s: %s", text, problem);
	return 0;
}

/* The directions that "x", "x+" or "x-" stand for, as bits; 0: none. */
static unsigned read_directions(const char *word, size_t length, int dims)
{
	unsigned directions = 0;

	for (int direction = 0; direction < 2 * dims; direction++)
		if (length >= 1 && length <= 2 && !strncmp(word, torus_direction_name(direction), length))
			directions |= 1u << direction;
	return directions;
}

/* "x=2,y=1" */
static int read_volumes(struct torus_step *step, const char *text)
{
	const char *at = text;

	for (int direction = 0; direction < 2 * step->dims; direction++)
		step->volume[direction] = 1;
	while (at && *at) {
		size_t length = strcspn(at, "=");
		unsigned directions = read_directions(at, length, step->dims);
		char *end = NULL;
		double volume = at[length] ? strtod(at + length + 1, &end) : -1;

		if (!directions || !end || end == at + length + 1 || !isfinite(volume) || volume < 0 ||
		    (*end && *end != ','))
			return say("--volume %s: not a list of volumes; give MB for axes of the tile, as in x=2,y=1",
				   text);
		for (int direction = 0; direction < 2 * step->dims; direction++)
			if (directions >> direction & 1)
				step->volume[direction] = volume;
		at = *end ? end + 1 : end;
	}
	return 0;
}

static int read_assign(const char *text, enum torus_assign *how)
{
	static const char *const names[] = {"direction", "round-robin", "best"};

	*how = TORUS_BEST;
	for (int i = 0; text && i < 3; i++)
		if (!strcmp(text, names[i])) {
			*how = (enum torus_assign)i;
			return 0;
		}
	return text ? say("--assign %s: no such method; give direction, round-robin or best", text) : 0;
}

static void print_slots(const struct torus_step *step, const struct torus_assignment *assignment)
{
	printf("TNI of each message\n%8s", "");
	for (int direction = 0; direction < 2 * step->dims; direction++)
		printf("  %3s", torus_direction_name(direction));
	puts("");
	for (int pe = 0; pe < step->pes; pe++) {
		printf("  PE %-3d", pe);
		for (int direction = 0; direction < 2 * step->dims; direction++) {
			int tni = assignment->tni[pe * 2 * step->dims + direction];

			if (tni < 0)
				printf("  %3s", "-");
			else
				printf("  %3d", tni);
		}
		puts("");
	}
}

static void print_result(const struct torus_step *step, const struct torus_assignment *a, enum torus_assign how)
{
	printf("\nload of each TNI, MB\n%10s%10s%10s\n", "", "sends", "receives");
	for (int e = 0; e < step->tnis; e++)
		printf("  %-8d%10.6g%10.6g\n", e, a->out[e], a->in[e]);
	printf("\nmessages  %d of %.6g MB together; %.6g MB leave the node, at most %.6g MB by one link\n", a->slots,
	       a->sum, a->leaving, a->link);
	printf("step      %.1f us, which the %s take%s", a->microseconds, a->bound,
	       strcmp(a->bound, "memory") ? "" : "s");
	if (how == TORUS_BEST)
		printf("; %s",
		       a->proven ? "no assignment takes less" : "the best found, perhaps not the best there is");
	printf("\neffective %.1f GB/s\nleaving   %.1f GB/s\n", torus_step_rate(a, a->sum),
	       torus_step_rate(a, a->leaving));
}

int run_tni(const char *const value[OPTIONS])
{
	struct torus_step step = {0};
	struct torus_assignment assignment;
	enum torus_assign how;
	int code = read_tile(&step, value[OPT_TILE]);

	if (code == 0)
		code = read_volumes(&step, value[OPT_VOLUME]);
	if (code == 0)
		code = read_assign(value[OPT_ASSIGN], &how);
	if (code)
		return code;
	if (!options_number(value, OPT_TNIS, 1, 1024, 6, &step.tnis) ||
	    !options_rate(value, OPT_RATE, 6.8, &step.tni_rate) ||
	    !options_rate(value, OPT_LINK_RATE, step.tni_rate, &step.link_rate) ||
	    !options_rate(value, OPT_MEMORY_RATE, 0, &step.memory_rate))
		return MISTAKE;
	if (!torus_assign(&assignment, &step, how))
		return say("no memory for %d PEs", step.pes);
	print_slots(&step, &assignment);
	print_result(&step, &assignment, how);
	torus_assignment_free(&assignment);
	return 0;
}
