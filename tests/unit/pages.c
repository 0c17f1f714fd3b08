/* SPDX-License-Identifier: BSD-3-Clause */
/* rte/host/pages.c: this system's pages, and the sizes of others. */
#include "rte/host/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/unit.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/*
 * Of x86 and aarch64, of aarch64 with 16 KiB and, as on A64FX systems, 64 KiB, of POWER, and of a
 * kernel without huge ones.
 */
static const struct pages systems[] = {
	{4 * KIB, 2 * MIB},   {16 * KIB, 32 * MIB}, {64 * KIB, 512 * MIB}, {64 * KIB, 2 * MIB},
	{64 * KIB, 16 * MIB}, {4 * KIB, 0},	    {16 * KIB, 0},
};

static void check_texts(void)
{
	static const struct {
		const char *text;
		size_t small, huge;
	} texts[] = {
		{"2097152\n", 4 * KIB, 2 * MIB},
		{"33554432\n", 16 * KIB, 32 * MIB},
		{"536870912\n", 64 * KIB, 512 * MIB},
		{"2097152", 4 * KIB, 2 * MIB},
		{"0\n", 4 * KIB, 0},
		{"", 4 * KIB, 0},
		{"\n", 4 * KIB, 0},
		{"4096\n", 4 * KIB, 0},
		{"65536\n", 64 * KIB, 0},
		{"32768\n", 64 * KIB, 0},
		{"3145728\n", 4 * KIB, 0},
		{"2048 kB\n", 4 * KIB, 0},
		{"-1\n", 4 * KIB, 0},
		{"two\n", 4 * KIB, 0},
		{"99999999999999999999999\n", 4 * KIB, 0},
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		size_t huge = pages_parse_huge(texts[i].text, texts[i].small);

		EXPECT(huge == texts[i].huge, "\"%s\" with pages of %zu: %zu", texts[i].text, texts[i].small, huge);
	}
}

static void check_rounding(const struct pages *pages)
{
	size_t page = pages->small;

	EXPECT(pages_round_up(0, page) == 0, "page %zu", page);
	EXPECT(pages_round_up(1, page) == page, "page %zu", page);
	EXPECT(pages_round_up(page, page) == page, "page %zu", page);
	EXPECT(pages_round_up(page + 1, page) == 2 * page, "page %zu", page);
}

/*
 * A part of 80 MiB in front of what is to begin with a page: no multiple of the larger huge ones.
 */
static void check_places(const struct pages *pages)
{
	static const size_t offsets[] = {0, 80 * MIB};
	size_t page = pages->huge ? pages->huge : pages->small;
	uintptr_t starts[] = {1024 * MIB, 1024 * MIB + pages->small, 0x7f0000000000 - pages->small, 0x7f0012340000};

	for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++)
		for (size_t j = 0; j < sizeof starts / sizeof starts[0]; j++) {
			uintptr_t place = pages_place(starts[j], offsets[i], page);

			EXPECT((place + offsets[i]) % page == 0, "%#lx of page %zu", (unsigned long)place, page);
			EXPECT(place >= starts[j] && place - starts[j] < page, "%#lx for %#lx of page %zu",
			       (unsigned long)place, (unsigned long)starts[j], page);
			EXPECT(place % pages->small == 0, "%#lx of page %zu", (unsigned long)place, page);
		}
}

static void check_what_suits(void)
{
	EXPECT(pages_suit(1024 * MIB, 2 * MIB), "a heap of 1 GiB, 2 MiB");
	EXPECT(pages_suit(1024 * MIB, 32 * MIB), "a heap of 1 GiB, 32 MiB");
	EXPECT(!pages_suit(1024 * MIB, 512 * MIB), "a heap of 1 GiB, 512 MiB");
	EXPECT(pages_suit(2048 * MIB, 512 * MIB), "a heap of 2 GiB, 512 MiB");
	EXPECT(pages_suit(8 * MIB, 2 * MIB) && !pages_suit(8 * MIB - 1, 2 * MIB), "heaps of 8 MiB");
	EXPECT(!pages_suit(1024 * MIB, 0), "a kernel without huge pages");
}

static void check_this_system(void)
{
	struct pages pages = pages_of_system();
	char *memory = mmap(NULL, 4 * pages.small, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	EXPECT(pages.small == (size_t)getpagesize(), "%zu", pages.small);
	EXPECT(pages.huge == 0 || (pages.huge > pages.small && pages.huge % pages.small == 0), "%zu", pages.huge);
	EXPECT(memory != MAP_FAILED && munmap(memory + pages.small, pages.small) == 0,
	       "part of a mapping of pages of %zu", pages.small);
}

int main(void)
{
	check_texts();
	for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
		check_rounding(&systems[i]);
		check_places(&systems[i]);
	}
	check_what_suits();
	check_this_system();
	return unit_failures != 0;
}
