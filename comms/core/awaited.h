/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_AWAITED_H
#define COMMS_CORE_AWAITED_H

#include "comms.h"

/*
 * The PE whose answer an operation of this thread waits for, and the routine that waits. Operations
 * and networks set it and restore the value before; reports of a hang read it (comms/wait/hang.h).
 */
struct comms_awaited {
	const char *routine;
	int pe; /* COMMS_NOBODY: none */
};
extern _Thread_local struct comms_awaited comms_awaited __attribute__((tls_model("initial-exec")));

#endif
