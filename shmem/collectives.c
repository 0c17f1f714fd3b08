/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barrier, broadcast and reductions, over puts into the scratch of other PEs.
 *
 * Broadcast: a binomial tree; each PE puts straight into its children's dest and then raises their word. A sync at the
 * end lets the next collective begin with every dest at rest.
 *
 * Reduction: recursive doubling in pieces of one slot. Each piece is an exchange with an epoch of its own; the slots
 * alternate between two sets. A partner can write my slot of epoch e + 2 only after it heard my words of
 * epoch e + 1, which I sent when I was done with epoch e: so two sets are enough and nobody asks first.
 */
#include "api.h"

#include <string.h>

#include "comms/wait.h"

#define ROUNDS 24 /* 2^22 PEs, one round to fold in the odd ones, one to tell them */
#define SLOT_BYTES 32768

struct scratch {
	char of_sync[WAIT_SCRATCH_BYTES];
	uint64_t broadcasts, pieces; /* begun by this PE */
	_Alignas(64) _Atomic uint64_t broadcast_heard;
	_Alignas(64) _Atomic uint64_t heard[2][ROUNDS];
	_Alignas(4096) char slot[2][ROUNDS][SLOT_BYTES];
};
_Static_assert(sizeof(struct scratch) <= COMMS_SCRATCH_BYTES, "the scratch holds it all");

static struct scratch *mine;

void api_collectives_start(void)
{
	mine = (struct scratch *)comms.system->scratch;
}

void api_barrier_all(void)
{
	comms_quiet();
	comms_sync();
}

API void pshmem_barrier_all(void)
{
	comms_check_up(__func__);
	api_barrier_all();
}
PROFILED(shmem_barrier_all)

API void pshmem_sync_all(void)
{
	comms_check_up(__func__);
	comms_sync();
}
PROFILED(shmem_sync_all)

API int pshmem_team_sync(shmem_team_t team)
{
	api_check_team(team, __func__);
	comms_sync();
	return 0;
}
PROFILED(shmem_team_sync)

/* Puts what comes with a word, then the word. */
static void tell(void *dest, const void *source, size_t bytes, _Atomic uint64_t *word, uint64_t value, int pe,
		 const char *routine)
{
	comms_put(dest, source, bytes, pe, routine);
	comms_fence();
	comms_put(word, &value, sizeof value, pe, routine);
}

static void hear(_Atomic uint64_t *word, uint64_t value)
{
	COMMS_WAIT(atomic_load_explicit(word, memory_order_acquire) >= value);
}

static int broadcast(shmem_team_t team, void *dest, const void *source, size_t bytes, int root, const char *routine)
{
	int n, me, step = 1;
	uint64_t epoch;

	api_check_team(team, routine);
	n = comms.n_pes;
	if (root < 0 || root >= n)
		rte_die(routine, "PE_root=%d: the team has PEs 0 to %d", root, n - 1);
	if (bytes == 0)
		return 0;
	me = (comms.pe - root + n) % n; /* numbered from the root */
	epoch = ++mine->broadcasts;
	if (me == 0 && dest != source)
		memmove(dest, source, bytes);
	if (me != 0)
		hear(&mine->broadcast_heard, epoch);
	while (step <= me)
		step *= 2; /* my parent is me without its highest bit; my children have a higher one */
	for (; me + step < n; step *= 2)
		tell(dest, me == 0 ? source : dest, bytes, &mine->broadcast_heard, epoch, (me + step + root) % n,
		     routine);
	comms_sync();
	return 0;
}

#define BROADCAST(NAME, TYPE)                                                                               \
	API int pshmem_##NAME##_broadcast(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, \
					  int PE_root)                                                      \
	{                                                                                                   \
		return broadcast(team, dest, source, nelems * sizeof(TYPE), PE_root, __func__);             \
	}                                                                                                   \
	PROFILED(shmem_##NAME##_broadcast)
FOR_RMA_TYPES(BROADCAST)

API int pshmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root)
{
	return broadcast(team, dest, source, nelems, PE_root, __func__);
}
PROFILED(shmem_broadcastmem)

