/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=1,3,4 mixed=4 split=3 */
/*
 * Heaps in memory that the program brings: every kind of memory, on every path, takes puts, gets,
 * atomics, signals, waits and collectives, keeps what was in it, and ends clean.
 */
#include <shmemx.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/lib/check.h"

#define BYTES ((size_t)4 << 20)
#define KEPT ((size_t)1 << 20) /* noise that is in the memory before */
#define WORDS 4096

struct memory {
	const char *name;
	char *(*make)(void);
	void (*unmake)(char *base);
	bool moved; /* private memory, which the library moves */
};

/* --- Kinds of memory --- */

static char *map(int flags, int fd, off_t offset)
{
	void *base = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, flags, fd, offset);

	return base == MAP_FAILED ? NULL : base;
}

static void unmap(char *base)
{
	CHECK_EQUAL(munmap(base, BYTES), 0);
}

static char *make_private(void)
{
	return map(MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Not the same place on all PEs, and a neighbour on both sides. */
static char *make_allocated(void)
{
	return aligned_alloc(1 << 16, BYTES);
}

static void free_allocated(char *base)
{
	free(base);
}

static char *make_memfd(void)
{
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("heaps", MFD_CLOEXEC);
	CHECK(fd >= 0 && ftruncate(fd, BYTES + 65536) == 0);
	return map(MAP_SHARED, fd, 65536); /* the descriptor stays open */
}

static char *make_file(void)
{
	char path[300];
	const char *folder = getenv("TMPDIR");
	char *base;
	int fd;

	snprintf(path, sizeof path, "%s/heaps.XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(path);
	CHECK(fd >= 0 && ftruncate(fd, BYTES + 8192) == 0);
	base = map(MAP_SHARED, fd, 8192);
	unlink(path);
	/* It is still in /proc/self/fd. */
	return base;
}

static char *make_huge(void)
{
	char *base = map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	int free_pages = 0;
	FILE *file = fopen("/proc/meminfo", "r");
	char line[128];

	while (file && fgets(line, sizeof line, file))
		sscanf(line, "HugePages_Free: %d", &free_pages);
	if (file)
		fclose(file);
	if (base && free_pages < 4 * npes) {
		unmap(base);
		return NULL;
	}
	return base;
}

/* Preferred on node 0, which there always is. */
#define PREFERRED 1
static char *make_on_node(void)
{
	char *base = make_private();
	unsigned long nodes = 1;

	if (base && syscall(SYS_mbind, base, BYTES, PREFERRED, &nodes, sizeof nodes * 8, 0U)) {
		unmap(base);
		return NULL;
	}
	return base;
}

static void check_node(const char *base)
{
	unsigned long nodes[16] = {0};
	int mode = -1;

	CHECK_EQUAL(syscall(SYS_get_mempolicy, &mode, nodes, sizeof nodes * 8, base, 2UL), 0);
	CHECK_EQUAL(mode, PREFERRED);
	CHECK_EQUAL(nodes[0], 1UL);
}

static const struct memory kinds[] = {
	{"private", make_private, unmap, true}, {"allocated", make_allocated, free_allocated, true},
	{"memfd", make_memfd, unmap, false},	{"file", make_file, unmap, false},
	{"huge pages", make_huge, unmap, true}, {"NUMA node", make_on_node, unmap, true},
};

/* --- What works in a heap --- */

static void check_puts(long *words, int next)
{
	static long source[WORDS], back[WORDS];

	memset(words, 0, WORDS * sizeof *words);
	for (int i = 0; i < WORDS; i++)
		source[i] = 1000L * me + i;
	shmem_barrier_all();
	shmem_long_put(words, source, WORDS / 2, next);
	shmem_long_put_nbi(words + WORDS / 2, source + WORDS / 2, WORDS / 4, next);
	for (int i = WORDS * 3 / 4; i < WORDS * 3 / 4 + 8; i++)
		shmem_long_p(&words[i], source[i], next);
	shmem_long_iput(words + WORDS - 16, source + WORDS - 16, 2, 1, 8, next);
	shmem_barrier_all();
	for (int i = 0; i < WORDS * 3 / 4 + 8; i++)
		CHECK_EQUAL(words[i], 1000L * ((me + npes - 1) % npes) + i);
	for (int i = 0; i < 8; i++)
		CHECK_EQUAL(words[WORDS - 16 + 2 * i], 1000L * ((me + npes - 1) % npes) + WORDS - 16 + i);
	shmem_long_get(back, words, WORDS / 2, next);
	shmem_long_get_nbi(back + WORDS / 2, words + WORDS / 2, WORDS / 4, next);
	shmem_quiet();
	CHECK_BYTES(back, source, WORDS * 3 / 4 * sizeof *back);
	CHECK_EQUAL(shmem_long_g(&words[3], next), source[3]);
	shmem_long_iget(back, words + WORDS - 16, 1, 2, 8, next);
	CHECK_BYTES(back, source + WORDS - 16, 8 * sizeof *back);
	shmem_barrier_all();
}

static void check_atomics(long *counter, uint64_t *flag, long *data, int next)
{
	*counter = 0;
	*flag = 0;
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++) {
		shmem_long_atomic_add(counter, 1, pe);
		(void)shmem_long_atomic_fetch_add(counter, 10, pe);
	}
	shmem_barrier_all();
	CHECK_EQUAL(*counter, 11L * npes);
	CHECK_EQUAL(shmem_long_atomic_compare_swap(counter, 11L * npes + 1, 5, next), 11L * npes);
	CHECK_EQUAL(shmem_long_atomic_fetch(counter, next), 11L * npes);
	/* Signal and data in the heap, and a wait there. */
	data[7] = me;
	shmem_barrier_all();
	shmem_putmem_signal(data + 100, data + 7, sizeof *data, flag, 1, SHMEM_SIGNAL_ADD, next);
	shmem_signal_wait_until(flag, SHMEM_CMP_EQ, 1);
	CHECK_EQUAL(data[100], (long)((me + npes - 1) % npes));
	shmem_barrier_all();
	if (me == 0)
		sleep_for(0.02); /* the others fall asleep in the wait */
	shmem_long_p(counter, 77, next);
	shmem_long_wait_until(counter, SHMEM_CMP_EQ, 77);
	shmem_barrier_all();
}

static void check_collectives(long *dest, long *source, size_t count)
{
	for (size_t i = 0; i < count; i++)
		source[i] = (long)i + me;
	memset(dest, 0, count * (size_t)npes * sizeof *dest);
	shmem_barrier_all();
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, count);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(dest[i], (long)(i * (size_t)npes) + (long)npes * (npes - 1) / 2);
	shmem_barrier_all();
	shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, count, npes - 1);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(dest[i], (long)i + npes - 1);
	shmem_barrier_all();
	shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, count);
	for (int pe = 0; pe < npes; pe++)
		CHECK_EQUAL(dest[(size_t)pe * count + count - 1], (long)count - 1 + pe);
	shmem_barrier_all();
	count /= (size_t)npes;
	shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, count);
	for (int pe = 0; pe < npes; pe++)
		CHECK_EQUAL(dest[(size_t)pe * count], (long)(count * (size_t)me) + pe);
	shmem_barrier_all();
}

