/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour exchange: reports wrong calls, which break the job. */
#include "exchange.h"

void exchange_complain_of_destroyed(const struct shmemx_exchange *x, const char *routine)
{
	rte_misuse(routine, "exchange=%p was destroyed; use it before shmemx_exchange_destroy, or create another",
		   (const void *)x);
}

void exchange_complain_of_edge(const struct shmemx_exchange *x, int i, const char *routine)
{
	if (!x)
		rte_misuse(routine, "exchange is SHMEMX_EXCHANGE_INVALID");
	else if (x->destroyed)
		exchange_complain_of_destroyed(x, routine);
	else
		rte_misuse(routine, "edge=%d: the exchange has edges 0 to %d", i, x->n_edges - 1);
}

/* Names the edge that was not used in this iteration. */
void exchange_complain_of_iteration(const struct shmemx_exchange *x, const struct iteration *iteration,
				    const char *routine)
{
	bool sending = iteration == &x->sending;
	int i = 0;

	while (!x->edges[i].each_iteration ||
	       (sending ? x->edges[i].send_bytes == 0 || x->edges[i].started > iteration->over
			: x->edges[i].receive_bytes == 0 || x->edges[i].waited > iteration->over))
		i++;
	rte_misuse(routine,
		   "edge=%d was not %s in iteration %llu, and the next one begins; it is marked "
		   "SHMEMX_EDGE_EACH_ITERATION",
		   i, sending ? "started" : "waited for", (unsigned long long)iteration->over + 1);
}
