/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors as values. The first error of a job breaks it for good: this file keeps the error, hands
 * it to the other PEs, and wakes whatever waits. rte_when_broken lets the layers above stop.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "rte/text/errors.h"

atomic_bool rte_is_broken_now;

static struct {
	pthread_mutex_t lock;
	bool is_set;
	struct rte_error error;
	void (*when_broken)(void);
} first = {.lock = PTHREAD_MUTEX_INITIALIZER};

void rte_errors_start(enum rte_errors wanted, double silence)
{
	long seconds = 0;

	if (wanted == RTE_ERRORS_DEFAULT)
		wanted = setting_choice(SETTING_ERRORS) == 1 ? RTE_ERRORS_RETURN : RTE_ERRORS_END;
	setting_number(SETTING_SILENCE_SECONDS, &seconds);
	rte.returns_errors = wanted == RTE_ERRORS_RETURN;
	rte.silence_ms = (int64_t)((silence > 0 ? silence : (double)seconds) * 1000);
	pthread_mutex_lock(&first.lock);
	first.is_set = false;
	memset(&first.error, 0, sizeof first.error);
	first.error.pe = -1;
	atomic_store_explicit(&rte_is_broken_now, false, memory_order_seq_cst);
	pthread_mutex_unlock(&first.lock);
}

const struct rte_error *rte_first_error(void)
{
	return atomic_load_explicit(&rte_is_broken_now, memory_order_acquire) ? &first.error : NULL;
}

/* Returns false if the job was broken before. */
static bool keep_error(const struct rte_error *error)
{
	bool is_first;

	pthread_mutex_lock(&first.lock);
	is_first = !first.is_set;
	if (is_first)
		first.error = *error;
	first.is_set = true;
	pthread_mutex_unlock(&first.lock);
	if (!is_first)
		return false;
	atomic_store_explicit(&rte_is_broken_now, true, memory_order_seq_cst);
	return true;
}

static void stop_waits(void)
{
	pthread_mutex_lock(&first.lock);
	if (first.when_broken)
		first.when_broken();
	pthread_mutex_unlock(&first.lock);
}

void rte_take_error(const struct rte_error *error)
{
	if (keep_error(error))
		stop_waits();
}

void rte_when_broken(void (*function)(void))
{
	pthread_mutex_lock(&first.lock);
	first.when_broken = function;
	if (function && first.is_set)
		function();
	pthread_mutex_unlock(&first.lock);
}

void rte_broken_in(const char *routine)
{
	char name[sizeof first.error.routine];

	pthread_mutex_lock(&first.lock);
	if (first.is_set && routine && !first.error.routine[0])
		snprintf(first.error.routine, sizeof first.error.routine, "%s",
			 rte_routine_to_print(routine, name, sizeof name));
	pthread_mutex_unlock(&first.lock);
}

static void break_job(const struct rte_error *error)
{
	if (!keep_error(error))
		return;
	if (rte.connected && rte_provider && rte_provider->tell_error)
		rte_provider->tell_error(error);
	stop_waits();
}

static void break_with(enum rte_error_kind kind, int pe, const char *routine, const char *format, va_list arguments)
{
	struct rte_error error = {.kind = kind, .pe = pe};
	char name[sizeof error.routine];

	rte_make_line(error.message, sizeof error.message, routine, format, arguments);
	if (routine)
		snprintf(error.routine, sizeof error.routine, "%s", rte_routine_to_print(routine, name, sizeof name));
	break_job(&error);
}

void rte_break(enum rte_error_kind kind, int pe, const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!rte.returns_errors)
		rte_die_with(routine, format, arguments);
	break_with(kind, pe, routine, format, arguments);
	va_end(arguments);
}

void rte_misuse(const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!rte.returns_errors)
		rte_die_with(routine, format, arguments);
	break_with(RTE_ERROR_MISUSE, rte.pe, routine, format, arguments);
	va_end(arguments);
}

void rte_misuse_together(const char *routine, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!rte.returns_errors)
		rte_die_together_with(routine, format, arguments);
	break_with(RTE_ERROR_MISUSE, rte.pe, routine, format, arguments);
	va_end(arguments);
}