/* out[i] = low[i] op high[i], low from the lower PE: the same on both sides, whatever the operation. */
typedef void combine_t(void *out, const void *low, const void *high, size_t count);

struct piece {
	char *data;
	size_t bytes, count;
	uint64_t epoch;
	combine_t *combine;
	const char *routine;
};

static void send_piece(const struct piece *p, int round, int pe)
{
	int set = (int)(p->epoch & 1);

	tell(mine->slot[set][round], p->data, p->bytes, &mine->heard[set][round], p->epoch, pe, p->routine);
}

static const void *receive_piece(const struct piece *p, int round)
{
	int set = (int)(p->epoch & 1);

	hear(&mine->heard[set][round], p->epoch);
	return mine->slot[set][round];
}

/*
 * With n not a power of two, the first PEs pair up: the odd one of a pair gives its part to the even one, sits out,
 * and is told the result.
 */
static void reduce_piece(const struct piece *p)
{
	int me = comms.pe, power = 1, round = 2, extra, rank;

	while (power * 2 <= comms.n_pes)
		power *= 2;
	extra = comms.n_pes - power;
	if (me < 2 * extra && me % 2) {
		send_piece(p, 0, me - 1);
		memcpy(p->data, receive_piece(p, 1), p->bytes);
		return;
	}
	if (me < 2 * extra)
		p->combine(p->data, p->data, receive_piece(p, 0), p->count);
	rank = me < 2 * extra ? me / 2 : me - extra;
	for (int mask = 1; mask < power; mask *= 2, round++) {
		int partner = rank ^ mask;
		const void *theirs;

		send_piece(p, round, partner < extra ? partner * 2 : partner + extra);
		theirs = receive_piece(p, round);
		if (partner < rank)
			p->combine(p->data, theirs, p->data, p->count);
		else
			p->combine(p->data, p->data, theirs, p->count);
	}
	if (me < 2 * extra)
		send_piece(p, 1, me + 1);
}

static int reduce(shmem_team_t team, void *dest, const void *source, size_t count, size_t size,
		  combine_t *combine,
		  const char *routine)
{
	size_t most = SLOT_BYTES / size;

	api_check_team(team, routine);
	if (count == 0)
		return 0;
	comms_check_symmetric(dest, count * size, "dest", routine);
	for (size_t done = 0; done < count; done += most) {
		size_t now = count - done < most ? count - done : most;
		struct piece p = {(char *)dest + done * size, now * size, now, ++mine->pieces, combine, routine};

		if (dest != source)
			memmove(p.data, (const char *)source + done * size, p.bytes);
		reduce_piece(&p);
	}
	return 0;
}

#define REDUCE(NAME, TYPE, OP, EXPRESSION)                                                                    \
	static void NAME##_##OP(void *out, const void *low, const void *high, size_t count)                   \
	{                                                                                                     \
		const TYPE *x = low, *y = high;                                                               \
		TYPE *z = out;                                                                                \
		for (size_t i = 0; i < count; i++) {                                                          \
			const TYPE a = x[i], b = y[i];                                                        \
			z[i] = (TYPE)(EXPRESSION);                                                            \
		}                                                                                             \
	}                                                                                                     \
	API int pshmem_##NAME##_##OP##_reduce(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
	{                                                                                                     \
		return reduce(team, dest, source, nreduce, sizeof(TYPE), NAME##_##OP, __func__);              \
	}                                                                                                     \
	PROFILED(shmem_##NAME##_##OP##_reduce)
#define LOGIC(NAME, TYPE)              \
	REDUCE(NAME, TYPE, and, a & b) \
	REDUCE(NAME, TYPE, or, a | b)  \
	REDUCE(NAME, TYPE, xor, a ^ b)
#define MINMAX(NAME, TYPE)                     \
	REDUCE(NAME, TYPE, max, a > b ? a : b) \
	REDUCE(NAME, TYPE, min, a < b ? a : b)
#define SUM(NAME, TYPE)                \
	REDUCE(NAME, TYPE, sum, a + b) \
	REDUCE(NAME, TYPE, prod, a *b)
FOR_LOGIC_TYPES(LOGIC)
FOR_MINMAX_TYPES(MINMAX)
FOR_SUM_TYPES(SUM)
