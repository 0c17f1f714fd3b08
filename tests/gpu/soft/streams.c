/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams and events of the stand-in for CUDA's driver. A thread works off each stream's list. */
#include "soft.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct soft_stream {
	struct soft_stream *next;
	bool blocking; /* it and the default stream wait for each other's earlier work */
	bool destroyed;
	unsigned long long issued, done;
	struct soft_work *first, **last;
	unsigned long long late; /* decides which work is late */
};

struct soft_event {
	struct soft_stream *stream; /* NULL: not recorded */
	unsigned long long until;
};

/* Streams stay in the list for good: events and other streams may wait for them. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct soft_stream *first;
	struct soft_stream *standard; /* the default stream */
} streams = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void be_late(struct soft_stream *stream)
{
	long microseconds = (long)soft_setting("SOFT_CUDA_DELAY", 50);
	struct timespec delay = {.tv_nsec = microseconds * 1000};

	stream->late = stream->late * 6364136223846793005U + 1442695040888963407U;
	if (microseconds > 0 && stream->late >> 62 == 0)
		nanosleep(&delay, NULL);
}

static void copy_rows(const struct soft_copy *copy)
{
	for (size_t row = 0; row < copy->height; row++)
		memcpy(copy->dest + row * copy->dest_pitch, copy->source + row * copy->source_pitch, copy->width);
}

static void carry_out(struct soft_work *work)
{
	switch (work->what) {
	case SOFT_COPY: copy_rows(&work->copy); break;
	case SOFT_FILL: memset(work->copy.dest, work->value, work->copy.width); break;
	case SOFT_KERNEL: work->kernel(work->arguments); break;
	case SOFT_AWAIT: break;
	}
	free(work->bounce);
	free(work);
}

static void await(struct soft_stream *stream, unsigned long long until)
{
	while (stream->done < until)
		pthread_cond_wait(&streams.changed, &streams.lock);
}

static void *run_stream(void *argument)
{
	struct soft_stream *stream = argument;

	pthread_mutex_lock(&streams.lock);
	while (true) {
		struct soft_work *work = stream->first;

		if (!work && stream->destroyed)
			break;
		if (!work) {
			pthread_cond_wait(&streams.changed, &streams.lock);
			continue;
		}
		stream->first = work->next;
		if (!stream->first)
			stream->last = &stream->first;
		if (work->what == SOFT_AWAIT)
			await(work->stream, work->until);
		pthread_mutex_unlock(&streams.lock);
		be_late(stream);
		carry_out(work);
		pthread_mutex_lock(&streams.lock);
		stream->done++;
		pthread_cond_broadcast(&streams.changed);
	}
	pthread_mutex_unlock(&streams.lock);
	return NULL;
}

/* Signals are for the program's own threads. The lock is held. */
static struct soft_stream *create_stream(bool blocking)
{
	struct soft_stream *stream = calloc(1, sizeof *stream);
	pthread_t thread;
	sigset_t all, before;
	int error;

	if (!stream)
		return NULL;
	stream->blocking = blocking;
	stream->last = &stream->first;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, run_stream, stream);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		free(stream);
		return NULL;
	}
	pthread_detach(thread);
	stream->next = streams.first;
	streams.first = stream;
	return stream;
}

static bool append(struct soft_stream *stream, const struct soft_work *work)
{
	struct soft_work *copy = malloc(sizeof *copy);

	if (!copy)
		return false;
	*copy = *work;
	copy->next = NULL;
	*stream->last = copy;
	stream->last = &copy->next;
	stream->issued++;
	return true;
}

static bool append_wait(struct soft_stream *stream, struct soft_stream *other, unsigned long long until)
{
	if (other->done >= until || other == stream)
		return true;
	return append(stream, &(struct soft_work){.what = SOFT_AWAIT, .stream = other, .until = until});
}

static struct soft_stream *find_stream(struct soft_stream *stream)
{
	if (!streams.standard)
		streams.standard = create_stream(false);
	/* 1 and 2 are the driver's names of default streams. */
	return (uintptr_t)stream <= 2 ? streams.standard : stream;
}

/* The default stream waits for earlier work of all blocking streams, and these for its own. */
static bool append_waits(struct soft_stream *stream)
{
	bool good = true;

	if (!streams.standard)
		return false;
	if (stream->blocking)
		return append_wait(stream, streams.standard, streams.standard->issued);
	for (struct soft_stream *other = streams.first; other && stream == streams.standard; other = other->next)
		if (other->blocking)
			good = good && append_wait(stream, other, other->issued);
	return good;
}

