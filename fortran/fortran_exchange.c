/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges in the module shmemx. Messages are packed from sections, and unpacked to them, in the
 * exchange's own buffers.
 */
#include "fortran.h"

#include <shmemx.h>
#include <stdatomic.h>
#include <stdlib.h>

/*
 * The buffer sizes of an exchange's edges: packing must not exceed a buffer, and C does not report
 * its size.
 */
struct exchange_sizes {
	struct exchange_sizes *next;
	shmemx_exchange_t exchange;
	size_t edges, bytes[];
};

static struct exchange_sizes *exchange_list;
static atomic_flag exchange_lock = ATOMIC_FLAG_INIT;

static void exchange_list_lock(void)
{
	while (atomic_flag_test_and_set_explicit(&exchange_lock, memory_order_acquire))
		;
}

static void exchange_list_unlock(void)
{
	atomic_flag_clear_explicit(&exchange_lock, memory_order_release);
}

static struct exchange_sizes *exchange_sizes_make(size_t edges, const char *routine)
{
	struct exchange_sizes *sizes = calloc(1, sizeof *sizes + edges * sizeof sizes->bytes[0]);

	if (!sizes)
		fortran_die(routine, "there is no memory for the sizes of %zu edges", edges);
	sizes->edges = edges;
	return sizes;
}

/* Records the sizes, unless there is no exchange. */
static void exchange_sizes_keep(struct exchange_sizes *sizes, shmemx_exchange_t exchange)
{
	if (exchange == SHMEMX_EXCHANGE_INVALID) {
		free(sizes);
		return;
	}
	sizes->exchange = exchange;
	exchange_list_lock();
	sizes->next = exchange_list;
	exchange_list = sizes;
	exchange_list_unlock();
}

static void exchange_sizes_drop(shmemx_exchange_t exchange)
{
	struct exchange_sizes **link = &exchange_list, *sizes;

	exchange_list_lock();
	while (*link && (*link)->exchange != exchange)
		link = &(*link)->next;
	sizes = *link;
	if (sizes)
		*link = sizes->next;
	exchange_list_unlock();
	free(sizes);
}

/* SIZE_MAX: unknown, because the exchange was made in C. */
static size_t exchange_carries(shmemx_exchange_t exchange, int edge)
{
	size_t bytes = SIZE_MAX;

	exchange_list_lock();
	for (const struct exchange_sizes *sizes = exchange_list; sizes; sizes = sizes->next)
		if (sizes->exchange == exchange && edge >= 0 && (size_t)edge < sizes->edges)
			bytes = sizes->bytes[edge];
	exchange_list_unlock();
	return bytes;
}

API void torushmemf_exchange_create(shmem_team_t team, const array *edges, shmemx_exchange_t *exchange, int *stat)
{
	size_t n = fortran_contiguous(edges, "edges", "shmemx_exchange_create");
	struct exchange_sizes *sizes = exchange_sizes_make(n, "shmemx_exchange_create");
	const shmemx_edge_t *edge = edges->base_addr;

	for (size_t i = 0; i < n; i++)
		sizes->bytes[i] = edge[i].send_bytes;
	FORTRAN_STATUS(stat, shmemx_exchange_create(team, edge, (int)n, exchange));
	exchange_sizes_keep(sizes, *exchange);
}

API void torushmemf_exchange_create_grid(shmem_team_t grid, const array *bytes, int options,
					 shmemx_exchange_t *exchange, int *stat)
{
	size_t edges = fortran_contiguous(bytes, "bytes", "shmemx_exchange_create_grid");
	struct exchange_sizes *sizes = exchange_sizes_make(edges, "shmemx_exchange_create_grid");

	if ((int)edges != 2 * shmemx_grid_sizes(grid, NULL, NULL))
		fortran_die("shmemx_exchange_create_grid",
			    "bytes has %zu elements; give one for each edge of the grid, two in each dimension", edges);
	memcpy(sizes->bytes, bytes->base_addr, edges * sizeof sizes->bytes[0]);
	FORTRAN_STATUS(stat, shmemx_exchange_create_grid(grid, sizes->bytes, options, exchange));
	exchange_sizes_keep(sizes, *exchange);
}

