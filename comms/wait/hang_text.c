/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread records before it may wait, and the text about it in a report. */
#include "hang.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "comms/core/awaited.h"
#include "comms/core/network.h"
#include "comms/core/regions.h"
#include "comms/ops/reorder.h"
#include "comms/core/group.h"

_Thread_local struct hang_note hang_note;

void hang_note_word(const char *routine, const void *word, size_t size, bool is_signed, const char *compare,
		    uint64_t wanted)
{
	hang_note.kind = HANG_WORD;
	hang_note.routine = routine;
	hang_note.word = word;
	hang_note.size = size;
	hang_note.is_signed = is_signed;
	hang_note.text = compare;
	hang_note.wanted = wanted;
}

void hang_note_lock(const char *routine, const long *lock, int before)
{
	hang_note.kind = HANG_LOCK;
	hang_note.routine = routine;
	hang_note.word = lock;
	hang_note.pe = before;
}

void hang_note_peer(const char *routine, const char *what, int pe)
{
	hang_note.kind = HANG_PEER;
	hang_note.routine = routine;
	hang_note.text = what;
	hang_note.pe = pe;
}

static const char *address_text(const void *address, char place[64])
{
	enum comms_segment_id segment = comms_find_segment(address);
	uintptr_t offset =
		segment < COMMS_NO_SEGMENT ? (uintptr_t)((const char *)address - comms.segments[segment].base) : 0;

	if (segment == COMMS_HEAP)
		snprintf(place, 64, "heap + 0x%" PRIxPTR, offset - COMMS_SYSTEM_BYTES);
	else if (segment == COMMS_GLOBALS)
		snprintf(place, 64, "global data + 0x%" PRIxPTR, offset);
	else if (segment != COMMS_NO_SEGMENT)
		snprintf(place, 64, "%s + 0x%" PRIxPTR, comms_segment_name(segment), offset);
	else
		snprintf(place, 64, "0x%" PRIxPTR, (uintptr_t)address);
	return place;
}

static void print_value(char text[32], uint64_t value)
{
	int unused = 64 - 8 * (int)hang_note.size;

	if (hang_note.is_signed)
		snprintf(text, 32, "%" PRId64, (int64_t)(value << unused) >> unused);
	else
		snprintf(text, 32, "%" PRIu64, value << unused >> unused);
}

static uint64_t value_now(void)
{
	switch (hang_note.size) {
	case 2: return __atomic_load_n((const uint16_t *)hang_note.word, __ATOMIC_RELAXED);
	case 4: return __atomic_load_n((const uint32_t *)hang_note.word, __ATOMIC_RELAXED);
	default: return __atomic_load_n((const uint64_t *)hang_note.word, __ATOMIC_RELAXED);
	}
}

/* The profiling name of a routine is the user's name with a p in front. */
static void name_routine(struct comms_waiting *w, const char *routine)
{
	if (!routine)
		routine = "a call";
	snprintf(w->routine, sizeof w->routine, "%s", strncmp(routine, "pshmem_", 7) ? routine : routine + 1);
}

static void describe_word(struct comms_waiting *w)
{
	char place[64], seen[32], wanted[32];
	int length, from;

	if (hang_note.size == 0) {
		snprintf(w->text, sizeof w->text, "waiting for any of the words at %s",
			 address_text(hang_note.word, place));
		return;
	}
	print_value(seen, value_now());
	print_value(wanted, hang_note.wanted);
	length = snprintf(w->text, sizeof w->text, "waiting for the word at %s, which is %s, to be %s %s",
			  address_text(hang_note.word, place), seen, hang_note.text, wanted);
	if (reorder_overtook(hang_note.word, hang_note.size, &from) && length < (int)sizeof w->text)
		snprintf(w->text + length, sizeof w->text - (size_t)length,
			 " (puts of PE %d to it overtook each other: no fence between them)", from);
}

static void describe_group(struct comms_waiting *w)
{
	const struct comms_group *group = hang_note.group;

	w->kind = COMMS_WAITS_FOR_GROUP;
	w->slot = group->slot;
	w->size = group->size;
	w->start = group->start;
	w->stride = group->stride;
	w->listed = group->members != NULL;
	for (int i = 0; w->listed && i < group->size && i < COMMS_LISTED; i++)
		w->members[i] = group->members[i];
}

static void describe_answer(struct comms_waiting *w)
{
	char others[80];

	w->kind = COMMS_WAITS_FOR_PE;
	w->pe = comms_awaited.pe;
	name_routine(w, comms_awaited.routine);
	others[0] = '\0';
	if (comms.network)
		comms.network->name_under_way(others, sizeof others);
	snprintf(w->text, sizeof w->text, "waiting for an answer of PE %d%s", comms_awaited.pe, others);
}

void hang_describe(struct comms_waiting *w)
{
	char place[64];

	memset(w, 0, sizeof *w);
	w->kind = COMMS_WAITS;
	w->pe = COMMS_NOBODY;
	name_routine(w, hang_note.routine);
	if (comms_awaited.pe != COMMS_NOBODY) {
		describe_answer(w);
	} else if (hang_note.kind == HANG_GROUP) {
		describe_group(w);
	} else if (hang_note.kind == HANG_WORD) {
		describe_word(w);
	} else if (hang_note.kind == HANG_LOCK) {
		w->kind = COMMS_WAITS_FOR_LOCK;
		w->pe = hang_note.pe;
		snprintf(w->text, sizeof w->text, "waiting for the lock at %s", address_text(hang_note.word, place));
	} else if (hang_note.kind == HANG_PEER && hang_note.pe == COMMS_NOBODY) {
		snprintf(w->text, sizeof w->text, "waiting for %s", hang_note.text);
	} else if (hang_note.kind == HANG_PEER) {
		w->kind = COMMS_WAITS_FOR_PE;
		w->pe = hang_note.pe;
		snprintf(w->text, sizeof w->text, "waiting for %s PE %d", hang_note.text, hang_note.pe);
	}
}
