/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WAIT_H
#define COMMS_WAIT_H

/* Decides how long to look before sleeping. */
void wait_start(void);

#endif
