/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts with signal, and operations on signals. */
#include "api.h"

#include "comms/core/copy.h"
#include "comms/core/device.h"

static enum comms_amo signal_op(int sig_op, const char *routine)
{
	if (COMMS_LIKELY(sig_op == SHMEM_SIGNAL_SET))
		return COMMS_SWAP;
	if (COMMS_UNLIKELY(sig_op != SHMEM_SIGNAL_ADD))
		rte_misuse(routine, "sig_op=%d is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", sig_op);
	return COMMS_ADD;
}

/* The arguments of a put with signal besides addresses and data. */
struct signal_call {
	uint64_t value;
	const char *routine;
	int sig_op, pe;
	bool nbi;
};

/* The atomic on the signal is also the release that the data must not overtake. */
static void put_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, uint64_t *word,
		       struct signal_call call)
{
	API_CHECK_TARGET(ctx, call.pe, call.routine)
	enum comms_amo op = signal_op(call.sig_op, call.routine);
	int pe = api_target(ctx, call.pe);
	struct comms_peer *peer;
	void *here, *signal;

	here = comms_reach_quickly(dest, bytes, pe, &peer);
	signal = here ? comms_reach_atomically(word, sizeof *word, pe, &peer) : NULL;
	if (COMMS_UNLIKELY(!signal || (uintptr_t)word % sizeof *word)) {
		if (!comms_check_symmetric_anywhere(word, sizeof *word, "sig_addr", call.routine))
			return;
		comms_channel_put_signal(api_channel(ctx), &(struct comms_piece){dest, source, bytes},
					 &(struct comms_signal){word, call.value, op, call.nbi}, pe, call.routine);
		return;
	}
	if (bytes > COMMS_SHORT)
		comms_copy_near(here, source, bytes, source, call.routine);
	else
		comms_copy_in(here, source, bytes);
	if (op == COMMS_SWAP)
		__atomic_store_n((uint64_t *)signal, call.value, __ATOMIC_RELEASE);
	else
		__atomic_fetch_add((uint64_t *)signal, call.value, __ATOMIC_RELEASE);
	if (COMMS_UNLIKELY(comms_sleepers(peer))) {
		comms_wake_at(peer, word, sizeof *word);
		comms_wake_at(peer, dest, bytes);
	}
}

#define SIGNAL_CALL(NBI) ((struct signal_call){signal, __func__, sig_op, pe, NBI})
#define PUT_SIGNAL(NAME, TYPE, SIZE)                                                                                  \
	API_BOTH(void, NAME##_signal, put_signal(ctx, dest, source, nelems *(SIZE), sig_addr, SIGNAL_CALL(false));    \
		 , TYPE * dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,   \
		 int pe)                                                                                              \
	API_BOTH(void, NAME##_signal_nbi, put_signal(ctx, dest, source, nelems *(SIZE), sig_addr, SIGNAL_CALL(true)); \
		 , TYPE * dest, const TYPE *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,   \
		 int pe)
#define TYPED(NAME, TYPE) PUT_SIGNAL(NAME##_put, TYPE, sizeof(TYPE))
#define SIZED(BITS, BYTES) PUT_SIGNAL(put##BITS, void, (size_t)(BYTES))
FOR_RMA_TYPES(TYPED)
FOR_SIZES(SIZED)
PUT_SIGNAL(putmem, void, 1)

static void change_signal(shmem_ctx_t ctx, enum comms_amo op, uint64_t *word, uint64_t value, int pe,
			  const char *routine)
{
	if (!comms_check_symmetric_anywhere(word, sizeof *word, "sig_addr", routine))
		return;
	API_CHECK_TARGET(ctx, pe, routine)
	pe = api_target(ctx, pe);
	comms_channel_amo(api_channel(ctx), word, &(struct comms_atomic){op, sizeof *word, value, 0}, pe, routine);
}

API_BOTH(void, signal_add, change_signal(ctx, COMMS_ADD, sig_addr, signal, pe, __func__);
	 , uint64_t *sig_addr, uint64_t signal, int pe)
API_BOTH(void, signal_set, change_signal(ctx, COMMS_SWAP, sig_addr, signal, pe, __func__);
	 , uint64_t *sig_addr, uint64_t signal, int pe)

API uint64_t pshmem_signal_fetch(const uint64_t *sig_addr)
{
	COMMS_CALL_OR(0, __func__, 0, COMMS_NOBODY);
	uint64_t now;

	if (!comms_check_symmetric_anywhere(sig_addr, sizeof *sig_addr, "sig_addr", __func__))
		return 0;
	if (comms_is_on_device(sig_addr)) {
		comms.device->copy(&now, sig_addr, sizeof now);
		return now;
	}
	return __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);
}
PROFILED(shmem_signal_fetch)
