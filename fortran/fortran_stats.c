/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters in the module shmemx, whose rows count from 1, and the error of a broken job. */
#include "fortran.h"

#include <shmemx.h>

API bool torushmemf_stats_enabled(void)
{
	return shmemx_stats_enabled();
}

API int torushmemf_stats_count(void)
{
	return shmemx_stats_count();
}

API void torushmemf_stats_name(int row, const array *name)
{
	const char *text = shmemx_stats_name(row - 1);

	fortran_text(name, text ? text : "");
}

/* Trailing blanks are not part of a name. */
API void torushmemf_stats_read(const array *name, shmemx_stats_t *stats, int *stat)
{
	const char *text = name->base_addr;
	size_t length = name->elem_len;
	char row[64] = "";

	while (length > 0 && text[length - 1] == ' ')
		length--;
	if (length < sizeof row)
		memcpy(row, text, length);
	*stats = (shmemx_stats_t){0};
	FORTRAN_STATUS(stat, shmemx_stats_read(row, stats));
}

API void torushmemf_stats_reset(void)
{
	shmemx_stats_reset();
}

API int torushmemf_error(int *pe, const array *routine, const array *message)
{
	shmemx_error_t error;
	int kind = shmemx_error(&error);

	if (pe)
		*pe = error.pe;
	if (routine)
		fortran_text(routine, error.routine ? error.routine : "");
	if (message)
		fortran_text(message, error.message);
	return kind;
}
