/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point-to-point synchronisation: waiting for, and testing, words of this PE. A first poll that
 * succeeds costs a load and a compare; arguments are checked later, before waiting.
 */
#include "api.h"

#include <shmemx.h>

#include "comms/core/device.h"
#include "comms/wait/wait.h"

static bool check_cmp(int cmp, const char *routine)
{
	if (cmp >= SHMEM_CMP_EQ && cmp <= SHMEM_CMP_GE)
		return true;
	rte_misuse(routine, "cmp=%d is not one of SHMEM_CMP_EQ, NE, GT, LE, LT, GE", cmp);
	return false;
}

static bool check_wait(const void *address, size_t bytes, const char *argument, int cmp, const char *routine)
{
	return check_cmp(cmp, routine) && comms_check_symmetric_anywhere(address, bytes, argument, routine);
}

static const char *sign_of(int cmp)
{
	static const char *const signs[] = {
		[SHMEM_CMP_EQ] = "==", [SHMEM_CMP_NE] = "!=", [SHMEM_CMP_GT] = ">",
		[SHMEM_CMP_LE] = "<=", [SHMEM_CMP_LT] = "<",  [SHMEM_CMP_GE] = ">=",
	};

	return signs[cmp];
}

/*
 * Nothing wakes a PE when a kernel stores to a word of a GPU, and the processor cannot watch that
 * word: any store to this PE ends the sleep, and so does time.
 */
static const void *place_to_watch(const void *word)
{
	return comms_is_on_device(word) ? COMMS_ANYWHERE : word;
}

/* The bytes of a word that a report may read; 0: none. */
static size_t bytes_to_show(const void *word, size_t bytes)
{
	return comms_is_on_device(word) ? 0 : bytes;
}

/* A failed test must still progress communication, or a loop around it might never end. */
static void make_progress(void)
{
	if (comms.network)
		comms_spin();
}

/* Searches begin at different entries, so that no entry is starved. */
static size_t random_start(size_t nelems)
{
	static _Thread_local uint64_t search_state = 0x9e3779b97f4a7c15;

	search_state ^= search_state << 13;
	search_state ^= search_state >> 7;
	search_state ^= search_state << 17;
	return (size_t)(search_state % nelems);
}

#define DEFINE_HOLDS(NAME, TYPE)                                                            \
	static inline bool NAME##_compare(TYPE now, int cmp, TYPE value)                    \
	{                                                                                   \
		switch (cmp) {                                                              \
		case SHMEM_CMP_EQ: return now == value;                                     \
		case SHMEM_CMP_NE: return now != value;                                     \
		case SHMEM_CMP_GT: return now > value;                                      \
		case SHMEM_CMP_LE: return now <= value;                                     \
		case SHMEM_CMP_LT: return now < value;                                      \
		case SHMEM_CMP_GE: return now >= value;                                     \
		default: return false;                                                      \
		}                                                                           \
	}                                                                                   \
	static inline TYPE NAME##_read(const TYPE *ivar)                                    \
	{                                                                                   \
		TYPE now;                                                                   \
		if (!comms_is_on_device(ivar))                                              \
			return __atomic_load_n(ivar, __ATOMIC_ACQUIRE);                     \
		comms.device->poll(&now, ivar, sizeof now);                                 \
		return now;                                                                 \
	}                                                                                   \
	static inline bool NAME##_holds_here(const TYPE *ivar, int cmp, TYPE value)         \
	{                                                                                   \
		return NAME##_compare(__atomic_load_n(ivar, __ATOMIC_ACQUIRE), cmp, value); \
	}                                                                                   \
	static inline bool NAME##_holds(const TYPE *ivar, int cmp, TYPE value)              \
	{                                                                                   \
		return NAME##_compare(NAME##_read(ivar), cmp, value);                       \
	}

