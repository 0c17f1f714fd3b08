/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPIX_*_INIT, FJMPI_PREQUEST_* and FJMPI_RDMA_* for Fortran, and the functions of Fortran that
 * take requests: they convert handles, statuses and indices, and call those of mpi-ext.h, which
 * look for plans. Compile this file with the program's mpicc as mpi-ext.h fits one MPI only, and
 * link it with the files that fjmpi.f90 names.
 *
 * For the module mpi and mpif.h, MPICH's functions call MPI_Wait and the others of C, and so those
 * of mpi-ext.h in the program. Those of Open MPI, and those of mpi_f08 in both, call PMPI_Wait, so
 * they are defined here. In both, mpi_f08 has the handles, statuses and logicals of the module mpi,
 * and an ierror that may be missing. Names end with an underscore, as gfortran, Flang and Intel's
 * compilers have them. Like the functions of mpi-ext.h they are weak.
 */
#include <mpi.h>

static int ask_in_fortran(MPI_Request request);
#define FJMPI_ASK_FOR_STATUS ask_in_fortran
#include <mpi-ext.h>

#define FORTRAN(name, ...)                       \
	FJMPI_WRAPPER void name##_(__VA_ARGS__); \
	void name##_(__VA_ARGS__)

#ifdef OPEN_MPI
#define REPLACES_BINDINGS
#define STATUS_IGNORED(status) ((status) == MPI_F_STATUS_IGNORE)
#define STATUSES_IGNORED(statuses) ((statuses) == MPI_F_STATUSES_IGNORE)
/* A function of mpi_f08, and the same for the module mpi and mpif.h. */
#define BINDING(name, ...)                                                             \
	FJMPI_WRAPPER void name##_f08_(__VA_ARGS__);                                   \
	FJMPI_WRAPPER void name##_(__VA_ARGS__) __attribute__((alias(#name "_f08_"))); \
	void name##_f08_(__VA_ARGS__)
#elif defined(MPICH_VERSION)
#define REPLACES_BINDINGS
#define STATUS_IGNORED(status) ((const void *)(status) == MPI_F08_STATUS_IGNORE)
#define STATUSES_IGNORED(statuses) ((const void *)(statuses) == MPI_F08_STATUSES_IGNORE)
#define BINDING(name, ...)                           \
	FJMPI_WRAPPER void name##_f08_(__VA_ARGS__); \
	void name##_f08_(__VA_ARGS__)
#endif

enum { STATUS_INTS = sizeof(MPI_Status) / sizeof(MPI_Fint) };

static void give_error(MPI_Fint *error, int code)
{
	if (error)
		*error = code;
}

/* --- Handles and statuses --- */

static void *room(int count, size_t bytes)
{
	void *at = malloc((count > 0 ? (size_t)count : 1) * bytes);

	if (!at)
		PMPI_Abort(MPI_COMM_WORLD, 1);
	return at;
}

static MPI_Request *requests_of(int count, const MPI_Fint requests[])
{
	MPI_Request *own = (MPI_Request *)room(count, sizeof *own);

	for (int i = 0; i < count; i++)
		own[i] = PMPI_Request_f2c(requests[i]);
	return own;
}

/* Handles that did not change stay: the MPI may know several for one request. */
static void give_request(MPI_Fint *request, MPI_Request own)
{
	if (PMPI_Request_f2c(*request) != own)
		*request = PMPI_Request_c2f(own);
}

static void give_requests(int count, MPI_Fint requests[], MPI_Request *own)
{
	for (int i = 0; i < count; i++)
		give_request(&requests[i], own[i]);
	free(own);
}

static void start(MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = PMPI_Request_f2c(*request);
	int code = MPI_Start(&own);

	give_request(request, own);
	give_error(error, code);
}

static void startall(const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *error)
{
	MPI_Request *own = requests_of(*count, requests);
	int code = MPI_Startall(*count, own);

	give_requests(*count, requests, own);
	give_error(error, code);
}

