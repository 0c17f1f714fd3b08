/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two accesses to a byte race if one writes, one is not atomic, and nothing orders them. Of the
 * writes the last one counts.
 */
#include "inside.h"

#include <string.h>

static struct cell *cell_of(uint64_t place)
{
	uint32_t at = (uint32_t)(place * 0x9e3779b97f4a7c15 >> 32) % CELLS;

	for (int tries = 0; tries < 1024; tries++, at = (at + 1) % CELLS) {
		struct cell *cell = &model->cell[at];

		if (cell->round != model->clock_of_round) {
			memset(cell, 0, sizeof *cell);
			cell->round = model->clock_of_round;
			cell->place = place;
			return cell;
		}
		if (cell->place == place)
			return cell;
	}
	explore_fail("an execution touches more memory than the model holds; make the scenario shorter", __FILE__,
		     __LINE__);
}

static bool is_data(uint64_t place)
{
	for (int i = 0; i < model->n_ranges; i++)
		if (place >= model->range[i].start && place < model->range[i].end)
			return true;
	return false;
}

static void check_byte(struct cell *cell, bool write, bool atomic, uint32_t site)
{
	const struct view *cur = &model->thread[self].cur;
	unsigned bit = 1u << self;

	if (cell->write_clock > cur->clock[cell->writer] && cell->writer != self && !(atomic && cell->atomic_write))
		fail_at(write ? "a store is not ordered after a store" : "a load is not ordered after a store", site,
			cell->write_site);
	for (int t = 0; write && t < model->threads; t++)
		if (t != self && cell->read_clock[t] > cur->clock[t] && !(atomic && cell->atomic_reads & 1u << t))
			fail_at("a store is not ordered after a load", site, cell->read_site[t]);
	if (write) {
		cell->writer = (uint8_t)self;
		cell->write_clock = cur->clock[self];
		cell->write_site = site;
		cell->atomic_write = atomic;
	} else {
		cell->read_clock[self] = cur->clock[self];
		cell->read_site[self] = site;
		cell->atomic_reads = (uint8_t)(atomic ? cell->atomic_reads | bit : cell->atomic_reads & ~bit);
	}
}

void race_check(uint64_t place, size_t bytes, bool write, bool atomic, uint32_t site)
{
	if (atomic && is_data(place))
		atomic = false;
	for (size_t i = 0; i < bytes; i++)
		check_byte(cell_of(place + i), write, atomic, site);
}
