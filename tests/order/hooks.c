/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the compiler calls for -fsanitize=thread, and the calls of the C library that order memory.
 */
#include "inside.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <shmem.h>

/* --- Where an address is: the same bytes have the same place in all PEs --- */

enum { MAPPINGS = 1024, CLOCK_STEP = 4000000 };

static struct mapping {
	uintptr_t start, end;
	uint64_t place; /* of its first byte; 0: private */
} mapping[MAPPINGS];
static int n_mappings;

static void read_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512], permissions[8];
	unsigned long start, end, offset, inode;

	n_mappings = 0;
	while (file && n_mappings < MAPPINGS && fgets(line, sizeof line, file)) {
		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu", &start, &end, permissions, &offset, &inode) != 5)
			continue;
		mapping[n_mappings++] =
			(struct mapping){start, end, permissions[3] == 's' && inode ? (inode << 40) + offset : 0};
	}
	if (file)
		fclose(file);
}

static const struct mapping *find_mapping(uintptr_t address)
{
	static const struct mapping *last = mapping;

	if (address - last->start < last->end - last->start)
		return last;
	for (int i = 0; i < n_mappings; i++)
		if (address >= mapping[i].start && address < mapping[i].end)
			return last = &mapping[i];
	return NULL;
}

/* 0: the memory is this process's own, and only one of its threads takes part. */
static uint64_t place_of(const volatile void *address)
{
	const struct mapping *found = find_mapping((uintptr_t)address);

	if (!found) {
		read_mappings();
		found = find_mapping((uintptr_t)address);
	}
	if (found && found->place)
		return found->place + ((uintptr_t)address - found->start);
	if (model->threads > shmem_n_pes())
		return (uint64_t)(getpid() + 1) << 48 | ((uintptr_t)address & 0xffffffffffff);
	return 0;
}

void explore_forget_mappings(void)
{
	n_mappings = 0;
}

void explore_data(const volatile void *start, size_t bytes)
{
	uint64_t place = place_of(start);

	if (place && model->n_ranges < (int)(sizeof model->range / sizeof model->range[0]))
		model->range[model->n_ranges++] = (struct range){place, place + bytes};
}

/* --- Plain accesses --- */

static void plain(const volatile void *address, size_t bytes, bool write, const void *caller)
{
	uint64_t place;

	if (self < 0 || !(place = place_of(address)))
		return;
	race_check(place, bytes, write, false, site_of(caller));
	if (write)
		memory_plain_store(place, (volatile void *)(uintptr_t)address, bytes);
}

#define CALLER __builtin_return_address(0)
#define PLAIN(bytes)                                      \
	void __tsan_read##bytes(void *address)            \
	{                                                 \
		plain(address, bytes, false, CALLER);     \
	}                                                 \
	void __tsan_write##bytes(void *address)           \
	{                                                 \
		plain(address, bytes, true, CALLER);      \
	}                                                 \
	void __tsan_unaligned_read##bytes(void *address)  \
	{                                                 \
		plain(address, bytes, false, CALLER);     \
	}                                                 \
	void __tsan_unaligned_write##bytes(void *address) \
	{                                                 \
		plain(address, bytes, true, CALLER);      \
	}                                                 \
	void __tsan_volatile_read##bytes(void *address)   \
	{                                                 \
		plain(address, bytes, false, CALLER);     \
	}                                                 \
	void __tsan_volatile_write##bytes(void *address)  \
	{                                                 \
		plain(address, bytes, true, CALLER);      \
	}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *address, unsigned long bytes)
{
	plain(address, bytes, false, CALLER);
}
void __tsan_write_range(void *address, unsigned long bytes)
{
	plain(address, bytes, true, CALLER);
}
void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller)
{
	(void)caller;
}
void __tsan_func_exit(void)
{
}
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}

void *explore_memcpy(void *to, const void *from, size_t bytes)
{
	plain(from, bytes, false, CALLER);
	plain(to, bytes, true, CALLER);
	return memcpy(to, from, bytes);
}

void *explore_memmove(void *to, const void *from, size_t bytes)
{
	plain(from, bytes, false, CALLER);
	plain(to, bytes, true, CALLER);
	return memmove(to, from, bytes);
}

void *explore_memset(void *to, int value, size_t bytes)
{
	plain(to, bytes, true, CALLER);
	return memset(to, value, bytes);
}

