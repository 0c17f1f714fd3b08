/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "plan.h"

/*
 * The queues of all plans, one on each TNI of this rank, with the ranges of addresses in which puts
 * arrive. A remote notice has the address behind the last byte, and the range says which slot of
 * which plan that is.
 */
struct arrival_range {
	utofu_stadd_t first, end;
	struct fjmpi_plan *plan;
	const struct plan_region *region;
};

static struct {
	int tnis;
	int next;   /* TNI of a pair */
	bool asked; /* for the TNIs */
	utofu_vcq_hdl_t vcq[FJMPI_PLAN_TNIS];
	utofu_vcq_id_t id[FJMPI_PLAN_TNIS];
	struct arrival_range *range[FJMPI_PLAN_TNIS]; /* of each queue, sorted */
	int ranges[FJMPI_PLAN_TNIS], room[FJMPI_PLAN_TNIS];
} queues;

/* Fewer queues than TNIs do if others of the program have taken them. */
static int create_queues(const utofu_tni_id_t *tnis, size_t count)
{
	int code = UTOFU_SUCCESS;

	for (size_t i = 0; i < count && i < FJMPI_PLAN_TNIS; i++) {
		code = utofu_create_vcq(tnis[i], UTOFU_VCQ_FLAG_THREAD_SAFE, &queues.vcq[queues.tnis]);
		if (code == UTOFU_SUCCESS)
			code = utofu_query_vcq_id(queues.vcq[queues.tnis], &queues.id[queues.tnis]);
		if (code != UTOFU_SUCCESS)
			break;
		queues.tnis++;
	}
	return code;
}

int plan_queues_open(void)
{
	utofu_tni_id_t *tnis = NULL;
	size_t count = 0;
	int code;

	if (queues.asked)
		return queues.tnis;
	queues.asked = true;
	code = utofu_get_onesided_tnis(&tnis, &count);
	if (code == UTOFU_SUCCESS)
		code = create_queues(tnis, count);
	if (queues.tnis == 0)
		fjmpi_error("there are no queues for plans, uTofu returned %d; the MPI carries out what it can", code);
	free(tnis);
	return queues.tnis;
}

void plan_queues_close(void)
{
	for (int i = 0; i < queues.tnis; i++) {
		utofu_free_vcq(queues.vcq[i]);
		free(queues.range[i]);
	}
	memset(&queues, 0, sizeof queues);
}

utofu_vcq_id_t plan_queues_id(int tni)
{
	return queues.id[tni];
}

/* --- Registered memory --- */

static bool uses_queue(const struct fjmpi_plan *plan, int tni)
{
	return !plan->pair || plan->tni == tni;
}

int plan_queues_register(struct fjmpi_plan *plan)
{
	for (int name = 0; name < PLAN_REGIONS; name++) {
		struct plan_region *region = &plan->region[name];

		for (int tni = 0; tni < queues.tnis && region->bytes; tni++)
			if (uses_queue(plan, tni) && utofu_reg_mem(queues.vcq[tni], region->at, region->bytes, 0,
								   &region->stadd[tni]) != UTOFU_SUCCESS) {
				region->stadd[tni] = 0;
				return -1;
			}
	}
	return 0;
}

/* New ones mostly come last. */
static void insert_range(int tni, struct arrival_range range)
{
	struct arrival_range *list = queues.range[tni];
	int at = queues.ranges[tni]++;

	for (; at > 0 && list[at - 1].first > range.first; at--)
		list[at] = list[at - 1];
	list[at] = range;
}

static int make_room(int tni, int more)
{
	int room = queues.room[tni] ? queues.room[tni] : 64;
	struct arrival_range *list;

	while (room < queues.ranges[tni] + more)
		room *= 2;
	if (room == queues.room[tni])
		return 0;
	list = realloc(queues.range[tni], (size_t)room * sizeof *list);
	if (!list)
		return -1;
	queues.range[tni] = list;
	queues.room[tni] = room;
	return 0;
}

