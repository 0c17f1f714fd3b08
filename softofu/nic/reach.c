/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/reach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "softofu/nic/descriptor.h"

enum { LINE_OF_PROCESSOR = 64 };

/*
 * The memory of another process is read and written by the kernel (process_vm_readv,
 * process_vm_writev), so nothing has to be mapped, moved or asked of its owner. The kernel copies
 * pieces one after the other; a piece of up to 8 aligned bytes is seen whole by others.
 */
static enum reached what_failed(void)
{
	static _Atomic bool said;

	if (errno == ESRCH)
		return NOBODY_THERE;
	if (errno == EFAULT)
		return NO_MEMORY_THERE;
	if (!atomic_exchange_explicit(&said, true, memory_order_relaxed))
		fprintf(stderr,
			"softofu: the memory of another process of the job cannot be reached (process_vm_writev: %s); "
			"in a container allow it (--cap-add SYS_PTRACE)\n",
			strerror(errno));
	return NOT_ALLOWED;
}

/*
 * Copies 4 or 8 aligned bytes as one word, so that another thread never sees half of it. The caller
 * is responsible for order.
 */
static void copy_within(void *to, const void *from, size_t bytes)
{
	if (bytes == 8 && !(((uintptr_t)to | (uintptr_t)from) % 8))
		__atomic_store_n((uint64_t *)to, *(const uint64_t *)from, __ATOMIC_RELAXED);
	else if (bytes == 4 && !(((uintptr_t)to | (uintptr_t)from) % 4))
		__atomic_store_n((uint32_t *)to, *(const uint32_t *)from, __ATOMIC_RELAXED);
	else
		memcpy(to, from, bytes);
}

static ssize_t copy_across(int32_t pid, struct iovec *here, struct iovec *there, int count, bool write)
{
	if (write)
		return process_vm_writev(pid, here, (unsigned long)count, there, (unsigned long)count, 0);
	return process_vm_readv(pid, here, (unsigned long)count, there, (unsigned long)count, 0);
}

static enum reached reach_pieces(struct nic *nic, uint32_t rank, const struct piece *pieces, int count, bool write)
{
	struct iovec here[PIECES], there[PIECES];
	int32_t pid = atomic_load_explicit(&job_process(nic->job, rank)->pid, memory_order_relaxed);
	ssize_t bytes = 0, moved;

	if (!pid)
		return NOBODY_THERE;
	for (int i = 0; i < count; i++) {
		void *other = (void *)(uintptr_t)pieces[i].there;

		if (rank == (uint32_t)nic->rank && write)
			copy_within(other, pieces[i].here, pieces[i].bytes);
		else if (rank == (uint32_t)nic->rank)
			copy_within(pieces[i].here, other, pieces[i].bytes);
		here[i] = (struct iovec){pieces[i].here, pieces[i].bytes};
		there[i] = (struct iovec){other, pieces[i].bytes};
		bytes += (ssize_t)pieces[i].bytes;
	}
	if (rank == (uint32_t)nic->rank || !bytes)
		return REACHED;
	moved = copy_across(pid, here, there, count, write);
	if (moved < 0)
		return what_failed();
	return moved == bytes ? REACHED : NO_MEMORY_THERE;
}

/*
 * Makes a piece visible at once. No store is as wide as a line of the machine, but the stores of
 * one copy follow each other within nanoseconds if this processor owns the lines. A reader that
 * polls one of them owns the others no longer once they have been written. So this first writes
 * what is there already, and then the piece. The program must not write there meanwhile, as it must
 * not on the machine.
 */
static enum reached write_at_once(struct nic *nic, uint32_t rank, const struct piece *piece)
{
	uint64_t last = piece->there + piece->bytes - 1;
	char old[MOST_MTU];
	struct piece same = {old, piece->there, piece->bytes};
	enum reached reached = REACHED;

	if (rank != (uint32_t)nic->rank && piece->bytes <= sizeof old &&
	    piece->there / LINE_OF_PROCESSOR != last / LINE_OF_PROCESSOR) {
		reached = reach_pieces(nic, rank, &same, 1, false);
		if (reached == REACHED)
			reached = reach_pieces(nic, rank, &same, 1, true);
	}
	return reached == REACHED ? reach_pieces(nic, rank, piece, 1, true) : reached;
}

enum reached reach_write(struct nic *nic, uint32_t rank, const struct piece *pieces, int count)
{
	return count == 1 ? write_at_once(nic, rank, pieces) : reach_pieces(nic, rank, pieces, count, true);
}

enum reached reach_write_in_order(struct nic *nic, uint32_t rank, const struct piece *pieces, int count)
{
	enum reached reached = REACHED;

	for (int i = 0; i < count && reached == REACHED; i++) {
		atomic_thread_fence(memory_order_release);
		reached = write_at_once(nic, rank, &pieces[i]);
	}
	return reached;
}

enum reached reach_read(struct nic *nic, uint32_t rank, const struct piece *pieces, int count)
{
	return reach_pieces(nic, rank, pieces, count, false);
}

static uint64_t armw_result(const struct descriptor *what, uint64_t old)
{
	uint64_t operand = what->armw.operand;

	switch (what->armw.op) {
	case ARMW_SWAP: return operand;
	case ARMW_ADD: return old + operand;
	case ARMW_XOR: return old ^ operand;
	case ARMW_AND: return old & operand;
	case ARMW_OR: return old | operand;
	default: return old == what->armw.expected ? operand : old;
	}
}

/* In this process atomic operations of the processor count, too. */
static uint64_t change_here(uint64_t address, const struct descriptor *what)
{
	uint64_t *word = (uint64_t *)(uintptr_t)address;
	uint32_t *half = (uint32_t *)(uintptr_t)address;

	if (what->armw.size == 8) {
		uint64_t old = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		while (!__atomic_compare_exchange_n(word, &old, armw_result(what, old), false, __ATOMIC_ACQ_REL,
						    __ATOMIC_ACQUIRE))
			;
		return old;
	}
	uint32_t old = __atomic_load_n(half, __ATOMIC_ACQUIRE);

	while (!__atomic_compare_exchange_n(half, &old, (uint32_t)armw_result(what, old), false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE))
		;
	return old;
}

enum reached reach_change(struct nic *nic, uint32_t rank, uint64_t there, const struct descriptor *what,
			  uint64_t *value)
{
	struct process *process = job_process(nic->job, rank);
	uint64_t old = 0, changed;
	struct piece piece = {&old, there, what->armw.size};
	enum reached reached = REACHED;

	job_lock(&process->changing);
	if (rank == (uint32_t)nic->rank) {
		old = change_here(there, what);
	} else {
		reached = reach_read(nic, rank, &piece, 1);
		changed = armw_result(what, old);
		piece.here = &changed;
		if (reached == REACHED)
			reached = reach_write(nic, rank, &piece, 1);
	}
	job_unlock(&process->changing);
	*value = old;
	return reached;
}
