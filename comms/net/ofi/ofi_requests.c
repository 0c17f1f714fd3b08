/* SPDX-License-Identifier: BSD-3-Clause */
/* Outstanding transfers: how requests start and end. */
#include "ofi_inside.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <string.h>

#include "comms/wait/wait.h"
#include "rte/rte.h"

enum { ENTRIES = 32 };

static struct ofi_request *ofi_take_request(void)
{
	struct ofi_request *request;

	pthread_mutex_lock(&ofi.lock);
	request = ofi.free;
	if (request)
		ofi.free = request->next;
	pthread_mutex_unlock(&ofi.lock);
	return request;
}

static void ofi_return_request(struct ofi_request *request)
{
	pthread_mutex_lock(&ofi.lock);
	request->next = ofi.free;
	ofi.free = request;
	pthread_mutex_unlock(&ofi.lock);
}

static void change_counter(atomic_int *counter, int difference)
{
	if (counter)
		atomic_fetch_add_explicit(counter, difference, memory_order_acq_rel);
}

void ofi_settle(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	while (atomic_load_explicit(&ofi.workers, memory_order_seq_cst) > 0)
		sched_yield();
}

void ofi_wait_for(atomic_int *counter)
{
	if (atomic_load_explicit(counter, memory_order_acquire) == 0)
		return;
	COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(counter, memory_order_acquire) == 0);
	if (rte_is_broken())
		ofi_settle();
}

/* --- Notifications --- */

void ofi_notification_open(struct comms_request *request, bool flag_follows)
{
	atomic_store_explicit(&ofi_record(request)->left, 1, memory_order_relaxed);
	atomic_store_explicit(&request->under_way, true, memory_order_relaxed);
	ofi_record(request)->flag_follows = flag_follows;
}

static void begin_transfer(struct comms_request *notification)
{
	atomic_fetch_add_explicit(&ofi_record(notification)->left, 1, memory_order_relaxed);
}

bool ofi_notification_less(struct comms_request *notification)
{
	struct ofi_record *record = ofi_record(notification);

	if (atomic_fetch_sub_explicit(&record->left, 1, memory_order_acq_rel) > 1)
		return false;
	if (record->flag_follows) {
		record->flag_follows = false;
		return true;
	}
	atomic_store_explicit(&notification->under_way, false, memory_order_release);
	return false;
}

static bool turn_into_flag(struct ofi_request *request)
{
	struct comms_request *notification = request->end.notification;

	if (!ofi_notification_less(notification))
		return false;
	request->transfer = ofi_record(notification)->flag;
	begin_transfer(notification);
	return true;
}

/* --- Starting --- */

struct ofi_request *ofi_begin(const struct transfer *transfer, struct ofi_end end)
{
	struct ofi_request *request = ofi_take_request();

	if (!request)
		COMMS_WAIT(COMMS_NOWHERE, request || (request = ofi_take_request()));
	if (!request)
		return NULL;
	request->transfer = *transfer;
	request->end = end;
	if (end.notification)
		begin_transfer(end.notification);
	change_counter(end.counter, 1);
	change_counter(&ofi_peer(transfer->peer)->under_way, 1);
	change_counter(&ofi.under_way, 1);
	return request;
}

static ssize_t ofi_post(struct ofi_request *request)
{
	static const enum fi_op ops[] = {
		[COMMS_FETCH] = FI_ATOMIC_READ, [COMMS_ADD] = FI_SUM,
		[COMMS_AND] = FI_BAND,		[COMMS_OR] = FI_BOR,
		[COMMS_XOR] = FI_BXOR,		[COMMS_SWAP] = FI_ATOMIC_WRITE,
		[COMMS_CSWAP] = FI_CSWAP,
	};
	struct transfer *t = &request->transfer;
	struct comms_atomic *atomic = &t->atomic;
	const fi_addr_t to = ofi_peer(t->peer)->address;
	const enum fi_datatype type = t->bytes == sizeof(uint64_t) ? FI_UINT64 : FI_UINT32;
	void *context = &request->context;

	switch (t->kind) {
	case TRANSFER_PUT: return fi_write(ofi.ep, t->here, t->bytes, NULL, to, t->there, t->key, context);
	case TRANSFER_GET: return fi_read(ofi.ep, t->here, t->bytes, NULL, to, t->there, t->key, context);
	case TRANSFER_ATOMIC:
		return fi_atomic(ofi.ep, &atomic->operand, 1, NULL, to, t->there, t->key, type, ops[atomic->op],
				 context);
	case TRANSFER_FETCH: break;
	}
	if (atomic->op == COMMS_CSWAP)
		return fi_compare_atomic(ofi.ep, &atomic->operand, 1, NULL, &atomic->compare, NULL, &request->result,
					 NULL, to, t->there, t->key, type, FI_CSWAP, context);
	return fi_fetch_atomic(ofi.ep, &atomic->operand, 1, NULL, &request->result, NULL, to, t->there, t->key, type,
			       ops[atomic->op], context);
}

