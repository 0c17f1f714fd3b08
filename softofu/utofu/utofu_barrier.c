/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "softofu/nic/vcq.h"

/* Barrier gates and what runs over them. */
int utofu_alloc_vbg(utofu_tni_id_t tni_id, size_t num_vbgs, unsigned long int flags, utofu_vbg_id_t vbg_ids[])
{
	struct nic *nic = nic_get();

	if (!vbg_ids)
		return UTOFU_ERR_INVALID_POINTER;
	if (tni_id >= TNIS)
		return UTOFU_ERR_INVALID_TNI_ID;
	if (flags & ~UTOFU_VBG_FLAG_THREAD_SAFE)
		return UTOFU_ERR_INVALID_FLAGS;
	if (!num_vbgs)
		return UTOFU_ERR_INVALID_NUMBER;
	return nic ? gates_allocate(nic, tni_id, num_vbgs, vbg_ids) : UTOFU_ERR_FATAL;
}

int utofu_free_vbg(utofu_vbg_id_t vbg_ids[], size_t num_vbgs)
{
	struct nic *nic = nic_get();

	if (!vbg_ids)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	for (size_t i = 0; i < num_vbgs; i++)
		if (!gate_mine(nic, vbg_ids[i]))
			return UTOFU_ERR_INVALID_VBG_ID;
	job_lock(&nic->job->making);
	for (size_t i = 0; i < num_vbgs; i++)
		gate_mine(nic, vbg_ids[i])->owner = 0;
	job_unlock(&nic->job->making);
	return UTOFU_SUCCESS;
}

static int check_setting(struct nic *nic, const struct utofu_vbg_setting *setting)
{
	const int *size = nic->settings.grid.size;
	const uint64_t others[] = {setting->src_lcl_vbg_id, setting->src_rmt_vbg_id, setting->dst_lcl_vbg_id,
				   setting->dst_rmt_vbg_id};

	if (!gate_mine(nic, setting->vbg_id))
		return UTOFU_ERR_INVALID_VBG_ID;
	for (int i = 0; i < 4; i++)
		if (others[i] != UTOFU_VBG_ID_NULL && !gate_find(nic, others[i]))
			return UTOFU_ERR_INVALID_VBG_ID;
	if (setting->dst_path_coords[0] == UTOFU_PATH_COORD_NULL || setting->dst_rmt_vbg_id == UTOFU_VBG_ID_NULL)
		return UTOFU_SUCCESS;
	for (int i = 0; i < 3; i++)
		if (setting->dst_path_coords[i] >= size[i + 3])
			return UTOFU_ERR_INVALID_PATH;
	return UTOFU_SUCCESS;
}

int utofu_set_vbg(struct utofu_vbg_setting vbg_settings[], size_t num_vbg_settings)
{
	struct nic *nic = nic_get();

	if (!vbg_settings)
		return UTOFU_ERR_INVALID_POINTER;
	if (!nic)
		return UTOFU_ERR_FATAL;
	for (size_t i = 0; i < num_vbg_settings; i++) {
		int code = check_setting(nic, &vbg_settings[i]);

		if (code)
			return code;
	}
	for (size_t i = 0; i < num_vbg_settings; i++) {
		struct gate *gate = gate_mine(nic, vbg_settings[i].vbg_id);

		job_lock(&gate->lock);
		gate->from[0].id = vbg_settings[i].src_lcl_vbg_id;
		gate->from[1].id = vbg_settings[i].src_rmt_vbg_id;
		gate->to[0] = vbg_settings[i].dst_lcl_vbg_id;
		gate->to[1] = vbg_settings[i].dst_rmt_vbg_id;
		gate->from[0].count = gate->from[1].count = 0;
		gate->running = gate->done = false;
		job_unlock(&gate->lock);
	}
	return UTOFU_SUCCESS;
}

