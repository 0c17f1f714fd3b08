/* SPDX-License-Identifier: BSD-3-Clause */
/* Letter boxes, see events.h. */
#include "events.h"

#include "comms/ops/ops.h"
#include "comms/wait/hang.h"
#include "comms/wait/wait.h"

#define ONE_DRAWN (1UL << 32)
#define TELL_EACH (COMMS_LETTERS / 4) /* letters that are taken before others are told */

static struct {
	_Atomic uint32_t taken;
	uint32_t told;
} mine;

static struct comms_box *box(void)
{
	return (struct comms_box *)(void *)comms.system->box;
}

void comms_mail_start(void)
{
	atomic_store_explicit(&mine.taken, 0, memory_order_relaxed);
	mine.told = 0;
}

struct comms_place *comms_mail_place(uint32_t number)
{
	return &box()->place[number % COMMS_LETTERS];
}

static uint64_t counts_of(int pe, uint64_t drawn, const char *routine)
{
	return comms_amo_fetch(COMMS_ADD, 8, (void *)&box()->counts, drawn, 0, pe, routine);
}

uint32_t comms_mail_number(int pe, void (*meanwhile)(void), const char *routine)
{
	uint64_t counts = counts_of(pe, ONE_DRAWN, routine);
	uint32_t number = (uint32_t)(counts >> 32);
	unsigned naps = 0;

	while (number - (uint32_t)counts >= COMMS_LETTERS) {
		uint32_t key;

		meanwhile();
		hang_note_peer(routine, "a place for an event in the full box of", pe);
		key = comms_bell_prepare(comms_mail_next());
		comms_bell_sleep(key, &naps);
		counts = counts_of(pe, 0, routine);
	}
	if (naps >= COMMS_SLOW)
		comms_wait_is_over();
	return number;
}

void comms_mail_send(int pe, const struct comms_mail *mail, const char *routine)
{
	struct comms_place *place = comms_mail_place(mail->number);

	comms_tell(&place->letter, mail->letter, mail->bytes, &place->turn, (uint64_t)mail->number + 1, pe, routine);
}

const void *comms_mail_next(void)
{
	return (const void *)&comms_mail_place(atomic_load_explicit(&mine.taken, memory_order_relaxed))->turn;
}

bool comms_mail_waits(void)
{
	uint32_t next = atomic_load_explicit(&mine.taken, memory_order_relaxed);

	return atomic_load_explicit(&comms_mail_place(next)->turn, memory_order_acquire) == (uint64_t)next + 1;
}

/* The lower half of the counts must not run over into the upper one. */
static void tell_others(const char *routine)
{
	uint32_t taken = atomic_load_explicit(&mine.taken, memory_order_relaxed), more = taken - mine.told;
	uint64_t change = more;

	if (taken < mine.told)
		change -= ONE_DRAWN;
	mine.told = taken;
	comms_amo(COMMS_ADD, 8, (void *)&box()->counts, change, comms.pe, routine);
}

bool comms_mail_take(struct comms_letter *letter, const char *routine)
{
	uint32_t next = atomic_load_explicit(&mine.taken, memory_order_relaxed);

	if (!comms_mail_waits())
		return false;
	*letter = comms_mail_place(next)->letter;
	atomic_store_explicit(&mine.taken, next + 1, memory_order_relaxed);
	if (next + 1 - mine.told >= TELL_EACH)
		tell_others(routine);
	return true;
}
