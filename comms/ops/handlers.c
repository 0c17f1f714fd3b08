/* SPDX-License-Identifier: BSD-3-Clause */
#include "handlers.h"

#include "comms/net/network.h"
#include "comms/observe/counters.h"

uint8_t comms_listen(int pe, _Atomic uint64_t *word, uint64_t value, uint64_t step)
{
	return comms.network && comms.network->handling ? comms.network->handling->listen(comms_meet(pe), word, value, step) : 0;
}

void comms_listen_no_more(int pe, uint8_t notice)
{
	comms.network->handling->listen_no_more(comms_meet(pe), notice);
}

void comms_note_needed(int pe, uint8_t notice)
{
	comms.network->handling->needed(comms_meet(pe), notice);
}

static size_t in_heap(const void *address)
{
	return (size_t)((const char *)address - comms.segments[COMMS_HEAP].base);
}

void comms_tell_noted(struct comms_telling *telling, struct comms_piece first, struct comms_piece message, uint8_t notice, int pe)
{
	telling->more = first;
	telling->more_there = first.bytes ? in_heap(first.dest) : 0;
	watch_if_on(comms.network->row, WATCH_THERE, pe, first.bytes + message.bytes);
	comms.network->handling->tell_noted(telling, comms_meet(pe), COMMS_HEAP, in_heap(message.dest), message.source, message.bytes, notice);
}
