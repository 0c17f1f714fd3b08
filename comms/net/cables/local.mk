# SPDX-License-Identifier: BSD-3-Clause
# Hosts whose every cable is a network of its own. Needs the kernel alone.
libtorushmem_la_SOURCES += comms/net/cables/cable_addresses.c \
	comms/net/cables/cable_arrivals.c comms/net/cables/cable_failure.c \
	comms/net/cables/cable_hosts.c comms/net/cables/cable_hosts.h \
	comms/net/cables/cable_inside.h comms/net/cables/cable_links.c \
	comms/net/cables/cable_messages.c comms/net/cables/cable_network.c \
	comms/net/cables/cable_notify.c comms/net/cables/cable_ops.c comms/net/cables/cable_state.c
