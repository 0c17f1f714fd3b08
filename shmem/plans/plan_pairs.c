/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans in which each member has something for each other one that cannot go straight to its place:
 * reduce-scatter, whose receiver combines what comes, and alltoall with strides, whose receiver
 * spreads it.
 *
 * A receiver loads the data of a member that is near. Otherwise the sender puts segments into slots
 * in the receiver's staging, two for each sender, and the receiver counts in `answer` those that it
 * has read, in all runs, so a slot is free again. The ports of a pair have the other's number in
 * the team. One queue receives all: so a reduction has one order, which begins with this member's
 * own data, and dest may be this member's block in source. Where the collective takes the rings of
 * a torus, so does a reduce-scatter (plan_rings.c).
 */
#include "plans.h"

#include <string.h>

#include "shmem/numbers/divide.h"
#include "shmem/reduce.h"
#include "shmem/vectors/vectors.h"

#define SLOTS 2
#define STAGING (1UL << 20) /* bytes, if a segment has more than SMALLEST */
#define SMALLEST 1024UL
#define LARGEST (64UL << 10)

struct strides {
	size_t size, to, from; /* bytes */
};

/* At the beginning of the staging: what commands of copies read. */
struct shapes {
	_Alignas(64) struct strides pack, unpack, both;
};

struct pairs {
	struct maker *m;
	int n, me;
	size_t bytes, segment; /* what one member has for another, and the most in a slot */
	size_t count;	       /* segments */
	size_t extra;	       /* bytes of staging before the slots */
	bool packs;	       /* the sender has slots, too */
};

/* Segments hold complete elements, whose sizes are powers of 2. */
static struct pairs make_pairs(struct maker *m, size_t bytes)
{
	struct pairs p = {.m = m, .n = m->set.group->size, .me = m->set.group->me, .bytes = bytes, .segment = LARGEST};
	size_t most = STAGING / (2 * SLOTS * (size_t)p.n) / 64 * 64;

	if (plan_nodes(m).count > 1 && p.segment > most)
		p.segment = most < SMALLEST ? SMALLEST : most;
	p.count = (bytes + p.segment - 1) / p.segment;
	return p;
}

static size_t staging_of(const struct pairs *p)
{
	size_t slots = SLOTS * (size_t)p->n * p->segment;

	if (plan_nodes(p->m).count == 1)
		return p->extra;
	return p->extra + (p->packs ? 2 : 1) * slots;
}

static size_t bytes_of_segment(const struct pairs *p, size_t i)
{
	size_t left = p->bytes - i * p->segment;

	return left < p->segment ? left : p->segment;
}

/* The slot in a PE's staging for segment i between it and this member of the team. */
static char *slot_address(const struct pairs *p, int pe, bool out, int member, size_t i)
{
	size_t slot = ((size_t)(out ? p->n : 0) + (size_t)member) * SLOTS + i % SLOTS;

	return plan_staging(p->m, pe) + p->extra + slot * p->segment;
}

static int pe_of(const struct pairs *p, int member)
{
	return set_pe(&p->m->set, member);
}

static struct port *port_there(const struct pairs *p, int member)
{
	return plan_port(p->m, pe_of(p, member), (size_t)p->me);
}

/* The receiver has read the earlier segment in the slot, in this run or the one before. */
static struct when slot_free(const struct pairs *p, int member, size_t i)
{
	int64_t n = (int64_t)p->count, nth = (int64_t)i + 1 - SLOTS;

	if (nth <= 0)
		nth = (int64_t)i + 1 + (n - 1 - (int64_t)i) / SLOTS * SLOTS - n;
	return (struct when){&p->m->plan->ports[member].answer, n, nth};
}

static void put_segment(const struct pairs *p, int queue, int member, size_t i, const char *data, struct when when)
{
	plan_put(p->m, queue, when, pe_of(p, member),
		 (struct comms_piece){slot_address(p, pe_of(p, member), false, p->me, i), data, bytes_of_segment(p, i)},
		 (struct when){&port_there(p, member)->came[i % CAME], (int64_t)p->count, (int64_t)i + 1});
}

/* What a member that is near does for a receiver: nothing but to let it read. */
static void let_read(const struct pairs *p, int notify, int end, int member)
{
	plan_notify(p->m, notify, pe_of(p, member), (struct when){&port_there(p, member)->came[0], 1, 1});
	plan_await(p->m, end, (struct when){&p->m->plan->ports[member].answer, 1, 1});
}

