/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of include/shmemx_inline.h.in, for programs compiled with SHMEMX_INLINE. comms fills in
 * a PE at the first contact, unless all calls go to the library: then it stays zero.
 */
#include "api.h"

#include <shmemx_inline.h>
#include <string.h>

#include "rte/settings.h"

/* The linker may place the table in the program: all accesses use this name. */
API struct shmemx_inline_table shmemx_inline_1;

_Static_assert(sizeof(struct shmemx_inline_peer) == 64, "programs know its size");
_Static_assert(sizeof(struct comms_shortcut) == sizeof(struct shmemx_inline_peer), "it is what comms fills in");
#define SAME_PLACE(MEMBER)                                                                                     \
	_Static_assert(offsetof(struct shmemx_inline_peer, MEMBER) == offsetof(struct comms_shortcut, MEMBER), \
		       "here, too")
SAME_PLACE(pe);
SAME_PLACE(room);
SAME_PLACE(away);
SAME_PLACE(sleepers);
_Static_assert(SHMEMX_INLINE_ROOM == COMMS_SHORTCUT_BYTES && SHMEMX_INLINE_PEERS == COMMS_SHORTCUTS, "in both");
_Static_assert((int)COMMS_HEAP == 0 && (int)COMMS_GLOBALS == 1 && (int)COMMS_FIXED_SEGMENTS == 2, "in this order");
_Static_assert(COMMS_WAKEUP_KNOWN == 1 << 15 && COMMS_WAKEUP_SEGMENT == 16 && COMMS_WAKEUP_PLACE == 17 &&
		       COMMS_GRANULE == 8,
	       "programs read a word of sleepers");
_Static_assert(sizeof(struct shmemx_inline_table) == 16 * 1024 + 32,
	       "another layout gets another name: docs/decisions/versions.md");

struct comms_shortcut *api_inline_shortcuts(void)
{
	bool wanted = true;

	setting_bool(SETTING_INLINE, &wanted);
	return wanted ? (struct comms_shortcut *)(void *)shmemx_inline_1.peers : NULL;
}

void api_inline_start(void)
{
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		shmemx_inline_1.base[i] = (uintptr_t)comms.segments[i].base;
	shmemx_inline_1.front = COMMS_SYSTEM_BYTES;
	shmemx_inline_1.atomics = comms.quick_atomic_pes > 0;
}

void api_inline_stop(void)
{
	comms.shortcuts = NULL;
	memset(&shmemx_inline_1, 0, sizeof shmemx_inline_1);
}

API void shmemx_inline_wake(const void *dest, size_t bytes, int pe)
{
	comms_wake_at(comms_peer(pe), dest, bytes);
}
