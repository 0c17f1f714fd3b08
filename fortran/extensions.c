/* SPDX-License-Identifier: BSD-3-Clause */
/* Behind the module shmemx. Messages are packed from sections, and unpacked to them, in the exchange's own buffers. */
#include "fortran.h"

#include <shmemx.h>
#include <stdlib.h>

#define STATUS(stat, call)                 \
	do {                               \
		int status_ = call;        \
		if (stat)                  \
			*(stat) = status_; \
	} while (0)

/* --- Grids --- */

API void torushmemf_grid_create(shmem_team_t parent, const array *sizes, const array *wraps, bool reorder,
				shmem_team_t *grid, int *stat)
{
	size_t dims = fortran_contiguous(sizes, "sizes", "shmemx_grid_create");
	int wrapped[SHMEMX_AXES];

	if (fortran_contiguous(wraps, "wraps", "shmemx_grid_create") != dims || dims > SHMEMX_AXES)
		fortran_die("shmemx_grid_create", "sizes and wraps must have as many elements, and at most %d",
			    SHMEMX_AXES);
	for (size_t i = 0; i < dims; i++)
		wrapped[i] = ((const bool *)wraps->base_addr)[i];
	STATUS(stat, shmemx_grid_create(parent, (int)dims, sizes->base_addr, wrapped, reorder, grid));
}

API int torushmemf_grid_sizes(shmem_team_t grid, int *sizes, int *wraps)
{
	return shmemx_grid_sizes(grid, sizes, wraps);
}

API void torushmemf_grid_coordinates(shmem_team_t grid, int pe, int *coordinates)
{
	shmemx_grid_coordinates(grid, pe, coordinates);
}

API int torushmemf_grid_pe(shmem_team_t grid, const int *coordinates)
{
	return shmemx_grid_pe(grid, coordinates);
}

API int torushmemf_grid_neighbour(shmem_team_t grid, int dim, int steps)
{
	return shmemx_grid_neighbour(grid, dim, steps);
}

API void torushmemf_grid_shift(shmem_team_t grid, int dim, int steps, int *source, int *dest)
{
	shmemx_grid_shift(grid, dim, steps, source, dest);
}

/* --- Exchanges --- */

API void torushmemf_exchange_create_grid(shmem_team_t grid, const array *bytes, int options,
					 shmemx_exchange_t *exchange, int *stat)
{
	size_t edges = fortran_contiguous(bytes, "bytes", "shmemx_exchange_create_grid");

	if ((int)edges != 2 * shmemx_grid_sizes(grid, NULL, NULL))
		fortran_die("shmemx_exchange_create_grid",
			    "bytes has %zu elements; give one for each edge of the grid, two in each dimension", edges);
	STATUS(stat, shmemx_exchange_create_grid(grid, bytes->base_addr, options, exchange));
}

/* A buffer of the exchange as an array of the shape of another one. */
static void buffer_like(CFI_cdesc_t *buffer, const array *a, const void *memory)
{
	CFI_index_t bytes = (CFI_index_t)a->elem_len;

	memset(buffer, 0, sizeof(CFI_CDESC_T(CFI_MAX_RANK)));
	buffer->base_addr = (void *)(uintptr_t)memory;
	buffer->elem_len = a->elem_len;
	buffer->rank = a->rank;
	for (int i = 0; i < a->rank; i++) {
		buffer->dim[i].extent = a->dim[i].extent;
		buffer->dim[i].sm = bytes;
		bytes *= a->dim[i].extent;
	}
}

static void copy_array(const array *dest, const array *source, const char *routine)
{
	struct pieces pieces;

	fortran_pieces_begin(&pieces, dest, source, routine);
	while (fortran_pieces_next(&pieces))
		memcpy(pieces.dest, pieces.source, pieces.bytes);
}

