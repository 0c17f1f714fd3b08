/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_HOOKS_H
#define COMMS_HOOKS_H

#include <stdbool.h>

/*
 * Replaces functions of the C library where one other library calls them. The rest of the process
 * goes on calling the originals.
 */

struct hook {
	const char *name;
	void (*function)(void); /* has the type of the original */
};

/*
 * Sets the hooks in the library that contains this code. False: the library does not call every one
 * of these functions by a slot that can be changed; then no hook is set. The hooks stay until the
 * process ends.
 */
bool hooks_set(const void *code, const struct hook *hooks, int n);

#endif
