/* SPDX-License-Identifier: BSD-3-Clause */
#include "cable_inside.h"

struct cable_net cable_net = {.lock = PTHREAD_MUTEX_INITIALIZER,
			      .epoll = -1,
			      .listener = -1,
			      .server = {.event = -1, .wakeup = -1}};