int explore_memcmp(const void *left, const void *right, size_t bytes)
{
	plain(left, bytes, false, CALLER);
	plain(right, bytes, false, CALLER);
	return memcmp(left, right, bytes);
}

/* --- Atomic accesses --- */

struct atomic {
	uint64_t place;
	uint32_t site;
	enum order order;
};

static bool begin_atomic(struct atomic *atomic, const volatile void *address, int bytes, enum access access, int order,
			 const void *caller)
{
	bool gone;

	if (self < 0 || !(atomic->place = place_of(address)))
		return false;
	atomic->site = site_of(caller);
	atomic->order = site_order(atomic->site, access, (enum order)order, &gone);
	step();
	race_check(atomic->place, (size_t)bytes, access != LOAD, true, atomic->site);
	return true;
}

enum change { SWAP, ADD, SUB, AND, OR, XOR, NAND, CSWAP };

struct operand {
	enum change change;
	uint64_t value, wanted;
	uint64_t mask;
};

static bool apply(uint64_t old, uint64_t *new, void *argument)
{
	const struct operand *operand = argument;

	switch (operand->change) {
	case SWAP: *new = operand->value; break;
	case ADD: *new = old + operand->value; break;
	case SUB: *new = old - operand->value; break;
	case AND: *new = old & operand->value; break;
	case OR: *new = old | operand->value; break;
	case XOR: *new = old ^ operand->value; break;
	case NAND: *new = ~(old & operand->value); break;
	case CSWAP: *new = operand->value; break;
	}
	*new &= operand->mask;
	return operand->change != CSWAP || old == operand->wanted;
}

static uint64_t update(const struct atomic *atomic, volatile void *address, int bytes, struct operand operand)
{
	uint64_t old;

	operand.mask = bytes == 8 ? UINT64_MAX : (1ul << 8 * bytes) - 1;
	operand.value &= operand.mask;
	operand.wanted &= operand.mask;
	old = memory_update(atomic->place, address, bytes, apply, &operand, atomic->order);
	note("update", atomic->place, old, bytes, atomic->order, atomic->site);
	return old;
}

#define FETCH(bits, TYPE, name, kind, builtin)                                                   \
	TYPE __tsan_atomic##bits##_##name(volatile TYPE *address, TYPE value, int order)         \
	{                                                                                        \
		struct atomic a;                                                                 \
		if (!begin_atomic(&a, address, bits / 8, UPDATE, order, CALLER))                 \
			return builtin(address, value, __ATOMIC_SEQ_CST);                        \
		return (TYPE)update(&a, address, bits / 8, (struct operand){kind, value, 0, 0}); \
	}

#define COMPARE(bits, TYPE, strength)                                                                           \
	int __tsan_atomic##bits##_compare_exchange_##strength(volatile TYPE *address, TYPE *wanted, TYPE value, \
							      int order, int other)                             \
	{                                                                                                       \
		TYPE was = *wanted;                                                                             \
		(void)other;                                                                                    \
		*wanted = compare##bits(address, was, value, order, CALLER);                                    \
		return *wanted == was;                                                                          \
	}

