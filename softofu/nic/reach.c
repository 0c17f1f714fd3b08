/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/reach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "softofu/nic/descriptor.h"

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
 * Copies in ascending order. Aligned words of 8 or 4 bytes are stored whole, so that another thread
 * never sees half of one. The caller is responsible for order on processors that reorder stores.
 */
static void copy_within(void *to, const void *from, size_t bytes)
{
	for (size_t at = 0, size; at < bytes; at += size) {
		char *there = (char *)to + at;
		const char *here = (const char *)from + at;
		uint64_t word;
		uint32_t half;

		size = 1;
		if (bytes - at >= sizeof word && !((uintptr_t)there % sizeof word)) {
			memcpy(&word, here, size = sizeof word);
			__atomic_store_n((uint64_t *)there, word, __ATOMIC_RELAXED);
		} else if (bytes - at >= sizeof half && !((uintptr_t)there % sizeof half)) {
			memcpy(&half, here, size = sizeof half);
			__atomic_store_n((uint32_t *)there, half, __ATOMIC_RELAXED);
		} else {
			__atomic_store_n(there, *here, __ATOMIC_RELAXED);
		}
	}
}

struct transfer {
	int32_t pid;
	struct iovec *here, *there;
	int heres, theres;
};

static enum reached copy_across(const struct transfer *transfer, ssize_t bytes, bool write)
{
	ssize_t moved;

	if (!transfer->pid)
		return NOBODY_THERE;
	if (write)
		moved = process_vm_writev(transfer->pid, transfer->here, (unsigned long)transfer->heres,
					  transfer->there, (unsigned long)transfer->theres, 0);
	else
		moved = process_vm_readv(transfer->pid, transfer->here, (unsigned long)transfer->heres, transfer->there,
					 (unsigned long)transfer->theres, 0);
	if (moved < 0)
		return what_failed();
	return moved == bytes ? REACHED : NO_MEMORY_THERE;
}

static enum reached reach_pieces(struct nic *nic, uint32_t rank, const struct piece *pieces, int count, bool write)
{
	struct iovec here[PIECES], there[PIECES];
	int32_t pid = atomic_load_explicit(&job_process(nic->job, rank)->pid, memory_order_relaxed);
	struct transfer transfer = {pid, here, there, count, count};
	ssize_t bytes = 0;

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
	return copy_across(&transfer, bytes, write);
}

/*
 * A put with strong order is written in steps: of each line of the machine all but one word, and
 * then this word, where a reader that polls finds its marker. The kernel copies the steps of a call
 * one after the other, each by a string instruction of its own on x86. The stores of one string
 * instruction reach memory in any order, those of two in the order of the instructions. Other
 * processors order the stores of a call not at all, so there each step is a call.
 */
#ifndef STEPS_OF_A_CALL
#if defined(__x86_64__)
#define STEPS_OF_A_CALL 256
#else
#define STEPS_OF_A_CALL 1
#endif
#endif
/*
 * A step for each line would take three times as long as one copy. Runtimes put messages of up to
 * 32 KiB in lines that are polled; what is before the last 64 KiB of a put is one step.
 */
enum { WORD = 8, IN_LINES = 1 << 16 };

struct steps {
	struct nic *nic;
	uint32_t rank;
	uint64_t here_to_there; /* difference of the addresses */
	struct iovec here[STEPS_OF_A_CALL], there[STEPS_OF_A_CALL];
	int heres, theres;
};

static enum reached flush_steps(struct steps *steps)
{
	int32_t pid = atomic_load_explicit(&job_process(steps->nic->job, steps->rank)->pid, memory_order_relaxed);
	struct transfer transfer = {pid, steps->here, steps->there, steps->heres, steps->theres};
	ssize_t bytes = 0;

	if (!steps->heres)
		return REACHED;
	for (int i = 0; i < steps->heres; i++)
		bytes += (ssize_t)steps->here[i].iov_len;
	steps->heres = steps->theres = 0;
	atomic_thread_fence(memory_order_release);
	return copy_across(&transfer, bytes, true);
}

/* Steps that follow each other at the other side are one piece there. */
static enum reached add_step(struct steps *steps, uint64_t at, uint64_t end)
{
	struct iovec *last = steps->theres ? &steps->there[steps->theres - 1] : NULL;
	void *here = (void *)(uintptr_t)(at - steps->here_to_there);

	if (at >= end)
		return REACHED;
	if (steps->rank == (uint32_t)steps->nic->rank) {
		atomic_thread_fence(memory_order_release);
		copy_within((void *)(uintptr_t)at, here, end - at);
		return REACHED;
	}
	if (last && (uintptr_t)last->iov_base + last->iov_len == at)
		last->iov_len += end - at;
	else
		steps->there[steps->theres++] = (struct iovec){(void *)(uintptr_t)at, end - at};
	steps->here[steps->heres++] = (struct iovec){here, end - at};
	return steps->heres == STEPS_OF_A_CALL ? flush_steps(steps) : REACHED;
}

/*
 * Part of a line. Its word with the marker goes last, or its last word where the part does not
 * cover that.
 */
static enum reached add_line(struct steps *steps, uint64_t at, uint64_t end)
{
	uint64_t word = at / CACHE_LINE * CACHE_LINE + steps->nic->settings.marker;
	enum reached reached;

	if (word < at || word + WORD > end)
		word = (end - 1) / WORD * WORD;
	word = word > at ? word : at;
	reached = add_step(steps, at, word);
	if (reached == REACHED)
		reached = add_step(steps, word + WORD, end);
	if (reached == REACHED)
		reached = add_step(steps, word, word + WORD < end ? word + WORD : end);
	return reached;
}

static enum reached write_lines(struct nic *nic, uint32_t rank, const struct piece *piece)
{
	uint64_t at = piece->there, end = at + piece->bytes, next;
	enum reached reached = REACHED;
	struct steps steps;

	/* Not an initializer, which would write all of the arrays. */
	steps.nic = nic;
	steps.rank = rank;
	steps.here_to_there = piece->there - (uintptr_t)piece->here;
	steps.heres = steps.theres = 0;
	if (piece->bytes > IN_LINES) {
		next = (end - IN_LINES + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
		reached = add_step(&steps, at, next);
		at = next;
	}
	for (; at < end && reached == REACHED; at = next) {
		next = (at / CACHE_LINE + 1) * CACHE_LINE;
		next = next < end ? next : end;
		reached = add_line(&steps, at, next);
	}
	return reached == REACHED ? flush_steps(&steps) : reached;
}

enum reached reach_write(struct nic *nic, uint32_t rank, const struct piece *pieces, int count)
{
	return reach_pieces(nic, rank, pieces, count, true);
}

enum reached reach_write_in_order(struct nic *nic, uint32_t rank, const struct piece *pieces, int count)
{
	enum reached reached = REACHED;

	for (int i = 0; i < count && reached == REACHED; i++)
		reached = write_lines(nic, rank, &pieces[i]);
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
