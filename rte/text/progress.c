/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "rte/clock.h"

#define SECOND_NS INT64_C(1000000000)
#define QUIET_NS (2 * SECOND_NS)
#define BETWEEN_NS (SECOND_NS / 4)

static struct {
	int64_t begun, shown; /* 0: not yet */
} progress;

void progress_line(const char *what, long done, long of)
{
	int64_t now = rte_clock_ns();

	if (!progress.begun)
		progress.begun = now;
	if (done == of) {
		if (progress.shown)
			fputs("\r\033[K", stderr);
		progress.begun = progress.shown = 0;
		return;
	}
	if (now - progress.begun < QUIET_NS || now - progress.shown < BETWEEN_NS)
		return;
	if (!isatty(STDERR_FILENO) || isatty(STDOUT_FILENO))
		return;
	progress.shown = now;
	fprintf(stderr, "\r%s: %ld of %ld, %ld s\033[K", what, done, of, (long)((now - progress.begun) / SECOND_NS));
}