/* Segment i of a member's data as this one sees it: where it is, and when. */
struct arrival {
	const char *data;
	struct when when;
};

/* here: its data in the memory of a member that is near. */
static struct arrival arrival_of(const struct pairs *p, int member, const char *here, size_t i)
{
	struct port *mine = &p->m->plan->ports[member];

	if (plan_is_near(p->m, pe_of(p, member)))
		return (struct arrival){plan_here(p->m, here, pe_of(p, member)),
					i == 0 ? (struct when){&mine->came[0], 1, 1} : AT_ONCE};
	return (struct arrival){slot_address(p, comms.pe, false, member, i),
				{&mine->came[i % CAME], (int64_t)p->count, (int64_t)i + 1}};
}

static void answer(const struct pairs *p, int queue, int member, size_t i)
{
	_Atomic uint64_t *word = &port_there(p, member)->answer;

	if (!plan_is_near(p->m, pe_of(p, member)))
		plan_notify(p->m, queue, pe_of(p, member), (struct when){word, (int64_t)p->count, (int64_t)i + 1});
	else if (i + 1 == p->count)
		plan_notify(p->m, queue, pe_of(p, member), (struct when){word, 1, 1});
}

/* --- Reduce-scatter --- */

struct scattered {
	struct pairs pairs;
	char *dest;
	const char *source; /* of this member's block */
	size_t size;
	combine_t *combine;
	/* Of 16-bit numbers that are summed up as floats; NULL: others. */
	const struct narrow_steps *wide;
	combine_t *divide; /* of an average; NULL: none */
};

static void combine_segment(const struct scattered *s, int queue, size_t i)
{
	const struct pairs *p = &s->pairs;
	size_t at = i * p->segment, count = bytes_of_segment(p, i) / s->size;
	char *out = s->wide ? plan_staging(p->m, comms.pe) : s->dest + at;
	const char *so_far = s->wide ? out : s->source + at;

	if (s->wide)
		plan_combine(p->m, queue, AT_ONCE,
			     &(struct combination){out, s->source + at, NULL, count, s->wide->widen});
	for (int k = 1; k < p->n; k++) {
		int member = (p->me + k) % p->n;
		struct arrival came = arrival_of(p, member, s->source + at, i);

		plan_combine(p->m, queue, came.when,
			     &(struct combination){out, so_far, came.data, count,
						   s->wide ? s->wide->combine : s->combine});
		answer(p, queue, member, i);
		so_far = out;
	}
	if (p->n == 1 && !s->wide && s->dest != s->source)
		plan_copy(p->m, queue, AT_ONCE, s->dest + at, s->source + at, bytes_of_segment(p, i));
	if (s->divide)
		plan_combine(p->m, queue, AT_ONCE,
			     &(struct combination){out, out, &p->m->set.team->group.size, count, s->divide});
	if (s->wide)
		plan_combine(p->m, queue, AT_ONCE,
			     &(struct combination){s->dest + at, out, NULL, count, s->wide->round});
}

static void write_reduce_scatter(const struct scattered *s, const char *source)
{
	const struct pairs *p = &s->pairs;
	int notify = plan_queue(p->m), work = plan_queue(p->m), end = plan_queue(p->m);

	for (int k = 1; k < p->n; k++) {
		int member = (p->me + p->n - k) % p->n, queue;
		const char *data = source + (size_t)member * p->bytes;

		if (plan_is_near(p->m, pe_of(p, member))) {
			let_read(p, notify, end, member);
			continue;
		}
		queue = plan_queue(p->m);
		for (size_t i = 0; i < p->count; i++)
			put_segment(p, queue, member, i, data + i * p->segment, slot_free(p, member, i));
	}
	for (size_t i = 0; i < p->count; i++)
		combine_segment(s, work, i);
}

/* On a torus, as the collective does it. */
static bool make_by_rings(struct maker *m, const struct scattered *s, const char *source)
{
	int queue;

	if (!plan_begin(m, (size_t)s->pairs.n, plan_rings_staging(m, true), 0))
		return false;
	queue = plan_queue(m);
	plan_rings_add(m, queue, &(struct plan_rings){s->dest, source, s->combine, s->size, true});
	if (s->divide)
		plan_combine(m, queue, AT_ONCE,
			     &(struct combination){s->dest, s->dest, &m->set.team->group.size, m->bytes / s->size,
						   s->divide});
	return true;
}