#ifdef REPLACES_BINDINGS
/* A status of the program, before the MPI changes some of it. */
static MPI_Status *status_of(const MPI_Fint *status, MPI_Status *own)
{
	if (STATUS_IGNORED(status))
		return MPI_STATUS_IGNORE;
	PMPI_Status_f2c(status, own);
	return own;
}

static void give_status(MPI_Fint *status, const MPI_Status *own)
{
	if (own != MPI_STATUS_IGNORE)
		PMPI_Status_c2f(own, status);
}

static MPI_Status *statuses_of(int count, const MPI_Fint statuses[])
{
	MPI_Status *own;

	if (STATUSES_IGNORED(statuses))
		return MPI_STATUSES_IGNORE;
	own = (MPI_Status *)room(count, sizeof *own);
	for (int i = 0; i < count; i++)
		PMPI_Status_f2c(&statuses[(size_t)i * STATUS_INTS], &own[i]);
	return own;
}

static void give_statuses(int count, MPI_Fint statuses[], MPI_Status *own)
{
	if (own == MPI_STATUSES_IGNORE)
		return;
	for (int i = 0; i < count; i++)
		PMPI_Status_c2f(&own[i], &statuses[(size_t)i * STATUS_INTS]);
	free(own);
}

static MPI_Fint index_in_fortran(int index)
{
	return index == MPI_UNDEFINED ? index : index + 1;
}

/* Returns the operations that Fortran counts as complete. */
static MPI_Fint give_indices(int found, const int own[], MPI_Fint indices[])
{
	for (int i = 0; i < found; i++)
		indices[i] = index_in_fortran(own[i]);
	return found;
}

/* --- The functions of the MPI --- */

BINDING(mpi_start, MPI_Fint *request, MPI_Fint *error)
{
	start(request, error);
}

BINDING(mpi_startall, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *error)
{
	startall(count, requests, error);
}

BINDING(mpi_wait, MPI_Fint *request, MPI_Fint *status, MPI_Fint *error)
{
	MPI_Request own = PMPI_Request_f2c(*request);
	MPI_Status own_status, *given = status_of(status, &own_status);
	int code = MPI_Wait(&own, given);

	give_request(request, own);
	give_status(status, given);
	give_error(error, code);
}

BINDING(mpi_waitall, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint statuses[], MPI_Fint *error)
{
	MPI_Request *own = requests_of(*count, requests);
	MPI_Status *given = statuses_of(*count, statuses);
	int code = MPI_Waitall(*count, own, given);

	give_requests(*count, requests, own);
	give_statuses(*count, statuses, given);
	give_error(error, code);
}

BINDING(mpi_waitany, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *index, MPI_Fint *status, MPI_Fint *error)
{
	MPI_Request *own = requests_of(*count, requests);
	MPI_Status own_status, *given = status_of(status, &own_status);
	int own_index = MPI_UNDEFINED, code = MPI_Waitany(*count, own, &own_index, given);

	*index = index_in_fortran(own_index);
	give_requests(*count, requests, own);
	give_status(status, given);
	give_error(error, code);
}

BINDING(mpi_waitsome, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *found, MPI_Fint indices[],
	MPI_Fint statuses[], MPI_Fint *error)
{
	MPI_Request *own = requests_of(*count, requests);
	MPI_Status *given = statuses_of(*count, statuses);
	int own_found = MPI_UNDEFINED, *own_indices = (int *)room(*count, sizeof *own_indices);
	int code = MPI_Waitsome(*count, own, &own_found, own_indices, given);

	*found = give_indices(own_found, own_indices, indices);
	free(own_indices);
	give_requests(*count, requests, own);
	give_statuses(*count, statuses, given);
	give_error(error, code);
}

BINDING(mpi_test, MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error)
{
	MPI_Request own = PMPI_Request_f2c(*request);
	MPI_Status own_status, *given = status_of(status, &own_status);
	int own_flag = 0, code = MPI_Test(&own, &own_flag, given);

	*flag = own_flag != 0;
	give_request(request, own);
	give_status(status, given);
	give_error(error, code);
}

