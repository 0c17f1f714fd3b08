/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void plain_flush(struct plain_text *text)
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

static void put_bytes(struct plain_text *text, const char *bytes, size_t length)
{
	if (text->used + length > sizeof text->buffer)
		plain_flush(text);
	memcpy(text->buffer + text->used, bytes, length);
	text->used += length;
}

static void put_number(struct plain_text *text, uint64_t number, int least_digits)
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

static void put_address(struct plain_text *text, uintptr_t address)
{
	int digits = 1;

	while (digits < 16 && address >> (4 * digits))
		digits++;
	put_bytes(text, "0x", 2);
	while (digits-- > 0)
		put_bytes(text, &"0123456789abcdef"[address >> (4 * digits) & 15], 1);
}

static uint64_t put_sign(struct plain_text *text, int64_t number)
{
	if (number < 0)
		put_bytes(text, "-", 1);
	return number < 0 ? -(uint64_t)number : (uint64_t)number;
}

static void put_time(struct plain_text *text, int64_t nanoseconds)
{
	uint64_t size = put_sign(text, nanoseconds);

	put_number(text, size / 1000, 1);
	put_bytes(text, ".", 1);
	put_number(text, size % 1000, 3);
}

void plain_put(struct plain_text *text, const char *format, ...)
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
		case 'x': put_address(text, va_arg(arguments, uintptr_t)); break;
		case 'd': put_number(text, put_sign(text, va_arg(arguments, int)), 1); break;
		case 'l': put_number(text, put_sign(text, va_arg(arguments, int64_t)), 1); break;
		case 't': put_time(text, va_arg(arguments, int64_t)); break;
		}
	}
	va_end(arguments);
}
