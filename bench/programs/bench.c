/* SPDX-License-Identifier: BSD-3-Clause */
/* What bench can measure, and what several measures need. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char driver_name[] = "bench";
const char driver_help[] =
	"oshrun -n PES bench [options] [sub-command ...]\n"
	"       oshrun -n 2 bench breakdown [--seconds S]\n\n"
	"Measures an OpenSHMEM library. breakdown shows what an 8-byte put takes at each layer, on the path that\n"
	"SHMEM_PATHS gives (3 seconds).";

const struct measure measures[] =
	{{"memory", "how much memory a PE takes, before anything else is done", 1, memory_per_pe},
	 {"put", "shmem_putmem from PE 0 to PE 1: blocking, nbi, with quiet; on heap and global data", 2, rma_put},
	 {"get", "shmem_getmem, the same", 2, rma_get},
	 {"p", "shmem_long_p, on heap and global data", 2, rma_p},
	 {"g", "shmem_long_g, on heap and global data", 2, rma_g},
	 {"inline", "inline forms (oshcc --inline) of puts, gets and atomics, beside plain loads and stores", 2,
	  inline_forms},
	 {"put-rate", "8-byte put_nbi in windows that end with a quiet; one pair, and all pairs", 2, rate_put},
	 {"get-rate", "8-byte get_nbi, the same", 2, rate_get},
	 {"atomic", "each kind of atomic by PE 0 alone, on heap and global data", 2, atomics_alone},
	 {"atomic-all", "each kind of atomic by all PEs on one word", 2, atomics_contended},
	 {"pingpong", "put and wait_until between PEs 0 and 1: half a round trip", 2, wait_ping_pong},
	 {"signal", "put-with-signal and signal_wait_until: half a round trip", 2, signal_ping_pong},
	 {"wake", "from a put to the end of a wait that has lasted for some time", 2, wait_wake_up},
	 {"sync", "barrier_all, sync_all, and fence and quiet with nothing to do", 1, sync_all_members},
	 {"broadcast", "over all PEs, each being the root once", 2, collective_broadcast},
	 {"reduce", "sums of long over all PEs", 2, collective_reduce},
	 {"collect", "shmem_collect64 over all PEs; the size is a PE's part", 2, collective_collect},
	 {"fcollect", "shmem_fcollect64 over all PEs; the size is a PE's part", 2, collective_fcollect},
	 {"alltoall", "shmem_alltoall64 over all PEs; the size is what one sends to one", 2, collective_alltoall},
	 {"plans", "persistent plans of collectives: init, start and run", 2, collective_plans},
	 {"overlap", "how much of a nonblocking sum is hidden behind computing", 2, collective_overlap},
	 {"halo", "exchange of edges with four neighbours on a torus of PEs", 1, halo_exchange},
	 {"stencil", "program: Poisson's equation in two dimensions, by Jacobi's method", 1, stencil_poisson},
	 {"gups", "program: random updates of a table shared out to all PEs", 1, gups_random_access},
	 {"isort", "program: integers sorted by buckets", 1, isort_keys},
	 {NULL, NULL, 0, NULL}};

/* breakdown calls what is inside the library, so it is a program of its own, beside this one. */
void driver_hand_over(int argc, char *argv[])
{
	char program[4096];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - sizeof "breakdown");

	if (argc < 2 || strcmp(argv[1], "breakdown") || length < 0)
		return;
	program[length] = '\0';
	strcpy(strrchr(program, '/') + 1, "breakdown");
	argv[1] = program;
	execv(program, argv + 1);
	fprintf(stderr, "bench: no program %s; build torushmem with its static library\n", program);
	exit(1);
}

/* The first access to another PE's page costs a page fault, which is not what is to be measured. */
static void touch_pages(const char *p, size_t bytes)
{
	enum { CHUNK = 1 << 20, MOST_PES = 8 };
	char *scratch = malloc(CHUNK);

	for (int pe = 0; scratch && group.size <= MOST_PES && pe < group.size; pe++)
		for (size_t at = 0; pe != group.me && at < bytes; at += CHUNK)
			shmem_getmem(scratch, p + at, bytes - at < CHUNK ? bytes - at : CHUNK, pe);
	free(scratch);
}

void *heap_take(size_t bytes)
{
	char *p = shmem_malloc(bytes);

	if (!p)
		group_fail("no %zu MiB of symmetric heap; set SHMEM_SYMMETRIC_SIZE, or give smaller --sizes",
			   bytes / MIB + 1);
	memset(p, 1, bytes);
	group_barrier();
	touch_pages(p, bytes);
	group_barrier();
	return p;
}

void heap_give(void *p)
{
	shmem_free(p);
}

size_t largest_size(void)
{
	size_t largest = 0;

	for (int i = 0; options.sizes[i]; i++)
		largest = options.sizes[i];
	return largest;
}

static uint64_t pattern_word(size_t i, int who, unsigned spot)
{
	return (i + 1) * 0x9e3779b97f4a7c15u ^ ((uint64_t)spot << 20 | (uint64_t)(unsigned)who);
}

void pattern_write(void *p, size_t bytes, int who, unsigned spot)
{
	char *to = p;

	for (size_t i = 0; i * 8 < bytes; i++) {
		uint64_t word = pattern_word(i, who, spot);

		memcpy(to + i * 8, &word, bytes - i * 8 < 8 ? bytes - i * 8 : 8);
	}
}

bool pattern_is(const void *p, size_t bytes, int who, unsigned spot)
{
	const char *from = p;

	for (size_t i = 0; i * 8 < bytes; i++) {
		uint64_t word = pattern_word(i, who, spot);

		if (memcmp(from + i * 8, &word, bytes - i * 8 < 8 ? bytes - i * 8 : 8))
			return false;
	}
	return true;
}