BINDING(mpi_testall, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *flag, MPI_Fint statuses[], MPI_Fint *error)
{
	MPI_Request *own = requests_of(*count, requests);
	MPI_Status *given = statuses_of(*count, statuses);
	int own_flag = 0, code = MPI_Testall(*count, own, &own_flag, given);

	*flag = own_flag != 0;
	give_requests(*count, requests, own);
	give_statuses(*count, statuses, given);
	give_error(error, code);
}

BINDING(mpi_testany, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status,
	MPI_Fint *error)
{
	MPI_Request *own = requests_of(*count, requests);
	MPI_Status own_status, *given = status_of(status, &own_status);
	int own_index = MPI_UNDEFINED, own_flag = 0;
	int code = MPI_Testany(*count, own, &own_index, &own_flag, given);

	*index = index_in_fortran(own_index);
	*flag = own_flag != 0;
	give_requests(*count, requests, own);
	give_status(status, given);
	give_error(error, code);
}

BINDING(mpi_testsome, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *found, MPI_Fint indices[],
	MPI_Fint statuses[], MPI_Fint *error)
{
	MPI_Request *own = requests_of(*count, requests);
	MPI_Status *given = statuses_of(*count, statuses);
	int own_found = MPI_UNDEFINED, *own_indices = (int *)room(*count, sizeof *own_indices);
	int code = MPI_Testsome(*count, own, &own_found, own_indices, given);

	*found = give_indices(own_found, own_indices, indices);
	free(own_indices);
	give_requests(*count, requests, own);
	give_statuses(*count, statuses, given);
	give_error(error, code);
}

BINDING(mpi_request_get_status, const MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error)
{
	MPI_Status own_status, *given = status_of(status, &own_status);
	int own_flag = 0, code = MPI_Request_get_status(PMPI_Request_f2c(*request), &own_flag, given);

	*flag = own_flag != 0;
	give_status(status, given);
	give_error(error, code);
}

BINDING(mpi_cancel, const MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = PMPI_Request_f2c(*request);

	give_error(error, MPI_Cancel(&own));
}

BINDING(mpi_request_free, MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = PMPI_Request_f2c(*request);
	int code = MPI_Request_free(&own);

	give_request(request, own);
	give_error(error, code);
}

BINDING(mpi_finalize, MPI_Fint *error)
{
	give_error(error, MPI_Finalize());
}
#endif

/* --- Fortran's constants --- */

enum { MPI_MODULE, MPI_F08_MODULE, BINDINGS };

/* MPI_BOTTOM and MPI_IN_PLACE of Fortran are variables. */
static struct {
	const void *bottom, *in_place;
} constants[BINDINGS];

static __thread int binding_of_call = MPI_MODULE;

/* fjmpi.f90 has it; it calls fjmpi_fortran_constants for the module mpi. */
void fjmpi_pass_constants(void);
void fjmpi_fortran_constants(int binding, const void *bottom, const void *in_place);

/* mpi_f08_ext.f90 calls it before each call that makes a request. */
void fjmpi_fortran_constants(int binding, const void *bottom, const void *in_place)
{
	constants[binding].bottom = bottom;
	constants[binding].in_place = in_place;
	if (binding == MPI_F08_MODULE)
		binding_of_call = binding;
}

typedef void get_status_in_fortran(const MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *error);
extern get_status_in_fortran mpi_request_get_status_ __attribute__((weak));
extern get_status_in_fortran mpi_request_get_status_f08_ __attribute__((weak));

/* The program, or a binding of another MPI, may define a function that does not look for plans. */
static int ask_in_fortran(MPI_Request request)
{
	get_status_in_fortran *const functions[BINDINGS] = {mpi_request_get_status_, mpi_request_get_status_f08_};
	get_status_in_fortran *ask = functions[binding_of_call];
	MPI_Fint handle = PMPI_Request_c2f(request), status[STATUS_INTS], flag, code = MPI_ERR_OTHER;

	memset(status, 0, sizeof status);
	if (ask)
		ask(&handle, &flag, status, &code);
	return code;
}

