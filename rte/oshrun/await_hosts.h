/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_AWAIT_HOSTS_H
#define OSHRUN_AWAIT_HOSTS_H

#include "launchers.h"

/*
 * Call right before oshrun becomes mpirun or prterun. A child process looks once, 10 s later, which hosts' daemons have
 * connected to the launcher, and names the others in one line. It does nothing else to the job, and ends with the launcher.
 */
void await_hosts(const struct launcher *launcher, const struct options *options, const struct hosts *hosts);

#endif
