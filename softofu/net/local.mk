# SPDX-License-Identifier: BSD-3-Clause
# libsoftofunet: the network under software Tofu. Of the library it takes the arithmetic of shapes and nothing else.

noinst_LTLIBRARIES += libsoftofunet.la
SOFTOFU_NET_SOURCES = \
	softofu/net/agenda.c \
	softofu/net/counts.h \
	softofu/net/crc.c softofu/net/crc.h \
	softofu/net/create.c \
	softofu/net/cycle.c \
	softofu/net/dial.c \
	softofu/net/door.c \
	softofu/net/faults.c \
	softofu/net/link.c \
	softofu/net/net.h \
	softofu/net/packet.h \
	softofu/net/report.c \
	softofu/net/route.c \
	softofu/net/router.c \
	softofu/net/settings.c softofu/net/settings.h \
	softofu/net/state.h \
	softofu/net/tni.c \
	softofu/net/wires.c softofu/net/wires.h softofu/net/wires_inside.h
libsoftofunet_la_SOURCES = comms/torus/shape.c comms/torus/shape.h $(SOFTOFU_NET_SOURCES)
libsoftofunet_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libsoftofunet_la_LIBADD = -lm

# Random packets over a network, as a program: for the soak below, and to look for where a network stands still.
# And what a network costs.
check_PROGRAMS += softofu-nettest softofu-netspeed
softofu_netspeed_SOURCES = tests/softofu/netspeed.c tests/softofu/traffic.c tests/softofu/traffic.h
softofu_netspeed_LDADD = libsoftofunet.la
softofu_nettest_SOURCES = tests/softofu/nettest.c tests/softofu/traffic.c tests/softofu/traffic.h
softofu_nettest_LDADD = libsoftofunet.la

SOFTOFU_UNIT_TESTS = \
	tests/unit/softofu_net_model \
	tests/unit/softofu_net_parts \
	tests/unit/softofu_net_random \
	tests/unit/softofu_net_shared \
	tests/unit/softofu_net_wires
check_PROGRAMS += $(SOFTOFU_UNIT_TESTS)
tests_unit_softofu_net_model_SOURCES = tests/unit/softofu_net_model.c \
	tests/softofu/flows.c tests/softofu/flows.h tests/softofu/traffic.c
tests_unit_softofu_net_model_LDADD = libsoftofunet.la libtorusthink.la
tests_unit_softofu_net_parts_SOURCES = tests/unit/softofu_net_parts.c tests/softofu/traffic.c
tests_unit_softofu_net_parts_LDADD = libsoftofunet.la
tests_unit_softofu_net_random_SOURCES = tests/unit/softofu_net_random.c tests/softofu/traffic.c
tests_unit_softofu_net_random_LDADD = libsoftofunet.la
tests_unit_softofu_net_shared_SOURCES = tests/unit/softofu_net_shared.c tests/softofu/worker.c tests/softofu/worker.h
tests_unit_softofu_net_shared_LDADD = libsoftofunet.la
tests_unit_softofu_net_wires_SOURCES = tests/unit/softofu_net_wires.c tests/softofu/worker.c tests/softofu/traffic.c
tests_unit_softofu_net_wires_LDADD = libsoftofunet.la

# Ten million packets with the smallest buffers, and once the network that must stand still: make soak-net SOAK_PACKETS=1000000
SOAK_PACKETS = 10000000
SOAK_TINY = buffers=1,queue=1,window=1,door=1,errors=1e-4
soak-net: softofu-nettest
	./softofu-nettest 4x4x4 $(SOAK_PACKETS) $(SOAK_TINY)
	./softofu-nettest 3x5x7 $(SOAK_PACKETS) $(SOAK_TINY)
	./softofu-nettest 5x9 $(SOAK_PACKETS) $(SOAK_TINY)
	./softofu-nettest 4x4x4 $(SOAK_PACKETS) $(SOAK_TINY),lanes=1; test $$? = 3

.PHONY: soak-net

EXTRA_DIST += \
	docs/protocols/softofu-link.md \
	tests/tools/softofu_net.bats