#define DEFINE_ONE(NAME, TYPE)                                                                                     \
	DEFINE_HOLDS(NAME, TYPE)                                                                                   \
	static void NAME##_wait(TYPE *ivar, int cmp, TYPE value, const char *routine)                              \
	{                                                                                                          \
		if (comms.quick_pes > 0 && NAME##_holds_here(ivar, cmp, value))                                    \
			return;                                                                                    \
		COMMS_CALL(routine, 0, COMMS_NOBODY);                                                              \
		if (!check_wait(ivar, sizeof *ivar, "ivar", cmp, routine))                                         \
			return;                                                                                    \
		hang_note_word(routine, ivar, bytes_to_show(ivar, sizeof *ivar), (TYPE)-1 < (TYPE)1, sign_of(cmp), \
			       (uint64_t)value);                                                                   \
		const void *place = place_to_watch(ivar);                                                          \
		COMMS_WAIT(place, NAME##_holds(ivar, cmp, value));                                                 \
	}                                                                                                          \
	API void pshmem_##NAME##_wait_until(TYPE *ivar, int cmp, TYPE cmp_value)                                   \
	{                                                                                                          \
		NAME##_wait(ivar, cmp, cmp_value, __func__);                                                       \
	}                                                                                                          \
	PROFILED(shmem_##NAME##_wait_until)                                                                        \
	API int pshmem_##NAME##_test(TYPE *ivar, int cmp, TYPE cmp_value)                                          \
	{                                                                                                          \
		if (comms.quick_pes > 0 && NAME##_holds_here(ivar, cmp, cmp_value))                                \
			return 1;                                                                                  \
		COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);                                                       \
		if (!check_wait(ivar, sizeof *ivar, "ivar", cmp, __func__))                                        \
			return 1;                                                                                  \
		make_progress();                                                                                   \
		return NAME##_holds(ivar, cmp, cmp_value);                                                         \
	}                                                                                                          \
	PROFILED(shmem_##NAME##_test)
FOR_AMO_TYPES(DEFINE_ONE)
FOR_OLD_TYPES(DEFINE_ONE)

/*
 * Sets of words. values has one element for all entries (step 0) or one for each (step 1); status
 * marks entries to leave out. The searches return SIZE_MAX or a count of 0 when nothing is found.
 */
#define DEFINE_MANY(NAME, TYPE)                                                                                       \
	static bool NAME##_entry_holds(const TYPE *ivars, size_t i, int cmp, const TYPE *values, size_t step)         \
	{                                                                                                             \
		return NAME##_holds(&ivars[i], cmp, values[i * step]);                                                \
	}                                                                                                             \
	static bool NAME##_all(const TYPE *ivars, size_t nelems, const int *status, int cmp, const TYPE *values,      \
			       size_t step)                                                                           \
	{                                                                                                             \
		for (size_t i = 0; i < nelems; i++)                                                                   \
			if (!(status && status[i]) && !NAME##_entry_holds(ivars, i, cmp, values, step))               \
				return false;                                                                         \
		return true;                                                                                          \
	}                                                                                                             \
	static size_t NAME##_any(const TYPE *ivars, size_t nelems, const int *status, int cmp, const TYPE *values,    \
				 size_t step)                                                                         \
	{                                                                                                             \
		size_t from = random_start(nelems);                                                                   \
		for (size_t n = 0; n < nelems; n++) {                                                                 \
			size_t i = from + n < nelems ? from + n : from + n - nelems;                                  \
			if (!(status && status[i]) && NAME##_entry_holds(ivars, i, cmp, values, step))                \
				return i;                                                                             \
		}                                                                                                     \
		return SIZE_MAX;                                                                                      \
	}                                                                                                             \
	static size_t NAME##_some(const TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp,      \
				  const TYPE *values, size_t step)                                                    \
	{                                                                                                             \
		size_t found = 0;                                                                                     \
		for (size_t i = 0; i < nelems; i++)                                                                   \
			if (!(status && status[i]) && NAME##_entry_holds(ivars, i, cmp, values, step))                \
				indices[found++] = i;                                                                 \
		return found;                                                                                         \
	}                                                                                                             \
	static size_t NAME##_wait_any(const TYPE *ivars, size_t nelems, const int *status, int cmp,                   \
				      const TYPE *values, size_t step, const char *routine)                           \
	{                                                                                                             \
		COMMS_CALL_OR(SIZE_MAX, routine, 0, COMMS_NOBODY);                                                    \
		size_t found = SIZE_MAX;                                                                              \
		if (nothing_to_wait_for(ivars, sizeof *ivars, nelems, status, cmp, routine))                          \
			return SIZE_MAX;                                                                              \
		hang_note_word(routine, ivars, 0, false, "", 0);                                                      \
		COMMS_WAIT(COMMS_ANYWHERE,                                                                            \
			   (found = NAME##_any(ivars, nelems, status, cmp, values, step)) != SIZE_MAX);               \
		return found;                                                                                         \
	}                                                                                                             \
	static size_t NAME##_wait_some(const TYPE *ivars, size_t nelems, size_t *indices, const int *status, int cmp, \
				       const TYPE *values, size_t step, const char *routine)                          \
	{                                                                                                             \
		COMMS_CALL_OR(0, routine, 0, COMMS_NOBODY);                                                           \
		size_t found = 0;                                                                                     \
		if (nothing_to_wait_for(ivars, sizeof *ivars, nelems, status, cmp, routine))                          \
			return 0;                                                                                     \
		hang_note_word(routine, ivars, 0, false, "", 0);                                                      \
		COMMS_WAIT(COMMS_ANYWHERE,                                                                            \
			   (found = NAME##_some(ivars, nelems, indices, status, cmp, values, step)) != 0);            \
		return found;                                                                                         \
	}                                                                                                             \
	static void NAME##_wait_all(const TYPE *ivars, size_t nelems, const int *status, int cmp, const TYPE *values, \
				    size_t step, const char *routine)                                                 \
	{                                                                                                             \
		COMMS_CALL(routine, 0, COMMS_NOBODY);                                                                 \
		if (nothing_to_wait_for(ivars, sizeof *ivars, nelems, status, cmp, routine))                          \
			return;                                                                                       \
		for (size_t i = 0; i < nelems; i++)                                                                   \
			if (!(status && status[i])) {                                                                 \
				hang_note_word(routine, &ivars[i], bytes_to_show(ivars, sizeof *ivars),               \
					       (TYPE)-1 < (TYPE)1, sign_of(cmp), (uint64_t)values[i * step]);         \
				const void *place = place_to_watch(&ivars[i]);                                        \
				COMMS_WAIT(place, NAME##_entry_holds(ivars, i, cmp, values, step));                   \
			}                                                                                             \
	}                                                                                                             \
	static int NAME##_test_all_of(const TYPE *ivars, size_t nelems, const int *status, int cmp,                   \
				      const TYPE *values, size_t step, const char *routine)                           \
	{                                                                                                             \
		COMMS_CALL_OR(1, routine, 0, COMMS_NOBODY);                                                           \
		if (nothing_to_wait_for(ivars, sizeof *ivars, nelems, status, cmp, routine))                          \
			return 1;                                                                                     \
		if (NAME##_all(ivars, nelems, status, cmp, values, step))                                             \
			return 1;                                                                                     \
		make_progress();                                                                                      \
		return NAME##_all(ivars, nelems, status, cmp, values, step);                                          \
	}                                                                                                             \
	static size_t NAME##_test_any_of(const TYPE *ivars, size_t nelems, const int *status, int cmp,                \
					 const TYPE *values, size_t step, const char *routine)                        \
	{                                                                                                             \
		COMMS_CALL_OR(SIZE_MAX, routine, 0, COMMS_NOBODY);                                                    \
		size_t found;                                                                                         \
		if (nothing_to_wait_for(ivars, sizeof *ivars, nelems, status, cmp, routine))                          \
			return SIZE_MAX;                                                                              \
		found = NAME##_any(ivars, nelems, status, cmp, values, step);                                         \
		if (found != SIZE_MAX)                                                                                \
			return found;                                                                                 \
		make_progress();                                                                                      \
		return NAME##_any(ivars, nelems, status, cmp, values, step);                                          \
	}                                                                                                             \
	static size_t NAME##_test_some_of(const TYPE *ivars, size_t nelems, size_t *indices, const int *status,       \
					  int cmp, const TYPE *values, size_t step, const char *routine)              \
	{                                                                                                             \
		COMMS_CALL_OR(0, routine, 0, COMMS_NOBODY);                                                           \
		size_t found;                                                                                         \
		if (nothing_to_wait_for(ivars, sizeof *ivars, nelems, status, cmp, routine))                          \
			return 0;                                                                                     \
		found = NAME##_some(ivars, nelems, indices, status, cmp, values, step);                               \
		if (found)                                                                                            \
			return found;                                                                                 \
		make_progress();                                                                                      \
		return NAME##_some(ivars, nelems, indices, status, cmp, values, step);                                \
	}

static bool nothing_to_wait_for(const void *ivars, size_t size, size_t nelems, const int *status, int cmp,
				const char *routine)
{
	if (!check_cmp(cmp, routine))
		return true;
	for (size_t i = 0; i < nelems; i++)
		if (!(status && status[i]))
			return !comms_check_symmetric_anywhere(ivars, nelems * size, "ivars", routine);
	return true;
}
FOR_AMO_TYPES(DEFINE_MANY)
FOR_OLD_TYPES(DEFINE_MANY)

/* Each search in two forms: one value for all entries, and a vector of values. */
#define FORMS(RET, NAME, TYPE, ROUTINE, BODY, ...)                                               \
	API RET pshmem_##NAME##_##ROUTINE(__VA_ARGS__, int cmp, TYPE cmp_value)                  \
	{                                                                                        \
		const TYPE *values = &cmp_value;                                                 \
		const size_t step = 0;                                                           \
		BODY                                                                             \
	}                                                                                        \
	API RET pshmem_##NAME##_##ROUTINE##_vector(__VA_ARGS__, int cmp, const TYPE *cmp_values) \
	{                                                                                        \
		const TYPE *values = cmp_values;                                                 \
		const size_t step = 1;                                                           \
		BODY                                                                             \
	}                                                                                        \
	PROFILED(shmem_##NAME##_##ROUTINE)                                                       \
	PROFILED(shmem_##NAME##_##ROUTINE##_vector)
#define MANY(NAME, TYPE)                                                                                             \
	FORMS(void, NAME, TYPE, wait_until_all, NAME##_wait_all(ivars, nelems, status, cmp, values, step, __func__); \
	      , TYPE * ivars, size_t nelems, const int *status)                                                      \
	FORMS(size_t, NAME, TYPE, wait_until_any,                                                                    \
	      return NAME##_wait_any(ivars, nelems, status, cmp, values, step, __func__);                            \
	      , TYPE * ivars, size_t nelems, const int *status)                                                      \
	FORMS(size_t, NAME, TYPE, wait_until_some,                                                                   \
	      return NAME##_wait_some(ivars, nelems, indices, status, cmp, values, step, __func__);                  \
	      , TYPE * ivars, size_t nelems, size_t * indices, const int *status)                                    \
	FORMS(int, NAME, TYPE, test_all,                                                                             \
	      return NAME##_test_all_of(ivars, nelems, status, cmp, values, step, __func__);                         \
	      , TYPE * ivars, size_t nelems, const int *status)                                                      \
	FORMS(size_t, NAME, TYPE, test_any,                                                                          \
	      return NAME##_test_any_of(ivars, nelems, status, cmp, values, step, __func__);                         \
	      , TYPE * ivars, size_t nelems, const int *status)                                                      \
	FORMS(size_t, NAME, TYPE, test_some,                                                                         \
	      return NAME##_test_some_of(ivars, nelems, indices, status, cmp, values, step, __func__);               \
	      , TYPE * ivars, size_t nelems, size_t * indices, const int *status)
FOR_AMO_TYPES(MANY)
FOR_OLD_TYPES(MANY)

/* Those that do not hold; `missing` may be NULL. */
#define BOUNDED(NAME, TYPE)                                                                                        \
	static size_t NAME##_lacking(const TYPE *ivars, size_t nelems, const int *status, int cmp, TYPE cmp_value, \
				     size_t *missing)                                                              \
	{                                                                                                          \
		size_t found = 0;                                                                                  \
		for (size_t i = 0; i < nelems; i++) {                                                              \
			if ((status && status[i]) || NAME##_holds(&ivars[i], cmp, cmp_value))                      \
				continue;                                                                          \
			if (missing)                                                                               \
				missing[found] = i;                                                                \
			found++;                                                                                   \
		}                                                                                                  \
		return found;                                                                                      \
	}                                                                                                          \
	API size_t shmemx_##NAME##_wait_until_within(TYPE *ivars, size_t nelems, const int *status, int cmp,       \
						     TYPE cmp_value, double seconds, size_t *missing)              \
	{                                                                                                          \
		COMMS_CALL_OR(0, __func__, 0, COMMS_NOBODY);                                                       \
		int64_t end = wait_end(seconds, __func__);                                                         \
		if (nothing_to_wait_for(ivars, sizeof *ivars, nelems, status, cmp, __func__))                      \
			return 0;                                                                                  \
		hang_note_bounded(__func__);                                                                       \
		COMMS_WAIT(COMMS_ANYWHERE,                                                                         \
			   NAME##_all(ivars, nelems, status, cmp, &cmp_value, 0) || wait_is_past(end));            \
		if (!NAME##_all(ivars, nelems, status, cmp, &cmp_value, 0))                                        \
			make_progress(); /* with 0 seconds, the wait has made none */                              \
		return NAME##_lacking(ivars, nelems, status, cmp, cmp_value, missing);                             \
	}
FOR_AMO_TYPES(BOUNDED)

/* Separate from the first poll, which needs none of the registers that this one saves. */
COMMS_APART uint64_t signal_wait(uint64_t *sig_addr, int cmp, uint64_t cmp_value, const char *routine)
{
	COMMS_CALL_OR(0, routine, 0, COMMS_NOBODY);
	const void *place = place_to_watch(sig_addr);
	uint64_t now;

	if (!check_wait(sig_addr, sizeof *sig_addr, "sig_addr", cmp, routine))
		return 0;
	hang_note_word(routine, sig_addr, bytes_to_show(sig_addr, sizeof *sig_addr), false, sign_of(cmp), cmp_value);
	COMMS_WAIT(place, uint64_compare(now = uint64_read(sig_addr), cmp, cmp_value));
	return now;
}

/* Returns the value that satisfied the comparison, not one read later. */
API uint64_t pshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
	if (comms_calls_are_quick()) {
		uint64_t now = __atomic_load_n(sig_addr, __ATOMIC_ACQUIRE);

		if (uint64_compare(now, cmp, cmp_value))
			return now;
	}
	return signal_wait(sig_addr, cmp, cmp_value, __func__);
}
PROFILED(shmem_signal_wait_until)

API void pshmem_wait_until(long *ivar, int cmp, long cmp_value)
{
	long_wait(ivar, cmp, cmp_value, __func__);
}
PROFILED(shmem_wait_until)

API void pshmem_wait(long *ivar, long cmp_value)
{
	long_wait(ivar, SHMEM_CMP_NE, cmp_value, __func__);
}
PROFILED(shmem_wait)

#define OLD_WAIT(NAME, TYPE)                                          \
	API void pshmem_##NAME##_wait(TYPE *ivar, TYPE cmp_value)     \
	{                                                             \
		NAME##_wait(ivar, SHMEM_CMP_NE, cmp_value, __func__); \
	}                                                             \
	PROFILED(shmem_##NAME##_wait)
FOR_OLD_WAIT_TYPES(OLD_WAIT)
