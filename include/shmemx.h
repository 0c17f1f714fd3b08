/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions of torushmem (names that begin with shmemx_). */
#ifndef TORUSHMEM_SHMEMX_H
#define TORUSHMEM_SHMEMX_H

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>

#include <shmemx_typed.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Start of a job that no launcher starts, in place of shmem_init, see shmemx_init_attr(3). One PE
 * makes an id, and the caller hands its bytes to all others.
 */
#define SHMEMX_UNIQUE_ID_BYTES 128
typedef struct {
	unsigned char bytes[SHMEMX_UNIQUE_ID_BYTES];
} shmemx_unique_id_t;

/* Members that a program does not set are 0. */
typedef struct {
	int rank, size;		      /* the number of this PE, and of all PEs */
	const shmemx_unique_id_t *id; /* NULL: all_gather is called instead */
	/*
	 * Stores the bytes that each PE gives, in the order of the ranks. Returns 0, or another
	 * value if it fails. NULL, and no id: the environment says what rank and size are.
	 */
	int (*all_gather)(const void *mine, void *all, size_t bytes, void *arg);
	void *arg;
	int threads; /* SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE */
	int errors;  /* SHMEMX_ERRORS_...; the same on all PEs */
	/*
	 * With SHMEMX_ERRORS_RETURN: a PE that does not answer for so many seconds breaks the job;
	 * 0: as SHMEM_SILENCE_SECONDS says
	 */
	double silence;
	long reserved[7];
} shmemx_init_attr_t;
int shmemx_get_unique_id(shmemx_unique_id_t *id);
int shmemx_init_attr(const shmemx_init_attr_t *attr);

/* What an error does, see shmemx_error(3). */
enum {
	SHMEMX_ERRORS_DEFAULT, /* as SHMEM_ERRORS says */
	SHMEMX_ERRORS_END,     /* it ends all processes of the job */
	SHMEMX_ERRORS_RETURN   /* it breaks the job, and calls return */
};

/* The first error of the job, which broke it. */
enum {
	SHMEMX_ERROR_NONE,   /* the job is whole */
	SHMEMX_ERROR_LOST,   /* a PE or its host is gone */
	SHMEMX_ERROR_SILENT, /* a PE has not answered for longer than the caller allows */
	SHMEMX_ERROR_MISUSE, /* a check of the library found a mistake of the program */
	SHMEMX_ERROR_OTHER
};
typedef struct {
	int kind;	     /* SHMEMX_ERROR_... */
	int pe;		     /* the PE at fault; -1: unknown */
	const char *routine; /* that found the error; NULL: none */
	const char *message; /* the line that would have ended the job; "" if it is whole */
} shmemx_error_t;
/*
 * Returns the kind, and stores the whole error unless `error` is NULL. The strings are valid until
 * the next start.
 */
int shmemx_error(shmemx_error_t *error);

/*
 * The torus, see shmemx_grid(3): the axes of this job's part of the machine, coordinates of PEs in
 * it, hops between them.
 */
#define SHMEMX_AXES 6
int shmemx_torus_shape(int *sizes, int *rings);
int shmemx_torus_coordinates(int pe, int *coordinates);
int shmemx_torus_hops(int pe, int other);
const char *shmemx_torus_source(void);

/*
 * A team of any PEs of the job, see shmemx_team_of_pes(3): called by those alone. psync:
 * SHMEM_SYNC_SIZE symmetric words, which are 0 before and after.
 */
int shmemx_team_of_pes(const int *pes, int n, long *psync, shmem_team_t *team);

/*
 * A grid is a team whose PEs have coordinates, of which the last counts fastest. Where possible,
 * neighbours in it are neighbours on the torus. shmem_team_destroy ends it.
 */
typedef struct {
	double mean_hops; /* hops of a message to a neighbour */
	int longest;	  /* most hops of such a message */
	/* Messages over the busiest link when each PE sends one to every neighbour. */
	long worst_link;
} shmemx_grid_cost_t;

