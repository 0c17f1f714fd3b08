/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "softofu/nic/vcq.h"

/*
 * The last error of this thread, as text. Fujitsu's header lacks this function and the library has
 * it. Programs pass 1024 bytes, and declare it themselves, with this type.
 */
enum { TEXT_ROOM = 1024 };
static _Thread_local struct {
	const char *routine;
	int code;
} last;

int error_note(const char *routine, int code)
{
	if (code != UTOFU_SUCCESS && code != UTOFU_ERR_NOT_FOUND) {
		last.routine = routine;
		last.code = code;
	}
	return code;
}

static const char *group(int code)
{
	if (code > UTOFU_ERR_TCQ_OTHER)
		return "not now: busy, full, used or not finished";
	if (code > UTOFU_ERR_MRQ_OTHER)
		return "this side of a communication is wrong";
	if (code > UTOFU_ERR_BARRIER_OTHER)
		return "the other side did not take a communication, or notices were lost";
	if (code > UTOFU_ERR_INVALID_ARG)
		return "a barrier went wrong";
	if (code > UTOFU_ERR_OUT_OF_RESOURCE)
		return "an argument is wrong";
	return code > UTOFU_ERR_FATAL ? "out of resources" : "fatal";
}

void utofu_get_last_error(const char *text)
{
	char *room = (char *)(uintptr_t)text;

	if (!last.routine)
		snprintf(room, TEXT_ROOM, "no error");
	else
		snprintf(room, TEXT_ROOM, "%s returned %d: %s", last.routine, last.code, group(last.code));
}
