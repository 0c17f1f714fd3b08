/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LONGEST 64
#define LARGEST_FILE (256L << 20)

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The edits (insert, delete, change, swap of two neighbours) that turn a into b. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na > LONGEST || nb > LONGEST)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		above[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);

			row[j] = min_size(min_size(above[j] + 1, row[j - 1] + 1), change);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min_size(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[nb];
}

const char *text_nearest(const char *word, const char *const *candidates, size_t count)
{
	const char *best = NULL;
	size_t best_distance = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		size_t d = distance(word, candidates[i]);

		if (d < best_distance) {
			best_distance = d;
			best = candidates[i];
		}
	}
	/*
	 * A typing error changes a few letters; with a third of the letters changed, it is another
	 * word.
	 */
	return best && best_distance <= 1 + strlen(word) / 4 ? best : NULL;
}

static bool suffix_shift(char letter, int *shift)
{
	switch (tolower((unsigned char)letter)) {
	case '\0': *shift = 0; return true;
	case 'k': *shift = 10; return true;
	case 'm': *shift = 20; return true;
	case 'g': *shift = 30; return true;
	case 't': *shift = 40; return true;
	default: return false;
	}
}

bool text_parse_size(const char *text, size_t *bytes)
{
	const char *end = text + strspn(text, "0123456789.");
	bool digits = false;
	long double number;
	char *parsed;
	int shift;

	for (const char *c = text; c < end; c++)
		digits = digits || isdigit((unsigned char)*c);
	if (!digits || !suffix_shift(*end, &shift))
		return false;
	number = strtold(text, &parsed);
	if (parsed != end)
		return false;
	number *= (long double)(1ULL << shift);
	if (number >= 9223372036854775808.0L)
		return false;
	*bytes = (size_t)number;
	if ((long double)*bytes < number)
		*bytes += 1;
	return true;
}

const char *text_size(size_t bytes, char buffer[32])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
	double value = (double)bytes;
	int unit = 0;

	while (value >= 1024 && unit < 5) {
		value /= 1024;
		unit++;
	}
	snprintf(buffer, 32, unit && value != (double)(long)value ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return buffer;
}

bool text_parse_list(const char *text, bool *flags, size_t length)
{
	memset(flags, 0, length * sizeof *flags);
	while (*text) {
		char *end;
		unsigned long first, last;

		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return false;
			last = strtoul(end + 1, &end, 10);
		}
		if (first > last || last >= length || (*end && *end != ','))
			return false;
		for (unsigned long i = first; i <= last; i++)
			flags[i] = true;
		text = *end ? end + 1 : end;
	}
	return true;
}

static char *refuse_file(char *text, char *problem, size_t size, const char *what, int error)
{
	snprintf(problem, size, "%s%s", what, error ? strerror(error) : "");
	free(text);
	return NULL;
}

char *text_of_large_file(const char *path, size_t most, char *problem, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t room = 0, length = 0, got = 1;
	bool plain = true;
	char *text = NULL;
	int error;

	if (!file)
		return refuse_file(NULL, problem, size, "cannot be read: ", errno);
	while (got > 0 && plain && length < most) {
		char *larger = text;

		if (length + 65536 > room) {
			room = 2 * room + 131072;
			larger = realloc(text, room);
		}
		if (!larger)
			break;
		text = larger;
		errno = 0;
		got = fread(text + length, 1, 65535, file);
		plain = !memchr(text + length, 0, got);
		length += got;
	}
	error = ferror(file) ? errno : 0;
	fclose(file);
	if (error)
		return refuse_file(text, problem, size, "cannot be read: ", error);
	if (!plain)
		return refuse_file(text, problem, size, "not a text", 0);
	if (got > 0 || !text)
		return refuse_file(text, problem, size, "cannot be read: it is too large", 0);
	text[length] = '\0';
	return text;
}

char *text_of_file(const char *path, char *problem, size_t size)
{
	return text_of_large_file(path, LARGEST_FILE, problem, size);
}

size_t text_fit(const char *text, size_t room)
{
	size_t fit = strlen(text);

	if (fit <= room)
		return fit;
	for (fit = room; fit && text[fit] != ' '; fit--)
		;
	return fit ? fit : strcspn(text, " ");
}

static bool is_limited(int what)
{
	struct rlimit limit;

	return !getrlimit((__rlimit_resource_t)what, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

const char *text_memory_advice(const char *otherwise)
{
	if (is_limited(RLIMIT_DATA))
		return "its memory is limited; raise ulimit -d";
	if (is_limited(RLIMIT_AS))
		return "its memory is limited; raise ulimit -v";
	return otherwise;
}

/* dlerror's text has the words of the error number if the loader could not open a file. */
const char *text_library_advice(const char *problem, const char *install)
{
	if (strstr(problem, strerror(ENOENT)))
		return install;
	return text_memory_advice("the file is there and cannot be used; put the folder of another one into "
				  "LD_LIBRARY_PATH");
}
