/* SPDX-License-Identifier: BSD-3-Clause */
#include "rehearse.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "debug.h"
#include "job.h"
#include "say.h"
#include "words.h"

void rehearse_bindings(const struct job *job)
{
	char where[256];

	if (!job->options->report_bindings)
		return;
	for (int pe = 0; pe < job->count; pe++)
		say("PE %d on %s: %s", pe, job->host,
		    bind_describe(&job->machine, job->bind, pe, job->count, where, sizeof where));
}

int rehearse_job(const struct job *job)
{
	const char *wdir = job->options->wdir;
	char *here = realpath(wdir ? wdir : ".", NULL);
	char where[256];

	if (!here) {
		say("--wdir %s: the PEs cannot go there", wdir ? wdir : ".");
		return 1;
	}
	for (int pe = 0; pe < job->count; pe++) {
		printf("PE %d on %s, %s, in %s: ", pe, job->host,
		       bind_describe(&job->machine, job->bind, pe, job->count, where, sizeof where), here);
		words_print(debug_is(job, pe) ? job->debug_words : job->options->program);
		putchar('\n');
	}
	free(here);
	return 0;
}
