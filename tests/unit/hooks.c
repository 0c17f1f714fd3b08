/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comms/net/ucx/filter/ucx_hooks.c, on this program itself, whose slots nobody may write (local.mk
 * links it so).
 */
#include "comms/net/ucx/filter/ucx_hooks.h"

#include <stdint.h>
#include <unistd.h>

#include "tests/lib/unit.h"

static pid_t no_parent(void)
{
	return -42;
}

static gid_t no_group(void)
{
	return 4242;
}

int main(void)
{
	const struct hook parent = {"getppid", (void (*)(void))no_parent},
			  group = {"getegid", (void (*)(void))no_group},
			  absent = {"is_called_by_nobody", (void (*)(void))no_parent};
	const void *code = (const void *)(uintptr_t)main;
	int nowhere;

	EXPECT(getppid() > 0, "without hooks");
	EXPECT(!hooks_set(code, (const struct hook[]){parent, absent}, 2), "the program does not call one of them");
	EXPECT(getppid() > 0, "all or none");
	EXPECT(hooks_set(code, (const struct hook[]){parent, group}, 2), "the program calls both");
	EXPECT(getppid() == -42 && getegid() == 4242, "with hooks");
	EXPECT(!hooks_set(&nowhere, &parent, 1), "no library has its code there");
	return unit_failures != 0;
}
