/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_IO_H
#define OSHRUN_IO_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

/*
 * The standard files of the PEs. Normally the PEs inherit those of oshrun, and their output does
 * not pass through oshrun. With --label or --timestamp the output comes through pipes, line by
 * line. oshrun forwards a terminal's input to PE 0, because a terminal stops a process of another
 * process group that reads from it.
 *
 * A stream is the pipe of one PE's stdout or stderr; a sink is a queue before oshrun's own stdout
 * or stderr. oshrun never blocks in a write, and stops reading while a sink is full: a slow reader
 * slows the PEs, not oshrun.
 */

struct io_buffer {
	char *bytes;
	size_t used;
	size_t size;
};

struct io_stream {
	int fd; /* -1: closed */
	int pe;
	struct io_buffer line; /* the line received so far */
	struct io_sink *sink;
};

struct io_sink {
	int fd;
	bool broken; /* its reader has closed it */
	int error;   /* errno of another write error, 0: none; later output is dropped */
	bool reported;
	size_t chunk; /* most bytes to write at once */
	struct io_buffer queue;
};

struct io {
	bool pumping;
	bool label;
	bool timestamp;
	int label_width;
	const char *folder; /* --output */
	int pes;
	int reader; /* the PE that gets oshrun's stdin: 0, or the debugged one */
	struct io_stream *streams;
	int stream_count;
	struct io_sink sinks[2];
	int null_fd;
	int error_fd;  /* oshrun's stderr, as the user gave it */
	int typing_fd; /* its stdin if oshrun's is a terminal; else -1 */
	struct io_buffer typed;
};

/* Returns false after one line if out of memory or if the folder cannot be made. */
bool io_start(struct io *io, const struct options *options, int pes, int error_fd);

/*
 * The files that a PE gets as 0, 1 and 2. Returns false with errno. io_child_started closes those
 * that only the PE needs.
 */
bool io_child_files(struct io *io, int pe, int fds[3]);
void io_child_started(struct io *io, int fds[3]);

/*
 * io_most: an upper limit of the entries that io_poll fills; io_handle evaluates them after poll().
 */
int io_poll_most(const struct io *io);
int io_poll(struct io *io, struct pollfd *fds);
void io_handle(struct io *io, const struct pollfd *fds, int count);

/* Reads the rest from the pipes. Call it when all PEs have ended. */
void io_drain(struct io *io);

/* Reports lost output once. Returns false if some was lost. */
bool io_is_whole(struct io *io);

/* Is there output that its reader has not taken? */
bool io_unwritten(const struct io *io);

void io_stop(struct io *io);

#endif