/* A buffer of the exchange as an array with the shape of another one. */
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

/* Returns the bytes of the message. */
static size_t pack_message(shmemx_exchange_t exchange, int edge, const array *source, const char *routine)
{
	CFI_CDESC_T(CFI_MAX_RANK) buffer;
	size_t bytes = fortran_elements(source, "source", routine) * source->elem_len;

	buffer_like((CFI_cdesc_t *)&buffer, source, shmemx_exchange_buffer(exchange, edge));
	if (bytes > exchange_carries(exchange, edge))
		fortran_die(routine, "edge=%d: source has %zu bytes, and the edge carries %zu at most", edge, bytes,
			    exchange_carries(exchange, edge));
	fortran_copy((CFI_cdesc_t *)&buffer, source, routine);
	return bytes;
}

static void unpack_message(const array *dest, const void *message, size_t came, int edge, const char *routine)
{
	CFI_CDESC_T(CFI_MAX_RANK) buffer;
	size_t room = fortran_elements(dest, "dest", routine) * dest->elem_len;

	if (came != room)
		fortran_die(routine, "edge=%d: the message has %zu bytes, and dest has room for %zu", edge, came, room);
	buffer_like((CFI_cdesc_t *)&buffer, dest, message);
	fortran_copy(dest, (CFI_cdesc_t *)&buffer, routine);
}

API void *torushmemf_exchange_buffer(shmemx_exchange_t exchange, int edge)
{
	return shmemx_exchange_buffer(exchange, edge);
}

API void torushmemf_exchange_pack(shmemx_exchange_t exchange, int edge, const array *source)
{
	pack_message(exchange, edge, source, "shmemx_exchange_pack");
}

API void torushmemf_exchange_start(shmemx_exchange_t exchange, int edge, const size_t *bytes)
{
	shmemx_exchange_start(exchange, edge, bytes ? *bytes : exchange_carries(exchange, edge));
}

API void torushmemf_exchange_send(shmemx_exchange_t exchange, int edge, const array *source)
{
	shmemx_exchange_start(exchange, edge, pack_message(exchange, edge, source, "shmemx_exchange_send"));
}

API void torushmemf_exchange_sent(shmemx_exchange_t exchange, int edge)
{
	shmemx_exchange_sent(exchange, edge);
}

API bool torushmemf_exchange_test(shmemx_exchange_t exchange, int edge)
{
	return shmemx_exchange_test(exchange, edge);
}

API int torushmemf_exchange_wait_within(shmemx_exchange_t exchange, int edge, double seconds, int *missing)
{
	return shmemx_exchange_wait_within(exchange, edge, seconds, missing);
}

API void torushmemf_exchange_wait(shmemx_exchange_t exchange, int edge, size_t *bytes)
{
	shmemx_exchange_wait(exchange, edge, bytes);
}

API const void *torushmemf_exchange_received(shmemx_exchange_t exchange, int edge, size_t *bytes)
{
	return shmemx_exchange_received(exchange, edge, bytes);
}

API void torushmemf_exchange_unpack(shmemx_exchange_t exchange, int edge, const array *dest)
{
	size_t came;
	const void *message = shmemx_exchange_received(exchange, edge, &came);

	unpack_message(dest, message, came, edge, "shmemx_exchange_unpack");
}

API void torushmemf_exchange_release(shmemx_exchange_t exchange, int edge)
{
	shmemx_exchange_release(exchange, edge);
}

API void torushmemf_exchange_receive(shmemx_exchange_t exchange, int edge, const array *dest)
{
	size_t came;
	const void *message = shmemx_exchange_wait(exchange, edge, &came);

	unpack_message(dest, message, came, edge, "shmemx_exchange_receive");
	shmemx_exchange_release(exchange, edge);
}

API void torushmemf_exchange_destroy(shmemx_exchange_t *exchange)
{
	exchange_sizes_drop(*exchange);
	shmemx_exchange_destroy(*exchange);
	*exchange = SHMEMX_EXCHANGE_INVALID;
}
