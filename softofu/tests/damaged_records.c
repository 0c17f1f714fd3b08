/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damages recordings of runs in every way that comes to mind, and replays them: the replay must
 * say what is wrong or come to its end, and neither crash nor go on forever.
 *
 *     damaged_records REPLAY FOLDER COUNT
 *
 * FOLDER has the recordings. Prints how many of COUNT damaged ones were refused.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softofu/nic/recording.h"

enum { RANKS = 64, SECONDS = 60 };

static struct file {
	struct record *records;
	size_t bytes;
} files[RANKS];
static int count;
static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (state >> 33) % below;
}

static void fail(const char *what, const char *name)
{
	fprintf(stderr, "damaged_records: %s %s\n", what, name);
	exit(1);
}

static void read_files(const char *folder)
{
	char path[4096];
	struct stat is;
	FILE *file;

	for (; count < RANKS; count++) {
		snprintf(path, sizeof path, "%s/" RECORD_FILE, folder, count);
		file = fopen(path, "re");
		if (!file)
			break;
		if (fstat(fileno(file), &is))
			fail("cannot read", path);
		files[count].bytes = (size_t)is.st_size;
		files[count].records = malloc(files[count].bytes + sizeof(struct record));
		if (!files[count].records ||
		    fread(files[count].records, 1, files[count].bytes, file) != files[count].bytes)
			fail("cannot read", path);
		fclose(file);
	}
	if (!count)
		fail("no recordings in", folder);
}

static uint64_t odd_value(uint64_t old)
{
	const uint64_t values[] = {0,
				   1,
				   old + 1,
				   old - 1,
				   UINT64_MAX,
				   UINT64_C(1) << 63,
				   UINT64_C(1) << 32,
				   old ^ UINT64_C(1) << draw(64),
				   draw(4096)};

	return values[draw(sizeof values / sizeof *values)];
}

/* One place of a copy of a file; returns how many bytes it has then. */
static size_t damage(const struct file *file, char *copy)
{
	size_t records = file->bytes / sizeof(struct record), at, other;
	uint64_t word;

	if (!records)
		return 0;
	at = draw(records) * sizeof(struct record);
	other = draw(records) * sizeof(struct record);
	switch (draw(6)) {
	case 0: copy[draw(file->bytes)] ^= (char)(1 << draw(8)); break;
	case 1: memcpy(copy + at, copy + other, sizeof(struct record)); break;
	case 2: memset(copy + at, (int)draw(256), sizeof(struct record)); break;
	case 3: return draw(2) ? draw(file->bytes) : at;
	default:
		at += draw(sizeof(struct record) / sizeof word) * sizeof word;
		memcpy(&word, copy + at, sizeof word);
		word = odd_value(word);
		memcpy(copy + at, &word, sizeof word);
	}
	return file->bytes;
}

static void write_damaged(const char *folder)
{
	int damaged = (int)draw((uint64_t)count);
	int places = 1 + (int)draw(3);
	char path[4096];

	for (int i = 0; i < count; i++) {
		size_t bytes = files[i].bytes;
		char *copy = malloc(bytes + 1);
		FILE *file;

		snprintf(path, sizeof path, "%s/" RECORD_FILE, folder, i);
		file = fopen(path, "we");
		if (!copy || !file)
			fail("cannot write", path);
		memcpy(copy, files[i].records, bytes);
		for (int place = 0; place < places && i == damaged && bytes == files[i].bytes; place++)
			bytes = damage(&files[i], copy);
		fwrite(copy, 1, bytes, file);
		fclose(file);
		free(copy);
	}
}

/* Returns the exit status; fails if the replay did not come to one. */
static int replay(const char *program, const char *folder, int number)
{
	char text[64];
	int status;
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		alarm(SECONDS);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execl(program, program, "--tnis", number % 2 ? "balanced" : "recorded", folder, (char *)NULL);
		_exit(127);
	}
	snprintf(text, sizeof text, "crashed or did not end at damage %d", number);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("cannot start", program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		fail(program, text);
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	char folder[] = "damaged.XXXXXX", path[4096];
	int most = argc == 4 ? atoi(argv[3]) : 0, refused = 0;

	if (argc != 4 || !mkdtemp(folder))
		fail("usage: damaged_records", "REPLAY FOLDER COUNT");
	read_files(argv[2]);
	for (int i = 0; i < most; i++) {
		state = (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
		write_damaged(folder);
		refused += replay(argv[1], folder, i);
	}
	printf("%d of %d refused\n", refused, most);
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/" RECORD_FILE, folder, i);
		unlink(path);
	}
	return rmdir(folder) != 0;
}
