# SPDX-License-Identifier: BSD-3-Clause
# librtebase: what the library and the tools share.

noinst_LTLIBRARIES += librtebase.la
librtebase_la_SOURCES = rte/arguments.c rte/arguments.h rte/command.c rte/command.h rte/hosts.c rte/hosts.h rte/ports.c rte/ports.h rte/pages.c rte/pages.h rte/plain.c rte/plain.h rte/progress.c rte/progress.h rte/settings.c rte/settings.h rte/settings.def rte/signals.c rte/signals.h rte/slurm.c rte/slurm.h rte/text.c rte/text.h rte/torus_cache.c rte/torus_cache.h rte/trace_events.c rte/trace_parts.c rte/trace_events.h
librtebase_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

libtorushmem_la_SOURCES += rte/rte.h rte/clock.h rte/pmix.c rte/pmix_client.h rte/pmix_exchange.c rte/pmix_nodes.c rte/pmix_notify.c rte/pmix_state.c rte/caller.c rte/caller.h rte/messages.c rte/node.c rte/backtrace.c rte/backtrace.h rte/crash.c rte/crash_report.c rte/threads.c rte/crash_report.h rte/frames.c rte/frames.h rte/lines.c