typedef struct {
	shmemx_grid_cost_t before, after; /* of the parent's PE order, and of the grid's */
	const char *how;		  /* how the grid was placed */
	int logical;			  /* nonzero: the cabling of the nodes is unknown */
} shmemx_grid_report_t;

int shmemx_grid_create(shmem_team_t parent, int dims, const int *sizes, const int *wraps, int reorder,
		       shmem_team_t *grid);
int shmemx_grid_sizes(shmem_team_t grid, int *sizes, int *wraps);
void shmemx_grid_coordinates(shmem_team_t grid, int pe, int *coordinates);
int shmemx_grid_pe(shmem_team_t grid, const int *coordinates);
int shmemx_grid_neighbour(shmem_team_t grid, int dim, int steps);
void shmemx_grid_shift(shmem_team_t grid, int dim, int steps, int *source, int *dest);
void shmemx_grid_report(shmem_team_t grid, shmemx_grid_report_t *report);

/*
 * Neighbour exchange, see shmemx_exchange(3). An exchange has edges. Each joins this PE to a
 * neighbour and carries messages in one direction or both. Iteration: get the send buffer, fill it,
 * start; compute; wait, read the message, release.
 */
typedef struct shmemx_exchange *shmemx_exchange_t;
#define SHMEMX_EXCHANGE_INVALID ((shmemx_exchange_t)0)

typedef struct {
	int pe;		      /* the neighbour, by its number in the team */
	int edge;	      /* the neighbour's number of this edge */
	size_t send_bytes;    /* length of the longest message to it; 0: none are sent */
	size_t receive_bytes; /* length of the longest message from it; 0: none arrive */
	int options;	      /* 0, or the SHMEMX_EDGE_ flags below combined */
} shmemx_edge_t;

/*
 * One instead of two: saves memory, but the buffer is free only after the message before has left.
 */
#define SHMEMX_EDGE_ONE_SEND_BUFFER 1
/* Each such edge is used once in every iteration; otherwise the job ends with a message. */
#define SHMEMX_EDGE_EACH_ITERATION 2

/* The edges of an exchange on a grid, to the upper and the lower neighbour along a dimension. */
#define SHMEMX_EDGE_UP(dim) (2 * (dim))
#define SHMEMX_EDGE_DOWN(dim) (2 * (dim) + 1)

/* All edges with messages in that direction. */
#define SHMEMX_ALL_EDGES (-1)

/* Called by all PEs of the job, like shmem_malloc, also by those without edges. */
int shmemx_exchange_create(shmem_team_t team, const shmemx_edge_t *edges, int n_edges, shmemx_exchange_t *exchange);
int shmemx_exchange_create_grid(shmem_team_t grid, const size_t *bytes, int options, shmemx_exchange_t *exchange);
void *shmemx_exchange_buffer(shmemx_exchange_t exchange, int edge);
void shmemx_exchange_start(shmemx_exchange_t exchange, int edge, size_t bytes);
void shmemx_exchange_send(shmemx_exchange_t exchange, int edge, const void *source, size_t bytes);
void shmemx_exchange_sent(shmemx_exchange_t exchange, int edge);
int shmemx_exchange_test(shmemx_exchange_t exchange, int edge);
int shmemx_exchange_wait_within(shmemx_exchange_t exchange, int edge, double seconds, int *missing);
const void *shmemx_exchange_wait(shmemx_exchange_t exchange, int edge, size_t *bytes);
const void *shmemx_exchange_received(shmemx_exchange_t exchange, int edge, size_t *bytes);
void shmemx_exchange_release(shmemx_exchange_t exchange, int edge);
void shmemx_exchange_destroy(shmemx_exchange_t exchange);

/*
 * Heaps in memory that the program brings, see shmemx_heap(3): that of another kind of pages, of a
 * NUMA node, of a file. All PEs of the job call these routines together, like shmem_malloc.
 */
