/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_SETTINGS_H
#define SOFTOFU_SETTINGS_H

#include "box.h"

/* What the environment says: the launcher about this process, the user about the machine to play. */
enum order {
	ORDER_ADVERSARIAL, /* what was not asked for in order comes out of order */
	ORDER_POSTED,	   /* everything in the order it was posted */
};

struct settings {
	struct box box;
	long rank;
	long ranks;	 /* 0: the launcher did not say */
	char job[24];	 /* names the job on this machine; empty: this process is alone */
	const char *run; /* the run directory, or NULL */
	enum order order;
	unsigned long seed;
	long mrq_size;
	bool early_cqs;	   /* a rank's CQs begin where they did in the machine's first years */
	bool sps_by_block; /* a strided put moves the scheduling pointer with each block */
	bool stats;
	const char *record; /* the folder to write down in what the cards do; NULL: it is not */
	const char *net; /* settings of the network between the cards; NULL: there is none */
};

/* Ends the process after one line about what is wrong. */
void settings_read(struct settings *settings);

/* The line, and no more: for oshrun, which has its own way of ending. Returns false after it. */
bool settings_box(struct box *box, long ranks);

#endif
