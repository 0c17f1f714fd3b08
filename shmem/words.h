/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_WORDS_H
#define SHMEM_WORDS_H

#include <shmemx.h>
#include <stdbool.h>

#include "comms/groups/groups.h"

/*
 * Elements as words of 8 bytes, for networks that combine few words by few operations. A minimum,
 * or a maximum of signed or floating-point numbers, becomes a maximum of words with the same order.
 */
struct words_method {
	enum comms_reduce_op op;
	enum words_kind { WORDS_AS_THEY_ARE, WORDS_IN_ORDER, WORDS_IN_REVERSE, WORDS_OF_DOUBLES } kind;
	enum words_number { WORDS_NO_NUMBER, WORDS_UNSIGNED, WORDS_SIGNED, WORDS_FLOATING } number;
	size_t size; /* of an element */
};

/* The kind of number of a C type; (TYPE)0.5 is 0 for integers only. */
#define WORDS_NUMBER_OF(TYPE)                              \
	(sizeof(TYPE) > sizeof(uint64_t) ? WORDS_NO_NUMBER \
	 : (TYPE)0.5 > 0		 ? WORDS_FLOATING  \
	 : (TYPE)-1 < (TYPE)1		 ? WORDS_SIGNED    \
					 : WORDS_UNSIGNED)

/* Returns false if words cannot express the operation, or not for this type. */
bool words_find_method(shmemx_op_t operation, enum words_number number, size_t size, struct words_method *method);
void words_from(const struct words_method *method, uint64_t *words, const void *elements, size_t count);
void words_to(const struct words_method *method, void *elements, const uint64_t *words, size_t count);

#endif
