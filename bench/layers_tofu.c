/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer below the library on a Tofu network: puts of 8 bytes by uTofu itself, on a queue of its own, with the notice that
 * the library asks for, too.
 */
#include "layers_tofu.h"

#include "measure.h"

#if HAVE_TOFU

#include <shmem.h>
#include <stdlib.h>

#include "comms/net/tofu/tofu_library.h"

enum { MOST_IN_PROGRESS = 255 }; /* as many as the library has at a time */

static struct {
	utofu_vcq_hdl_t queue;
	uint64_t in_progress;
} mine;

/* What a PE must know of the other, in symmetric memory. */
static struct target {
	utofu_vcq_id_t queue;
	utofu_stadd_t memory;
} target;

static void demand(int code, const char *call)
{
	if (code != UTOFU_SUCCESS)
		group_fail("%s: error %d of uTofu", call, code);
}

void tofu_layer_open(void *word, size_t bytes)
{
	struct target own;
	utofu_tni_id_t *tnis;
	size_t count;

	demand(utofu.get_onesided_tnis(&tnis, &count), "utofu_get_onesided_tnis");
	demand(utofu.create_vcq(tnis[0], 0, &mine.queue), "utofu_create_vcq");
	free(tnis);
	demand(utofu.query_vcq_id(mine.queue, &own.queue), "utofu_query_vcq_id");
	demand(utofu.reg_mem(mine.queue, word, bytes, 0, &own.memory), "utofu_reg_mem");
	shmem_putmem(&target, &own, sizeof own, !group.me);
	shmem_barrier_all();
	demand(utofu.set_vcq_id_path(&target.queue, NULL), "utofu_set_vcq_id_path");
}

bool tofu_layer_progress(void)
{
	struct utofu_mrq_notice notice;
	int code = utofu.poll_mrq(mine.queue, 0, &notice);

	if (code == UTOFU_ERR_NOT_FOUND)
		return false;
	demand(code, "utofu_poll_mrq");
	mine.in_progress--;
	return true;
}

void tofu_layer_post(uint64_t value)
{
	int code = UTOFU_ERR_BUSY;

	while (code == UTOFU_ERR_BUSY) {
		if (mine.in_progress < MOST_IN_PROGRESS)
			code = utofu.put_piggyback(mine.queue, target.queue, &value, target.memory, sizeof value, 0,
						   UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, NULL);
		if (code == UTOFU_ERR_BUSY)
			tofu_layer_progress();
	}
	demand(code, "utofu_put_piggyback");
	mine.in_progress++;
}

void tofu_layer_flush(void)
{
	while (mine.in_progress > 0)
		tofu_layer_progress();
}

#else

void tofu_layer_open(void *word, size_t bytes)
{
	(void)word, (void)bytes;
	group_fail("this library was configured --without-tofu");
}
bool tofu_layer_progress(void)
{
	return false;
}
void tofu_layer_post(uint64_t value)
{
	(void)value;
}
void tofu_layer_flush(void)
{
}

#endif