static void check_plan(long *dest, long *source)
{
	shmemx_plan_t plan;

	CHECK_EQUAL(shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest, source, WORDS * sizeof *dest, 0, SHMEMX_PLAN_AUTO,
					  &plan),
		    0);
	for (long run = 1; run <= 3; run++) {
		for (int i = 0; i < WORDS; i++)
			source[i] = 100 * run + i + 1000L * me;
		shmem_barrier_all();
		shmemx_plan_start(plan);
		shmemx_plan_wait(plan);
		if (me != 0)
			CHECK_EQUAL(dest[WORDS - 1], 100 * run + WORDS - 1);
		shmem_barrier_all();
	}
	shmemx_plan_free(plan);
}

/* By load and store, where the PE is on this node. */
static void check_pointers(long *words)
{
	words[0] = 5000 + me;
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++) {
		const long *there = shmem_ptr(words, pe);

		CHECK(shmem_addr_accessible(words, pe));
		if (pe == me)
			CHECK(there == words);
		if (there)
			CHECK_EQUAL(*there, 5000L + pe);
		if (on_path("local"))
			CHECK(there != NULL);
	}
	shmem_barrier_all();
}

static void check_heap(shmemx_heap_t heap, const char *base)
{
	long *words = shmemx_heap_malloc(heap, WORDS * sizeof *words);
	char *small = shmemx_heap_calloc(heap, 100, 3);
	long *aligned = shmemx_heap_align(heap, 4096, WORDS * sizeof *aligned);
	long *wide = shmemx_heap_malloc(heap, (size_t)npes * WORDS * sizeof *wide);
	uint64_t *flag = shmemx_heap_malloc(heap, sizeof *flag);
	int next = (me + 1) % npes;

	CHECK(words && small && aligned && wide && flag);
	CHECK((char *)words >= base && (char *)(flag + 1) <= base + BYTES);
	CHECK_EQUAL((uintptr_t)aligned % 4096, (uintptr_t)0);
	CHECK_FILL(small, 0, 300);
	CHECK(shmemx_heap_malloc(heap, 0) == NULL);
	check_puts(words, next);
	check_atomics(&words[8], flag, aligned, next);
	check_collectives(wide, aligned, WORDS);
	check_collectives(wide, aligned, 16);
	check_plan(words, aligned);
	check_pointers(words);
	shmemx_heap_free(heap, words);
	shmemx_heap_free(heap, small);
	shmemx_heap_free(heap, NULL);
	CHECK(shmemx_heap_malloc(heap, WORDS * sizeof *words) == words); /* the same place again */
}

