/* SPDX-License-Identifier: BSD-3-Clause */
#include "program.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rte/text/text.h"
#include "say.h"

#define NOT_FOUND 127
#define NOT_RUNNABLE 126
#define MOST_CANDIDATES 512

static bool is_runnable(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static char *join_path(const char *folder, size_t length, const char *name)
{
	char *path = NULL;

	if (asprintf(&path, "%.*s/%s", (int)length, folder, name) < 0)
		return NULL;
	return path;
}

/* Searches PATH. An empty part means the current folder, as in shells. */
static char *search_path(const char *name)
{
	const char *part = getenv("PATH");

	if (!part)
		part = "/usr/local/bin:/usr/bin:/bin";
	for (;;) {
		size_t length = strcspn(part, ":");
		char *path = length ? join_path(part, length, name) : join_path(".", 1, name);

		if (path && is_runnable(path))
			return path;
		free(path);
		if (!part[length])
			return NULL;
		part += length + 1;
	}
}

/* The program in the same folder with the most similar name, for "did you mean". */
static char *nearest_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t folder_length = slash ? (size_t)(slash - path) + 1 : 0;
	char *folder = slash ? strndup(path, folder_length) : strdup(".");
	char *names[MOST_CANDIDATES] = {NULL}, *found = NULL;
	const char *nearest;
	size_t count = 0;
	struct dirent *entry;
	DIR *dir = folder ? opendir(folder) : NULL;

	while (dir && count < MOST_CANDIDATES && (entry = readdir(dir))) {
		char *candidate = join_path(folder, strlen(folder), entry->d_name);

		if (candidate && is_runnable(candidate) && (names[count] = strdup(entry->d_name)))
			count++;
		free(candidate);
	}
	if (dir)
		closedir(dir);
	free(folder);
	nearest = text_nearest(base, (const char *const *)names, count);
	if (nearest && asprintf(&found, "%.*s%s", (int)folder_length, path, nearest) < 0)
		found = NULL;
	while (count)
		free(names[--count]);
	return found;
}

static int not_found(const char *name)
{
	const char *where = strchr(name, '/') ? "no such file" : "not in PATH nor in the current folder";
	char *nearest = nearest_file(name);

	if (nearest)
		say("%s: program not found (%s); did you mean %s?", name, where, nearest);
	else
		say("%s: program not found (%s)", name, where);
	free(nearest);
	return NOT_FOUND;
}

int program_failed(const char *name, const char *path, int error)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		say("%s: is a folder, not a program", name);
	else if (error == EACCES)
		say("%s: no permission to execute it; chmod +x it, or check that its disk is not mounted noexec", name);
	else if (error == ENOEXEC)
		say("%s: not in a format this machine executes; built for another machine, or a script without #! "
		    "line?",
		    name);
	else if (error == ENOENT && !access(path, F_OK))
		say("%s: the interpreter it asks for (its #! line, or its loader) does not exist", name);
	else if (error == ENOENT || error == ENOTDIR)
		return not_found(name);
	else if (error == E2BIG)
		say("%s: its arguments and environment are too long for the kernel; shorten them", name);
	else
		say("%s: cannot be executed: %s", name, strerror(error));
	return error == ENOENT && access(path, F_OK) ? NOT_FOUND : NOT_RUNNABLE;
}

/* The path to try if PATH has no such program: below the PEs' folder, otherwise below oshrun's. */
static char *find_here(const char *name, const char *wdir)
{
	char *path = name[0] == '/' || !wdir ? strdup(name) : join_path(wdir, strlen(wdir), name);
	char *absolute;

	if (wdir && path && access(path, F_OK)) {
		free(path);
		path = strdup(name);
	}
	/* Absolute, because the PEs may change folder before they execute it. */
	absolute = wdir && path ? realpath(path, NULL) : NULL;
	if (absolute) {
		free(path);
		return absolute;
	}
	return path;
}

int program_find(const char *name, const char *wdir, char **path)
{
	struct stat st;
	int code;

	*path = strchr(name, '/') ? NULL : search_path(name);
	if (*path && wdir && (*path)[0] != '/') {
		char *absolute = realpath(*path, NULL);

		free(*path);
		*path = absolute;
	}
	if (!*path)
		*path = find_here(name, wdir);
	if (!*path) {
		say("out of memory");
		return 1;
	}
	if (is_runnable(*path))
		return 0;
	if (stat(*path, &st))
		code = program_failed(name, *path, errno);
	else
		code = program_failed(name, *path, S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ? EACCES : ENOEXEC);
	free(*path);
	*path = NULL;
	return code;
}
