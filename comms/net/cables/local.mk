# SPDX-License-Identifier: BSD-3-Clause
# Hosts whose every cable is a network of its own. Needs the kernel alone.
libtorushmem_la_SOURCES += comms/net/cables/cable_addresses.c \
	comms/net/cables/cable_arrivals.c comms/net/cables/cable_failure.c \
	comms/net/cables/cable_hosts.c comms/net/cables/cable_hosts.h \
	comms/net/cables/cable_inside.h comms/net/cables/cable_links.c \
	comms/net/cables/cable_messages.c comms/net/cables/cable_network.c \
	comms/net/cables/cable_notify.c comms/net/cables/cable_ops.c comms/net/cables/cable_state.c
# RDMA over them: libibverbs is loaded where a port has a device.
VERBS_SOURCES = comms/net/cables/cable_verbs.c comms/net/cables/cable_verbs.h \
	comms/net/cables/cable_verbs_links.c comms/net/cables/cable_verbs_memory.c
EXTRA_DIST += $(VERBS_SOURCES)
if WITH_VERBS
libtorushmem_la_SOURCES += $(VERBS_SOURCES)
libtorushmem_la_CPPFLAGS += $(VERBS_CFLAGS)
endif
