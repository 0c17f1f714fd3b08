# SPDX-License-Identifier: BSD-3-Clause
# Small programs to read and to run. Built in the tree as a user would build them, and installed as text.

EXAMPLES = \
	examples/globals \
	examples/hello \
	examples/histogram \
	examples/pi \
	examples/ring \
	examples/stencil

noinst_PROGRAMS += $(EXAMPLES)
examples_stencil_LDADD = libtorushmem.la -lm

examplesdir = $(docdir)/examples
dist_examples_DATA = \
	examples/Makefile \
	examples/globals.c \
	examples/hello.c \
	examples/histogram.c \
	examples/pi.c \
	examples/ring.c \
	examples/stencil.c
