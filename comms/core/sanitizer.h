/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SANITIZER_H
#define COMMS_SANITIZER_H

/*
 * In a program built with -fsanitize=thread the sanitizer sees this library's copies, but not the
 * atomics that order them. Accesses of a thread for other PEs between these two calls are not
 * reported as races with the program's accesses.
 */
#ifdef __SANITIZE_THREAD__
#define SANITIZER_IGNORE() ((void)0)
#define SANITIZER_HEED() ((void)0)
#else
void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

#define SANITIZER_IGNORE()                                             \
	do {                                                           \
		if (AnnotateIgnoreReadsBegin) {                        \
			AnnotateIgnoreReadsBegin(__FILE__, __LINE__);  \
			AnnotateIgnoreWritesBegin(__FILE__, __LINE__); \
		}                                                      \
	} while (0)
#define SANITIZER_HEED()                                             \
	do {                                                         \
		if (AnnotateIgnoreReadsEnd) {                        \
			AnnotateIgnoreWritesEnd(__FILE__, __LINE__); \
			AnnotateIgnoreReadsEnd(__FILE__, __LINE__);  \
		}                                                    \
	} while (0)
#endif

#endif