typedef struct shmemx_heap *shmemx_heap_t;
#define SHMEMX_HEAP_INVALID ((shmemx_heap_t)0)
#define SHMEMX_HEAPS 6 /* most at a time */
int shmemx_heap_create_in(void *base, size_t bytes, shmemx_heap_t *heap);
void *shmemx_heap_malloc(shmemx_heap_t heap, size_t bytes);
void *shmemx_heap_calloc(shmemx_heap_t heap, size_t count, size_t bytes);
void *shmemx_heap_align(shmemx_heap_t heap, size_t alignment, size_t bytes);
void shmemx_heap_free(shmemx_heap_t heap, void *ptr);
void shmemx_heap_destroy(shmemx_heap_t heap);

/* Names of Sandia OpenSHMEM for the same, in place of shmem_init or shmem_init_thread. */
#define SHMEMX_EXTERNAL_HEAP_ZE 0
#define SHMEMX_EXTERNAL_HEAP_CUDA 1
void shmemx_heap_preinit(void);
int shmemx_heap_preinit_thread(int requested, int *provided);
void shmemx_heap_create(void *base, size_t size, int device_type, int device_index);
void shmemx_heap_postinit(void);

/* Names of Cray's and Sandia's libraries that programs call, see shmemx_wtime(3). */
#define HAVE_SHMEMX_WTIME 1
double shmemx_wtime(void);
void shmemx_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int pe);
void shmemx_thread_register(void);
void shmemx_thread_unregister(void);
void shmemx_thread_quiet(void);
void shmemx_thread_fence(void);

/*
 * Persistent plans, see shmemx_plan(3): a collective, or an exchange with neighbours, that is
 * prepared once and then started repeatedly. A start returns at once; the run has ended when test
 * says so or wait returns.
 */
typedef struct shmemx_plan *shmemx_plan_t;
#define SHMEMX_PLAN_INVALID ((shmemx_plan_t)0)
#define SHMEMX_PLANS 256 /* most plans of a PE at a time */

/* Executors: what advances a plan between start and wait. */
#define SHMEMX_PLAN_AUTO 0   /* as SHMEM_PLAN_EXECUTOR says */
#define SHMEMX_PLAN_LIST 1   /* each arrival runs the commands that it releases */
#define SHMEMX_PLAN_THREAD 2 /* a thread, one for all plans of the PE */
#define SHMEMX_PLAN_NIC 3    /* the NIC, between nodes; a list for what it cannot do */

typedef enum {
	SHMEMX_SUM,
	SHMEMX_PROD,
	SHMEMX_MIN,
	SHMEMX_MAX,
	SHMEMX_AND,
	SHMEMX_OR,
	SHMEMX_XOR,
	SHMEMX_AVG /* of floating-point numbers */
} shmemx_op_t;
typedef enum {
	SHMEMX_FLOAT,
	SHMEMX_DOUBLE,
	SHMEMX_LONGDOUBLE,
	SHMEMX_CHAR,
	SHMEMX_SCHAR,
	SHMEMX_SHORT,
	SHMEMX_INT,
	SHMEMX_LONG,
	SHMEMX_LONGLONG,
	SHMEMX_UCHAR,
	SHMEMX_USHORT,
	SHMEMX_UINT,
	SHMEMX_ULONG,
	SHMEMX_ULONGLONG,
	SHMEMX_INT8,
	SHMEMX_INT16,
	SHMEMX_INT32,
	SHMEMX_INT64,
	SHMEMX_UINT8,
	SHMEMX_UINT16,
	SHMEMX_UINT32,
	SHMEMX_UINT64,
	SHMEMX_SIZE,
	SHMEMX_PTRDIFF,
	SHMEMX_COMPLEXD,
	SHMEMX_COMPLEXF,
	SHMEMX_HALF,
	SHMEMX_BFLOAT16
} shmemx_type_t;

/*
 * See shmemx_reduce_scatter(3): source has a block of nreduce elements for each PE of the team, in
 * order, and dest gets this PE's block of their reduction.
 */
int shmemx_reduce_scatter(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
			  shmemx_op_t op);

/*
 * Blocks of elements of any type, see shmemx_gather(3) and shmemx_alltoallv(3). Counts and
 * displacements, one for each PE of the team, are in elements; without displacements (NULL) blocks
 * lie one after another.
 */
