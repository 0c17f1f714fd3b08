/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PROVIDER_H
#define RTE_PROVIDER_H

#include "rte/rte.h"

/*
 * What brings the PEs of a job together: the PMIx server of a launcher (rte/pmix/), or a TCP
 * rendezvous that one of the PEs serves (rendezvous.c). A job of one PE needs none.
 *
 * Both end the process when the job ends without it: when another PE aborts or is lost, or when the
 * server is lost. Launchers do more (rte_fabric_shape, rte_vendor_map, rte_notify_trace,
 * rte_when_asked), which callers can do without.
 */
struct rte_provider {
	/*
	 * Fills in rte.pe, n_pes, n_local, local_pes and several_hosts. On failure, rte.problem has
	 * the reason.
	 */
	enum rte_status (*start)(void);
	void (*finalize)(void); /* rte_finalize */
	void (*leave)(void);	/* rte_leave; NULL: nothing is kept that long */
	/* As in rte.h; all PEs call exchange, fence and fence_within in the same order. */
	enum rte_status (*exchange)(const void *info, size_t size);
	void *(*fetch)(int pe, size_t *size);
	enum rte_status (*fence)(void);
	bool (*fence_within)(int seconds);
	bool (*host)(int pe, char *name, size_t size);
	/* rte_node; NULL: the name of the host is unique. */
	bool (*node)(int pe, uint64_t *number);
	/*
	 * Ends the other PEs, also before start and after finalize if it can. The caller ends this
	 * process if it returns.
	 */
	void (*abort)(int status, const char *message);
	/* Tells the other PEs of the error; NULL: rte.returns_errors is not possible. */
	void (*tell_error)(const struct rte_error *error);
};

extern const struct rte_provider rte_pmix;
extern const struct rte_provider rte_rendezvous;
extern const struct rte_provider *rte_provider; /* of the last rte_init; NULL: a job of one PE */

/* What the environment, or rte_use_unique_id, says about the job. Calls nothing but getenv. */
struct rte_start {
	enum { START_ALONE, START_PMIX, START_RENDEZVOUS } by;
	int pe, n_pes;		/* of the rendezvous */
	char root[300];		/* HOST:PORT, at which PE 0 listens; empty: unknown */
	const char *source;	/* which variables say so */
	enum rte_status status; /* not RTE_OK: rte.problem says what is wrong with them */
};
struct rte_start rte_find_start(void);

/* The job that rte_use_unique_id has named for this start; NULL: none. */
struct rte_unique_id;
const struct rte_unique_id *rte_unique_id_in_use(int *pe, int *n_pes);
void rte_forget_unique_id(void);
/* Closes the listener of the id in use, if this process has made it. */
void rte_drop_unique_id(void);

#endif