API void torushmemf_exchange_send(shmemx_exchange_t exchange, int edge, const array *source)
{
	CFI_CDESC_T(CFI_MAX_RANK) buffer;
	size_t bytes = fortran_elements(source, "source", "shmemx_exchange_send") * source->elem_len;

	buffer_like((CFI_cdesc_t *)&buffer, source, shmemx_exchange_buffer(exchange, edge));
	copy_array((CFI_cdesc_t *)&buffer, source, "shmemx_exchange_send");
	shmemx_exchange_start(exchange, edge, bytes);
}

API void torushmemf_exchange_sent(shmemx_exchange_t exchange, int edge)
{
	shmemx_exchange_sent(exchange, edge);
}

API bool torushmemf_exchange_test(shmemx_exchange_t exchange, int edge)
{
	return shmemx_exchange_test(exchange, edge);
}

API void torushmemf_exchange_receive(shmemx_exchange_t exchange, int edge, const array *dest)
{
	CFI_CDESC_T(CFI_MAX_RANK) buffer;
	size_t came, room = fortran_elements(dest, "dest", "shmemx_exchange_receive") * dest->elem_len;
	const void *message = shmemx_exchange_wait(exchange, edge, &came);

	if (came != room)
		fortran_die("shmemx_exchange_receive", "edge=%d: the message has %zu bytes, and dest has room for %zu",
			    edge, came, room);
	buffer_like((CFI_cdesc_t *)&buffer, dest, message);
	copy_array(dest, (CFI_cdesc_t *)&buffer, "shmemx_exchange_receive");
	shmemx_exchange_release(exchange, edge);
}

API void torushmemf_exchange_destroy(shmemx_exchange_t *exchange)
{
	shmemx_exchange_destroy(*exchange);
	*exchange = SHMEMX_EXCHANGE_INVALID;
}

/* --- Plans --- */

API void torushmemf_broadcast_init(shmem_team_t team, const array *dest, const array *source, int PE_root, int executor,
				   shmemx_plan_t *plan, int *stat)
{
	size_t n = fortran_count(dest, source, 1, "shmemx_broadcast_init");

	STATUS(stat, shmemx_broadcast_init(team, dest->base_addr, source->base_addr, n * source->elem_len, PE_root,
					   executor, plan));
}

API void torushmemf_allgather_init(shmem_team_t team, const array *dest, const array *source, int executor,
				   shmemx_plan_t *plan, int *stat)
{
	size_t n =
		fortran_count(dest, source, fortran_team_size(team, "shmemx_allgather_init"), "shmemx_allgather_init");

	STATUS(stat,
	       shmemx_allgather_init(team, dest->base_addr, source->base_addr, n * source->elem_len, executor, plan));
}

API void torushmemf_alltoall_init(shmem_team_t team, const array *dest, const array *source, int executor,
				  shmemx_plan_t *plan, int *stat)
{
	size_t n = fortran_count(dest, source, 1, "shmemx_alltoall_init") /
		   fortran_team_size(team, "shmemx_alltoall_init");

	STATUS(stat,
	       shmemx_alltoall_init(team, dest->base_addr, source->base_addr, n * source->elem_len, executor, plan));
}

API void torushmemf_sum_init(shmem_team_t team, const array *dest, const array *source, int executor,
			     shmemx_plan_t *plan, int *stat)
{
	size_t n = fortran_count(dest, source, 1, "shmemx_sum_init");

	STATUS(stat, shmemx_allreduce_init(team, dest->base_addr, source->base_addr, n, SHMEMX_DOUBLE, SHMEMX_SUM,
					   executor, plan));
}

API void torushmemf_plan_start(shmemx_plan_t plan)
{
	shmemx_plan_start(plan);
}

API bool torushmemf_plan_test(shmemx_plan_t plan)
{
	return shmemx_plan_test(plan);
}

API void torushmemf_plan_wait(shmemx_plan_t plan)
{
	shmemx_plan_wait(plan);
}

API void torushmemf_plan_free(shmemx_plan_t *plan)
{
	shmemx_plan_free(*plan);
	*plan = SHMEMX_PLAN_INVALID;
}
