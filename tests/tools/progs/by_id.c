/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * by_id FOLDER RANK SIZE HOW [STARTS]: a job by a unique id that PE 0 hands round in a file, or by
 * an all-gather of files, so many times in one process. HOW has the words id, gather, threads
 * (another thread runs before the start), last (the last PE makes the id), as one text.
 */
#include <dirent.h>
#include <pthread.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder;
static int rank, size, start_number;
static long global = 1;

static char *file_of(int pe)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%d.%d", folder, start_number, pe);
	return path;
}

static void write_file(int pe, const void *data, size_t bytes)
{
	char made[600];
	FILE *file;

	snprintf(made, sizeof made, "%s.made", file_of(pe));
	file = fopen(made, "w");
	if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) || rename(made, file_of(pe)))
		exit(20);
}

static void read_file(int pe, void *data, size_t bytes)
{
	FILE *file = NULL;

	while (!(file = fopen(file_of(pe), "r")))
		usleep(1000);
	if (fread(data, 1, bytes, file) != bytes)
		exit(21);
	fclose(file);
}

static int gather(const void *mine, void *all, size_t bytes, void *arg)
{
	if (arg != &global)
		return 5;
	write_file(rank, mine, bytes);
	for (int pe = 0; pe < size; pe++)
		read_file(pe, (char *)all + (size_t)pe * bytes, bytes);
	return 0;
}

static void start(const char *how)
{
	shmemx_init_attr_t attr = {.rank = rank, .size = size, .threads = SHMEM_THREAD_MULTIPLE};
	shmemx_unique_id_t id;
	int maker = strstr(how, "last") ? size - 1 : 0;

	if (strstr(how, "gather")) {
		attr.all_gather = gather;
		attr.arg = &global;
	} else {
		attr.id = &id;
		if (rank == maker && shmemx_get_unique_id(&id))
			exit(22);
		if (rank == maker)
			write_file(maker, &id, sizeof id);
		else
			read_file(maker, &id, sizeof id);
	}
	if (shmemx_init_attr(&attr))
		exit(23);
}

/* Each PE writes to the next one's heap and, where it is symmetric, global data. */
static void check(int has_globals)
{
	long *word = shmem_calloc(1, sizeof *word);
	int next = (rank + 1) % size, before = (rank + size - 1) % size;

	if (shmem_my_pe() != rank || shmem_n_pes() != size)
		exit(24);
	shmem_long_p(word, 100 + rank, next);
	if (has_globals)
		shmem_long_p(&global, 200 + rank, next);
	shmem_barrier_all();
	if (*word != 100 + before || (has_globals && global != 200 + before))
		exit(25);
	if (shmem_addr_accessible(&global, next) != has_globals)
		exit(26);
	shmem_free(word);
}

static void *sleep_long(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

static int entries_of(const char *path)
{
	DIR *opened = opendir(path);
	int entries = 0;

	while (opened && readdir(opened))
		entries++;
	if (opened)
		closedir(opened);
	return entries;
}

/* Threads and descriptors of the process must not grow; the second start has loaded everything. */
static void compare_with_second(int has_threads)
{
	static int files;

	/* pthread_join returns a little before the kernel takes the thread from this list. */
	for (int looks = 0; entries_of("/proc/self/task") != 3 + has_threads; looks++) {
		if (looks == 1000)
			exit(28);
		usleep(1000);
	}
	if (start_number == 1)
		files = entries_of("/proc/self/fd");
	if (start_number > 1 && entries_of("/proc/self/fd") != files)
		exit(29);
}

int main(int count, char **argument)
{
	int starts = count > 5 ? atoi(argument[5]) : 1, has_threads;
	pthread_t thread;

	if (count < 5)
		return 2;
	folder = argument[1];
	rank = atoi(argument[2]);
	size = atoi(argument[3]);
	has_threads = strstr(argument[4], "threads") != NULL;
	if (has_threads && pthread_create(&thread, NULL, sleep_long, NULL))
		return 27;
	for (; start_number < starts; start_number++) {
		start(argument[4]);
		check(!has_threads);
		shmem_finalize();
		compare_with_second(has_threads);
	}
	return 0;
}
