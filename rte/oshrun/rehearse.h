/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_REHEARSE_H
#define OSHRUN_REHEARSE_H

struct job;

/* --report-bindings: a line per PE to stderr. */
void rehearse_bindings(const struct job *job);

/* --dry-run: a line per PE to stdout, saying where it would run what. Returns the exit code. */
int rehearse_job(const struct job *job);

#endif
