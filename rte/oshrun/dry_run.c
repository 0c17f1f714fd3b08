/* SPDX-License-Identifier: BSD-3-Clause */
#include "dry_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rte/text/arguments.h"
#include "debug.h"
#include "job.h"
#include "say.h"

void dry_run_report_bindings(const struct job *job)
{
	char where[256];

	if (!job->options->report_bindings)
		return;
	for (int pe = 0; pe < job->count; pe++)
		say("PE %d on %s: %s", pe, job->host,
		    bind_describe(&job->binding, &job->processors, pe, where, sizeof where));
}

int dry_run_job(const struct job *job)
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
		       bind_describe(&job->binding, &job->processors, pe, where, sizeof where), here);
		arguments_print(debug_is(job, pe) ? job->debug_arguments : part->program);
		putchar('\n');
		free(here);
	}
	return 0;
}