int shmemx_gather(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type, int PE_root);
int shmemx_scatter(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type, int PE_root);
int shmemx_allgatherv(shmem_team_t team, void *dest, const void *source, const size_t *counts, const size_t *displs,
		      shmemx_type_t type);
int shmemx_alltoallv(shmem_team_t team, void *dest, const void *source, const size_t *dest_counts,
		     const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
		     shmemx_type_t type);

/*
 * Which atomics there are for a type, see shmemx_atomic(3), by the operation that SHMEMX_SUM and so
 * on name, and how they are carried out.
 */
#define SHMEMX_ATOMIC_NONE 0	  /* there is none */
#define SHMEMX_ATOMIC_LOOP 1	  /* read, then compare-and-swap until nobody came between */
#define SHMEMX_ATOMIC_OPERATION 2 /* one operation */
int shmemx_atomic_query(shmemx_type_t type, shmemx_op_t op);

/*
 * Nonblocking collectives, see shmemx_broadcast_nb(3); shmemx_typed.h has those with a type. A test
 * returns 0 when the collective is over for this PE, and the request is then SHMEMX_REQ_INVALID.
 */
int shmemx_reduce_scatter_nb(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
			     shmemx_op_t op, shmemx_req_h *request);
int shmemx_gather_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type, int PE_root,
		     shmemx_req_h *request);
int shmemx_scatter_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type, int PE_root,
		      shmemx_req_h *request);
int shmemx_allgatherv_nb(shmem_team_t team, void *dest, const void *source, const size_t *counts, const size_t *displs,
			 shmemx_type_t type, shmemx_req_h *request);
int shmemx_alltoallv_nb(shmem_team_t team, void *dest, const void *source, const size_t *dest_counts,
			const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
			shmemx_type_t type, shmemx_req_h *request);
int shmemx_sync_nb(shmem_team_t team, shmemx_req_h *request);
int shmemx_sync_all_nb(shmemx_req_h *request);
int shmemx_barrier_all_nb(shmemx_req_h *request);
int shmemx_req_test(shmemx_req_h *request);
int shmemx_req_wait(shmemx_req_h *request);

typedef struct {
	int pe;		      /* the neighbour, by its number in the team */
	int edge;	      /* the neighbour's number of this edge */
	const void *source;   /* symmetric buffer that is sent to this neighbour */
	size_t send_bytes;    /* 0: nothing is sent */
	void *dest;	      /* symmetric buffer that receives from this neighbour */
	size_t receive_bytes; /* 0: nothing is received */
} shmemx_neighbour_t;

int shmemx_broadcast_init(shmem_team_t team, void *dest, const void *source, size_t bytes, int PE_root, int executor,
			  shmemx_plan_t *plan);
int shmemx_reduce_init(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
		       shmemx_op_t op, int PE_root, int executor, shmemx_plan_t *plan);
int shmemx_allreduce_init(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
			  shmemx_op_t op, int executor, shmemx_plan_t *plan);
int shmemx_allgather_init(shmem_team_t team, void *dest, const void *source, size_t bytes, int executor,
			  shmemx_plan_t *plan);
int shmemx_alltoall_init(shmem_team_t team, void *dest, const void *source, size_t bytes, int executor,
			 shmemx_plan_t *plan);
int shmemx_alltoalls_init(shmem_team_t team, void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,
			  size_t nelems, shmemx_type_t type, int executor, shmemx_plan_t *plan);
int shmemx_reduce_scatter_init(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
			       shmemx_op_t op, int executor, shmemx_plan_t *plan);
int shmemx_sum_inscan_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			   int executor, shmemx_plan_t *plan);
int shmemx_sum_exscan_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			   int executor, shmemx_plan_t *plan);
int shmemx_gather_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
		       int PE_root, int executor, shmemx_plan_t *plan);
int shmemx_scatter_init(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			int PE_root, int executor, shmemx_plan_t *plan);
int shmemx_allgatherv_init(shmem_team_t team, void *dest, const void *source, const size_t *counts,
			   const size_t *displs, shmemx_type_t type, int executor, shmemx_plan_t *plan);
