/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gather and scatter. A member puts its block into the root's dest, and gets its block from the
 * root's source: so that only the root's array need be symmetric, and the root's own block may be
 * in it already.
 */
#include "vectors.h"

API int shmemx_gather(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type, int PE_root)
{
	COMMS_CALL_OR(1, __func__, nelems * set_type_size(type), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	size_t bytes = vectors_bytes(&set, nelems, type), all = bytes * (size_t)set.group->size;
	char *mine = (char *)dest + bytes * (size_t)set.group->me;

	set_note(&set, dest, all, source, bytes);
	comms_check_on_host(source, "source", __func__);
	set_check_agreement(&set, "the number of bytes", (long)bytes, "PE_root", PE_root, dest);
	vectors_check_root(&set, PE_root);
	if (bytes == 0 || rte_is_broken() || !comms_check_symmetric(dest, all, "dest", __func__))
		return rte_is_broken();
	if (set.group->me != PE_root || mine != source) {
		set_check_overlap(&set, (struct set_span){dest, all}, (struct set_span){source, bytes}, false);
		comms_put(mine, source, bytes, set_pe(&set, PE_root), __func__);
	}
	set_finish(&set);
	return rte_is_broken();
}

API int shmemx_scatter(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
		       int PE_root)
{
	COMMS_CALL_OR(1, __func__, nelems * set_type_size(type), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	size_t bytes = vectors_bytes(&set, nelems, type), all = bytes * (size_t)set.group->size;
	const char *mine = (const char *)source + bytes * (size_t)set.group->me;

	set_note(&set, dest, bytes, source, all);
	comms_check_on_host(dest, "dest", __func__);
	set_check_agreement(&set, "the number of bytes", (long)bytes, "PE_root", PE_root, NULL);
	vectors_check_root(&set, PE_root);
	if (bytes == 0 || rte_is_broken() || !comms_check_symmetric(source, all, "source", __func__))
		return rte_is_broken();
	if (set.group->me != PE_root || mine != dest)
		set_check_overlap(&set, (struct set_span){dest, bytes}, (struct set_span){source, all}, false);
	set_sync(&set);
	if (set.group->me != PE_root || mine != dest)
		comms_get(dest, mine, bytes, set_pe(&set, PE_root), __func__);
	set_sync(&set);
	return rte_is_broken();
}
