/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_MAIL_H
#define COMMS_MAIL_H

#include "comms/ops/buffers.h"

/*
 * A PE's letter box: a ring of places in its system memory. Who has a letter draws a number, by one atomic addition that
 * also says how many letters have been taken; the place of that number is free when no more than a ring of them lie in between. The
 * letter goes there, and behind it the number plus one, which shows it. Nothing of it is kept for each pair of PEs.
 */
#define COMMS_LETTERS 1024

struct comms_place {
	struct comms_letter letter;
	_Atomic uint64_t turn;
};
struct comms_box {
	_Alignas(64) _Atomic uint64_t counts; /* numbers drawn in the upper half, letters taken in the lower one */
	_Alignas(64) struct comms_place place[COMMS_LETTERS];
};
_Static_assert(sizeof(struct comms_box) <= COMMS_BOX_BYTES, "there is room in a PE's system memory");

/* A letter, how much of it is to be sent, and the number it has. */
struct comms_mail {
	const struct comms_letter *letter;
	size_t bytes;
	uint32_t number;
};

/* Draws a number; where the box is full it waits, and calls meanwhile, which empties this PE's own. */
uint32_t comms_mail_number(int pe, void (*meanwhile)(void), const char *routine);
void comms_mail_send(int pe, const struct comms_mail *mail, const char *routine);
/* The place of a number, by its address here. */
struct comms_place *comms_mail_place(uint32_t number);

/* Is there one? And takes it. Calls to take come one at a time. */
bool comms_mail_waits(void);
bool comms_mail_take(struct comms_letter *letter, const char *routine);
/* What to wait at for the next one. */
const void *comms_mail_next(void);
void comms_mail_start(void);

#endif