int shmemx_alltoallv_init(shmem_team_t team, void *dest, const void *source, const size_t *dest_counts,
			  const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
			  shmemx_type_t type, int executor, shmemx_plan_t *plan);
int shmemx_neighbours_init(shmem_team_t team, const shmemx_neighbour_t *edges, int n_edges, int executor,
			   shmemx_plan_t *plan);
void shmemx_plan_start(shmemx_plan_t plan);
/*
 * From now on each change of the word start begins a run; done gets the value of start when the run
 * is over. Both are symmetric. NULL for both: starts are by calls again.
 */
void shmemx_plan_start_on(shmemx_plan_t plan, uint64_t *start, uint64_t *done);
int shmemx_plan_test(shmemx_plan_t plan);
void shmemx_plan_wait(shmemx_plan_t plan);
int shmemx_plan_wait_within(shmemx_plan_t plan, double seconds);
void shmemx_plan_free(shmemx_plan_t plan);

/*
 * RDMA with events, see shmemx_rdma(3), for memory that is not symmetric. A buffer is plain bytes,
 * which the program sends by any means to the PEs that put to it or get from it.
 */
typedef struct {
	uint64_t content[24];
} shmemx_rdma_buffer_t;

#define SHMEMX_RDMA_EVENTS 65536 /* most events of a PE that the program has not taken */

#define SHMEMX_RDMA_SENT 1     /* a put or a message of this PE: its source may be reused */
#define SHMEMX_RDMA_ARRIVED 2  /* a put of another PE has arrived */
#define SHMEMX_RDMA_GOT 3      /* a get of this PE: its data has arrived */
#define SHMEMX_RDMA_RECEIVED 4 /* a message has arrived */

typedef struct {
	int kind;
	int pe;	       /* the other PE */
	uint64_t word; /* the value that the caller of the operation passed */
	void *address; /* of the data, in this PE's memory */
	size_t bytes;
} shmemx_rdma_event_t;

int shmemx_rdma_register(void *address, size_t bytes, shmemx_rdma_buffer_t *buffer);
void shmemx_rdma_unregister(const shmemx_rdma_buffer_t *buffer);
void shmemx_rdma_put(const shmemx_rdma_buffer_t *dest, size_t offset, const void *source, size_t bytes, int notify,
		     uint64_t word);
void shmemx_rdma_get(void *dest, const shmemx_rdma_buffer_t *source, size_t offset, size_t bytes, uint64_t word);
void shmemx_rdma_send(int pe, const shmemx_rdma_buffer_t *source, size_t offset, size_t bytes, uint64_t word);
void shmemx_rdma_receive(const shmemx_rdma_buffer_t *dest, size_t offset, size_t bytes);
int shmemx_rdma_test(shmemx_rdma_event_t *event);
void shmemx_rdma_wait(shmemx_rdma_event_t *event);

/* Counters of this PE, see shmemx_stats(3). Rows have names: "put", "barrier", "path ucx", ... */
typedef struct {
	uint64_t calls; /* or operations of a path, or peers */
	uint64_t bytes;
	uint64_t nanoseconds; /* inside the calls */
} shmemx_stats_t;

int shmemx_stats_enabled(void);
int shmemx_stats_count(void);
const char *shmemx_stats_name(int row);
int shmemx_stats_read(const char *name, shmemx_stats_t *stats);
void shmemx_stats_reset(void);

/*
 * Copy a box of an array, such as a face, to a buffer and back: `counts` elements from `first` on,
 * in `dims` dimensions of which the last counts fastest. They return the bytes of the box.
 */
size_t shmemx_pack(void *to, const void *array, size_t element, int dims, const size_t *sizes, const size_t *first,
		   const size_t *counts);
size_t shmemx_unpack(void *array, const void *from, size_t element, int dims, const size_t *sizes, const size_t *first,
		     const size_t *counts);

#ifdef __cplusplus
}
#endif

