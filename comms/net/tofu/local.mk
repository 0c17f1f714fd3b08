# SPDX-License-Identifier: BSD-3-Clause
# The Tofu path. What it calls is loaded when it is taken.
TOFU_SOURCES = comms/net/tofu/session_queues.c comms/net/tofu/session_queues.h \
	comms/net/tofu/tofu_broadcast.c comms/net/tofu/tofu_completion_numbers.c comms/net/tofu/tofu_edges.c \
	comms/net/tofu/tofu_gates.c comms/net/tofu/tofu_inside.h comms/net/tofu/tofu_library.c \
	comms/net/tofu/tofu_library.h comms/net/tofu/tofu_notify.c comms/net/tofu/tofu_ops.c comms/net/tofu/tofu_places.c \
	comms/net/tofu/tofu_queue.c comms/net/tofu/tofu_tnis.c
EXTRA_DIST += $(TOFU_SOURCES)
if WITH_TOFU
libtorushmem_la_SOURCES += $(TOFU_SOURCES)
libtorushmem_la_CPPFLAGS += $(TOFU_CPPFLAGS)
endif
