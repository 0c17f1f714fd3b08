/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softofu/include/softofu.h"
#include "softofu/nic/vcq.h"

_Thread_local uint64_t record_message;

static struct {
	pthread_mutex_t lock;
	FILE *file; /* NULL: nothing is recorded */
	uint64_t next;
} recording = {.lock = PTHREAD_MUTEX_INITIALIZER, .next = 1};

static void add_record(const struct record *record)
{
	fwrite(record, sizeof *record, 1, recording.file);
}

static void add_job(const struct settings *settings)
{
	struct record job = {.kind = RECORD_JOB, .message = (uint64_t)settings->ranks};

	for (int a = 0; a < GRID_AXES; a++) {
		job.from |= (uint64_t)settings->grid.size[a] << a * RECORD_SIZE_BITS;
		job.to |= (uint64_t)settings->grid.ring[a] << a;
	}
	add_record(&job);
}

void record_open(struct nic *nic)
{
	char path[4096];

	if (!nic->settings.record)
		return;
	snprintf(path, sizeof path, "%s/" RECORD_FILE, nic->settings.record, nic->rank);
	recording.file = fopen(path, "we");
	if (!recording.file)
		fprintf(stderr, "softofu: SOFTOFU_RECORD: %s: %s\n", path, strerror(errno));
	else
		add_job(&nic->settings);
}

void record_close(void)
{
	if (recording.file && (ferror(recording.file) || fclose(recording.file)))
		fprintf(stderr, "softofu: SOFTOFU_RECORD: %s\n", strerror(errno));
	recording.file = NULL;
}

void record_sent(struct vcq *vcq, const struct descriptor *what, uint64_t place)
{
	bool session = vcq->flags & UTOFU_VCQ_FLAG_SESSION_MODE;
	struct record record = {
		.kind = session ? RECORD_SENT_BY_SESSION : RECORD_SENT,
		.what = what->kind,
		.from = shared_vcq_id(vcq->shared),
		.to = id_plain(what->vcq_id),
		.bytes = what->length,
		.queue = session ? vcq->number : 0,
		.place = place,
	};

	if (!recording.file)
		return;
	if (what->kind == KIND_PUT || what->kind == KIND_GET)
		record.bytes *= record.steps = what->memory.blocks;
	pthread_mutex_lock(&recording.lock);
	record_message = record.message = (uint64_t)vcq->nic->rank << 32 | recording.next++;
	add_record(&record);
	pthread_mutex_unlock(&recording.lock);
}

static void add_locked(const struct record *record)
{
	pthread_mutex_lock(&recording.lock);
	add_record(record);
	pthread_mutex_unlock(&recording.lock);
}

/* --- What a process has read --- */

static void add_read(uint64_t message, uint32_t notice_type)
{
	if (message)
		add_locked(&(struct record){.kind = RECORD_READ, .what = notice_type, .message = message});
}

void record_read(struct vcq *vcq, const struct mrq_entry *notice)
{
	struct later *later;

	if (!recording.file)
		return;
	later = vcq->later && notice->type == UTOFU_MRQ_TYPE_RMT_PUT ? &vcq->later[notice->edata] : NULL;
	if (!later || !later->on) {
		add_read(notice->message, notice->type);
		return;
	}
	/* The one before, which it never said it needed. */
	add_read(later->message, UTOFU_MRQ_TYPE_RMT_PUT);
	later->message = notice->message;
}

/* NULL: nothing is recorded. */
static struct vcq *enter_recording(utofu_vcq_hdl_t handle, const char *routine)
{
	struct vcq *vcq;
	int code;

	vcq = recording.file ? vcq_enter(handle, routine, &code) : NULL;
	if (vcq)
		vcq_lock(vcq);
	return vcq;
}

static void leave_recording(struct vcq *vcq)
{
	vcq_unlock(vcq);
	vcq_leave(vcq);
}

bool softofu_record_when_needed(utofu_vcq_hdl_t vcq_hdl, uint8_t edata, bool on)
{
	struct vcq *vcq = enter_recording(vcq_hdl, __func__);
	bool can;

	if (!vcq)
		return false;
	if (!vcq->later)
		vcq->later = calloc(UINT8_MAX + 1, sizeof *vcq->later);
	can = vcq->later != NULL;
	if (can) {
		add_read(vcq->later[edata].message, UTOFU_MRQ_TYPE_RMT_PUT);
		vcq->later[edata] = (struct later){.on = on};
	}
	leave_recording(vcq);
	return can;
}

void softofu_record_needed(utofu_vcq_hdl_t vcq_hdl, uint8_t edata)
{
	struct vcq *vcq = enter_recording(vcq_hdl, __func__);

	if (!vcq)
		return;
	if (vcq->later) {
		add_read(vcq->later[edata].message, UTOFU_MRQ_TYPE_RMT_PUT);
		vcq->later[edata].message = 0;
	}
	leave_recording(vcq);
}

void record_released(struct nic *nic, const struct shared_vcq *to, uint64_t place, uint64_t steps)
{
	if (recording.file)
		add_locked(&(struct record){
			.kind = RECORD_RELEASED,
			.message = record_message,
			.queue =
				(uint64_t)((const char *)to - (const char *)job_vcq(nic->job, 0)) / nic->job->vcq_bytes,
			.place = place,
			.steps = steps,
		});
}
