/* SPDX-License-Identifier: BSD-3-Clause */
#include "copy.h"

void comms_copy_large(void *dest, const void *source, size_t bytes)
{
	memmove(dest, source, bytes);
}

void comms_put_large(const struct comms_peer *peer, const void *dest, void *here, const void *source, size_t bytes)
{
	comms_copy_large(here, source, bytes);
	comms_notify_of(peer, dest, bytes);
}