/* Returns if errors return. */
static void fail_request(const struct ofi_request *request, int code)
{
	static const char *const names[] = {"a put", "a get", "an atomic", "a fetching atomic"};
	int pe = request->transfer.peer->pe;

	rte_let_others_speak();
	rte_break(RTE_ERROR_LOST, pe, NULL, "%s of %zu bytes to PE %d failed (libfabric, %s: %s); %s",
		  names[request->transfer.kind], request->transfer.bytes, pe, ofi.info->fabric_attr->prov_name,
		  ofi_library.strerror(code), comms_process_in_words(pe));
}

/* Returns false if libfabric cannot take it now. */
static bool try_to_start(struct ofi_request *request)
{
	ssize_t code = ofi_post(request);

	if (code != 0 && code != -FI_EAGAIN)
		fail_request(request, (int)-code);
	return code == 0;
}

void ofi_start_request(struct ofi_request *request)
{
	bool started = !request || try_to_start(request);

	if (!started)
		COMMS_WAIT(COMMS_NOWHERE, started || (started = try_to_start(request)));
}

/* --- Ending --- */

static void end_request(struct ofi_request *request)
{
	const struct transfer *transfer = &request->transfer;
	struct ofi_peer *peer = ofi_peer(transfer->peer);
	atomic_int *counter = request->end.counter;

	if (transfer->kind == TRANSFER_FETCH && transfer->here)
		memcpy(transfer->here, &request->result, transfer->bytes);
	if (request->end.notification && turn_into_flag(request)) {
		/* The transfer that ended has made room for this one. */
		while (!try_to_start(request) && !rte_is_broken())
			fi_cq_read(ofi.cq, NULL, 0);
		return;
	}
	ofi_return_request(request);
	change_counter(&peer->under_way, -1);
	change_counter(counter, -1);
	change_counter(&ofi.under_way, -1);
}

static void take_completion_error(void)
{
	struct fi_cq_err_entry error = {0};

	if (fi_cq_readerr(ofi.cq, &error, 0) != 1 || !error.op_context)
		return;
	if (!atomic_load_explicit(&ofi.ending, memory_order_relaxed))
		fail_request(error.op_context, error.err);
	if (!rte_is_broken())
		end_request(error.op_context);
}

static bool take_completions(void)
{
	struct fi_cq_entry entries[ENTRIES];
	ssize_t ended = fi_cq_read(ofi.cq, entries, ENTRIES);

	for (ssize_t i = 0; i < ended; i++)
		end_request(entries[i].op_context);
	if (ended == -FI_EAVAIL)
		take_completion_error();
	else if (ended < 0 && ended != -FI_EAGAIN)
		ofi_check(ended, "fi_cq_read");
	return ended != -FI_EAGAIN;
}

/*
 * In a broken job waits return while transfers are under way into memory of the program, whose
 * counters are on the stack of the routine that waited. So libfabric does nothing more from then
 * on, and ofi_settle waits for threads that have begun before.
 */
bool ofi_work(void)
{
	bool any;

	if (!rte.returns_errors)
		return take_completions();
	atomic_fetch_add_explicit(&ofi.workers, 1, memory_order_seq_cst);
	any = !atomic_load_explicit(&rte_is_broken_now, memory_order_seq_cst) && take_completions();
	atomic_fetch_sub_explicit(&ofi.workers, 1, memory_order_seq_cst);
	return any;
}
