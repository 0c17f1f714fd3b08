/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians and quartiles, and the two forms in which records come out. */
#include "measure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The value below which that part of the sorted values lies, between two of them where need be. */
static double quantile(const double *sorted, int count, double part)
{
	double place = part * (count - 1);
	int below = (int)place;

	if (below + 1 >= count)
		return sorted[count - 1];
	return sorted[below] + (place - below) * (sorted[below + 1] - sorted[below]);
}

void record_fill(struct record *r, double *values, int count)
{
	qsort(values, (size_t)count, sizeof *values, by_value);
	r->samples = count;
	r->value = quantile(values, count, 0.5);
	r->low = quantile(values, count, 0.25);
	r->high = quantile(values, count, 0.75);
	r->best = values[0];
}

const char *record_size(size_t bytes, char text[static 24])
{
	if (bytes >= MIB && bytes % MIB == 0)
		snprintf(text, 24, "%zu MiB", bytes / MIB);
	else if (bytes >= KIB && bytes % KIB == 0)
		snprintf(text, 24, "%zu KiB", bytes / KIB);
	else
		snprintf(text, 24, "%zu B", bytes);
	return text;
}

/* Three digits or so, in a unit that suits. */
static void format_value(double value, const char *unit, char text[static 24])
{
	static const char *const names[] = {"ns", "us", "ms", "s"};
	int scale = 0;

	if (!strcmp(unit, "ns")) {
		for (; value >= 1000 && scale < 3; scale++)
			value /= 1000;
		unit = names[scale];
	}
	snprintf(text, 24, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit);
}

/* What the time per operation comes to: operations or bytes per second. */
static void format_rate(const struct record *r, char text[static 24])
{
	text[0] = '\0';
	if (strcmp(r->unit, "ns") || r->value <= 0 || !r->bytes)
		return;
	if (r->bytes >= KIB)
		snprintf(text, 24, "%.2f GB/s", (double)r->bytes / r->value);
	else
		snprintf(text, 24, "%.*f M/s", r->value > 100 ? 3 : 1, 1e3 / r->value);
}

void record_begin(void)
{
	switch (options.format) {
	case CSV:
		puts("measure,variant,bytes,pes,value,unit,low,high,best,samples,state,line_ns,processors,library");
		break;
	case TABLE:
		printf("%s, %d on processors %s\n\n", group.library, group.size, group.processors);
		printf("%-12s %-24s %8s %10s  %-20s %12s %7s  %s\n", "measure", "variant", "size", "median",
		       "quartiles", "rate", "samples", "state");
		break;
	}
	fflush(stdout);
}

static void write_table(const struct record *r)
{
	char size[24], value[24], low[24], high[24], rate[24], spread[52];

	format_value(r->value, r->unit, value);
	format_value(r->low, r->unit, low);
	format_value(r->high, r->unit, high);
	format_rate(r, rate);
	snprintf(spread, sizeof spread, "%s .. %s", low, high);
	printf("%-12s %-24s %8s %10s  %-20s %12s %7d  %s", r->measure, r->variant,
	       r->bytes ? record_size(r->bytes, size) : "", value, spread, rate, r->samples, r->state);
	if (r->line_ns > 0)
		printf(" (%.0f ns)", r->line_ns);
	putchar('\n');
}

void record_write(const struct record *r)
{
	switch (options.format) {
	case TABLE: write_table(r); break;
	case CSV:
		printf("%s,%s,%zu,%d,%.6g,%s,%.6g,%.6g,%.6g,%d,%s,%.1f,%s,%s\n", r->measure, r->variant, r->bytes,
		       group.size, r->value, r->unit, r->low, r->high, r->best, r->samples, r->state, r->line_ns,
		       group.processors, group.library);
		break;
	}
	fflush(stdout);
}

void record_end(void)
{
	fflush(stdout);
}

void progress_show(int done, int of, const char *measure, const char *text)
{
	enum { WIDTH = 24 };
	static const char full[] = "########################";
	static int terminal = -1;
	int part = of > 0 ? done * WIDTH / of : WIDTH;

	/* Where the records go to the terminal as well they show that it goes on. */
	if (terminal < 0)
		terminal = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
	if (!terminal)
		return;
	if (text)
		fprintf(stderr, "\r[%.*s%*s] %d/%d %s %s\033[K", part, full, WIDTH - part, "", done, of, measure, text);
	else
		fputs("\r\033[K", stderr);
}