#define ATOMIC(bits, TYPE)                                                                                          \
	TYPE __tsan_atomic##bits##_load(const volatile TYPE *address, int order)                                    \
	{                                                                                                           \
		struct atomic a;                                                                                    \
		TYPE value;                                                                                         \
		if (!begin_atomic(&a, address, bits / 8, LOAD, order, CALLER))                                      \
			return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                          \
		value = (TYPE)memory_load(a.place, (volatile void *)(uintptr_t)address, bits / 8, a.order);         \
		note("load", a.place, value, bits / 8, a.order, a.site);                                            \
		return value;                                                                                       \
	}                                                                                                           \
	void __tsan_atomic##bits##_store(volatile TYPE *address, TYPE value, int order)                             \
	{                                                                                                           \
		struct atomic a;                                                                                    \
		if (!begin_atomic(&a, address, bits / 8, STORE, order, CALLER)) {                                   \
			__atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                         \
			return;                                                                                     \
		}                                                                                                   \
		memory_store(a.place, address, bits / 8, value, a.order);                                           \
		note("store", a.place, value, bits / 8, a.order, a.site);                                           \
	}                                                                                                           \
	static TYPE compare##bits(volatile TYPE *address, TYPE wanted, TYPE value, int order, const void *caller)   \
	{                                                                                                           \
		struct atomic a;                                                                                    \
		if (!begin_atomic(&a, address, bits / 8, UPDATE, order, caller)) {                                  \
			__atomic_compare_exchange_n(address, &wanted, value, false, __ATOMIC_SEQ_CST,               \
						    __ATOMIC_SEQ_CST);                                              \
			return wanted;                                                                              \
		}                                                                                                   \
		return (TYPE)update(&a, address, bits / 8, (struct operand){CSWAP, value, wanted, 0});              \
	}                                                                                                           \
	COMPARE(bits, TYPE, strong)                                                                                 \
	COMPARE(bits, TYPE, weak)                                                                                   \
	TYPE __tsan_atomic##bits##_compare_exchange_val(volatile TYPE *address, TYPE wanted, TYPE value, int order, \
							int other)                                                  \
	{                                                                                                           \
		(void)other;                                                                                        \
		return compare##bits(address, wanted, value, order, CALLER);                                        \
	}                                                                                                           \
	FETCH(bits, TYPE, exchange, SWAP, __atomic_exchange_n)                                                      \
	FETCH(bits, TYPE, fetch_add, ADD, __atomic_fetch_add)                                                       \
	FETCH(bits, TYPE, fetch_sub, SUB, __atomic_fetch_sub)                                                       \
	FETCH(bits, TYPE, fetch_and, AND, __atomic_fetch_and)                                                       \
	FETCH(bits, TYPE, fetch_or, OR, __atomic_fetch_or)                                                          \
	FETCH(bits, TYPE, fetch_xor, XOR, __atomic_fetch_xor)                                                       \
	FETCH(bits, TYPE, fetch_nand, NAND, __atomic_fetch_nand)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
	uint32_t site = site_of(CALLER);
	bool gone;

	if (self < 0) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		return;
	}
	order = site_order(site, FENCE, (enum order)order, &gone);
	step();
	if (!gone)
		memory_fence((enum order)order);
	note(gone ? "no fence" : "fence", 0, 0, 0, (enum order)order, site);
}

/* --- Sleeping and waking: the kernel's part has fences of its own --- */

static long futex_sleep(uint64_t place, volatile void *word, uint32_t value, bool timed)
{
	step();
	memory_fence(SEQ_CST);
	if ((uint32_t)memory_load(place, word, 4, SEQ_CST) != value) {
		errno = EAGAIN;
		return -1;
	}
	block(ASLEEP, place, timed);
	return 0;
}

static long futex(volatile void *word, int operation, uint32_t value, const void *timeout)
{
	uint64_t place = place_of(word);

	if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT)
		return futex_sleep(place, word, value, timeout != NULL);
	step();
	memory_fence(SEQ_CST);
	return wake_blocked(ASLEEP, place, (int)value);
}

static long membarrier(const void *caller)
{
	uint32_t site = site_of(caller);
	bool gone;

	site_order(site, FENCE, SEQ_CST, &gone);
	step();
	if (!gone)
		memory_fence_all();
	note(gone ? "no barrier" : "barrier", 0, 0, 0, SEQ_CST, site);
	return 0;
}