int soft_issue(struct soft_stream *stream, const struct soft_work *work, bool wait)
{
	int error = SOFT_OUT_OF_MEMORY;

	pthread_mutex_lock(&streams.lock);
	stream = find_stream(stream);
	if (stream && append_waits(stream) && append(stream, work)) {
		error = SOFT_OK;
		pthread_cond_broadcast(&streams.changed);
		if (wait)
			await(stream, stream->issued);
	}
	pthread_mutex_unlock(&streams.lock);
	return error;
}

void soft_drain(void)
{
	pthread_mutex_lock(&streams.lock);
	for (struct soft_stream *stream = streams.first; stream; stream = stream->next)
		await(stream, stream->issued);
	pthread_mutex_unlock(&streams.lock);
}

EXPORT int cuCtxSynchronize(void)
{
	ENTER_CONTEXT();
	soft_drain();
	return soft_broken();
}

EXPORT int cuStreamCreate(struct soft_stream **stream, unsigned flags)
{
	ENTER_CONTEXT();
	if (flags > 1)
		return SOFT_INVALID_VALUE;
	pthread_mutex_lock(&streams.lock);
	*stream = create_stream(flags == 0);
	pthread_mutex_unlock(&streams.lock);
	return *stream ? SOFT_OK : SOFT_OUT_OF_MEMORY;
}

/* Work of the stream that is under way goes on. */
EXPORT int cuStreamDestroy_v2(struct soft_stream *stream)
{
	ENTER_CONTEXT();
	if ((uintptr_t)stream <= 2 || stream->destroyed)
		return SOFT_INVALID_HANDLE;
	pthread_mutex_lock(&streams.lock);
	stream->destroyed = true;
	pthread_cond_broadcast(&streams.changed);
	pthread_mutex_unlock(&streams.lock);
	return SOFT_OK;
}

EXPORT int cuStreamSynchronize(struct soft_stream *stream)
{
	ENTER_CONTEXT();
	pthread_mutex_lock(&streams.lock);
	stream = find_stream(stream);
	if (stream && append_waits(stream)) {
		pthread_cond_broadcast(&streams.changed);
		await(stream, stream->issued);
	}
	pthread_mutex_unlock(&streams.lock);
	return stream ? soft_broken() : SOFT_OUT_OF_MEMORY;
}

static bool is_done(const struct soft_stream *stream, unsigned long long until)
{
	bool done;

	pthread_mutex_lock(&streams.lock);
	done = !stream || stream->done >= until;
	pthread_mutex_unlock(&streams.lock);
	return done;
}

EXPORT int cuStreamQuery(struct soft_stream *stream)
{
	ENTER_CONTEXT();
	pthread_mutex_lock(&streams.lock);
	stream = find_stream(stream);
	pthread_mutex_unlock(&streams.lock);
	return is_done(stream, stream ? stream->issued : 0) ? SOFT_OK : SOFT_NOT_READY;
}

EXPORT int cuEventCreate(struct soft_event **event, unsigned flags)
{
	ENTER_CONTEXT();
	if (flags > 7 || (flags & 4 && !(flags & 2)))
		return SOFT_INVALID_VALUE;
	*event = calloc(1, sizeof **event);
	return *event ? SOFT_OK : SOFT_OUT_OF_MEMORY;
}

EXPORT int cuEventRecord(struct soft_event *event, struct soft_stream *stream)
{
	ENTER_CONTEXT();
	pthread_mutex_lock(&streams.lock);
	event->stream = find_stream(stream);
	if (event->stream && append_waits(event->stream))
		event->until = event->stream->issued;
	pthread_cond_broadcast(&streams.changed);
	pthread_mutex_unlock(&streams.lock);
	return event->stream ? SOFT_OK : SOFT_OUT_OF_MEMORY;
}

EXPORT int cuEventQuery(struct soft_event *event)
{
	ENTER();
	return is_done(event->stream, event->until) ? SOFT_OK : SOFT_NOT_READY;
}

EXPORT int cuEventSynchronize(struct soft_event *event)
{
	ENTER();
	pthread_mutex_lock(&streams.lock);
	if (event->stream)
		await(event->stream, event->until);
	pthread_mutex_unlock(&streams.lock);
	return SOFT_OK;
}

EXPORT int cuEventDestroy_v2(struct soft_event *event)
{
	ENTER();
	free(event);
	return SOFT_OK;
}

EXPORT int cuStreamWaitEvent(struct soft_stream *stream, struct soft_event *event, unsigned flags)
{
	int error = SOFT_OK;

	ENTER_CONTEXT();
	if (flags > 1)
		return SOFT_INVALID_VALUE;
	pthread_mutex_lock(&streams.lock);
	stream = find_stream(stream);
	if (!stream || (event->stream && !append_wait(stream, event->stream, event->until)))
		error = SOFT_OUT_OF_MEMORY;
	pthread_cond_broadcast(&streams.changed);
	pthread_mutex_unlock(&streams.lock);
	return error;
}
