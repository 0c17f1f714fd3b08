# SPDX-License-Identifier: BSD-3-Clause
# Headers: shmem.h, pshmem.h, shmemx_inline.h and shmemx_typed.h are made from the tables, the rest
# is as it is.

mppincludedir = $(includedir)/mpp
include_HEADERS = include/shmemx.h include/shmem.hpp include/shmem_arrays.hpp include/shmem_owners.hpp \
	include/shmemx_binding.h include/shmemg.h include/shmem_gpu.h
mppinclude_HEADERS = include/mpp/shmem.h include/mpp/shmemx.h
made_headers = include/shmem.h include/pshmem.h include/shmemx_inline.h include/shmemx_typed.h
nodist_include_HEADERS = $(made_headers)

header_parts = include/make-header.sh include/prototypes.def include/types.def include/generics.def include/inline.def \
	include/extensions.def include/extension_generics.def \
	include/types.awk include/generics.awk include/overloads.awk
EXTRA_DIST += $(header_parts) include/shmem.h.in include/pshmem.h.in include/shmemx_inline.h.in include/shmemx_typed.h.in
BUILT_SOURCES += $(made_headers)
CLEANFILES += $(made_headers)

include/shmem.h: include/shmem.h.in $(header_parts)
	@$(MKDIR_P) include
	$(AM_V_GEN)CPP="$(CPP)" AWK="$(AWK)" $(SHELL) $(srcdir)/include/make-header.sh $(srcdir)/include/shmem.h.in "" "$(VERSION)" >$@.new && mv $@.new $@

include/pshmem.h: include/pshmem.h.in $(header_parts)
	@$(MKDIR_P) include
	$(AM_V_GEN)CPP="$(CPP)" AWK="$(AWK)" $(SHELL) $(srcdir)/include/make-header.sh $(srcdir)/include/pshmem.h.in p "$(VERSION)" >$@.new && mv $@.new $@

include/shmemx_inline.h: include/shmemx_inline.h.in $(header_parts)
	@$(MKDIR_P) include
	$(AM_V_GEN)CPP="$(CPP)" AWK="$(AWK)" $(SHELL) $(srcdir)/include/make-header.sh $(srcdir)/include/shmemx_inline.h.in "" "$(VERSION)" >$@.new && mv $@.new $@

include/shmemx_typed.h: include/shmemx_typed.h.in $(header_parts)
	@$(MKDIR_P) include
	$(AM_V_GEN)CPP="$(CPP)" AWK="$(AWK)" $(SHELL) $(srcdir)/include/make-header.sh $(srcdir)/include/shmemx_typed.h.in "" "$(VERSION)" \
		extensions.def extension_generics.def shmemx_ >$@.new && mv $@.new $@

# The compiler wrapper of a build tree finds them all in one folder.
plain_headers = shmemx.h shmemx_binding.h shmemg.h shmem_gpu.h shmem.hpp shmem_arrays.hpp shmem_owners.hpp mpp/shmem.h mpp/shmemx.h mpp/shmem.fh
BUILT_SOURCES += include/stamp
CLEANFILES += include/stamp

include/stamp: $(plain_headers:%=$(srcdir)/include/%)
	@$(MKDIR_P) include/mpp
	$(AM_V_GEN)for header in $(plain_headers); do \
		cmp -s "$(srcdir)/include/$$header" "include/$$header" || cp -f "$(srcdir)/include/$$header" "include/$$header" || exit 1; \
	done; touch $@

clean-headers:
	test "$(srcdir)" = . || (cd include && rm -f $(plain_headers))
