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
		    bind_describe(&job->binding, &job->machine, pe, where, sizeof where));
}

int rehearse_job(const struct job *job)
{
	char where[256];

	for (int pe = 0; pe < job->count; pe++) {
		const struct part *part = options_part(job->options, pe);
		char *here = realpath(part->wdir ? part->wdir : ".", NULL);

		if (!here) {
			say("--wdir %s: the PEs cannot go there", part->wdir ? part->wdir : ".");
			return 1;
		}
		printf("PE %d on %s, %s, in %s: ", pe, job->host,
		       bind_describe(&job->binding, &job->machine, pe, where, sizeof where), here);
		words_print(debug_is(job, pe) ? job->debug_words : part->program);
		putchar('\n');
		free(here);
	}
	return 0;
}