static void *buffer_of(void *buffer)
{
	fjmpi_pass_constants();
	for (int i = 0; i < BINDINGS; i++) {
		if (buffer == constants[i].bottom)
			return MPI_BOTTOM;
		if (buffer == constants[i].in_place)
			return MPI_IN_PLACE;
	}
	return buffer;
}

/* --- Persistent requests and collectives --- */

static void give_new_request(MPI_Fint *request, MPI_Request own, MPI_Fint *error, int code)
{
	binding_of_call = MPI_MODULE;
	if (code == MPI_SUCCESS)
		*request = PMPI_Request_c2f(own);
	give_error(error, code);
}

FORTRAN(fjmpi_prequest_send_init, void *buffer, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *target,
	const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = FJMPI_Prequest_send_init(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *target, *tag,
					    PMPI_Comm_f2c(*comm), &own);

	give_new_request(request, own, error, code);
}

FORTRAN(fjmpi_prequest_recv_init, void *buffer, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *source,
	const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = FJMPI_Prequest_recv_init(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *source, *tag,
					    PMPI_Comm_f2c(*comm), &own);

	give_new_request(request, own, error, code);
}

FORTRAN(fjmpi_prequest_start, MPI_Fint *request, MPI_Fint *error)
{
	start(request, error);
}

FORTRAN(fjmpi_prequest_startall, const MPI_Fint *count, MPI_Fint requests[], MPI_Fint *error)
{
	startall(count, requests, error);
}

/* mpi_f08_ext.f90 needs the names also where the MPI has no persistent collectives. */
#ifndef FJMPI_OF_MPI
static int no_collectives(void)
{
	PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION);
	return MPI_ERR_UNSUPPORTED_OPERATION;
}

#define MPIX_Allgather_init(...) no_collectives()
#define MPIX_Allreduce_init(...) no_collectives()
#define MPIX_Alltoall_init(...) no_collectives()
#define MPIX_Barrier_init(...) no_collectives()
#define MPIX_Bcast_init(...) no_collectives()
#define MPIX_Reduce_init(...) no_collectives()
#endif

FORTRAN(mpix_barrier_init, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = MPIX_Barrier_init(PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &own);

	give_new_request(request, own, error, code);
}

FORTRAN(mpix_bcast_init, void *buffer, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *root,
	const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = MPIX_Bcast_init(buffer_of(buffer), *count, PMPI_Type_f2c(*type), *root, PMPI_Comm_f2c(*comm),
				   PMPI_Info_f2c(*info), &own);

	give_new_request(request, own, error, code);
}

FORTRAN(mpix_reduce_init, void *send, void *receive, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *op,
	const MPI_Fint *root, const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = MPIX_Reduce_init(buffer_of(send), buffer_of(receive), *count, PMPI_Type_f2c(*type), PMPI_Op_f2c(*op),
				    *root, PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &own);

	give_new_request(request, own, error, code);
}

FORTRAN(mpix_allreduce_init, void *send, void *receive, const MPI_Fint *count, const MPI_Fint *type, const MPI_Fint *op,
	const MPI_Fint *comm, const MPI_Fint *info, MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = MPIX_Allreduce_init(buffer_of(send), buffer_of(receive), *count, PMPI_Type_f2c(*type),
				       PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm), PMPI_Info_f2c(*info), &own);

	give_new_request(request, own, error, code);
}

FORTRAN(mpix_allgather_init, void *send, const MPI_Fint *send_count, const MPI_Fint *send_type, void *receive,
	const MPI_Fint *receive_count, const MPI_Fint *receive_type, const MPI_Fint *comm, const MPI_Fint *info,
	MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = MPIX_Allgather_init(buffer_of(send), *send_count, PMPI_Type_f2c(*send_type), buffer_of(receive),
				       *receive_count, PMPI_Type_f2c(*receive_type), PMPI_Comm_f2c(*comm),
				       PMPI_Info_f2c(*info), &own);

	give_new_request(request, own, error, code);
}

