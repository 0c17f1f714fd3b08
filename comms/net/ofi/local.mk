# SPDX-License-Identifier: BSD-3-Clause
# Networks that libfabric knows. It is loaded when a job asks for it.
OFI_SOURCES = comms/net/ofi/ofi.c comms/net/ofi/ofi_inside.h comms/net/ofi/ofi_library.c \
	comms/net/ofi/ofi_library.h comms/net/ofi/ofi_notify.c comms/net/ofi/ofi_ops.c \
	comms/net/ofi/ofi_requests.c comms/net/ofi/ofi_sent.c comms/net/ofi/ofi_server.c
EXTRA_DIST += $(OFI_SOURCES)
if WITH_OFI
libtorushmem_la_SOURCES += $(OFI_SOURCES)
libtorushmem_la_CPPFLAGS += $(OFI_CFLAGS)
endif
