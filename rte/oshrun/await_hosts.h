/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_AWAIT_HOSTS_H
#define OSHRUN_AWAIT_HOSTS_H

#include "launchers.h"

/*
 * Call just before oshrun executes mpirun or prterun. After 10 s a child process checks which
 * hosts' daemons have connected to the launcher, and names the others in one line. It does nothing
 * else, and ends with the launcher.
 */
void await_hosts(const struct launcher *launcher, const struct options *options, const struct hosts *hosts);

#endif
