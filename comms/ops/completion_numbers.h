/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COMPLETION_NUMBERS_H
#define COMMS_COMPLETION_NUMBERS_H

#include "notify.h"

/*
 * Notifications without a flag: the network itself reports their arrival to the receiver.
 *
 * The receiver calls listen: a word of its own becomes value, then value + step, ... as such
 * notifications arrive from a PE. The sender passes the number that listen returns (struct
 * comms_notification, completion). 0: the sender must use a flag.
 */
uint8_t comms_completion_listen(int pe, _Atomic uint64_t *word, uint64_t value, uint64_t step);
/*
 * Call when all notifications with the number have arrived: sender and receiver have passed a
 * barrier since.
 */
void comms_completion_release(int pe, uint8_t completion);

/*
 * This PE has waited for the last notification with that number, and what it does next depends on
 * it.
 */
void comms_note_needed(int pe, uint8_t completion);

#endif
