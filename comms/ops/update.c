/* SPDX-License-Identifier: BSD-3-Clause */
#include "update.h"

#include "ops.h"

uint64_t comms_channel_update(struct comms_channel *channel, void *dest, const struct comms_update *update, int pe,
			      const char *routine)
{
	COMMS_CALL_OR(0, routine, update->width, pe);
	struct comms_atomic read = {COMMS_FETCH, update->width, 0, 0}, change = {COMMS_CSWAP, update->width, 0, 0};
	uint64_t old = comms_channel_amo_fetch(channel, dest, &read, pe, routine);

	for (;;) {
		uint64_t found;

		change.compare = old;
		change.operand = update->compute(old, update->operand);
		if (change.operand == old)
			return old;
		found = comms_channel_amo_fetch(channel, dest, &change, pe, routine);
		if (found == old)
			return old;
		old = found;
	}
}
