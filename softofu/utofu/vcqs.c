/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "softofu/nic/vcq.h"

/* VCQs, their ids, and the paths to them. */
#define VCQ_FLAGS (UTOFU_VCQ_FLAG_THREAD_SAFE | UTOFU_VCQ_FLAG_EXCLUSIVE | UTOFU_VCQ_FLAG_SESSION_MODE)

static int create_vcq(utofu_tni_id_t tni_id, int component, unsigned long int flags, utofu_vcq_hdl_t *vcq_hdl)
{
	struct nic *nic = nic_get();
	struct vcq *vcq;
	int code;

	if (!vcq_hdl)
		return UTOFU_ERR_INVALID_POINTER;
	if (tni_id >= TNIS)
		return UTOFU_ERR_INVALID_TNI_ID;
	if (flags & ~VCQ_FLAGS)
		return UTOFU_ERR_INVALID_FLAGS;
	if (!nic)
		return UTOFU_ERR_FATAL;
	code = vcq_create(nic, tni_id, component, flags, &vcq);
	if (!code)
		*vcq_hdl = (utofu_vcq_hdl_t)vcq;
	return code;
}

int utofu_create_vcq(utofu_tni_id_t tni_id, unsigned long int flags, utofu_vcq_hdl_t *vcq_hdl)
{
	return create_vcq(tni_id, -1, flags, vcq_hdl);
}

int utofu_create_vcq_with_cmp_id(utofu_tni_id_t tni_id, utofu_cmp_id_t cmp_id, unsigned long int flags,
				 utofu_vcq_hdl_t *vcq_hdl)
{
	if (cmp_id >= NAMED_COMPONENTS)
		return UTOFU_ERR_INVALID_CMP_ID;
	return create_vcq(tni_id, cmp_id, flags, vcq_hdl);
}

int utofu_free_vcq(utofu_vcq_hdl_t vcq_hdl)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, "utofu_free_vcq", &code);

	return vcq ? vcq_free(vcq) : code;
}

int utofu_query_vcq_id(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t *vcq_id)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, "utofu_query_vcq_id", &code);

	if (!vcq)
		return code;
	if (vcq_id)
		*vcq_id = shared_vcq_id(vcq->shared);
	vcq_leave(vcq);
	return vcq_id ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_POINTER;
}

int utofu_construct_vcq_id(uint8_t coords[], utofu_tni_id_t tni_id, utofu_cq_id_t cq_id, utofu_cmp_id_t cmp_id,
			   utofu_vcq_id_t *vcq_id)
{
	struct nic *nic = nic_get();
	struct vcq_name name = {.tni = tni_id, .cq = cq_id, .component = cmp_id};

	if (!coords || !vcq_id)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	if (node_grid_node(&nic->settings.grid, coords) < 0)
		return UTOFU_ERR_INVALID_COORDS;
	if (tni_id >= TNIS)
		return UTOFU_ERR_INVALID_TNI_ID;
	if (cq_id >= CQS)
		return UTOFU_ERR_INVALID_CQ_ID;
	if (cmp_id >= NAMED_COMPONENTS)
		return UTOFU_ERR_INVALID_CMP_ID;
	memcpy(name.coords, coords, sizeof name.coords);
	*vcq_id = id_make(&name);
	return UTOFU_SUCCESS;
}

/* The a, b, c that a path passes name it. Paths are numbered from 1; 0 is the default path. */
static int path_number(const struct nic *nic, const uint8_t path[], unsigned *number)
{
	const int *size = nic->settings.grid.size;

	*number = 0;
	if (!path || path[0] == UTOFU_PATH_COORD_NULL)
		return UTOFU_SUCCESS;
	if (path[0] >= size[3] || path[1] >= size[4] || path[2] >= size[5])
		return UTOFU_ERR_INVALID_PATH;
	*number = 1 + path[0] + (unsigned)size[3] * (path[1] + (unsigned)size[4] * path[2]);
	return *number <= UINT8_MAX ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_PATH;
}

int utofu_set_vcq_id_path(utofu_vcq_id_t *vcq_id, uint8_t path_coords[])
{
	struct nic *nic = nic_get();
	struct vcq_name name;
	int code;

	if (!vcq_id)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	if (!id_read(*vcq_id, &name))
		return UTOFU_ERR_INVALID_VCQ_ID;
	code = path_number(nic, path_coords, &name.path);
	if (!code)
		*vcq_id = id_make(&name);
	return code;
}

int utofu_query_vcq_info(utofu_vcq_id_t vcq_id, uint8_t coords[], utofu_tni_id_t *tni_id, utofu_cq_id_t *cq_id,
			 uint16_t *extra_val)
{
	struct vcq_name name;

	if (!id_read(vcq_id, &name))
		return UTOFU_ERR_INVALID_VCQ_ID;
	if (!coords || !tni_id || !cq_id || !extra_val)
		return UTOFU_ERR_INVALID_POINTER;
	memcpy(coords, name.coords, sizeof name.coords);
	*tni_id = (utofu_tni_id_t)name.tni;
	*cq_id = (utofu_cq_id_t)name.cq;
	*extra_val = (uint16_t)name.component;
	return UTOFU_SUCCESS;
}

int utofu_get_path_id(utofu_vcq_id_t vcq_id, uint8_t path_coords[], utofu_path_id_t *path_id)
{
	struct nic *nic = nic_get();
	struct vcq_name name;
	unsigned number;
	int code;

	if (!path_id)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	if (!id_read(vcq_id, &name))
		return UTOFU_ERR_INVALID_VCQ_ID;
	code = path_number(nic, path_coords, &number);
	if (!code)
		*path_id = (utofu_path_id_t)number;
	return code;
}

/* The default path goes directly to the a, b, c of the destination. */
int utofu_get_path_coords(utofu_vcq_id_t vcq_id, utofu_path_id_t path_id, uint8_t path_coords[])
{
	struct nic *nic = nic_get();
	struct vcq_name name;
	unsigned number = path_id;

	if (!path_coords)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	if (!id_read(vcq_id, &name))
		return UTOFU_ERR_INVALID_VCQ_ID;
	memcpy(path_coords, name.coords + 3, 3);
	for (int axis = 3; axis < GRID_AXES && path_id; axis++) {
		unsigned size = (unsigned)nic->settings.grid.size[axis], at = axis == 3 ? number - 1 : number;

		path_coords[axis - 3] = (uint8_t)(at % size);
		number = at / size;
	}
	return number && path_id ? UTOFU_ERR_INVALID_PATH_ID : UTOFU_SUCCESS;
}
