/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,5 ucx-tcp=1,3 ucx-shm=2 mixed=6 mixed3=7 split=3 tofu-few=3 time=120 */
/*
 * RDMA with events: puts, gets and messages between buffers from malloc, in mmaps and on the stack,
 * of all sizes and at all offsets; buffers travel as bytes, and by a third PE; more events than a
 * queue has places; unregistering and registering again.
 */
#include <shmemx.h>
#include <sys/mman.h>

#include "tests/lib/check.h"

#define LARGEST (300000UL)
#define MANY 3000 /* more than a box has places */

static shmemx_rdma_buffer_t everybodys[64]; /* symmetric: what each publishes for the others */
static const size_t sizes[] = {0, 1, 7, 8, 31, 32, 33, 48, 4096, 4097, 61440, 61441, 131072, LARGEST};
#define SIZES (sizeof sizes / sizeof sizes[0])

static int right(void)
{
	return (me + 1) % npes;
}

static int left(void)
{
	return (me + npes - 1) % npes;
}

/*
 * Memory that no segment holds; written before, or valgrind would not know what others write to it.
 */
static unsigned char *private_memory(size_t bytes)
{
	unsigned char *memory = malloc(bytes);

	CHECK(memory != NULL);
	memset(memory, 0x5a, bytes);
	return memory;
}

static shmemx_rdma_buffer_t share(void *memory, size_t bytes)
{
	shmemx_rdma_buffer_t mine;

	CHECK_EQUAL(shmemx_rdma_register(memory, bytes, &mine), 0);
	for (int pe = 0; pe < npes; pe++)
		shmem_putmem(&everybodys[me], &mine, sizeof mine, pe);
	shmem_barrier_all();
	return mine;
}

static void take_back(const shmemx_rdma_buffer_t *mine)
{
	shmem_barrier_all();
	shmemx_rdma_unregister(mine);
}

static shmemx_rdma_event_t next_event(void)
{
	shmemx_rdma_event_t event;

	shmemx_rdma_wait(&event);
	return event;
}

static void expect(shmemx_rdma_event_t event, int kind, int pe, uint64_t word, const void *address, size_t bytes)
{
	CHECK_EQUAL(event.kind, kind);
	CHECK_EQUAL(event.pe, pe);
	CHECK_EQUAL(event.word, word);
	CHECK(event.address == address);
	CHECK_EQUAL(event.bytes, bytes);
}

/* Two events, in any order. */
static void expect_both(shmemx_rdma_event_t one, shmemx_rdma_event_t other)
{
	shmemx_rdma_event_t first = next_event(), second = next_event();

	if (first.kind == other.kind) {
		shmemx_rdma_event_t swap = first;

		first = second;
		second = swap;
	}
	expect(first, one.kind, one.pe, one.word, one.address, one.bytes);
	expect(second, other.kind, other.pe, other.word, other.address, other.bytes);
}

static void puts_and_gets(void)
{
	unsigned char *memory = private_memory(LARGEST + 64), *source = private_memory(LARGEST + 64),
		      *got = private_memory(LARGEST + 64);
	shmemx_rdma_buffer_t mine = share(memory, LARGEST + 64);

	for (size_t i = 0; i < SIZES; i++) {
		size_t bytes = sizes[i], offset = i % 2 ? 0 : 3 + i;
		uint64_t word = noise(i);

		NOTE("%zu bytes at %zu", bytes, offset);
		memset(memory, 0xee, LARGEST + 64);
		fill_noise(source, bytes, (uint64_t)me * 100 + i);
		shmem_barrier_all();
		shmemx_rdma_put(&everybodys[right()], offset, source, bytes, 1, word + (uint64_t)me);
		expect_both((shmemx_rdma_event_t){SHMEMX_RDMA_SENT, right(), word + (uint64_t)me, source, bytes},
			    (shmemx_rdma_event_t){SHMEMX_RDMA_ARRIVED, left(), word + (uint64_t)left(), memory + offset,
						  bytes});
		fill_noise(source, bytes, (uint64_t)left() * 100 + i);
		CHECK_BYTES(memory + offset, source, bytes);
		CHECK_FILL(memory, 0xee, offset);
		CHECK_FILL(memory + offset + bytes, 0xee, LARGEST + 64 - offset - bytes);
		memset(got, 0xdd, LARGEST + 64);
		shmem_barrier_all();
		shmemx_rdma_get(got + 5, &everybodys[left()], offset, bytes, word);
		expect(next_event(), SHMEMX_RDMA_GOT, left(), word, got + 5, bytes);
		fill_noise(source, bytes, (uint64_t)((me + 2 * npes - 2) % npes) * 100 + i);
		CHECK_BYTES(got + 5, source, bytes);
		CHECK_FILL(got + 5 + bytes, 0xdd, 59);
		shmem_barrier_all();
	}
	take_back(&mine);
	free(memory);
	free(source);
	free(got);
}

