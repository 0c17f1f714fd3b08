/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_DRY_RUN_H
#define OSHRUN_DRY_RUN_H

struct job;

/* --report-bindings: a line per PE to stderr. */
void dry_run_report_bindings(const struct job *job);

/* --dry-run: a line per PE to stdout, with the place and the program. Returns the exit code. */
int dry_run_job(const struct job *job);

#endif