/*
 * C++: collectives of blocks, plans and nonblocking forms take the type from the pointers. The
 * fixed-width codes are those of all integers of that size and sign.
 */
#if defined(__cplusplus) && __cplusplus >= 201103L && !defined(SHMEMX_NO_OVERLOADS)
template <typename T, typename Result = int> struct shmemx_type_code {
	static_assert(shmemx_type<T>::sum,
		      "shmemx_reduce_init and others of shmemx.h are for pointers to " SHMEMX_TYPES_SUM);
	static constexpr bool is_real = T(0.5) != T(0), is_signed = T(-1) < T(0);
	static constexpr shmemx_type_t value = is_real	   ? (sizeof(T) == 4   ? SHMEMX_FLOAT
							      : sizeof(T) == 8 ? SHMEMX_DOUBLE
									       : SHMEMX_LONGDOUBLE)
					       : is_signed ? (sizeof(T) == 1   ? SHMEMX_INT8
							      : sizeof(T) == 2 ? SHMEMX_INT16
							      : sizeof(T) == 4 ? SHMEMX_INT32
									       : SHMEMX_INT64)
							   : (sizeof(T) == 1   ? SHMEMX_UINT8
							      : sizeof(T) == 2 ? SHMEMX_UINT16
							      : sizeof(T) == 4 ? SHMEMX_UINT32
									       : SHMEMX_UINT64);
};
template <> struct shmemx_type_code<shmemx_half_t, int> {
	static constexpr shmemx_type_t value = SHMEMX_HALF;
};
template <> struct shmemx_type_code<shmemx_bfloat16_t, int> {
	static constexpr shmemx_type_t value = SHMEMX_BFLOAT16;
};
#ifdef SHMEMX_HAS_COMPLEX
template <typename C> struct shmemx_type_code<C, typename shmemx_complex<C>::result> {
	static constexpr shmemx_type_t value = sizeof(C) == 16 ? SHMEMX_COMPLEXD : SHMEMX_COMPLEXF;
};
__extension__ template <> struct shmemx_type_code<double _Complex, int> {
	static constexpr shmemx_type_t value = SHMEMX_COMPLEXD;
};
__extension__ template <> struct shmemx_type_code<float _Complex, int> {
	static constexpr shmemx_type_t value = SHMEMX_COMPLEXF;
};
#endif