/* From and to registered memory on the stack, in an anonymous mapping and in the heap. */
static void kinds_of_memory(void)
{
	unsigned char stack[5000] = {0}, *heap = symmetric(5000), *mapped;
	unsigned char *all[3];

	mapped = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(mapped != MAP_FAILED);
	all[0] = stack;
	all[1] = heap;
	all[2] = mapped;
	for (int from = 0; from < 3; from++)
		for (int to = 0; to < 3; to++) {
			shmemx_rdma_buffer_t source, mine;

			if (from == to)
				continue;
			NOTE("from memory %d to memory %d", from, to);
			memset(all[to], 0, 5000);
			fill_noise(all[from], 4992, (uint64_t)me);
			mine = share(all[to], 5000);
			CHECK_EQUAL(shmemx_rdma_register(all[from], 5000, &source), 0);
			shmemx_rdma_put(&everybodys[right()], 0, all[from], 4992, 1, 9);
			expect_both((shmemx_rdma_event_t){SHMEMX_RDMA_SENT, right(), 9, all[from], 4992},
				    (shmemx_rdma_event_t){SHMEMX_RDMA_ARRIVED, left(), 9, all[to], 4992});
			fill_noise(all[from], 4992, (uint64_t)left());
			CHECK_BYTES(all[to], all[from], 4992);
			shmemx_rdma_unregister(&source);
			take_back(&mine);
		}
	munmap(mapped, 8192);
	shmem_free(heap);
}

/*
 * Messages come to memory in the order in which it was posted, whether it is posted before or
 * after.
 */
static void messages(void)
{
	unsigned char *memory = private_memory(LARGEST), *source = private_memory(LARGEST);
	shmemx_rdma_buffer_t mine = share(memory, LARGEST), out;
	int received = 0, sent = 0;

	CHECK_EQUAL(shmemx_rdma_register(source, LARGEST, &out), 0);
	fill_noise(source, LARGEST, (uint64_t)me);
	shmemx_rdma_receive(&mine, 0, 1000);
	for (size_t i = 0; i < 8; i++)
		shmemx_rdma_send(right(), &out, i * 1000, i == 7 ? 100000 : i == 3 ? 0 : 1000, i);
	for (size_t i = 1; i < 8; i++)
		shmemx_rdma_receive(&mine, i * 1000, i == 7 ? 200000 : 1000);
	while (received < 8 || sent < 8) {
		shmemx_rdma_event_t event = next_event();

		NOTE("event %d of a message", received + sent);
		if (event.kind == SHMEMX_RDMA_SENT) {
			CHECK(event.word < 8 && event.pe == right() && event.address == source + event.word * 1000);
			sent++;
			continue;
		}
		expect(event, SHMEMX_RDMA_RECEIVED, left(), event.word, memory + event.word * 1000,
		       event.word == 7	 ? 100000
		       : event.word == 3 ? 0
					 : 1000);
		received++;
	}
	fill_noise(source, LARGEST, (uint64_t)left());
	CHECK_BYTES(memory, source, 3000);
	CHECK_FILL(memory + 3000, 0x5a, 1000);
	CHECK_BYTES(memory + 4000, source + 4000, 103000);
	CHECK_FILL(memory + 107000, 0x5a, LARGEST - 107000);
	shmemx_rdma_unregister(&out);
	take_back(&mine);
	free(memory);
	free(source);
}

