/* SPDX-License-Identifier: BSD-3-Clause */
#include "completion_numbers.h"

#include "comms/core/network.h"

uint8_t comms_completion_listen(int pe, _Atomic uint64_t *word, uint64_t value, uint64_t step)
{
	return comms.network && comms.network->completions
		       ? comms.network->completions->listen(comms_connect(pe), word, value, step)
		       : 0;
}

void comms_completion_release(int pe, uint8_t completion)
{
	comms.network->completions->release(comms_connect(pe), completion);
}

void comms_note_needed(int pe, uint8_t completion)
{
	comms.network->completions->needed(comms_connect(pe), completion);
}
