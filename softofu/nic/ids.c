/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/vcq.h"

/*
 * Bits of the id of a VCQ, from the lowest: c b a (4 each), z y x (8 each), TNI 3, CQ 4, component
 * 4, path 9. Bit 62 is set in all of them.
 */
enum { TNI_AT = 36, CQ_AT = 39, COMPONENT_AT = 43, PATH_AT = 47, MARK_AT = 62 };
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

/*
 * Bits of the id of a barrier gate, as UTF takes it apart and puts it together: the gate 0-5, x
 * 32-39, y 40-47, z 48-55, a 56, b 57-58, c 59, TNI 61-63. Shapes that the machine does not have
 * need more bits of a, b and c, which are zero on the machine.
 */
struct gate_field {
	int at, count, more_at, more_count;
};
static const struct gate_field gate_axes[GRID_AXES] = {{32, 8, 0, 0}, {40, 8, 0, 0},  {48, 8, 0, 0},
						       {56, 1, 8, 3}, {57, 2, 11, 2}, {59, 1, 13, 3}};
enum { GATE_BITS = 6, GATE_TNI_AT = 61 };
#define GATE_UNUSED (3ull << 6 | 0xffffull << 16 | 1ull << 60)

uint64_t id_make_gate(const uint8_t coords[GRID_AXES], unsigned tni, unsigned gate)
{
	uint64_t id = (uint64_t)tni << GATE_TNI_AT | gate;

	for (int axis = 0; axis < GRID_AXES; axis++) {
		const struct gate_field *field = &gate_axes[axis];

		id |= (uint64_t)BITS(coords[axis], 0, field->count) << field->at |
		      (uint64_t)(coords[axis] >> field->count) << field->more_at;
	}
	return id;
}

bool id_read_gate(uint64_t id, uint8_t coords[GRID_AXES], unsigned *tni, unsigned *gate)
{
	if (id & GATE_UNUSED)
		return false;
	for (int axis = 0; axis < GRID_AXES; axis++) {
		const struct gate_field *field = &gate_axes[axis];

		coords[axis] = (uint8_t)(BITS(id, field->at, field->count) | BITS(id, field->more_at, field->more_count)
										     << field->count);
	}
	*tni = (unsigned)BITS(id, GATE_TNI_AT, 3);
	*gate = (unsigned)BITS(id, 0, GATE_BITS);
	return *tni < TNIS && *gate < GATES;
}
