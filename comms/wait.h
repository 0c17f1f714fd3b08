/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WAIT_H
#define COMMS_WAIT_H

#include <stddef.h>

/* Decides how long to look before sleeping. */
void wait_start(void);

/* Bytes at the start of a PE's scratch that comms_sync keeps for itself. */
#define WAIT_SCRATCH_BYTES 4096

#endif
