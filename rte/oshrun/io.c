/* SPDX-License-Identifier: BSD-3-Clause */
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "say.h"

#define READ_SIZE 65536
#define FULL_QUEUE (1UL << 20)
#define LONGEST_LINE (1UL << 20) /* longer lines are broken */
#define FILE_CHUNK (1UL << 18)

static bool append(struct io_buffer *buffer, const void *bytes, size_t length)
{
	if (buffer->used + length > buffer->size) {
		size_t size = (buffer->used + length) * 2;
		char *larger = realloc(buffer->bytes, size);

		if (!larger)
			return false;
		buffer->bytes = larger;
		buffer->size = size;
	}
	memcpy(buffer->bytes + buffer->used, bytes, length);
	buffer->used += length;
	return true;
}

static void drop_front(struct io_buffer *buffer, size_t length)
{
	buffer->used -= length;
	memmove(buffer->bytes, buffer->bytes + length, buffer->used);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void open_sinks(struct io *io)
{
	for (int i = 0; i < 2; i++) {
		struct stat st;

		io->sinks[i].fd = i == 0 ? 1 : io->error_fd;
		/* poll guarantees room for this much in a pipe; a file has no such limit. */
		io->sinks[i].chunk = !fstat(io->sinks[i].fd, &st) && S_ISREG(st.st_mode) ? FILE_CHUNK : PIPE_BUF;
	}
}

/* Both streams use one queue if they end in the same file: with two queues, lines would be torn. */
static struct io_sink *sink_of(struct io *io, int out)
{
	struct stat first, second;

	if (out == 1 && !fstat(1, &first) && !fstat(io->error_fd, &second) && same_file(&first, &second))
		return &io->sinks[0];
	return &io->sinks[out];
}

/* Writes at most one chunk, ending at the end of a line where there is one. */
static void write_some(struct io_sink *sink)
{
	size_t length = sink->queue.used < sink->chunk ? sink->queue.used : sink->chunk;
	const char *last = memrchr(sink->queue.bytes, '\n', length);
	ssize_t written;

	if (last)
		length = (size_t)(last - sink->queue.bytes) + 1;
	written = write(sink->fd, sink->queue.bytes, length);
	if (written > 0)
		drop_front(&sink->queue, (size_t)written);
	if (written >= 0 || errno == EAGAIN || errno == EINTR)
		return;
	sink->broken = errno == EPIPE;
	sink->error = sink->broken ? 0 : errno;
	sink->queue.used = 0;
}

static void say_line(void *arg, const char *line, size_t length)
{
	struct io *io = arg;
	struct io_sink *sink = sink_of(io, 1);
	struct pollfd ready = {.fd = sink->fd, .events = POLLOUT};

	append(&sink->queue, line, length);
	/* oshrun's own lines should not wait for the next round. */
	while (sink->queue.used && poll(&ready, 1, 0) == 1)
		write_some(sink);
}

bool io_start(struct io *io, const struct options *options, int pes, int error_fd)
{
	io->pes = pes;
	io->reader = options->debug >= 0 ? options->debug : 0;
	io->label = options->label;
	io->timestamp = options->timestamp;
	io->pumping = io->label || io->timestamp;
	io->folder = options->output;
	io->label_width = snprintf(NULL, 0, "%d", pes - 1);
	io->typing_fd = -1;
	io->error_fd = error_fd;
	io->null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	io->streams = calloc(io->pumping ? 2 * (size_t)pes : 1, sizeof *io->streams);
	if (!io->streams) {
		say("out of memory");
		return false;
	}
	if (io->folder && mkdir(io->folder, 0777) && errno != EEXIST) {
		say("--output %s: the folder cannot be made: %s", io->folder, strerror(errno));
		return false;
	}
	if (io->pumping) {
		open_sinks(io);
		say_through(say_line, io);
	}
	return true;
}

static bool open_stream(struct io *io, int pe, int out, int *child_end)
{
	struct io_stream *stream = &io->streams[io->stream_count];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	stream->fd = ends[0];
	stream->pe = pe;
	stream->sink = sink_of(io, out);
	io->stream_count++;
	*child_end = ends[1];
	return true;
}

static bool open_typing(struct io *io, int *child_end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	*child_end = ends[0];
	io->typing_fd = ends[1];
	return true;
}

static bool open_output_file(struct io *io, int pe, int *fd)
{
	char *path;

	if (asprintf(&path, "%s/pe.%0*d", io->folder, io->label_width, pe) < 0)
		return false;
	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	free(path);
	return *fd >= 0;
}

bool io_child_files(struct io *io, int pe, int fds[3])
{
	fds[0] = pe == io->reader ? 0 : io->null_fd;
	fds[1] = 1;
	fds[2] = io->error_fd;
	if (pe == io->reader && isatty(0) && !open_typing(io, &fds[0]))
		return false;
	if (io->folder) {
		if (!open_output_file(io, pe, &fds[1]))
			return false;
		fds[2] = fds[1];
	}
	return !io->pumping || (open_stream(io, pe, 0, &fds[1]) && open_stream(io, pe, 1, &fds[2]));
}

void io_child_started(struct io *io, int fds[3])
{
	for (int i = 0; i < 3; i++)
		if (fds[i] > 2 && fds[i] != io->null_fd && fds[i] != io->error_fd && (i != 2 || fds[2] != fds[1]))
			close(fds[i]);
}

/* Adds one whole line with its prefix to the queue. */
static void queue_line(struct io *io, struct io_stream *stream, const char *text, size_t length)
{
	struct io_sink *sink = stream->sink;
	char prefix[96];
	size_t used = 0;

	if (sink->broken || sink->error)
		return;
	if (io->timestamp) {
		struct timespec now;
		struct tm day;

		clock_gettime(CLOCK_REALTIME, &now);
		localtime_r(&now.tv_sec, &day);
		used += strftime(prefix, sizeof prefix, "%Y-%m-%d %H:%M:%S", &day);
		used += (size_t)snprintf(prefix + used, sizeof prefix - used, ".%03ld ", now.tv_nsec / 1000000);
	}
	if (io->label)
		used += (size_t)snprintf(prefix + used, sizeof prefix - used, "[%*d] ", io->label_width, stream->pe);
	if (append(&sink->queue, prefix, used) && append(&sink->queue, text, length))
		append(&sink->queue, "\n", 1);
}

static void queue_lines(struct io *io, struct io_stream *stream)
{
	char *text = stream->line.bytes;
	size_t left = stream->line.used;
	char *end;

	while ((end = memchr(text, '\n', left))) {
		queue_line(io, stream, text, (size_t)(end - text));
		left -= (size_t)(end - text) + 1;
		text = end + 1;
	}
	if (left >= LONGEST_LINE) {
		queue_line(io, stream, text, left);
		left = 0;
	}
	memmove(stream->line.bytes, text, left);
	stream->line.used = left;
}

static void close_stream(struct io *io, struct io_stream *stream)
{
	if (stream->line.used)
		queue_line(io, stream, stream->line.bytes, stream->line.used);
	close(stream->fd);
	stream->fd = -1;
	free(stream->line.bytes);
	memset(&stream->line, 0, sizeof stream->line);
}

/* Returns false if there is nothing to read now. */
static bool read_stream(struct io *io, struct io_stream *stream)
{
	static char bytes[READ_SIZE];
	ssize_t got = read(stream->fd, bytes, sizeof bytes);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	/*
	 * When the reader has gone, as head does after some lines, the PEs get SIGPIPE as if they
	 * wrote there directly.
	 */
	if (got <= 0 || stream->sink->broken || !append(&stream->line, bytes, (size_t)got)) {
		close_stream(io, stream);
		return false;
	}
	queue_lines(io, stream);
	return true;
}

static void stop_typing(struct io *io)
{
	close(io->typing_fd);
	io->typing_fd = -1;
	io->typed.used = 0;
}

/* Reads the terminal for PE 0. */
static void read_typing(struct io *io)
{
	char bytes[4096];
	ssize_t got = read(0, bytes, sizeof bytes);

	if (got > 0)
		append(&io->typed, bytes, (size_t)got);
	else if (got == 0 || (errno != EAGAIN && errno != EINTR))
		stop_typing(io);
}

static void write_typing(struct io *io)
{
	ssize_t written = write(io->typing_fd, io->typed.bytes, io->typed.used);

	if (written > 0)
		drop_front(&io->typed, (size_t)written);
	else if (errno != EAGAIN && errno != EINTR)
		stop_typing(io);
}

int io_poll_most(const struct io *io)
{
	return io->stream_count + 4;
}

int io_poll(struct io *io, struct pollfd *fds)
{
	int n = 0;

	for (int i = 0; i < io->stream_count; i++)
		if (io->streams[i].fd >= 0 && io->streams[i].sink->queue.used < FULL_QUEUE)
			fds[n++] = (struct pollfd){.fd = io->streams[i].fd, .events = POLLIN};
	for (int i = 0; i < 2; i++)
		if (io->sinks[i].queue.used)
			fds[n++] = (struct pollfd){.fd = io->sinks[i].fd, .events = POLLOUT};
	if (io->typing_fd < 0)
		return n;
	/* Polling without output reports that PE 0 has closed its end. */
	fds[n++] = (struct pollfd){.fd = io->typing_fd, .events = io->typed.used ? POLLOUT : 0};
	/* In the background, reading the terminal would stop oshrun. */
	if (!io->typed.used && tcgetpgrp(0) == getpgrp())
		fds[n++] = (struct pollfd){.fd = 0, .events = POLLIN};
	return n;
}

static void handle_streams(struct io *io, const struct pollfd *fds, int count)
{
	int at = 0;

	/* The entries are in the order of the streams, without the closed ones. */
	for (int i = 0; i < io->stream_count && at < count; i++) {
		if (io->streams[i].fd != fds[at].fd)
			continue;
		if (fds[at++].revents)
			read_stream(io, &io->streams[i]);
	}
}

void io_handle(struct io *io, const struct pollfd *fds, int count)
{
	handle_streams(io, fds, count);
	for (int i = 0; i < count; i++) {
		if (!fds[i].revents)
			continue;
		for (int k = 0; k < 2; k++)
			if (fds[i].fd == io->sinks[k].fd && io->sinks[k].queue.used)
				write_some(&io->sinks[k]);
		if (io->typing_fd >= 0 && fds[i].fd == 0)
			read_typing(io);
		else if (io->typing_fd >= 0 && fds[i].fd == io->typing_fd && io->typed.used)
			write_typing(io);
		else if (io->typing_fd >= 0 && fds[i].fd == io->typing_fd)
			stop_typing(io);
	}
}

void io_drain(struct io *io)
{
	if (io->typing_fd >= 0)
		stop_typing(io);
	for (int i = 0; i < io->stream_count; i++) {
		while (io->streams[i].fd >= 0 && read_stream(io, &io->streams[i]))
			;
		if (io->streams[i].fd >= 0)
			close_stream(io, &io->streams[i]);
	}
}

bool io_is_whole(struct io *io)
{
	bool whole = true;

	for (int i = 0; i < 2; i++) {
		struct io_sink *sink = &io->sinks[i];

		whole = whole && !sink->error;
		if (!sink->error || sink->reported)
			continue;
		sink->reported = true;
		say("the PEs' %s output is lost from here on: it cannot be written (%s)", i == 0 ? "standard" : "error",
		    strerror(sink->error));
	}
	return whole;
}

bool io_unwritten(const struct io *io)
{
	return io->sinks[0].queue.used || io->sinks[1].queue.used;
}

void io_stop(struct io *io)
{
	say_through(NULL, NULL);
	for (int i = 0; i < 2; i++)
		free(io->sinks[i].queue.bytes);
	free(io->typed.bytes);
	free(io->streams);
	close(io->null_fd);
}
