# SPDX-License-Identifier: BSD-3-Clause
# librtebase: what the library and the tools share.

noinst_LTLIBRARIES += librtebase.la
librtebase_la_SOURCES = rte/host/command.c rte/host/command.h rte/host/first_data.h rte/host/hosts.c rte/host/hosts.h \
	rte/host/pages.c rte/host/pages.h rte/host/ports.c rte/host/ports.h \
	rte/host/rdma_ports.c rte/host/rdma_ports.h rte/host/slurm_queries.c \
	rte/host/slurm_queries.h rte/host/torus_cache.c rte/host/torus_cache.h rte/host/variables.c rte/host/variables.h rte/settings.c rte/settings.def \
	rte/settings.h rte/signal_handlers.c rte/signal_handlers.h rte/text/arguments.c rte/text/arguments.h \
	rte/text/plain.c rte/text/plain.h rte/text/progress.c rte/text/progress.h rte/text/text.c \
	rte/text/text.h rte/trace/trace_events.c rte/trace/trace_events.h rte/trace/trace_parts.c
librtebase_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

# The rest is the library's alone.
libtorushmem_la_SOURCES += rte/clock.h rte/crash/backtrace.c rte/crash/backtrace.h \
	rte/crash/crash.c rte/crash/crash_report.c rte/crash/crash_report.h rte/crash/frames.c \
	rte/crash/frames.h rte/crash/source_lines.c rte/host/greeting.c rte/host/greeting.h rte/host/node.c \
	rte/pmix/pmix.c rte/pmix/pmix_client.h \
	rte/pmix/pmix_exchange.c rte/pmix/pmix_nodes.c rte/pmix/pmix_notify.c rte/pmix/pmix_state.c \
	rte/rte.h rte/start/abort.c rte/start/environment.c rte/start/errors.c rte/start/provider.h rte/start/rendezvous.c \
	rte/start/rendezvous.h rte/start/root.c rte/start/sockets.c rte/start/start.c rte/start/state.c rte/start/unique_id.c \
	rte/text/errors.h rte/text/routine_names.h rte/text/messages.c rte/threads.c
