/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/vcq.h"

/*
 * Bits of an id, from the lowest: c b a (4 each), z y x (8 each), TNI 3, CQ 4, component 4, path 9. Bit 62 is set in
 * all ids of VCQs, bit 61 in those of barrier gates.
 */
enum { TNI_AT = 36, CQ_AT = 39, COMPONENT_AT = 43, PATH_AT = 47, GATE_MARK_AT = 61, MARK_AT = 62 };
#define BITS(value, at, count) (((value) >> (at)) & ((1u << (count)) - 1))
#define PATH_MASK (0x1ffull << PATH_AT)
#define KNOWN ((1ull << MARK_AT) | ((1ull << (PATH_AT + 9)) - 1))

static const int axis_at[GRID_AXES] = {28, 20, 12, 8, 4, 0};

uint64_t id_make(const struct vcq_name *name)
{
	uint64_t id = 1ull << MARK_AT | (uint64_t)name->tni << TNI_AT | (uint64_t)name->cq << CQ_AT |
		      (uint64_t)name->component << COMPONENT_AT | (uint64_t)name->path << PATH_AT;

	for (int axis = 0; axis < GRID_AXES; axis++)
		id |= (uint64_t)name->coords[axis] << axis_at[axis];
	return id;
}

bool id_read(uint64_t id, struct vcq_name *name)
{
	if ((id & ~KNOWN) || !(id >> MARK_AT))
		return false;
	for (int axis = 0; axis < GRID_AXES; axis++)
		name->coords[axis] = (uint8_t)BITS(id, axis_at[axis], axis < 3 ? 8 : 4);
	name->tni = (unsigned)BITS(id, TNI_AT, 3);
	name->cq = (unsigned)BITS(id, CQ_AT, 4);
	name->component = (unsigned)BITS(id, COMPONENT_AT, 4);
	name->path = (unsigned)BITS(id, PATH_AT, 9);
	return name->tni < TNIS && name->cq < CQS;
}

uint64_t id_plain(uint64_t id)
{
	return id & ~PATH_MASK;
}

uint64_t id_make_gate(const uint8_t coords[GRID_AXES], unsigned tni, unsigned gate)
{
	struct vcq_name name = {.tni = tni, .cq = gate % 16, .component = gate / 16};

	for (int axis = 0; axis < GRID_AXES; axis++)
		name.coords[axis] = coords[axis];
	return id_make(&name) ^ 1ull << MARK_AT ^ 1ull << GATE_MARK_AT;
}

bool id_read_gate(uint64_t id, uint8_t coords[GRID_AXES], unsigned *tni, unsigned *gate)
{
	uint64_t parts = id ^ 1ull << GATE_MARK_AT;

	if (parts & ~KNOWN || parts >> MARK_AT || parts & PATH_MASK)
		return false;
	for (int axis = 0; axis < GRID_AXES; axis++)
		coords[axis] = (uint8_t)BITS(id, axis_at[axis], axis < 3 ? 8 : 4);
	*tni = (unsigned)BITS(id, TNI_AT, 3);
	*gate = (unsigned)(BITS(id, CQ_AT, 4) + 16 * BITS(id, COMPONENT_AT, 4));
	return *tni < TNIS && *gate < GATES;
}
