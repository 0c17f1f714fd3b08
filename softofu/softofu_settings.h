/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_SETTINGS_H
#define SOFTOFU_SETTINGS_H

#include "node_grid.h"

/*
 * Settings from the environment: the launcher describes this process, the user describes the
 * simulated machine.
 */
enum order {
	ORDER_REORDERED, /* communications without strong order are reordered (reorder injection) */
	ORDER_POSTED,	 /* everything in the order it was posted */
};

struct settings {
	struct node_grid grid;
	long rank;
	long ranks;	 /* 0: the launcher did not say */
	char job[24];	 /* names the job on this machine; empty: this process is alone */
	const char *run; /* the run directory, or NULL */
	enum order order;
	bool tear;	 /* an aligned line of 256 bytes arrives in parts */
	unsigned marker; /* place in each line of the word that strong order writes last */
	unsigned long seed;
	long mrq_size;
	bool early_cqs;	   /* a rank's CQs begin where they did in the machine's first years */
	bool sps_by_block; /* a strided put moves the scheduling pointer with each block */
	bool stats;
	const char *record; /* folder for the recording of a run; NULL: none */
	const char *net;    /* settings of the network between the NICs; NULL: no network */
};

/* Reads all settings. Prints one line and ends the process if one is wrong. */
void settings_read(struct settings *settings);

/*
 * Reads the grid alone. Returns false after one line if a setting is wrong. For oshrun, which must
 * clean up before it ends.
 */
bool settings_grid(struct node_grid *grid, long ranks);

#endif
