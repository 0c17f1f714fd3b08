/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "softofu/nic/vcq.h"

/*
 * Barrier gates. A gate has two inputs, one from a gate of its own node and one from another node,
 * and sends the combined value to two gates. The first gate of a set is where a barrier starts and
 * ends: a start sends the caller's value on, and the value that arrives is the result. The others
 * forward.
 *
 * A value may arrive before the gate has used the previous one, because the other side may be a
 * barrier ahead; so inputs are short queues. The thread that delivers the last value runs the gate,
 * and all gates that follow from it.
 */
static struct gate *gate_at(struct nic *nic, uint64_t id, unsigned *number)
{
	uint8_t coords[GRID_AXES];
	unsigned tni;
	long node;

	if (!id_read_gate(id, coords, &tni, number) || (node = node_grid_node(&nic->settings.grid, coords)) < 0)
		return NULL;
	return &job_node_nic(nic->job, (uint32_t)node)->gates[tni][*number];
}

struct gate *gate_find(struct nic *nic, uint64_t id)
{
	unsigned number;

	return gate_at(nic, id, &number);
}

struct gate *gate_mine(struct nic *nic, uint64_t id)
{
	struct gate *gate = gate_find(nic, id);

	return gate && gate->owner == (uint32_t)nic->rank + 1 ? gate : NULL;
}

static void claim_gate(struct nic *nic, unsigned tni, unsigned number, uint64_t *id)
{
	struct gate *gate = &job_node_nic(nic->job, (uint32_t)nic->node)->gates[tni][number];

	memset(gate, 0, sizeof *gate);
	*id = gate->id = id_make_gate(nic->coords, tni, number);
	gate->to[0] = gate->to[1] = gate->from[0].id = gate->from[1].id = GATE_NONE;
	gate->owner = (uint32_t)nic->rank + 1;
}

/* The first gate of a set must be a start gate. */
int gates_allocate(struct nic *nic, unsigned tni, size_t count, uint64_t ids[])
{
	struct gate *gates = job_node_nic(nic->job, (uint32_t)nic->node)->gates[tni];
	unsigned chosen[GATES];
	size_t found = 0;

	job_lock(&nic->job->making);
	for (unsigned i = 0; i < GATES && found < count; i++)
		if (!gates[i].owner && (i < START_GATES) == !found)
			chosen[found++] = i;
	for (size_t i = 0; i < found && found == count; i++)
		claim_gate(nic, tni, chosen[i], &ids[i]);
	job_unlock(&nic->job->making);
	return found == count ? UTOFU_SUCCESS : UTOFU_ERR_FULL;
}

void gates_release(struct nic *nic)
{
	struct node_nic *node_nic = job_node_nic(nic->job, (uint32_t)nic->node);

	job_lock(&nic->job->making);
	for (int tni = 0; tni < TNIS; tni++)
		for (int i = 0; i < GATES; i++)
			if (node_nic->gates[tni][i].owner == (uint32_t)nic->rank + 1)
				node_nic->gates[tni][i].owner = 0;
	job_unlock(&nic->job->making);
}

static double as_double(uint64_t word)
{
	double value;

	memcpy(&value, &word, sizeof value);
	return value;
}

static uint64_t as_word(double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof word);
	return word;
}

/*
 * Adds two-part doubles, so that sums do not depend on the order. The hardware adds blocks with a
 * common exponent for the same reason.
 */
static void add_two_part_doubles(uint64_t *sum, const uint64_t *other)
{
	double a = as_double(sum[0]), b = as_double(other[0]), high = a + b, part = high - a;
	double low = (a - (high - part)) + (b - part) + as_double(sum[1]) + as_double(other[1]);
	double whole = high + low;

	if (!isfinite(whole)) {
		sum[0] = as_word(high);
		sum[1] = 0;
		return;
	}
	sum[0] = as_word(whole);
	sum[1] = as_word(low - (whole - high));
}

static uint64_t combine_word(uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case UTOFU_REDUCE_OP_BAND: return a & b;
	case UTOFU_REDUCE_OP_BOR: return a | b;
	case UTOFU_REDUCE_OP_BXOR: return a ^ b;
	case UTOFU_REDUCE_OP_MAX: return a > b ? a : b;
	default: return a + b;
	}
}

