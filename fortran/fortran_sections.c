/* SPDX-License-Identifier: BSD-3-Clause */
#include "fortran.h"

#include <shmemx_binding.h>
#include <stdarg.h>
#include <stdio.h>

void fortran_die(const char *routine, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	shmemx_binding_die(routine, text);
}

void fortran_text(const array *variable, const char *text)
{
	size_t length = strlen(text);

	memset(variable->base_addr, ' ', variable->elem_len);
	memcpy(variable->base_addr, text, length < variable->elem_len ? length : variable->elem_len);
}

size_t fortran_elements(const array *a, const char *argument, const char *routine)
{
	size_t elements = 1;

	for (int i = 0; i < a->rank; i++) {
		if (a->dim[i].extent < 0)
			fortran_die(routine,
				    "%s is an assumed-size array, whose size is unknown; pass a section of it, "
				    "such as %s(1:n)",
				    argument, argument);
		elements *= (size_t)a->dim[i].extent;
	}
	if (!a->base_addr && elements > 0)
		fortran_die(routine, "%s is not allocated or not associated", argument);
	return elements;
}

/* The bytes of a run, and the first dimension that is not part of it. */
static size_t runs_length(const array *a, int *first)
{
	size_t bytes = a->elem_len;
	int i = 0;

	while (i < a->rank && (a->dim[i].extent == 1 || a->dim[i].sm == (CFI_index_t)bytes)) {
		bytes *= (size_t)a->dim[i].extent;
		i++;
	}
	*first = i;
	return bytes;
}

size_t fortran_contiguous(const array *a, const char *argument, const char *routine)
{
	size_t elements = fortran_elements(a, argument, routine);
	int first;

	runs_length(a, &first);
	if (elements > 1 && first < a->rank)
		fortran_die(routine, "%s is a section with gaps, in dimension %d; this routine takes contiguous arrays",
			    argument, first + 1);
	return elements;
}

static void runs_begin(struct runs *runs, const array *a)
{
	runs->array = a;
	runs->at = a->base_addr;
	runs->run = runs->left = runs_length(a, &runs->first);
	for (int i = runs->first; i < a->rank; i++)
		runs->index[i] = 0;
}

/* Advances by some bytes, at most to the end of the run. */
static void runs_skip(struct runs *runs, size_t bytes)
{
	const array *a = runs->array;

	runs->at += bytes;
	runs->left -= bytes;
	if (runs->left > 0)
		return;
	runs->at -= runs->run;
	runs->left = runs->run;
	for (int i = runs->first; i < a->rank; i++) {
		runs->at += a->dim[i].sm;
		if (++runs->index[i] < a->dim[i].extent)
			return;
		runs->at -= a->dim[i].sm * a->dim[i].extent;
		runs->index[i] = 0;
	}
}

void fortran_pieces_begin(struct pieces *pieces, const array *dest, const array *source, const char *routine)
{
	size_t there = fortran_elements(dest, "dest", routine), here = fortran_elements(source, "source", routine);

	if (there != here)
		fortran_die(routine, "dest has %zu elements and source has %zu; pass sections of the same size", there,
			    here);
	if (dest->elem_len != source->elem_len)
		fortran_die(
			routine,
			"an element of dest has %zu bytes and one of source has %zu; they must have the same length",
			dest->elem_len, source->elem_len);
	pieces->left = here * source->elem_len;
	pieces->bytes = 0;
	pieces->dest = NULL; /* marks the start */
	runs_begin(&pieces->to, dest);
	runs_begin(&pieces->from, source);
}

bool fortran_pieces_next(struct pieces *pieces)
{
	size_t bytes = pieces->bytes;

	if (!pieces->dest) {
		if (pieces->left == 0) {
			pieces->dest = pieces->to.at ? pieces->to.at : (void *)pieces;
			pieces->source = pieces->dest;
			pieces->elements = 0;
			return true;
		}
	} else {
		pieces->left -= bytes;
		if (pieces->left == 0)
			return false;
		runs_skip(&pieces->to, bytes);
		runs_skip(&pieces->from, bytes);
	}
	pieces->dest = pieces->to.at;
	pieces->source = pieces->from.at;
	bytes = pieces->to.left < pieces->from.left ? pieces->to.left : pieces->from.left;
	pieces->bytes = bytes;
	pieces->elements = bytes / pieces->from.array->elem_len;
	return true;
}

void fortran_copy(const array *dest, const array *source, const char *routine)
{
	struct pieces pieces;

	fortran_pieces_begin(&pieces, dest, source, routine);
	while (fortran_pieces_next(&pieces))
		memcpy(pieces.dest, pieces.source, pieces.bytes);
}

void fortran_check_team(shmem_team_t team, const char *routine)
{
	if (team == SHMEM_TEAM_INVALID)
		fortran_die(routine, "team is SHMEM_TEAM_INVALID: this PE is not a member of the team, or its "
				     "creation failed; call this routine on members only");
}

size_t fortran_team_size(shmem_team_t team, const char *routine)
{
	fortran_check_team(team, routine);
	return (size_t)shmem_team_n_pes(team);
}

size_t fortran_count(const array *dest, const array *source, size_t times, const char *routine)
{
	size_t count = fortran_contiguous(source, "source", routine), room = fortran_contiguous(dest, "dest", routine);

	if (room < count * times)
		fortran_die(routine, "dest has %zu elements, and %zu come: %zu times the size of source", room,
			    count * times, times);
	return count;
}

size_t fortran_block(shmem_team_t team, const array *dest, const array *source, const char *routine)
{
	size_t pes = fortran_team_size(team, routine), count = fortran_contiguous(source, "source", routine),
	       room = fortran_contiguous(dest, "dest", routine);

	if (count % pes)
		fortran_die(routine,
			    "source has %zu elements, which are no equal blocks for %zu PEs; "
			    "pass a multiple of %zu elements",
			    count, pes, pes);
	if (room < count / pes)
		fortran_die(routine, "dest has %zu elements, and the block of a PE has %zu", room, count / pes);
	return count / pes;
}

size_t fortran_share(shmem_team_t team, const array *dest, const array *source, const char *routine)
{
	size_t pes = fortran_team_size(team, routine), count = fortran_count(dest, source, 1, routine);

	if (count % pes)
		fortran_die(routine,
			    "source has %zu elements, which are no equal shares for %zu PEs; "
			    "pass a multiple of %zu elements",
			    count, pes, pes);
	return count / pes;
}
