/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#include <string.h>

#define SIGN (1ULL << 63)

bool words_find_method(shmemx_op_t operation, enum words_number number, size_t size, struct words_method *method)
{
	static const enum comms_reduce_op ops[] = {
		[SHMEMX_SUM] = COMMS_REDUCE_SUM, [SHMEMX_MIN] = COMMS_REDUCE_MAX, [SHMEMX_MAX] = COMMS_REDUCE_MAX,
		[SHMEMX_AND] = COMMS_REDUCE_AND, [SHMEMX_OR] = COMMS_REDUCE_OR,	  [SHMEMX_XOR] = COMMS_REDUCE_XOR,
	};

	if (operation == SHMEMX_PROD || number == WORDS_NO_NUMBER)
		return false;
	method->number = number;
	method->op = ops[operation];
	method->size = size;
	method->kind = operation == SHMEMX_MAX	 ? WORDS_IN_ORDER
		       : operation == SHMEMX_MIN ? WORDS_IN_REVERSE
						 : WORDS_AS_THEY_ARE;
	if (operation == SHMEMX_SUM && method->number == WORDS_FLOATING) {
		method->op = COMMS_REDUCE_DOUBLE_SUM;
		method->kind = WORDS_OF_DOUBLES;
	}
	return true;
}

/* --- Numbers, of any size, as 8 bytes and back --- */

static uint64_t double_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static double double_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

static uint64_t load_floating(const char *at, size_t size)
{
	double value;
	float narrow;

	memcpy(&narrow, at, sizeof narrow);
	if (size == sizeof narrow)
		return double_bits((double)narrow);
	memcpy(&value, at, sizeof value);
	return double_bits(value);
}

static uint64_t load_element(const struct words_method *method, const char *at)
{
	bool is_signed = method->number == WORDS_SIGNED;
	uint8_t one;
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	if (method->number == WORDS_FLOATING)
		return load_floating(at, method->size);
	switch (method->size) {
	case 1: memcpy(&one, at, 1); return is_signed ? (uint64_t)(int8_t)one : one;
	case 2: memcpy(&two, at, 2); return is_signed ? (uint64_t)(int16_t)two : two;
	case 4: memcpy(&four, at, 4); return is_signed ? (uint64_t)(int32_t)four : four;
	default: memcpy(&eight, at, 8); return eight;
	}
}

static void store_element(const struct words_method *method, char *at, uint64_t word)
{
	uint8_t one = (uint8_t)word;
	uint16_t two = (uint16_t)word;
	uint32_t four = (uint32_t)word;
	float narrow = 0;

	if (method->number == WORDS_FLOATING && method->size == sizeof narrow) {
		narrow = (float)double_of(word);
		memcpy(at, &narrow, sizeof narrow);
		return;
	}
	switch (method->size) {
	case 1: memcpy(at, &one, 1); break;
	case 2: memcpy(at, &two, 2); break;
	case 4: memcpy(at, &four, 4); break;
	default: memcpy(at, &word, 8); break;
	}
}

/* --- Words with the order of the numbers --- */

static uint64_t in_order(const struct words_method *method, uint64_t word)
{
	if (method->number == WORDS_FLOATING && (word & SIGN))
		return ~word;
	return method->number == WORDS_UNSIGNED ? word : word ^ SIGN;
}

static uint64_t out_of_order(const struct words_method *method, uint64_t word)
{
	if (method->number == WORDS_FLOATING && !(word & SIGN))
		return ~word;
	return method->number == WORDS_UNSIGNED ? word : word ^ SIGN;
}

void words_from(const struct words_method *method, uint64_t *words, const void *elements, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t word = load_element(method, (const char *)elements + i * method->size);

		if (method->kind == WORDS_IN_ORDER || method->kind == WORDS_IN_REVERSE)
			word = in_order(method, word);
		words[i] = method->kind == WORDS_IN_REVERSE ? ~word : word;
	}
}

void words_to(const struct words_method *method, void *elements, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t word = method->kind == WORDS_IN_REVERSE ? ~words[i] : words[i];

		if (method->kind == WORDS_IN_ORDER || method->kind == WORDS_IN_REVERSE)
			word = out_of_order(method, word);
		store_element(method, (char *)elements + i * method->size, word);
	}
}