/*
 * All put to PE 0, which polls late: a PE that finds its queue full waits. Nothing is lost, and
 * each PE's puts come in order.
 */
static void full_queue(void)
{
	long count = eased(MANY), expected = npes > 1 ? (npes - 1) * count : 0;
	uint64_t memory[64] = {0}, next[64] = {0}, word;
	shmemx_rdma_buffer_t mine = share(memory, sizeof memory);

	NOTE("%ld puts from each PE", count);
	for (long i = 0; me > 0 && i < count; i++) {
		word = (uint64_t)i;
		shmemx_rdma_put(&everybodys[0], (size_t)me * sizeof word, &word, sizeof word, 1, (uint64_t)i);
		expect(next_event(), SHMEMX_RDMA_SENT, 0, (uint64_t)i, &word, sizeof word);
	}
	if (me == 0)
		sleep_for(0.05);
	for (long i = 0; me == 0 && i < expected; i++) {
		shmemx_rdma_event_t event = next_event();

		CHECK_EQUAL(event.kind, SHMEMX_RDMA_ARRIVED);
		CHECK_EQUAL(event.word, next[event.pe]);
		next[event.pe]++;
		CHECK(__atomic_load_n(&memory[event.pe], __ATOMIC_RELAXED) >= event.word);
	}
	take_back(&mine);
}

/* Both fill the other's queue before either takes an event. */
static void both_full(void)
{
	uint64_t memory[2] = {0}, word = 1;
	shmemx_rdma_buffer_t mine = share(memory, sizeof memory);
	long count = eased(MANY);
	shmemx_rdma_event_t event;

	NOTE("both queues full");
	for (long i = 0; i < count; i++)
		shmemx_rdma_put(&everybodys[right()], 0, &word, sizeof word, 1, 0);
	for (long i = 0; i < 2 * count; i++)
		next_event();
	CHECK_EQUAL(shmemx_rdma_test(&event), 0);
	take_back(&mine);
}

static void a_hundred_buffers(void)
{
	shmemx_rdma_buffer_t mine[300];
	unsigned char *memory = private_memory(300);
	int i;

	for (int round = 0; round < 3; round++) {
		for (i = 0; i < 256; i++)
			CHECK_EQUAL(shmemx_rdma_register(memory + i, 1, &mine[i]), 0);
		if (round == 0)
			CHECK(shmemx_rdma_register(memory, 1, &mine[i]) != 0);
		while (--i >= 0)
			shmemx_rdma_unregister(&mine[i]);
	}
	free(memory);
}

/*
 * A put without an event, then one with an event: both have arrived when the event comes, because
 * puts to one PE are ordered.
 */
static void puts_without_event(void)
{
	unsigned char *memory = private_memory(2000), *source = private_memory(2000);
	shmemx_rdma_buffer_t mine = share(memory, 2000);
	shmemx_rdma_event_t event;

	NOTE("puts without an event");
	memset(source, 7, 2000);
	shmemx_rdma_put(&everybodys[right()], 0, source, 1000, 0, 1);
	expect(next_event(), SHMEMX_RDMA_SENT, right(), 1, source, 1000);
	shmem_barrier_all();
	CHECK_EQUAL(shmemx_rdma_test(&event), 0);
	while (__atomic_load_n(&memory[999], __ATOMIC_ACQUIRE) != 7)
		CHECK_EQUAL(shmemx_rdma_test(&event), 0);
	take_back(&mine);
	free(memory);
	free(source);
}

int main(void)
{
	begin();
	puts_and_gets();
	kinds_of_memory();
	messages();
	full_queue();
	both_full();
	a_hundred_buffers();
	puts_without_event();
	return end();
}
