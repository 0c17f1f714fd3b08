# SPDX-License-Identifier: BSD-3-Clause
# Headers: shmem.h and pshmem.h are made from the tables, the rest is as it is.

mppincludedir = $(includedir)/mpp
include_HEADERS = include/shmemx.h
mppinclude_HEADERS = include/mpp/shmem.h include/mpp/shmemx.h
nodist_include_HEADERS = include/shmem.h include/pshmem.h

header_parts = include/make-header.sh include/prototypes.def include/types.def include/generics.def include/generics.awk
EXTRA_DIST += $(header_parts) include/shmem.h.in include/pshmem.h.in
BUILT_SOURCES += $(nodist_include_HEADERS)
CLEANFILES += $(nodist_include_HEADERS)

include/shmem.h: include/shmem.h.in $(header_parts)
	@$(MKDIR_P) include
	$(AM_V_GEN)CPP="$(CPP)" AWK="$(AWK)" $(SHELL) $(srcdir)/include/make-header.sh $(srcdir)/include/shmem.h.in "" "$(VERSION)" >$@.new && mv $@.new $@

include/pshmem.h: include/pshmem.h.in $(header_parts)
	@$(MKDIR_P) include
	$(AM_V_GEN)CPP="$(CPP)" AWK="$(AWK)" $(SHELL) $(srcdir)/include/make-header.sh $(srcdir)/include/pshmem.h.in p "$(VERSION)" >$@.new && mv $@.new $@