int plan_queues_expect(struct fjmpi_plan *plan)
{
	for (int tni = 0; tni < queues.tnis; tni++)
		if (uses_queue(plan, tni) && make_room(tni, FJMPI_PLAN_TARGETS))
			return -1;
	for (int tni = 0; tni < queues.tnis; tni++)
		for (int name = 0; name < FJMPI_PLAN_TARGETS && uses_queue(plan, tni); name++) {
			const struct plan_region *region = &plan->region[name];

			if (region->bytes)
				insert_range(tni,
					     (struct arrival_range){region->stadd[tni],
								    region->stadd[tni] + region->bytes, plan, region});
		}
	return 0;
}

void plan_queues_forget_region(struct fjmpi_plan *plan, enum plan_region_name name)
{
	struct plan_region *region = &plan->region[name];

	for (int tni = 0; tni < queues.tnis; tni++) {
		struct arrival_range *list = queues.range[tni];
		int kept = 0;

		if (!region->stadd[tni])
			continue;
		for (int i = 0; i < queues.ranges[tni]; i++)
			if (list[i].region != region)
				list[kept++] = list[i];
		queues.ranges[tni] = kept;
		utofu_dereg_mem(queues.vcq[tni], region->stadd[tni], 0);
		region->stadd[tni] = 0;
	}
}

void plan_queues_forget(struct fjmpi_plan *plan)
{
	for (int name = 0; name < PLAN_REGIONS; name++)
		plan_queues_forget_region(plan, (enum plan_region_name)name);
}

/* --- Puts and notices --- */

int plan_queues_post(struct fjmpi_plan *plan, const struct plan_step *step)
{
	static uint64_t flag; /* only the notice of a flag counts */
	int code;

	if (step->kind == STEP_NOTIFY)
		return utofu_put_piggyback(queues.vcq[step->tni], step->target, &flag, step->remote, sizeof flag, 0,
					   UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE |
						   (plan->pair ? UTOFU_ONESIDED_FLAG_STRONG_ORDER : 0),
					   NULL);
	code = utofu_put(queues.vcq[step->tni], step->target, step->local, step->remote, step->bytes, 0,
			 UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, plan);
	plan->unsent += code == UTOFU_SUCCESS;
	return code;
}

int plan_queues_notify(int tni, const struct plan_mailbox *to, size_t offset, const void *words, size_t bytes)
{
	return utofu_put_piggyback(queues.vcq[tni], to->vcq, (void *)(uintptr_t)words, to->at + offset, bytes, 0,
				   UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_STRONG_ORDER, NULL);
}

/* The address of a notice is behind the last byte. */
static int count_arrival(int tni, utofu_stadd_t end)
{
	const struct arrival_range *list = queues.range[tni];
	utofu_stadd_t last = end - 1;
	int low = 0, high = queues.ranges[tni];

	while (low < high) {
		int middle = (low + high) / 2;

		if (list[middle].end <= last)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == queues.ranges[tni] || list[low].first > last)
		return fjmpi_error("a put arrived for which there is no plan");
	const struct plan_region *region = list[low].region;
	size_t offset = last - list[low].first;

	list[low].plan->arrived[region->first_slot + (int)(offset / region->block) * region->pieces +
				(int)(offset % region->block / PLAN_PIECE)]++;
	return 0;
}

static int poll_queue(int tni)
{
	struct utofu_mrq_notice notice;
	void *cbdata;
	int code;

	while ((code = utofu_poll_tcq(queues.vcq[tni], 0, &cbdata)) == UTOFU_SUCCESS)
		((struct fjmpi_plan *)cbdata)->unsent--;
	if (code != UTOFU_ERR_NOT_FOUND)
		return fjmpi_error("a put of a plan failed here: uTofu returned %d", code);
	while ((code = utofu_poll_mrq(queues.vcq[tni], 0, &notice)) == UTOFU_SUCCESS)
		if (count_arrival(tni, notice.rmt_stadd))
			return -1;
	if (code != UTOFU_ERR_NOT_FOUND)
		return fjmpi_error("a put of a plan failed: uTofu returned %d", code);
	return 0;
}

int plan_queues_choose(void)
{
	return queues.tnis ? queues.next++ % queues.tnis : -1;
}

int plan_queues_poll(void)
{
	int code = 0;

	for (int tni = 0; tni < queues.tnis && code == 0; tni++)
		code = poll_queue(tni);
	return code;
}
