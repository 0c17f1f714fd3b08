/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_OPS_OPS_H
#define COMMS_OPS_OPS_H

#include "comms/core/operations.h"

/*
 * A channel orders and completes its own operations: its fence and quiet do not affect other
 * channels. NULL is the default channel. A private channel is used by one thread at a time, takes
 * no lock, and gets its own connections at its first operation over UCX. Any thread may use the
 * other channels.
 */

/* Returns false if there is no memory. A channel costs nothing else until it is used. */
bool comms_channel_open(bool private, struct comms_channel **channel);
/* Call after a quiet, and before comms_stop. */
void comms_channel_close(struct comms_channel *channel);

/*
 * The complete path: checks, first contact, any network. The nbi forms complete at a quiet of the
 * channel.
 */
void comms_channel_put(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine);
void comms_channel_put_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine);
void comms_channel_get(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine);
void comms_channel_get_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine);

/* The fetching form returns the old value, zero-extended. */
void comms_channel_amo(struct comms_channel *channel, void *dest, const struct comms_atomic *atomic, int pe,
		       const char *routine);
uint64_t comms_channel_amo_fetch(struct comms_channel *channel, void *dest, const struct comms_atomic *atomic, int pe,
				 const char *routine);
void comms_channel_amo_fetch_nbi(struct comms_channel *channel, void *result, void *dest,
				 const struct comms_atomic *atomic, int pe, const char *routine);

struct comms_signal {
	uint64_t *word, value;
	enum comms_amo op;
	bool nbi; /* of the data */
};

/* Puts data, then changes the signal of the same PE atomically. */
void comms_channel_put_signal(struct comms_channel *channel, const struct comms_piece *piece,
			      const struct comms_signal *signal, int pe, const char *routine);

void comms_channel_fence(struct comms_channel *channel);
void comms_channel_quiet(struct comms_channel *channel);
/* A quiet for operations to these PEs only; a PE may be listed twice. */
void comms_channel_quiet_pes(struct comms_channel *channel, const int *pes, size_t n);

/* The same on the default channel. */
static inline void comms_put(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_put(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_put_nbi(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_put_nbi(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_get(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_get(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_get_nbi(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_get_nbi(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_amo(void *dest, struct comms_atomic atomic, int pe, const char *routine)
{
	comms_channel_amo(NULL, dest, &atomic, pe, routine);
}

static inline uint64_t comms_amo_fetch(void *dest, struct comms_atomic atomic, int pe, const char *routine)
{
	return comms_channel_amo_fetch(NULL, dest, &atomic, pe, routine);
}

static inline void comms_fence(void)
{
	comms_channel_fence(NULL);
}

static inline void comms_quiet(void)
{
	comms_channel_quiet(NULL);
}

/*
 * The quiet before a barrier: completes network operations. Stores need nothing here, because the
 * barrier publishes them: a PE that leaves it has seen the words of all others.
 */
static inline void comms_complete(void)
{
	if (comms.quiets)
		comms_quiet();
}

/*
 * The first statement of an API routine: checks that the library is up, and returns if the job is
 * broken, with a result if the routine has one. If calls are observed, a call begins here and ends
 * with the block. PE is its target, if it has one. Costs one load of a word that is normally not 0.
 */
#define COMMS_CALL_OR(result, routine, bytes, pe)                                                               \
	bool observed_ __attribute__((unused, cleanup(comms_call_end))) = comms_call_begin(routine, bytes, pe); \
	if (COMMS_UNLIKELY(comms_call_is_refused(routine)))                                                     \
	return result
#define COMMS_CALL(routine, bytes, pe) COMMS_CALL_OR(, routine, bytes, pe)

bool comms_observe_begin(const char *routine, size_t bytes, int pe);
void comms_observe_end(void);

/* True if the library is up, and calls may take their quick paths: see struct comms. */
COMMS_INLINE bool comms_calls_are_quick(void)
{
	return comms.quick_pes > 0;
}

/* The quick path knows quick_pes already. */
bool comms_refuse_call(const char *routine);
COMMS_INLINE bool comms_call_is_refused(const char *routine)
{
	return COMMS_UNLIKELY(!comms_calls_are_quick()) && comms_refuse_call(routine);
}

COMMS_INLINE bool comms_call_begin(const char *routine, size_t bytes, int pe)
{
	if (COMMS_LIKELY(comms_calls_are_quick()))
		return false;
	return comms_observe_begin(routine, bytes, pe);
}

COMMS_INLINE void comms_call_end(const bool *observed)
{
	if (COMMS_UNLIKELY(*observed))
		comms_observe_end();
}

#endif
