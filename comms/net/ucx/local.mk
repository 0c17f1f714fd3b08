# SPDX-License-Identifier: BSD-3-Clause
# UCX. Its libraries are loaded when a job needs them.
libtorushmem_la_SOURCES += comms/net/ucx/filter/ucx_filter.c comms/net/ucx/filter/ucx_filter.h \
	comms/net/ucx/filter/ucx_hooks.c comms/net/ucx/filter/ucx_hooks.h comms/net/ucx/ucx.c \
	comms/net/ucx/ucx_answers.c comms/net/ucx/ucx_batch.c comms/net/ucx/ucx_buffers.c \
	comms/net/ucx/ucx_channels.c comms/net/ucx/ucx_choices.c comms/net/ucx/ucx_completion.c \
	comms/net/ucx/ucx_connections.c comms/net/ucx/ucx_device.c comms/net/ucx/ucx_device.h \
	comms/net/ucx/ucx_epochs.c comms/net/ucx/ucx_failure.c comms/net/ucx/ucx_failure.h \
	comms/net/ucx/ucx_inside.h comms/net/ucx/ucx_library.c comms/net/ucx/ucx_library.h \
	comms/net/ucx/ucx_marks.c comms/net/ucx/ucx_messages.c comms/net/ucx/ucx_messages.h \
	comms/net/ucx/ucx_notify.c comms/net/ucx/ucx_ops.c comms/net/ucx/ucx_requests.c \
	comms/net/ucx/ucx_sent.c comms/net/ucx/ucx_serialize.c comms/net/ucx/ucx_server.c \
	comms/net/ucx/ucx_state.c comms/net/ucx/ucx_target.c
