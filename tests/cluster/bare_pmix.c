/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a launcher takes for the least that a PMIx program can do: come up, publish as much as a PE
 * of ours does, a fence, go. PE 0 prints the milliseconds. The yardstick for
 * tests/cluster/phases.c.
 */
#include <pmix.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define INFO_BYTES 400

static double ms(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static double now(void)
{
	return ms(CLOCK_MONOTONIC);
}

static bool publish(void)
{
	static char info[INFO_BYTES];
	pmix_value_t value;

	value.type = PMIX_BYTE_OBJECT;
	value.data.bo.bytes = info;
	value.data.bo.size = sizeof info;
	return PMIx_Put(PMIX_GLOBAL, "bare", &value) == PMIX_SUCCESS && PMIx_Commit() == PMIX_SUCCESS;
}

int main(void)
{
	double start = now(), up, fenced;
	pmix_proc_t self;
	bool collect = true;
	pmix_info_t how;

	if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS) {
		fprintf(stderr, "bare_pmix: no PMIx; start it by a launcher that speaks it, such as mpirun\n");
		return 1;
	}
	up = now();
	PMIX_INFO_LOAD(&how, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
	if (!publish() || PMIx_Fence(NULL, 0, &how, 1) != PMIX_SUCCESS) {
		fprintf(stderr, "bare_pmix: PE %u could not exchange\n", self.rank);
		return 1;
	}
	fenced = now();
	if (self.rank == 0)
		printf("init %.1f ms, exchange %.1f ms, of the processor %.1f ms\n", up - start, fenced - up,
		       ms(CLOCK_PROCESS_CPUTIME_ID));
	fflush(stdout);
	PMIx_Finalize(NULL, 0);
	return 0;
}
