/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_OPS_FAULT_H
#define COMMS_OPS_FAULT_H

/* The name of a routine's local argument: "source", "dest" or "fetch"; NULL: it has none. */
const char *comms_near_argument(const char *routine);

/* For rte.explain. */
struct rte_fault;
void comms_explain_fault(struct rte_fault *fault);

#endif
