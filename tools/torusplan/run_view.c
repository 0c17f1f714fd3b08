/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of SHMEM_TRACE as a page that draws the torus and the load of its links over time. The
 * page contains the trace, does the rest in the browser, and needs no network.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/shape.h"
#include "rte/text/text.h"
#include "torusplan.h"

#define LARGEST_TRACE (4UL << 30)

static const char page[] =
#include "tools/torusplan/view_page.h"
	;

static char *read_all(const char *name)
{
	char problem[TORUS_PROBLEM], *text = text_of_large_file(name, LARGEST_TRACE, problem, sizeof problem);

	if (!text)
		say("%s: %s", name, problem);
	return text;
}

/* Do all brackets outside of strings close? In a truncated file they do not. */
static bool is_whole(const char *text)
{
	long depth = 0;
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '\\' && quoted && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted)
			depth += (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
	}
	return depth == 0 && !quoted;
}

/* The trace names the torus of the job. */
static bool has_torus(const char *text)
{
	const char *torus = strstr(text, "\"name\":\"torus\""), *shape = torus ? strstr(torus, "\"shape\":\"") : NULL;
	char word[TORUS_TEXT], problem[TORUS_PROBLEM];
	struct torus_shape read;
	size_t length;

	if (!shape)
		return false;
	shape += strlen("\"shape\":\"");
	length = strcspn(shape, "\"");
	if (length >= sizeof word)
		return false;
	memcpy(word, shape, length);
	word[length] = '\0';
	return torus_shape_read(&read, word, problem);
}

/* In a script element, "</" would end it; JSON allows a backslash before the slash. */
static void write_page(FILE *file, const char *trace)
{
	const char *mark = strstr(page, "@TRACE@");

	fwrite(page, 1, (size_t)(mark - page), file);
	for (; *trace; trace++) {
		if (trace[0] == '<' && trace[1] == '/')
			fputs("<\\", file);
		else
			fputc(*trace, file);
	}
	fputs(mark + strlen("@TRACE@"), file);
}

static void name_page(char *name, size_t size, const char *trace)
{
	size_t length = strlen(trace);

	if (length > 5 && !strcmp(trace + length - 5, ".json"))
		length -= 5;
	snprintf(name, size, "%.*s.html", (int)length, trace);
}

int run_view(const char *const value[OPTIONS])
{
	char *trace, name[4096];
	FILE *file;
	bool written;

	if (!value[OPT_TRACE])
		return say("view needs the trace: torusplan view TRACE.json");
	trace = read_all(value[OPT_TRACE]);
	if (!trace)
		return FAILED;
	if (trace[0] == '{' && is_whole(trace) && strstr(trace, "\"name\":\"joined\"")) {
		free(trace);
		return say(
			"%s is of a job that ended early, and does not say on which torus it ran; open it with Perfetto",
			value[OPT_TRACE]);
	}
	if (trace[0] != '{' || !is_whole(trace) || !has_torus(trace)) {
		free(trace);
		return say("%s is no whole trace of SHMEM_TRACE", value[OPT_TRACE]);
	}
	name_page(name, sizeof name, value[OPT_TRACE]);
	file = fopen(value[OPT_OUTPUT] ? value[OPT_OUTPUT] : name, "w");
	if (file)
		write_page(file, trace);
	written = file && !ferror(file);
	written = file && fclose(file) == 0 && written;
	free(trace);
	if (!written) {
		say("%s: %s", value[OPT_OUTPUT] ? value[OPT_OUTPUT] : name, strerror(errno));
		return FAILED;
	}
	printf("%s\n", value[OPT_OUTPUT] ? value[OPT_OUTPUT] : name);
	return 0;
}
