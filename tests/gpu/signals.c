/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Put with signal, fence and quiet across the memories of GPU and host: a PE that sees the signal,
 * or the flag, sees the data that went before it.
 */
#include "gpu.h"

static uint64_t step;
static uint64_t *signals[SYMMETRIC]; /* one of each kind */
static uint64_t counts[SYMMETRIC];   /* what each of them is by now */

static void send(bool nbi, void *dest, const void *source, size_t bytes, uint64_t *signal, uint64_t value, int op)
{
	if (nbi)
		shmem_putmem_signal_nbi(dest, source, bytes, signal, value, op, right());
	else
		shmem_putmem_signal(dest, source, bytes, signal, value, op, right());
}

/* The receiver does nothing but wait for the signal. */
static void try_signal(bool nbi, enum where to, enum where from, enum where where_signal, size_t bytes, int op)
{
	uint64_t *signal = signals[where_signal], got;
	char *expected = malloc(bytes + 1);

	step++;
	NOTE("put%s of %zu bytes from %s to %s, signal in %s %s", nbi ? "_nbi" : "", bytes, where_names[from],
	     where_names[to], where_names[where_signal], op == SHMEM_SIGNAL_ADD ? "added" : "set");
	write_noise(sources[from], bytes, step * 1000 + (uint64_t)me);
	counts[where_signal] += 7;
	send(nbi, dests[to], sources[from], bytes, signal, op == SHMEM_SIGNAL_ADD ? 7 : counts[where_signal], op);
	got = shmem_signal_wait_until(signal, SHMEM_CMP_GE, counts[where_signal]);
	CHECK_EQUAL(got, counts[where_signal]);
	fill_noise(expected, bytes, step * 1000 + (uint64_t)left());
	CHECK_BYTES(read_from(dests[to], bytes), expected, bytes);
	CHECK_EQUAL(shmem_signal_fetch(signal), counts[where_signal]);
	free(expected);
	/* The next one may come when all have looked. */
	shmem_barrier_all();
}

static void try_signals(void)
{
	static const size_t sizes[] = {0, 8, 1000, 300000};

	for (int to = 0; to < SYMMETRIC; to++)
		for (int from = 0; from < WHERES; from++)
			for (int where = 0; where < SYMMETRIC; where++) {
				if (!is_pair((enum where)to, (enum where)from) && where != ON_GPU)
					continue;
				for (size_t i = 0; i < 8; i++)
					if (is_selected(i + (size_t)(to + from + where)))
						try_signal(i & 1, (enum where)to, (enum where)from, (enum where)where,
							   sizes[i / 2], i & 2 ? SHMEM_SIGNAL_ADD : SHMEM_SIGNAL_SET);
			}
}

/* Typed put with signal, and signals alone. */
static void try_others(void)
{
	double values[3] = {1.5, 2.5, (double)me};
	double got[3];

	NOTE("double_put_signal");
	write_to(sources[OWN_GPU], values, sizeof values);
	counts[ON_GPU] += 7;
	shmem_double_put_signal((double *)(void *)dests[ON_GPU], (double *)(void *)sources[OWN_GPU], 3, signals[ON_GPU],
				7, SHMEM_SIGNAL_ADD, right());
	shmem_signal_wait_until(signals[ON_GPU], SHMEM_CMP_EQ, counts[ON_GPU]);
	memcpy(got, read_from(dests[ON_GPU], sizeof got), sizeof got);
	CHECK_EQUAL(got[2], (double)left());
	shmem_barrier_all();
	NOTE("signal_set and signal_add");
	shmem_signal_set(signals[ON_GPU], 1, right());
	shmem_signal_wait_until(signals[ON_GPU], SHMEM_CMP_EQ, 1);
	shmem_barrier_all();
	shmem_signal_add(signals[ON_GPU], 41, right());
	shmem_signal_wait_until(signals[ON_GPU], SHMEM_CMP_EQ, 42);
	shmem_barrier_all();
}

/*
 * Data, then a flag, with what orders them between. By the draft a fence orders what is in the same
 * memory; a quiet, all.
 */
static void try_flag(enum where data, enum where flags, bool fence, bool nbi, size_t bytes)
{
	long *flag = (long *)(void *)(dests[flags] + room - 64), none = 0;
	char *expected = malloc(bytes);

	NOTE("%zu bytes in %s%s, %s, flag in %s", bytes, where_names[data], nbi ? " (nbi)" : "",
	     fence ? "fence" : "quiet", where_names[flags]);
	step++;
	write_to(flag, &none, sizeof none);
	write_noise(sources[OWN_GPU], bytes, step * 1000 + (uint64_t)me);
	shmem_barrier_all();
	if (nbi)
		shmem_putmem_nbi(dests[data], sources[OWN_GPU], bytes, right());
	else
		shmem_putmem(dests[data], sources[OWN_GPU], bytes, right());
	if (fence)
		shmem_fence();
	else
		shmem_quiet();
	shmem_long_p(flag, (long)step, right());
	shmem_long_wait_until(flag, SHMEM_CMP_EQ, (long)step);
	fill_noise(expected, bytes, step * 1000 + (uint64_t)left());
	CHECK_BYTES(read_from(dests[data], bytes), expected, bytes);
	free(expected);
	shmem_barrier_all();
}

static void try_flags(void)
{
	for (int data = 0; data < SYMMETRIC; data++)
		for (int flags = 0; flags < SYMMETRIC; flags++)
			for (int nbi = 0; nbi < 2; nbi++) {
				bool same = is_gpu((enum where)data) == is_gpu((enum where)flags);

				for (long i = 0; i < eased(6); i++) {
					try_flag((enum where)data, (enum where)flags, false, nbi, 100000);
					if (same)
						try_flag((enum where)data, (enum where)flags, true, nbi, 100000);
				}
			}
}

/* Data on the GPU of PE 1, then a flag on the host of PE 2: quiet orders them. */
static void try_three(void)
{
	long *flag = (long *)(void *)dests[ON_HOST], value;
	long *data = (long *)(void *)dests[ON_GPU];

	if (npes < 3)
		return;
	NOTE("quiet between PEs 1 and 2");
	*flag = 0;
	shmem_barrier_all();
	if (me == 0) {
		shmem_long_p(data, 4711, 1);
		shmem_quiet();
		shmem_long_p(flag, 1, 2);
	}
	if (me == 2) {
		shmem_long_wait_until(flag, SHMEM_CMP_EQ, 1);
		value = shmem_long_g(data, 1);
		CHECK_EQUAL(value, 4711L);
	}
	shmem_barrier_all();
}

int main(void)
{
	static uint64_t in_globals;
	uint64_t zero = 0;

	begin_gpu(SHMEM_THREAD_SINGLE);
	open_rooms(1 << 20);
	signals[ON_GPU] = on_gpu(sizeof zero);
	signals[ON_HOST] = symmetric(sizeof zero);
	signals[IN_GLOBALS] = &in_globals;
	for (int i = 0; i < SYMMETRIC; i++)
		write_to(signals[i], &zero, sizeof zero);
	shmem_barrier_all();
	try_signals();
	try_others();
	try_flags();
	try_three();
	shmemg_free(signals[ON_GPU]);
	shmem_free(signals[ON_HOST]);
	close_rooms();
	return end();
}
