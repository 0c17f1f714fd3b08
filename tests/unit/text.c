/* SPDX-License-Identifier: BSD-3-Clause */
/* rte/text/text.c: sizes as the specification wants them read, lists, likely slips. */
#include "rte/text/text.h"

#include <stdint.h>
#include <string.h>

#include "tests/lib/unit.h"

static void check_sizes(void)
{
	static const struct {
		const char *text;
		size_t bytes;
	} good[] = {
		{"0", 0},
		{"1", 1},
		{"4096", 4096},
		{"20m", 20971520},
		{"20M", 20971520},
		{"3.1M", 3250586},
		{".5m", 524288},
		{"0.5m", 524288},
		{"5.", 5},
		{"2.k", 2048},
		{"20kk", 20480},
		{"20mb", 20971520},
		{"1g", 1073741824},
		{"1G", 1073741824},
		{"2t", (size_t)2 << 40},
		{"1.5G", 1610612736},
		{"0.1", 1},
		{"1.0000001", 2},
		{"0.0001k", 1},
		{"00017", 17},
		{"8388607t", (size_t)8388607 << 40},
		{"1mega", 1048576},
		{"3k9", 3072},
	};
	static const char *const bad[] = {
		"",	    " ",
		"-5k",	    "-1",
		"+5",	    "abc",
		"m",	    ".",
		".m",	    "nan",
		"inf",	    "infinity",
		"NaN",	    "0x10",
		"1e3",	    "5x",
		"1..2",	    "1.2.3",
		"1.2.3m",   " 5",
		"8388608t", "99999999999999999999",
		"1,5m",	    "5%",
		"k5",	    "--5",
	};
	size_t bytes;

	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		bytes = 4711;
		EXPECT(text_parse_size(good[i].text, &bytes) && bytes == good[i].bytes, "\"%s\": got %zu, expected %zu",
		       good[i].text, bytes, good[i].bytes);
	}
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		EXPECT(!text_parse_size(bad[i], &bytes), "\"%s\" was taken for %zu", bad[i], bytes);
}

static void check_sizes_for_people(void)
{
	static const struct {
		size_t bytes;
		const char *text;
	} rows[] = {
		{0, "0 B"},
		{1, "1 B"},
		{1023, "1023 B"},
		{1024, "1 KiB"},
		{1536, "1.5 KiB"},
		{1 << 20, "1 MiB"},
		{1073741824, "1 GiB"},
		{1610612736, "1.5 GiB"},
		{(size_t)3 << 40, "3 TiB"},
	};
	char buffer[32];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		EXPECT(!strcmp(text_size(rows[i].bytes, buffer), rows[i].text), "%zu: got \"%s\", expected \"%s\"",
		       rows[i].bytes, buffer, rows[i].text);
	EXPECT(strlen(text_size(SIZE_MAX, buffer)) < sizeof buffer, "the largest size fits");
}

static void check_lists(void)
{
	static const struct {
		const char *text, *flags; /* NULL: not a list */
	} rows[] = {
		{"0", "100000"},
		{"5", "000001"},
		{"0,2,4", "101010"},
		{"1-3", "011100"},
		{"0-1,4-5", "110011"},
		{"", "000000"},
		{"3-3", "000100"},
		{"2,2", "001000"},
		{"6", NULL},
		{"0-6", NULL},
		{"3-2", NULL},
		{"x", NULL},
		{"1,x", NULL},
		{"-1", NULL},
		{"1-", NULL},
		{"1 2", NULL},
		{",1", NULL},
		{"1;2", NULL},
		{"99999999999999999999999", NULL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool flags[6], good = text_parse_list(rows[i].text, flags, 6);

		EXPECT(good == (rows[i].flags != NULL), "\"%s\"", rows[i].text);
		for (int f = 0; good && rows[i].flags && f < 6; f++)
			EXPECT(flags[f] == (rows[i].flags[f] == '1'), "\"%s\", place %d", rows[i].text, f);
	}
}

static void check_nearest(void)
{
	static const char *const words[] = {"SHMEM_SYMMETRIC_SIZE", "SHMEM_DEBUG", "SHMEM_INFO", "SHMEM_PATHS"};
	static const struct {
		const char *word, *nearest;
	} rows[] = {
		{"SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"},
		{"SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"},
		{"SHMEM_DEUBG", "SHMEM_DEBUG"},
		{"SHMEM_PATH", "SHMEM_PATHS"},
		{"SHMEM_INFO", "SHMEM_INFO"},
		{"SHMEM_COLLECTIVE_ALGORITHM", NULL},
		{"", NULL},
		{"completely different", NULL},
	};
	char longer[200];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *got = text_nearest(rows[i].word, words, 4);

		EXPECT(got == rows[i].nearest || (got && rows[i].nearest && !strcmp(got, rows[i].nearest)),
		       "\"%s\": got %s, expected %s", rows[i].word, got ? got : "nothing",
		       rows[i].nearest ? rows[i].nearest : "nothing");
	}
	EXPECT(text_nearest("SHMEM_INFO", words, 0) == NULL, "nothing to choose from");
	memset(longer, 'S', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	EXPECT(text_nearest(longer, words, 4) == NULL, "a word longer than any");
}

static void check_fit(void)
{
	static const struct {
		const char *text;
		size_t room, fit;
	} rows[] = {
		{"", 5, 0},	     {"all of it", 9, 9},	   {"all of it", 100, 9},
		{"all of it", 8, 6}, {"all of it", 6, 6},	   {"all of it", 5, 3},
		{"all of it", 2, 3}, {"/a/long/path then", 4, 12}, {"unbroken", 3, 8},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		EXPECT(text_fit(rows[i].text, rows[i].room) == rows[i].fit, "\"%s\" in %zu: got %zu, expected %zu",
		       rows[i].text, rows[i].room, text_fit(rows[i].text, rows[i].room), rows[i].fit);
}

int main(void)
{
	check_fit();
	check_sizes();
	check_sizes_for_people();
	check_lists();
	check_nearest();
	return unit_failures > 0;
}
