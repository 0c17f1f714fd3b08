/* SPDX-License-Identifier: BSD-3-Clause */
#include "pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FEWEST 4 /* fewest huge pages for which memory uses them */

size_t pages_parse_huge(const char *text, size_t small)
{
	char *end;
	unsigned long long bytes = strtoull(text, &end, 10);

	if (end == text || (*end != '\n' && *end != '\0'))
		return 0;
	return bytes > small && bytes % small == 0 && (bytes & (bytes - 1)) == 0 ? (size_t)bytes : 0;
}

struct pages pages_of_system(void)
{
	struct pages pages = {.small = (size_t)sysconf(_SC_PAGESIZE)};
	FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "re");
	char line[64];

	if (file && fgets(line, sizeof line, file))
		pages.huge = pages_parse_huge(line, pages.small);
	if (file)
		fclose(file);
	return pages;
}

size_t pages_round_up(size_t bytes, size_t page)
{
	return (bytes + page - 1) & ~(page - 1);
}

uintptr_t pages_place(uintptr_t start, size_t offset, size_t page)
{
	return ((start + offset + page - 1) & ~(uintptr_t)(page - 1)) - offset;
}

bool pages_suit(size_t bytes, size_t huge)
{
	return huge > 0 && bytes / huge >= FEWEST;
}
