/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_LAYERS_REPORT_H
#define BENCH_LAYERS_REPORT_H

/* What is measured of a layer, in nanoseconds per message. */
enum quantity {
	POST,	   /* until the call returns, in a batch */
	PROGRESS,  /* the flush behind a batch */
	TOTAL,	   /* a batch with its flush, with no timer inside */
	HALF,	   /* of there and back */
	SENT,	   /* until the call returns, one at a time; on a node, until the PE has seen its own */
	CAME,	   /* the poll that finds a message */
	SATISFIED, /* a wait for what is there */
	QUANTITIES
};
extern const char *const quantity_names[QUANTITIES];

/* --report [--json | --svg] [--what-if CHANGE] FILE...; returns an exit code. */
int layers_report(int argc, char *argv[]);

#endif
