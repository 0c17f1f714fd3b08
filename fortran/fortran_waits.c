/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for sets of words: their status, values and indices. */
#include "fortran.h"

#include <stdlib.h>

const int *fortran_status(const array *status, size_t elements, const char *routine)
{
	size_t n;

	if (!status)
		return NULL;
	n = fortran_contiguous(status, "status", routine);
	if (n < elements)
		fortran_die(routine, "status has %zu elements and ivars has %zu", n, elements);
	return status->base_addr;
}

const void *fortran_values(const array *values, size_t elements, const char *routine)
{
	size_t n = fortran_contiguous(values, "cmp_values", routine);

	if (n < elements)
		fortran_die(routine, "cmp_values has %zu elements and ivars has %zu", n, elements);
	return values->base_addr;
}

void fortran_indices_begin(struct fortran_indices *indices, const array *a, size_t elements, const char *routine)
{
	size_t n = fortran_contiguous(a, "indices", routine);

	if (n < elements)
		fortran_die(routine, "indices has %zu elements and ivars has %zu", n, elements);
	indices->array = a;
	indices->places = indices->few;
	if (elements <= sizeof indices->few / sizeof *indices->few)
		return;
	indices->places = malloc(elements * sizeof *indices->places);
	if (!indices->places)
		fortran_die(routine, "there is no memory for %zu indices", elements);
}

int fortran_indices_end(struct fortran_indices *indices, size_t found)
{
	int *out = indices->array->base_addr;

	for (size_t i = 0; i < found; i++)
		out[i] = (int)indices->places[i] + 1;
	if (indices->places != indices->few)
		free(indices->places);
	return (int)found;
}
