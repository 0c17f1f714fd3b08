/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WAIT_H
#define COMMS_WAIT_H

#include <stdatomic.h>
#include <stdint.h>

/* Decides how long to look before sleeping. */
void wait_start(void);
void wait_stop(void);

/* Waits on a word of a node's shared memory that whoever changes it wakes: wait_wake if there are sleepers. */
void wait_while(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleepers);
void wait_wake(_Atomic uint32_t *word);

#endif
