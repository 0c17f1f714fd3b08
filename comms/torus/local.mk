# SPDX-License-Identifier: BSD-3-Clause
# libtorusthink: what there is to know about a torus without touching one. Pure functions, for the
# library, the tools and the tests.

noinst_LTLIBRARIES += libtorusthink.la
libtorusthink_la_SOURCES = \
	comms/torus/by_axes.c \
	comms/torus/by_halves.c \
	comms/torus/by_line.c \
	comms/torus/by_swaps.c \
	comms/torus/cable_routes.c comms/torus/cable_routes.h \
	comms/torus/cabling/cabling.c comms/torus/cabling/cabling.h comms/torus/cabling/cabling_parts.h \
	comms/torus/cabling/cabling_directions.c \
	comms/torus/cabling/cabling_faults.c \
	comms/torus/cabling/cabling_labels.c \
	comms/torus/cabling/cabling_layout.c \
	comms/torus/cabling/cabling_order.c \
	comms/torus/cabling/cabling_rings.c \
	comms/torus/cabling/cabling_row.c \
	comms/torus/cabling/cabling_sizes.c \
	comms/torus/file_hosts.c \
	comms/torus/file.c comms/torus/file.h \
	comms/torus/program_grid.c comms/torus/program_grid.h \
	comms/torus/tree_set.c \
	comms/torus/job_places.c comms/torus/job_places.h \
	comms/torus/slurm/slurm.c comms/torus/slurm/slurm.h \
	comms/torus/slurm/slurm_blocks.c \
	comms/torus/barrier_rounds.c comms/torus/barrier_rounds.h \
	comms/torus/model.c comms/torus/model.h \
	comms/torus/disjoint_trees.c comms/torus/disjoint_trees.h \
	comms/torus/ring_schedule.c comms/torus/ring_schedule.h comms/torus/ring_shares.c \
	comms/torus/detours.c comms/torus/detours.h comms/torus/exchange_schedule.c comms/torus/exchange_schedule.h \
	comms/torus/lines.c comms/torus/lines.h \
	comms/torus/place.c comms/torus/place.h \
	comms/torus/routes.c comms/torus/routes.h \
	comms/torus/shape.c comms/torus/shape.h \
	comms/torus/sites.c comms/torus/sites.h comms/torus/team_sites.c \
	comms/torus/subaxes.c comms/torus/subaxes.h \
	comms/torus/tni.c comms/torus/tni.h \
	comms/torus/trees.c comms/torus/trees.h
libtorusthink_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
