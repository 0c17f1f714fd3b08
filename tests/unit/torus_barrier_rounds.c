/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers in rounds along the axes of a torus: in the end everybody knows of everybody; and which
 * shapes profit.
 */
#include "comms/torus/barrier_rounds.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

static char text[TORUS_TEXT];

/* In a round all send what they knew before it. */
static void check(const struct torus_shape *shape)
{
	size_t n = (size_t)shape->places;
	char *knows = calloc(n * n, 1), *knew = malloc(n * n);
	int notified[TORUS_ROUNDS], rounds = torus_barrier_rounds(shape, 0, notified);

	torus_shape_text(shape, text);
	for (size_t p = 0; p < n; p++)
		knows[p * n + p] = 1;
	for (int r = 0; r < rounds; r++) {
		memcpy(knew, knows, n * n);
		for (size_t p = 0; p < n; p++) {
			EXPECT(torus_barrier_rounds(shape, (int)p, notified) == rounds, "%s: rounds of %zu", text, p);
			EXPECT(notified[r] >= 0 && notified[r] < shape->places && notified[r] != (int)p,
			       "%s: %zu notifies %d", text, p, notified[r]);
			for (size_t of = 0; of < n; of++)
				knows[(size_t)notified[r] * n + of] |= knew[p * n + of];
		}
	}
	for (size_t i = 0; i < n * n; i++)
		EXPECT(knows[i], "%s: %zu does not know of %zu", text, i / n, i % n);
	free(knows);
	free(knew);
}

static void check_choice(void)
{
	static const struct {
		const char *shape;
		bool pays;
	} rows[] = {{"4x4x4", true}, {"8x8x8", true}, {"3x3x3", false}, {"5x5", false}, {"16", false}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_shape shape;
		struct torus_sites sites;

		tori_read(&shape, rows[i].shape);
		torus_sites_all(&sites, &shape);
		EXPECT(torus_barrier_pays(&sites, 20) == rows[i].pays, "%s", rows[i].shape);
		torus_sites_free(&sites);
	}
}

int main(void)
{
	struct torus_shape shape;

	for (int i = 0; i < 100; i++) {
		tori_shape(&shape, 80);
		check(&shape);
	}
	check_choice();
	return unit_failures > 0;
}
