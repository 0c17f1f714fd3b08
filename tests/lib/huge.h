/* SPDX-License-Identifier: BSD-3-Clause */
/* How large the transparent huge pages of this system are. */
#ifndef TESTS_LIB_HUGE_H
#define TESTS_LIB_HUGE_H

#include <stddef.h>
#include <stdio.h>

/* 0: it has none. */
static inline size_t huge_page_bytes(void)
{
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "re");
	size_t bytes = 0;

	if (file && fscanf(file, "%zu", &bytes) != 1)
		bytes = 0;
	if (file)
		fclose(file);
	return bytes;
}

#endif
