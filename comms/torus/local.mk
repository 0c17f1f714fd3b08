# SPDX-License-Identifier: BSD-3-Clause
# libtorusthink: what there is to know about a torus without touching one. Pure functions, for the library, the tools
# and the tests.

noinst_LTLIBRARIES += libtorusthink.la
libtorusthink_la_SOURCES = \
	comms/torus/by_axes.c \
	comms/torus/by_halves.c \
	comms/torus/by_line.c \
	comms/torus/by_swaps.c \
	comms/torus/file.c comms/torus/file.h \
	comms/torus/grid.c comms/torus/grid.h \
	comms/torus/grove.c \
	comms/torus/job.c comms/torus/job.h \
	comms/torus/meeting.c comms/torus/meeting.h \
	comms/torus/model.c comms/torus/model.h \
	comms/torus/packing.c comms/torus/packing.h \
	comms/torus/passes.c comms/torus/passes.h \
	comms/torus/place.c comms/torus/place.h \
	comms/torus/routes.c comms/torus/routes.h \
	comms/torus/shape.c comms/torus/shape.h \
	comms/torus/sites.c comms/torus/sites.h \
	comms/torus/strands.c comms/torus/strands.h \
	comms/torus/tni.c comms/torus/tni.h \
	comms/torus/trees.c comms/torus/trees.h
libtorusthink_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
