/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PAGES_H
#define RTE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Page sizes are the system's: most processors have huge pages of 2 MiB with pages of 4 KiB, 32 MiB
 * with 16 KiB, 512 MiB with 64 KiB. The functions with sizes as arguments are pure, so that tests
 * can try those of other systems.
 */
struct pages {
	size_t small;
	size_t huge; /* of transparent huge pages, a multiple of small; 0: this kernel has none */
};

struct pages pages_of_system(void);

/*
 * Reads the size of huge pages from the kernel's file; returns 0 unless it is a multiple of small
 * that is a power of two.
 */
size_t pages_parse_huge(const char *text, size_t small);

/* page is a power of two. */
size_t pages_round_up(size_t bytes, size_t page);

/*
 * The first address from start on so that a page boundary lies offset bytes behind it. It is less
 * than a page away.
 */
uintptr_t pages_place(uintptr_t start, size_t offset, size_t page);

/*
 * Should memory of this size use huge pages? Memory is committed by the page, so a program that
 * touches a few bytes would commit all of a memory with room for a few pages only.
 */
bool pages_suit(size_t bytes, size_t huge);

#endif