long explore_syscall(long call, ...)
{
	long a[6];
	va_list arguments;

	va_start(arguments, call);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (call == SYS_membarrier && getenv(EXPLORE_NO_MEMBARRIER)) {
		errno = ENOSYS;
		return -1;
	}
	if (self >= 0 && call == SYS_futex && place_of((void *)a[0]))
		return futex((void *)a[0], (int)a[1], (uint32_t)a[2], (void *)a[3]);
	if (self >= 0 && call == SYS_membarrier &&
	    (a[0] == MEMBARRIER_CMD_GLOBAL_EXPEDITED || a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		return membarrier(CALLER);
	return syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int explore_yield(void)
{
	if (self < 0)
		return sched_yield();
	yield_processor();
	return 0;
}

/* Two threads share a processor. */
int explore_getcpu(void)
{
	return self < 0 ? sched_getcpu() : self / 2;
}

int explore_nanosleep(const struct timespec *time, struct timespec *left)
{
	if (self < 0)
		return nanosleep(time, left);
	step();
	return 0;
}

/* What a clock says plays no part but that it goes on. */
int explore_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (self < 0)
		return clock_gettime(clock, now);
	model->clock += CLOCK_STEP;
	*now = (struct timespec){model->clock / 1000000000, model->clock % 1000000000};
	return 0;
}

/* --- Copies by the kernel: no order but the caller's; what is a word is stored as one --- */

static struct {
	char *here;
} reachable[THREADS];

void explore_reachable(void *symmetric, size_t bytes)
{
	model->reachable[shmem_my_pe()] = (struct reachable){getpid(), (uint64_t)(uintptr_t)symmetric, bytes};
	for (int pe = 0; pe < shmem_n_pes(); pe++)
		reachable[pe].here = shmem_ptr(symmetric, pe);
	shmem_barrier_all();
}

/* Where this process has what another has at that address; NULL: nowhere. */
static char *here_of(pid_t process, const void *address, size_t bytes)
{
	for (int pe = 0; pe < shmem_n_pes(); pe++) {
		uint64_t offset = (uint64_t)(uintptr_t)address - model->reachable[pe].address;

		if (model->reachable[pe].process == process && offset < model->reachable[pe].bytes &&
		    bytes <= model->reachable[pe].bytes - offset)
			return reachable[pe].here + offset;
	}
	return NULL;
}

static bool is_word(const void *to, const void *from, size_t bytes)
{
	return (bytes == 8 || bytes == 4) && ((uintptr_t)to | (uintptr_t)from) % bytes == 0;
}

static void kernel_copy(char *to, const char *from, size_t bytes, const void *caller)
{
	uint32_t site = site_of(caller);
	uint64_t value = 0, place = place_of(to);

	plain(from, bytes, false, caller);
	if (!place || !is_word(to, from, bytes)) {
		plain(to, bytes, true, caller);
		memcpy(to, from, bytes);
		return;
	}
	memcpy(&value, from, bytes);
	race_check(place, bytes, true, true, site);
	memory_store(place, to, (int)bytes, value, RELAXED);
	note("kernel's", place, value, (int)bytes, RELAXED, site);
}

static ssize_t kernel_copies(pid_t process, const struct iovec *local, const struct iovec *remote, unsigned long n,
			     bool write, const void *caller)
{
	ssize_t bytes = 0;

	for (unsigned long i = 0; i < n; i++) {
		char *there = here_of(process, remote[i].iov_base, remote[i].iov_len);

		if (!there || local[i].iov_len != remote[i].iov_len)
			explore_fail("memory of another process that no scenario announces", __FILE__, __LINE__);
		step();
		kernel_copy(write ? there : local[i].iov_base, write ? local[i].iov_base : there, local[i].iov_len,
			    caller);
		bytes += (ssize_t)local[i].iov_len;
	}
	return bytes;
}

ssize_t explore_vm_writev(pid_t process, const struct iovec *local, unsigned long n_local, const struct iovec *remote,
			  unsigned long n_remote, unsigned long flags)
{
	if (self < 0)
		return process_vm_writev(process, local, n_local, remote, n_remote, flags);
	return kernel_copies(process, local, remote, n_local, true, CALLER);
}

ssize_t explore_vm_readv(pid_t process, const struct iovec *local, unsigned long n_local, const struct iovec *remote,
			 unsigned long n_remote, unsigned long flags)
{
	if (self < 0)
		return process_vm_readv(process, local, n_local, remote, n_remote, flags);
	return kernel_copies(process, local, remote, n_local, false, CALLER);
}

/* --- Mutexes: a word in the model, and the real one between executions --- */

static bool take_mutex(pthread_mutex_t *mutex, uint64_t place)
{
	struct operand take = {CSWAP, 1, 0, 0xffffffff};
	uint32_t word = 0;

	(void)mutex;
	return memory_update_newest(place, &word, 4, apply, &take, ACQ_REL) == 0;
}

int explore_mutex_lock(pthread_mutex_t *mutex)
{
	uint64_t place = self < 0 ? 0 : place_of(mutex);

	if (!place)
		return pthread_mutex_lock(mutex);
	step();
	while (!take_mutex(mutex, place))
		block(AT_MUTEX, place, false);
	return 0;
}

int explore_mutex_trylock(pthread_mutex_t *mutex)
{
	uint64_t place = self < 0 ? 0 : place_of(mutex);

	if (!place)
		return pthread_mutex_trylock(mutex);
	step();
	return take_mutex(mutex, place) ? 0 : EBUSY;
}

int explore_mutex_unlock(pthread_mutex_t *mutex)
{
	uint64_t place = self < 0 ? 0 : place_of(mutex);
	uint32_t word = 0;

	if (!place)
		return pthread_mutex_unlock(mutex);
	memory_store(place, &word, 4, 0, RELEASE);
	wake_blocked(AT_MUTEX, place, INT32_MAX);
	return 0;
}
