/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_LEVELS_H
#define COMMS_LEVELS_H

#include "comms/core/group.h"
#include "comms/core/comms.h"

/* Divides the members of a group: by node, or, on a node, by memory group. */

struct level_member {
	uint64_t key;
	int place;
	int leader; /* index of the first member with this key */
};

/*
 * Members with equal keys are in one part. Returns false if the key of this PE is unknown; then no
 * PE knows it.
 */
typedef bool level_key(int pe, uint64_t *key);

/*
 * The members sorted by part, parts in the order of their leaders. *parts is their number, 0 if
 * unknown. The caller frees the result.
 */
struct level_member *levels_sort(const struct comms_group *group, level_key *key, int *parts);

/* Two levels of synchronisation: the members of this PE's part, and the leaders of all parts. */
struct comms_levels *levels_make(const struct comms_group *group, const struct level_member *sorted, int parts);
void levels_free(struct comms_levels *levels);

#endif
