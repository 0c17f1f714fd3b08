/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void trace_flush(struct trace_text *text)
{
	size_t done = 0;

	while (done < text->used && !text->failed) {
		ssize_t written = write(text->file, text->buffer + done, text->used - done);

		if (written > 0)
			done += (size_t)written;
		else if (errno != EINTR)
			text->failed = errno ? errno : EIO;
	}
	text->used = 0;
}

static void put_bytes(struct trace_text *text, const char *bytes, size_t length)
{
	if (text->used + length > sizeof text->buffer)
		trace_flush(text);
	memcpy(text->buffer + text->used, bytes, length);
	text->used += length;
}

static void put_number(struct trace_text *text, uint64_t number, int least_digits)
{
	char digits[24];
	int at = sizeof digits;

	while (number > 0 || least_digits > 0) {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
		least_digits--;
	}
	put_bytes(text, digits + at, sizeof digits - (size_t)at);
}

static uint64_t put_sign(struct trace_text *text, int64_t number)
{
	if (number < 0)
		put_bytes(text, "-", 1);
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

static void put_time(struct trace_text *text, int64_t nanoseconds)
{
	uint64_t size = put_sign(text, nanoseconds);

	put_number(text, size / 1000, 1);
	put_bytes(text, ".", 1);
	put_number(text, size % 1000, 3);
}

void trace_put(struct trace_text *text, const char *format, ...)
{
	va_list arguments;
	const char *word;

	va_start(arguments, format);
	for (const char *p = format; *p; p++) {
		if (*p != '%') {
			put_bytes(text, p, 1);
			continue;
		}
		switch (*++p) {
		case 's':
			word = va_arg(arguments, const char *);
			put_bytes(text, word, strlen(word));
			break;
		case 'd':
			put_number(text, put_sign(text, va_arg(arguments, int)), 1);
			break;
		case 'l':
			put_number(text, put_sign(text, va_arg(arguments, int64_t)), 1);
			break;
		case 't':
			put_time(text, va_arg(arguments, int64_t));
			break;
		}
	}
	va_end(arguments);
}
