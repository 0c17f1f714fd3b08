/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2 ucx-tcp=2,3 mixed=4 tofu-few=2 */
/*
 * Puts of different lengths to the same place, with a fence between them: the later one stays. A
 * network that carries short and long data by different ways must not let one overtake the other.
 * Long puts and gets also come from and go to memory that is not symmetric.
 */
#include "tests/lib/check.h"

#define MOST ((size_t)600 << 10)

static const size_t lengths[] = {8, 200, 5000, 70000, MOST};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static unsigned char in_globals[MOST];

static unsigned char byte(int round, int pe, size_t i)
{
	return (unsigned char)(noise((uint64_t)round * 1000 + (uint64_t)pe) + i / 8);
}

static void fill(unsigned char *area, int round, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		area[i] = byte(round, me, i);
}

static void check_area(const unsigned char *area, int round, int pe, size_t begin, size_t end)
{
	size_t wrong = 0, first = 0;

	for (size_t i = end; i-- > begin;)
		if (area[i] != byte(round, pe, i)) {
			wrong++;
			first = i;
		}
	if (wrong > 0)
		check_failed(__FILE__, __LINE__, "%zu bytes are wrong, the first at %zu", wrong, first);
}

/* Two puts to the next PE, then what that PE has of the one before. */
static void check_pair(int round, size_t first, size_t second, unsigned char *area, unsigned char *from)
{
	const int next = (me + 1) % npes, before = (me + npes - 1) % npes;

	fill(from, 2 * round, first);
	shmem_putmem(area, from, first, next);
	shmem_fence();
	fill(from, 2 * round + 1, second);
	if (round % 2)
		shmem_putmem(area, from, second, next);
	else
		shmem_putmem_nbi(area, from, second, next);
	shmem_quiet();
	shmem_barrier_all();
	NOTE("%zu bytes, then %zu", first, second);
	check_area(area, 2 * round + 1, before, 0, second);
	check_area(area, 2 * round, before, second, first);
	shmem_getmem(from, area, second, next);
	NOTE("%zu bytes back", second);
	check_area(from, 2 * round + 1, me, 0, second);
	shmem_barrier_all();
}

int main(void)
{
	unsigned char *private = malloc(MOST), *target, *source;
	int round = 0;

	begin();
	target = symmetric(MOST);
	source = symmetric(MOST);
	for (int first = 0; first < LENGTHS; first++)
		for (int second = 0; second < LENGTHS; second++, round++)
			check_pair(round, lengths[first], lengths[second], round % 3 ? target : in_globals,
				   round % 4 < 2 ? source : private);
	free(private);
	return end();
}
