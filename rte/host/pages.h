/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PAGES_H
#define RTE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sizes of pages are the system's: with pages of 4 KiB the huge ones of most processors have 2 MiB, with 16 KiB 32 MiB, with
 * 64 KiB 512 MiB. The functions of sizes are pure, so that tests can try those of other systems.
 */
struct pages {
	size_t small;
	size_t huge; /* of transparent ones, a multiple of small; 0: this kernel has none */
};

struct pages pages_of_system(void);

/* The size of huge pages from the kernel's file, which has bytes; 0 if the text is no multiple of small that is a power of two. */
size_t pages_parse_huge(const char *text, size_t small);

/* Page is a power of two. */
size_t pages_round_up(size_t bytes, size_t page);

/* The first address from start on such that a page begins offset bytes behind it. It is less than a page away. */
uintptr_t pages_place(uintptr_t start, size_t offset, size_t page);

/*
 * Should memory of this size have huge pages? Memory is committed by the page: one that has room for a few only would be
 * committed as a whole by a program that touches a few bytes.
 */
bool pages_suit(size_t bytes, size_t huge);

#endif
