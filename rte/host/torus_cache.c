/* SPDX-License-Identifier: BSD-3-Clause */
#include "torus_cache.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ports.h"

#define SECONDS 3600
#define PREFIX "torus-"

/* The folder. Returns false if no folder is possible. */
static bool cache_folder(char path[PATH_MAX], bool make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int length;

	if (cache && cache[0] == '/')
		length = snprintf(path, PATH_MAX, "%s", cache);
	else if (home && home[0] == '/')
		length = snprintf(path, PATH_MAX, "%s/.cache", home);
	else
		return false;
	if (length > PATH_MAX - NAME_MAX - 32)
		return false;
	if (make && mkdir(path, 0700) && errno != EEXIST)
		return false;
	strcat(path, "/torushmem");
	return !make || !mkdir(path, 0700) || errno == EEXIST;
}

static bool cache_path(const struct hosts *hosts, char path[PATH_MAX], bool make)
{
	uint64_t name = PORTS_NO_STATE;
	size_t length;

	if (!cache_folder(path, make))
		return false;
	for (size_t h = 0; h < hosts->names.count; h++)
		name = ports_hash(name, hosts->names.list[h]);
	length = strlen(path);
	snprintf(path + length, PATH_MAX - length, "/" PREFIX "%016llx", (unsigned long long)name);
	return true;
}

/* Is this host's state in the line? */
static bool state_is_listed(char *line, unsigned long long state)
{
	char *rest = line, *word, *end;

	while ((word = strsep(&rest, " \n"))) {
		char *sign = strrchr(word, '=');

		if (!sign || strtoull(sign + 1, &end, 16) != state)
			continue;
		*sign = '\0';
		if (hosts_is_here(word))
			return true;
	}
	return false;
}

/*
 * The second line, if the file is the user's own, is recent, and matches this host's state. The
 * caller frees it.
 */
static char *read_file(const char *path, time_t *written)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *states = NULL;
	size_t size = 0, states_size = 0;
	unsigned long long writer, state;
	struct stat status;
	bool good;

	if (!file)
		return NULL;
	good = !fstat(fileno(file), &status) && status.st_uid == geteuid() && time(NULL) - status.st_mtime < SECONDS &&
	       fscanf(file, "%llx", &writer) == 1 && fgetc(file) == '\n' && getline(&line, &size, file) > 0;
	if (good) {
		state = ports_state();
		good = state == writer || (getline(&states, &states_size, file) > 0 && state_is_listed(states, state));
		*written = status.st_mtime;
	}
	fclose(file);
	free(states);
	if (!good) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\n")] = '\0';
	return line;
}

char *torus_cache_read(const struct hosts *hosts)
{
	char path[PATH_MAX];
	time_t written;

	return cache_path(hosts, path, false) ? read_file(path, &written) : NULL;
}

char *torus_cache_search(bool (*fits)(const char *line, const void *argument), const void *argument)
{
	char path[PATH_MAX], *best = NULL;
	DIR *folder = cache_folder(path, false) ? opendir(path) : NULL;
	size_t length = strlen(path);
	time_t written, best_written = 0;
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char *line;

		/* A name with a dot is a file that is still being written. */
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 || strchr(entry->d_name, '.'))
			continue;
		snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name);
		line = read_file(path, &written);
		if (line && written >= best_written && fits(line, argument)) {
			free(best);
			best = line;
			best_written = written;
		} else {
			free(line);
		}
	}
	if (folder)
		closedir(folder);
	return best;
}

/* Under a temporary name first, so that no process reads a part of it. */
void torus_cache_write(const struct hosts *hosts, const uint64_t *state, const char *line)
{
	char path[PATH_MAX], new_path[PATH_MAX + 32];
	FILE *file;
	bool good;

	if (!cache_path(hosts, path, true))
		return;
	snprintf(new_path, sizeof new_path, "%s.%ld", path, (long)getpid());
	file = fopen(new_path, "we");
	if (!file)
		return;
	fprintf(file, "%016llx\n%s\n", (unsigned long long)ports_state(), line);
	for (size_t h = 0; h < hosts->names.count; h++)
		if (state[h])
			fprintf(file, "%s=%016llx ", hosts->names.list[h], (unsigned long long)state[h]);
	good = fputc('\n', file) != EOF && !ferror(file);
	if (fclose(file) || !good || rename(new_path, path))
		unlink(new_path);
}