int utofu_query_vbg_info(utofu_vbg_id_t vbg_id, uint8_t coords[], utofu_tni_id_t *tni_id, utofu_bg_id_t *bg_id,
			 uint16_t *extra_val)
{
	uint8_t at[GRID_AXES];
	unsigned tni, gate;

	if (!coords || !tni_id || !bg_id || !extra_val)
		return UTOFU_ERR_INVALID_POINTER;
	if (!id_read_gate(vbg_id, at, &tni, &gate))
		return UTOFU_ERR_INVALID_VBG_ID;
	memcpy(coords, at, sizeof at);
	*tni_id = (utofu_tni_id_t)tni;
	*bg_id = (utofu_bg_id_t)gate;
	*extra_val = 0;
	return UTOFU_SUCCESS;
}

static int start_barrier(utofu_vbg_id_t vbg_id, const struct gate_value *value, unsigned long int flags)
{
	struct nic *nic = nic_get();

	if (flags)
		return UTOFU_ERR_INVALID_FLAGS;
	return nic ? gate_start(nic, vbg_id, value) : UTOFU_ERR_FATAL;
}

int utofu_barrier(utofu_vbg_id_t vbg_id, unsigned long int flags)
{
	struct gate_value value = {.op = UTOFU_REDUCE_OP_BARRIER};

	return start_barrier(vbg_id, &value, flags);
}

int utofu_reduce_uint64(utofu_vbg_id_t vbg_id, enum utofu_reduce_op op, uint64_t data[], size_t num_data,
			unsigned long int flags)
{
	struct gate_value value = {.op = (uint8_t)op, .words = (uint8_t)num_data};

	if (op < UTOFU_REDUCE_OP_BAND || op > UTOFU_REDUCE_OP_SUM)
		return UTOFU_ERR_INVALID_OP;
	if (!num_data || num_data > GATE_WORDS || (op == UTOFU_REDUCE_OP_MAXLOC && num_data % 2))
		return UTOFU_ERR_INVALID_NUMBER;
	if (!data)
		return UTOFU_ERR_INVALID_POINTER;
	memcpy(value.word, data, num_data * sizeof data[0]);
	return start_barrier(vbg_id, &value, flags);
}

int utofu_reduce_double(utofu_vbg_id_t vbg_id, enum utofu_reduce_op op, double data[], size_t num_data,
			unsigned long int flags)
{
	struct gate_value value = {.op = (uint8_t)op, .words = (uint8_t)(2 * num_data), .doubles = true};

	if (op != UTOFU_REDUCE_OP_BFPSUM)
		return UTOFU_ERR_INVALID_OP;
	if (!num_data || num_data > GATE_WORDS / 2)
		return UTOFU_ERR_INVALID_NUMBER;
	if (!data)
		return UTOFU_ERR_INVALID_POINTER;
	for (size_t i = 0; i < num_data; i++)
		memcpy(&value.word[2 * i], &data[i], sizeof data[i]);
	return start_barrier(vbg_id, &value, flags);
}

static int poll_gate(utofu_vbg_id_t vbg_id, unsigned long int flags, struct gate_value *value)
{
	struct nic *nic = nic_get();

	if (flags)
		return UTOFU_ERR_INVALID_FLAGS;
	return nic ? gate_poll(nic, vbg_id, value) : UTOFU_ERR_FATAL;
}

int utofu_poll_barrier(utofu_vbg_id_t vbg_id, unsigned long int flags)
{
	struct gate_value value = {.words = 0};

	return poll_gate(vbg_id, flags, &value);
}

int utofu_poll_reduce_uint64(utofu_vbg_id_t vbg_id, unsigned long int flags, uint64_t data[])
{
	struct gate_value value = {.words = 1};
	int code = data ? poll_gate(vbg_id, flags, &value) : UTOFU_ERR_INVALID_POINTER;

	if (!code)
		memcpy(data, value.word, value.words * sizeof data[0]);
	return code;
}

int utofu_poll_reduce_double(utofu_vbg_id_t vbg_id, unsigned long int flags, double data[])
{
	struct gate_value value = {.words = 1, .doubles = true};
	int code = data ? poll_gate(vbg_id, flags, &value) : UTOFU_ERR_INVALID_POINTER;

	for (int i = 0; !code && i < value.words / 2; i++)
		memcpy(&data[i], &value.word[2 * i], sizeof data[i]);
	return code;
}
