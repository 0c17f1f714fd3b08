/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NOTICES_H
#define COMMS_NOTICES_H

#include "notify.h"

/*
 * Messages that need no word behind them, because the network itself says to the receiver that they have come.
 *
 * listen   by the receiver: word is to become value, then value + step, ... as such messages come from pe. Returns the number that the
 *          sender has to name, 0: it must put a word behind its messages, as ever
 */
uint8_t comms_listen(int pe, _Atomic uint64_t *word, uint64_t value, uint64_t step);
/* All that was sent has come: sender and receiver have met since. */
void comms_listen_no_more(int pe, uint8_t notice);

/* This PE has waited for the last message with that number: what it does now follows from it. */
void comms_note_needed(int pe, uint8_t notice);

/* As comms_tell_later, in the heap; before, in order, goes first, which may be empty. */
void comms_tell_noted(struct comms_telling *telling, struct comms_piece first, struct comms_piece message, uint8_t notice, int pe);

#endif
