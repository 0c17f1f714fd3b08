# SPDX-License-Identifier: BSD-3-Clause
libtorushmem_la_SOURCES += comms/comms.h comms/system.h comms/telling.h comms/comms.c comms/network.h comms/ops.c comms/copy.c comms/copy.h comms/processor.h comms/groups.c comms/levels.c comms/levels.h comms/numa.c comms/numa.h comms/wait.c comms/wait.h \
	comms/memory.c comms/memory.h comms/near.h comms/device.c comms/device.h comms/globals.c comms/globals.h comms/job.c comms/job.h comms/ucx.c comms/ucx.h \
	comms/ucx_inside.h comms/ucx_choices.c comms/ucx_library.c comms/ucx_library.h comms/ucx_ops.c comms/ucx_messages.c comms/ucx_messages.h comms/ucx_target.c comms/ucx_server.c comms/ucx_tell.c comms/ucx_together.c comms/channels.c comms/completion.c
libtorushmem_la_SOURCES += comms/greeting.c comms/greeting.h comms/hooks.c comms/hooks.h comms/ucx_filter.c comms/ucx_filter.h
libtorushmem_la_SOURCES += comms/company.c comms/company.h comms/sanitizer.h comms/silence.c comms/silence.h
libtorushmem_la_SOURCES += comms/combining.c comms/combining.h comms/ground.c comms/ground.h comms/meeting.c comms/meeting.h comms/passing.c comms/passing.h comms/relay.c comms/relay.h comms/relay_inside.h comms/relay_up.c comms/rings.c comms/rings.h
libtorushmem_la_SOURCES += comms/buffers.c comms/buffers.h comms/mail.c comms/mail.h comms/notices.c comms/notices.h comms/ucx_buffers.c
libtorushmem_la_SOURCES += comms/commands.c comms/commands.h comms/sessions.h comms/engine.c
libtorushmem_la_SOURCES += comms/deadlock.c comms/deadlock.h comms/fault.c comms/hang.c comms/hang.h comms/hang_report.c comms/reorder.c comms/reorder.h
libtorushmem_la_SOURCES += comms/families.c comms/links.c comms/links.h comms/trace.c comms/trace.h comms/watch.c comms/watch.h
libtorushmem_la_SOURCES += comms/tofu/tofu.h

# The Tofu path. What it calls is loaded when it is taken.
TOFU_SOURCES = comms/tofu/edges.c comms/tofu/engines.c comms/tofu/gates.c comms/tofu/inside.h comms/tofu/lanes.c comms/tofu/lanes.h comms/tofu/library.c comms/tofu/library.h comms/tofu/ops.c comms/tofu/places.c \
	comms/tofu/notices.c comms/tofu/queue.c comms/tofu/session.c
EXTRA_DIST += $(TOFU_SOURCES)
if WITH_TOFU
libtorushmem_la_SOURCES += $(TOFU_SOURCES)
libtorushmem_la_CPPFLAGS += $(TOFU_CPPFLAGS)
endif
