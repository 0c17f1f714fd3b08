# SPDX-License-Identifier: BSD-3-Clause
# Programs of uTofu to read and to run, with software Tofu.

if WITH_SOFTOFU
UTOFU_EXAMPLES = examples/utofu/chain examples/utofu/counter examples/utofu/double_buffer examples/utofu/put
noinst_PROGRAMS += $(UTOFU_EXAMPLES)
examples_utofu_chain_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
examples_utofu_chain_LDADD = $(SOFTOFU_LIBS)
examples_utofu_counter_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
examples_utofu_counter_LDADD = $(SOFTOFU_LIBS)
examples_utofu_double_buffer_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
examples_utofu_double_buffer_LDADD = $(SOFTOFU_LIBS)
examples_utofu_put_CPPFLAGS = $(SOFTOFU_CPPFLAGS)
examples_utofu_put_LDADD = $(SOFTOFU_LIBS)

utofuexamplesdir = $(docdir)/examples/utofu
dist_utofuexamples_DATA = \
	examples/utofu/Makefile \
	examples/utofu/chain.c \
	examples/utofu/counter.c \
	examples/utofu/double_buffer.c \
	examples/utofu/put.c \
	examples/utofu/start.h
endif