static void combine_values(struct gate_value *value, const struct gate_value *other)
{
	value->wrong = value->wrong || other->wrong || value->op != other->op || value->words != other->words ||
		       value->doubles != other->doubles;
	if (value->wrong)
		return;
	for (int i = 0; i < value->words; i++) {
		const uint64_t *theirs = &other->word[i];
		uint64_t *mine = &value->word[i];

		if (value->op == UTOFU_REDUCE_OP_BFPSUM) {
			add_two_part_doubles(mine, theirs);
			i++;
		} else if (value->op == UTOFU_REDUCE_OP_MAXLOC) {
			/* Pairs of a value and where it is; of equal ones the first. */
			if (theirs[0] > mine[0] || (theirs[0] == mine[0] && theirs[1] < mine[1]))
				memcpy(mine, theirs, 2 * sizeof *mine);
			i++;
		} else {
			*mine = combine_word(value->op, *mine, *theirs);
		}
	}
}

static bool has_all(const struct gate *gate)
{
	for (int i = 0; i < 2; i++)
		if (gate->from[i].id != GATE_NONE && !gate->from[i].count)
			return false;
	return true;
}

/* Combines one value of each input. */
static struct gate_value merge(struct gate *gate)
{
	struct gate_value merged = gate->mine;
	bool any = false;

	for (int i = 0; i < 2; i++) {
		struct gate_input *input = &gate->from[i];

		if (input->id == GATE_NONE)
			continue;
		if (any)
			combine_values(&merged, &input->values[input->first]);
		else
			merged = input->values[input->first];
		input->first = (input->first + 1) % GATE_DEPTH;
		input->count--;
		any = true;
	}
	return merged;
}

static void finish_barrier(struct gate *gate)
{
	if (!gate->running || gate->done || !has_all(gate))
		return;
	gate->result = merge(gate);
	/* The value of this process must agree with the result, too. */
	gate->result.wrong = gate->result.wrong || gate->result.op != gate->mine.op ||
			     gate->result.words != gate->mine.words || gate->result.doubles != gate->mine.doubles;
	gate->done = true;
}

static bool accept_value(struct gate *gate, uint64_t from, const struct gate_value *value)
{
	for (int i = 0; i < 2; i++) {
		struct gate_input *input = &gate->from[i];

		if (input->id != from)
			continue;
		if (input->count == GATE_DEPTH)
			return false;
		input->values[(input->first + input->count++) % GATE_DEPTH] = *value;
		return true;
	}
	return false;
}

static void gate_send(struct nic *nic, uint64_t from, uint64_t to, const struct gate_value *value)
{
	struct gate_value merged;
	uint64_t next[2];
	unsigned number;
	struct gate *gate = gate_at(nic, to, &number);
	bool forward;

	if (!gate)
		return;
	job_lock(&gate->lock);
	forward = accept_value(gate, from, value) && number >= START_GATES && has_all(gate);
	if (forward)
		merged = merge(gate);
	else if (number < START_GATES)
		finish_barrier(gate);
	memcpy(next, gate->to, sizeof next);
	job_unlock(&gate->lock);
	for (int i = 0; i < 2 && forward; i++)
		gate_send(nic, to, next[i], &merged);
}

int gate_start(struct nic *nic, uint64_t id, const struct gate_value *value)
{
	struct gate *gate = gate_mine(nic, id);
	uint64_t next[2];
	unsigned number;
	bool busy;

	if (!gate || !gate_at(nic, id, &number) || number >= START_GATES)
		return UTOFU_ERR_INVALID_VBG_ID;
	job_lock(&gate->lock);
	busy = gate->running;
	if (!busy) {
		gate->running = true;
		gate->done = false;
		gate->mine = *value;
	}
	memcpy(next, gate->to, sizeof next);
	job_unlock(&gate->lock);
	for (int i = 0; i < 2 && !busy; i++)
		gate_send(nic, id, next[i], value);
	job_lock(&gate->lock);
	finish_barrier(gate);
	job_unlock(&gate->lock);
	return busy ? UTOFU_ERR_BUSY : UTOFU_SUCCESS;
}

/* value says which kind of barrier the caller polls, and receives the result. */
int gate_poll(struct nic *nic, uint64_t id, struct gate_value *value)
{
	struct gate *gate = gate_mine(nic, id);
	int code = UTOFU_SUCCESS;

	if (!gate)
		return UTOFU_ERR_INVALID_VBG_ID;
	job_lock(&gate->lock);
	if (!gate->running)
		code = UTOFU_ERR_NOT_PROCESSED;
	else if ((gate->mine.words > 0) != (value->words > 0) || gate->mine.doubles != value->doubles)
		code = UTOFU_ERR_INVALID_OP;
	else if (!gate->done)
		code = UTOFU_ERR_NOT_COMPLETED;
	if (!code) {
		*value = gate->result;
		gate->running = gate->done = false;
		code = gate->result.wrong ? UTOFU_ERR_BARRIER_MISMATCH : UTOFU_SUCCESS;
	}
	job_unlock(&gate->lock);
	return code;
}