template <typename T>
inline int shmemx_reduce_scatter(shmem_team_t team, T *dest, const T *source, size_t nreduce, shmemx_op_t op)
{
	return shmemx_reduce_scatter(team, dest, source, nreduce, shmemx_type_code<T>::value, op);
}
template <typename T> inline int shmemx_gather(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root)
{
	return shmemx_gather(team, dest, source, nelems, shmemx_type_code<T>::value, PE_root);
}
template <typename T> inline int shmemx_scatter(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root)
{
	return shmemx_scatter(team, dest, source, nelems, shmemx_type_code<T>::value, PE_root);
}
template <typename T>
inline int shmemx_allgatherv(shmem_team_t team, T *dest, const T *source, const size_t *counts, const size_t *displs)
{
	return shmemx_allgatherv(team, dest, source, counts, displs, shmemx_type_code<T>::value);
}
template <typename T>
inline int shmemx_alltoallv(shmem_team_t team, T *dest, const T *source, const size_t *dest_counts,
			    const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs)
{
	return shmemx_alltoallv(team, dest, source, dest_counts, dest_displs, source_counts, source_displs,
				shmemx_type_code<T>::value);
}
template <typename T>
inline int shmemx_reduce_init(shmem_team_t team, T *dest, const T *source, size_t nreduce, shmemx_op_t op, int PE_root,
			      int executor, shmemx_plan_t *plan)
{
	return shmemx_reduce_init(team, dest, source, nreduce, shmemx_type_code<T>::value, op, PE_root, executor, plan);
}
template <typename T>
inline int shmemx_allreduce_init(shmem_team_t team, T *dest, const T *source, size_t nreduce, shmemx_op_t op,
				 int executor, shmemx_plan_t *plan)
{
	return shmemx_allreduce_init(team, dest, source, nreduce, shmemx_type_code<T>::value, op, executor, plan);
}
template <typename T>
inline int shmemx_reduce_scatter_init(shmem_team_t team, T *dest, const T *source, size_t nreduce, shmemx_op_t op,
				      int executor, shmemx_plan_t *plan)
{
	return shmemx_reduce_scatter_init(team, dest, source, nreduce, shmemx_type_code<T>::value, op, executor, plan);
}
template <typename T>
inline int shmemx_gather_init(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root, int executor,
			      shmemx_plan_t *plan)
{
	return shmemx_gather_init(team, dest, source, nelems, shmemx_type_code<T>::value, PE_root, executor, plan);
}
template <typename T>
inline int shmemx_scatter_init(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root, int executor,
			       shmemx_plan_t *plan)
{
	return shmemx_scatter_init(team, dest, source, nelems, shmemx_type_code<T>::value, PE_root, executor, plan);
}
template <typename T>
inline int shmemx_allgatherv_init(shmem_team_t team, T *dest, const T *source, const size_t *counts,
				  const size_t *displs, int executor, shmemx_plan_t *plan)
{
	return shmemx_allgatherv_init(team, dest, source, counts, displs, shmemx_type_code<T>::value, executor, plan);
}
template <typename T>
inline int shmemx_alltoallv_init(shmem_team_t team, T *dest, const T *source, const size_t *dest_counts,
				 const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
				 int executor, shmemx_plan_t *plan)
{
	return shmemx_alltoallv_init(team, dest, source, dest_counts, dest_displs, source_counts, source_displs,
				     shmemx_type_code<T>::value, executor, plan);
}
template <typename T>
inline int shmemx_reduce_scatter_nb(shmem_team_t team, T *dest, const T *source, size_t nreduce, shmemx_op_t op,
				    shmemx_req_h *request)
{
	return shmemx_reduce_scatter_nb(team, dest, source, nreduce, shmemx_type_code<T>::value, op, request);
}
template <typename T>
inline int shmemx_gather_nb(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root,
			    shmemx_req_h *request)
{
	return shmemx_gather_nb(team, dest, source, nelems, shmemx_type_code<T>::value, PE_root, request);
}
template <typename T>
inline int shmemx_scatter_nb(shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root,
			     shmemx_req_h *request)
{
	return shmemx_scatter_nb(team, dest, source, nelems, shmemx_type_code<T>::value, PE_root, request);
}
template <typename T>
inline int shmemx_allgatherv_nb(shmem_team_t team, T *dest, const T *source, const size_t *counts, const size_t *displs,
				shmemx_req_h *request)
{
	return shmemx_allgatherv_nb(team, dest, source, counts, displs, shmemx_type_code<T>::value, request);
}
template <typename T>
inline int shmemx_alltoallv_nb(shmem_team_t team, T *dest, const T *source, const size_t *dest_counts,
			       const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
			       shmemx_req_h *request)
{
	return shmemx_alltoallv_nb(team, dest, source, dest_counts, dest_displs, source_counts, source_displs,
				   shmemx_type_code<T>::value, request);
}
template <typename T>
inline int shmemx_sum_inscan_init(shmem_team_t team, T *dest, const T *source, size_t nelems, int executor,
				  shmemx_plan_t *plan)
{
	return shmemx_sum_inscan_init(team, dest, source, nelems, shmemx_type_code<T>::value, executor, plan);
}
template <typename T>
inline int shmemx_sum_exscan_init(shmem_team_t team, T *dest, const T *source, size_t nelems, int executor,
				  shmemx_plan_t *plan)
{
	return shmemx_sum_exscan_init(team, dest, source, nelems, shmemx_type_code<T>::value, executor, plan);
}
template <typename T>
inline int shmemx_alltoalls_init(shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst,
				 size_t nelems, int executor, shmemx_plan_t *plan)
{
	return shmemx_alltoalls_init(team, dest, source, dst, sst, nelems, shmemx_type_code<T>::value, executor, plan);
}
#endif

#endif
