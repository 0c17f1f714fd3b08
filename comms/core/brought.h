/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_BROUGHT_H
#define COMMS_CORE_BROUGHT_H

#include "comms.h"

/*
 * Memory that the program brings as a region. Other PEs of the node must be able to map it, so it
 * must lie in a file:
 *
 * shared   the program has mapped a file, or a memfd, with MAP_SHARED. The other PEs map that file
 * private  private memory is moved, at its address, into an anonymous file with pages of the same
 *          size, its contents and NUMA policies kept. comms_brought_end moves it back. A child of
 *          a fork gets a private copy (private_copies.h)
 *
 * A PE that is alone on its node leaves the memory as it is.
 */
enum { BROUGHT_PROBLEM = 320 };

/*
 * Makes segment->base and segment->size, which are set, a segment that comms_region_add takes;
 * *offset is where it begins in segment->fd. No thread may use the memory meanwhile. Returns false
 * with a text that says why and what to do if the memory cannot be shared.
 */
bool comms_brought_share(struct comms_segment *segment, uint64_t *offset, char problem[BROUGHT_PROBLEM]);
/* Call after comms_region_remove. */
void comms_brought_end(const struct comms_segment *segment);

#endif