static bool make_reduce_scatter(struct maker *m, const struct plan_order *order)
{
	struct scattered s = {.pairs = make_pairs(m, m->bytes), .dest = order->dest};
	const struct narrow *narrow = narrow_of_type((shmemx_type_t)order->type);

	s.source = (const char *)order->source + (size_t)m->set.group->me * m->bytes;
	s.combine = plan_operation(order, &s.size, m->set.routine);
	if (narrow && order->op != SHMEMX_MIN && order->op != SHMEMX_MAX)
		s.wide = order->op == SHMEMX_PROD ? &narrow->product : &narrow->sum;
	if (order->op == SHMEMX_AVG)
		s.divide = numbers_divider(narrow ? SHMEMX_FLOAT : (shmemx_type_t)order->type);
	if (m->bytes > 0 && !s.wide && set_agree_on_ring_reduce_scatter(&m->set, m->bytes))
		return make_by_rings(m, &s, order->source);
	if (s.wide)
		s.pairs.extra = s.pairs.segment / s.size * sizeof(float);
	if (!plan_begin(m, (size_t)s.pairs.n, staging_of(&s.pairs), 0))
		return false;
	if (m->bytes > 0)
		write_reduce_scatter(&s, order->source);
	return true;
}

static void check_reduce_scatter(struct maker *m, const struct plan_order *order)
{
	size_t all = m->bytes * (size_t)m->set.group->size;
	const char *own = (const char *)order->source + m->bytes * (size_t)m->set.group->me;

	set_check_agreement(&m->set, "the number of elements", (long)order->count, NULL, 0, NULL);
	set_check_agreement(&m->set, "op", order->op, "type", order->type, NULL);
	plan_check_data(m, order->dest, m->bytes, order->source, all);
	if (order->dest != own)
		set_check_overlap(&m->set, (struct set_span){order->dest, m->bytes},
				  (struct set_span){order->source, all}, false);
}

const struct plan_kind plan_reduce_scatter = {check_reduce_scatter, make_reduce_scatter, .again = true};

API int shmemx_reduce_scatter_init(shmem_team_t team, void *dest, const void *source, size_t nreduce,
				   shmemx_type_t type, shmemx_op_t op, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nreduce, COMMS_NOBODY);
	struct plan_order order =
		{.dest = dest, .source = source, .count = nreduce, .root = -1, .op = (int)op, .type = (int)type};
	size_t size;

	plan_operation(&order, &size, __func__);
	struct maker m = plan_maker(team, executor, nreduce * size, __func__);

	return plan_of_kind(&m, &plan_reduce_scatter, order, plan);
}

/* --- Alltoall with strides --- */

/* A combine_t whose third argument are the strides. */
static void copy_strided(void *out, const void *low, const void *high, size_t count)
{
	const struct strides *strides = high;
	const char *from = low;
	char *to = out;

	for (size_t i = 0; i < count; i++)
		memcpy(to + i * strides->to, from + i * strides->from, strides->size);
}

struct spread {
	struct pairs pairs;
	char *dest;
	const char *source;
	struct set_strided elements;
	size_t dst, sst; /* bytes */
};

static void add_copy(const struct spread *s, int queue, struct when when, void *dest, const void *source, size_t i,
		     const struct strides *strides)
{
	plan_combine(s->pairs.m, queue, when,
		     &(struct combination){dest, source, strides, bytes_of_segment(&s->pairs, i) / s->elements.size,
					   copy_strided});
}

static const char *element_for(const struct spread *s, int member, size_t segment)
{
	size_t each = s->pairs.segment / s->elements.size;

	return s->source + ((size_t)member * s->elements.count + segment * each) * s->sst;
}

static char *element_from(const struct spread *s, int member, size_t segment)
{
	size_t each = s->pairs.segment / s->elements.size;

	return s->dest + ((size_t)member * s->elements.count + segment * each) * s->dst;
}

