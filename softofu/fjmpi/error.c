/* SPDX-License-Identifier: BSD-3-Clause */
/* Error messages of libfjmpi. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

static int error_rank;

void fjmpi_error_rank(int me)
{
	error_rank = me;
}

int fjmpi_error(const char *format, ...)
{
	char text[400];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof text, format, list);
	va_end(list);
	fprintf(stderr, "softofu: rank %d: %s\n", error_rank, text);
	return -1;
}