FORTRAN(mpix_alltoall_init, void *send, const MPI_Fint *send_count, const MPI_Fint *send_type, void *receive,
	const MPI_Fint *receive_count, const MPI_Fint *receive_type, const MPI_Fint *comm, const MPI_Fint *info,
	MPI_Fint *request, MPI_Fint *error)
{
	MPI_Request own = MPI_REQUEST_NULL;
	int code = MPIX_Alltoall_init(buffer_of(send), *send_count, PMPI_Type_f2c(*send_type), buffer_of(receive),
				      *receive_count, PMPI_Type_f2c(*receive_type), PMPI_Comm_f2c(*comm),
				      PMPI_Info_f2c(*info), &own);

	give_new_request(request, own, error, code);
}

/* --- RDMA --- */

FORTRAN(fjmpi_rdma_init, MPI_Fint *error)
{
	give_error(error, FJMPI_Rdma_init());
}

FORTRAN(fjmpi_rdma_finalize, MPI_Fint *error)
{
	give_error(error, FJMPI_Rdma_finalize());
}

FORTRAN(fjmpi_rdma_reg_mem, const MPI_Fint *memid, void *start, const size_t *length, uint64_t *address,
	MPI_Fint *error)
{
	*address = FJMPI_Rdma_reg_mem(*memid, start, *length);
	give_error(error, *address == FJMPI_RDMA_ERROR ? MPI_ERR_ARG : MPI_SUCCESS);
}

FORTRAN(fjmpi_rdma_dereg_mem, const MPI_Fint *memid, MPI_Fint *error)
{
	give_error(error, FJMPI_Rdma_dereg_mem(*memid));
}

FORTRAN(fjmpi_rdma_get_remote_addr, const MPI_Fint *pid, const MPI_Fint *memid, uint64_t *address, MPI_Fint *error)
{
	*address = FJMPI_Rdma_get_remote_addr(*pid, *memid);
	give_error(error, MPI_SUCCESS);
}

FORTRAN(fjmpi_rdma_put, const MPI_Fint *pid, const MPI_Fint *tag, const uint64_t *remote, const uint64_t *local,
	const size_t *length, const MPI_Fint *flags, MPI_Fint *error)
{
	give_error(error, FJMPI_Rdma_put(*pid, *tag, *remote, *local, *length, *flags));
}

FORTRAN(fjmpi_rdma_get, const MPI_Fint *pid, const MPI_Fint *tag, const uint64_t *remote, const uint64_t *local,
	const size_t *length, const MPI_Fint *flags, MPI_Fint *error)
{
	give_error(error, FJMPI_Rdma_get(*pid, *tag, *remote, *local, *length, *flags));
}

FORTRAN(fjmpi_rdma_mput, const MPI_Fint *pid, const MPI_Fint *tag, const uint64_t remotes[], const uint64_t locals[],
	const size_t lengths[], const MPI_Fint *stride, const MPI_Fint *count, const MPI_Fint *flags, MPI_Fint *error)
{
	size_t puts = *count > 0 ? (size_t)*count : 0;

	give_error(error, FJMPI_Rdma_mput(*pid, *tag, remotes, locals, lengths, *stride, puts, *flags));
}

/* cq: the other rank, and the tag. */
FORTRAN(fjmpi_rdma_poll_cq, const MPI_Fint *nic, MPI_Fint cq[2], MPI_Fint *notice, MPI_Fint *error)
{
	struct FJMPI_Rdma_cq found = {-1, -1};

	*notice = FJMPI_Rdma_poll_cq(*nic, &found);
	if (*notice) {
		cq[0] = found.pid;
		cq[1] = found.tag;
	}
	give_error(error, MPI_SUCCESS);
}