/* Private memory stays private to a child, as malloc's does. */
static void check_fork(char *base)
{
	int status = -1;
	pid_t child;

	base[BYTES - 1] = 1;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		bool good = base[BYTES - 1] == 1;

		base[BYTES - 1] = 2;
		_exit(good ? 3 : 4);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	CHECK_EQUAL(base[BYTES - 1], 1);
}

static bool all_have(bool mine)
{
	static int one, all;

	one = mine;
	shmem_barrier_all();
	shmem_int_min_reduce(SHMEM_TEAM_WORLD, &all, &one, 1);
	shmem_barrier_all();
	return all;
}

static void try_memory(const struct memory *kind)
{
	char *base = kind->make(), *noise = malloc(KEPT);
	shmemx_heap_t heap;

	NOTE("%s", kind->name);
	if (!all_have(base != NULL)) {
		if (base)
			kind->unmake(base);
		free(noise);
		return;
	}
	fill_noise(noise, KEPT, (uint64_t)me);
	memcpy(base + BYTES - KEPT, noise, KEPT);
	CHECK_EQUAL(shmemx_heap_create_in(base, BYTES, &heap), 0);
	CHECK_BYTES(base + BYTES - KEPT, noise, KEPT);
	if (kind->make == make_on_node)
		check_node(base);
	check_heap(heap, base);
	if (kind->moved && npes <= 4 && ease() == 1)
		check_fork(base);
	shmem_barrier_all();
	memcpy(base + BYTES - KEPT, noise, KEPT);
	shmemx_heap_destroy(heap);
	CHECK_BYTES(base + BYTES - KEPT, noise, KEPT);
	CHECK(!shmem_addr_accessible(base, me));
	if (kind->make == make_on_node)
		check_node(base);
	kind->unmake(base);
	free(noise);
}

/* As many as there can be, at a time; one more is refused with a line. */
static void check_many(void)
{
	static shmemx_heap_t heaps[SHMEMX_HEAPS], none;
	static char *bases[SHMEMX_HEAPS + 1];
	long *words[SHMEMX_HEAPS];

	NOTE("many");
	for (int i = 0; i <= SHMEMX_HEAPS; i++)
		bases[i] = make_private();
	for (int i = 0; i < SHMEMX_HEAPS; i++) {
		CHECK_EQUAL(shmemx_heap_create_in(bases[i], BYTES, &heaps[i]), 0);
		words[i] = shmemx_heap_calloc(heaps[i], 64, sizeof *words[i]);
	}
	CHECK(shmemx_heap_create_in(bases[SHMEMX_HEAPS], BYTES, &none) != 0);
	CHECK(none == SHMEMX_HEAP_INVALID);
	for (int i = 0; i < SHMEMX_HEAPS; i++)
		shmem_long_p(&words[i][me], 10 * me + i, (me + 1) % npes);
	shmem_barrier_all();
	for (int i = 0; i < SHMEMX_HEAPS; i++)
		CHECK_EQUAL(words[i][(me + npes - 1) % npes], 10L * ((me + npes - 1) % npes) + i);
	shmem_barrier_all();
	/* The last ones stay until shmem_finalize. */
	for (int i = 0; i < SHMEMX_HEAPS / 2; i++) {
		shmemx_heap_destroy(heaps[i]);
		unmap(bases[i]);
	}
	shmem_finalize();
	for (int i = SHMEMX_HEAPS / 2; i <= SHMEMX_HEAPS; i++)
		unmap(bases[i]);
}

/* Sandia's names: the memory is symmetric from postinit on, and the program divides it. */
static void check_sandia(void)
{
	char *base = make_private();
	long *words = (long *)(void *)base;
	int provided = -1;

	NOTE("Sandia");
	CHECK_EQUAL(shmemx_heap_preinit_thread(SHMEM_THREAD_SERIALIZED, &provided), 0);
	CHECK(provided >= SHMEM_THREAD_SERIALIZED);
	shmemx_heap_create(base, BYTES, SHMEMX_EXTERNAL_HEAP_ZE, -1);
	shmemx_heap_postinit();
	shmem_long_p(&words[me], 1 + me, (me + 1) % npes);
	shmem_barrier_all();
	CHECK_EQUAL(words[(me + npes - 1) % npes], 1L + (me + npes - 1) % npes);
	shmem_finalize();
	unmap(base);
	shmemx_heap_preinit();
	shmemx_heap_postinit();
}

int main(void)
{
	begin();
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		try_memory(&kinds[i]);
	check_many();
	check_sandia();
	end();
	return 0;
}