/* A slot to pack is free when the receiver has read what it held. */
static void send_spread(const struct spread *s, int member, const struct shapes *shapes)
{
	const struct pairs *p = &s->pairs;
	int queue = plan_queue(p->m);

	for (size_t i = 0; i < p->count; i++) {
		char *packed = slot_address(p, comms.pe, true, member, i);

		add_copy(s, queue, slot_free(p, member, i), packed, element_for(s, member, i), i, &shapes->pack);
		put_segment(p, queue, member, i, packed, AT_ONCE);
	}
}

static void receive_spread(const struct spread *s, int queue, int member, const struct shapes *shapes)
{
	const struct pairs *p = &s->pairs;
	bool near = plan_is_near(p->m, pe_of(p, member));

	for (size_t i = 0; i < p->count; i++) {
		struct arrival came = arrival_of(p, member, element_for(s, p->me, i), i);

		add_copy(s, queue, came.when, element_from(s, member, i), came.data, i,
			 near ? &shapes->both : &shapes->unpack);
		answer(p, queue, member, i);
	}
}

static void write_alltoalls(const struct spread *s)
{
	const struct pairs *p = &s->pairs;
	struct shapes *shapes = (struct shapes *)(void *)p->m->plan->staging;
	int notify = plan_queue(p->m), end = plan_queue(p->m);
	size_t size = s->elements.size;

	*shapes = (struct shapes){{size, size, s->sst}, {size, s->dst, size}, {size, s->dst, s->sst}};
	for (int k = 1; k < p->n; k++) {
		int to = (p->me + k) % p->n;

		if (plan_is_near(p->m, pe_of(p, to)))
			let_read(p, notify, end, to);
		else
			send_spread(s, to, shapes);
		receive_spread(s, plan_queue(p->m), (p->me + p->n - k) % p->n, shapes);
	}
	for (size_t i = 0; i < p->count; i++)
		add_copy(s, notify, AT_ONCE, element_from(s, p->me, i), element_for(s, p->me, i), i, &shapes->both);
}

static struct spread make_spread(struct maker *m, const struct plan_order *order)
{
	const struct set_strided *elements = &order->strided;
	struct spread s = {.pairs = make_pairs(m, m->bytes),
			   .dest = order->dest,
			   .source = order->source,
			   .elements = *elements,
			   .dst = (size_t)elements->dst * elements->size,
			   .sst = (size_t)elements->sst * elements->size};

	s.pairs.extra = sizeof(struct shapes);
	s.pairs.packs = true;
	return s;
}

static bool make_alltoalls(struct maker *m, const struct plan_order *order)
{
	struct spread s = make_spread(m, order);

	if (!plan_begin(m, (size_t)s.pairs.n, staging_of(&s.pairs), 0))
		return false;
	if (m->bytes > 0)
		write_alltoalls(&s);
	return true;
}

/* Bytes from the first element to the end of the last one. */
static size_t spread_bytes(const struct maker *m, const struct set_strided *elements, ptrdiff_t stride)
{
	size_t count = elements->count * (size_t)m->set.group->size;

	return count == 0 ? 0 : ((count - 1) * (size_t)stride + 1) * elements->size;
}

static void check_alltoalls(struct maker *m, const struct plan_order *order)
{
	const struct set_strided *elements = &order->strided;

	set_check_agreement(&m->set, "nelems", (long)elements->count, "dst", elements->dst, order->dest);
	set_check_agreement(&m->set, "sst", elements->sst, NULL, 0, order->dest);
	if (elements->dst < 1 || elements->sst < 1)
		rte_misuse_together(m->set.routine, "dst=%td, sst=%td: a stride must be at least 1", elements->dst,
				    elements->sst);
	plan_check_data(m, order->dest, spread_bytes(m, elements, elements->dst), order->source,
			spread_bytes(m, elements, elements->sst));
}

const struct plan_kind plan_alltoalls = {check_alltoalls, make_alltoalls, .again = false};

API int shmemx_alltoalls_init(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
			      size_t nelems, shmemx_type_t type, int executor, shmemx_plan_t *plan)
{
	COMMS_CALL_OR(1, __func__, nelems * set_type_size(type), COMMS_NOBODY);
	size_t size = set_type_size(type);
	struct maker m = plan_maker(team, executor, nelems * size, __func__);

	vectors_bytes(&m.set, nelems, type);
	return plan_of_kind(&m, dst == 1 && sst == 1 ? &plan_alltoall : &plan_alltoalls,
			    (struct plan_order){.dest = dest, .source = source, .strided = {dst, sst, size, nelems}},
			    plan);
}
