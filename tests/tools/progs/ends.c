/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ends PE HOW: this PE ends in a way of its own, before the start, or while the others wait for it;
 * without arguments, all end well.
 */
#include <shmem.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A child that lives longer than this PE; the file `child` has its process number. */
static void leave_child(void)
{
	pid_t child = fork();
	FILE *file;

	if (child == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		sleep(60);
		_exit(0);
	}
	file = fopen("child", "w");
	if (!file || fprintf(file, "%d\n", (int)child) < 0 || fclose(file))
		exit(20);
}

int main(int count, char **argument)
{
	const char *rank = getenv("SHMEM_RANK"), *how = count > 2 ? argument[2] : "";
	int who = count > 2 ? atoi(argument[1]) : -1;

	if (!strcmp(how, "early") && rank && atoi(rank) == who)
		_exit(3);
	shmem_init();
	if (shmem_my_pe() == who) {
		if (!strcmp(how, "forked"))
			leave_child();
		if (!strcmp(how, "killed") || !strcmp(how, "forked"))
			raise(SIGKILL);
		if (!strcmp(how, "exit"))
			exit(7);
		if (!strcmp(how, "_exit"))
			_exit(5);
		if (!strcmp(how, "global"))
			shmem_global_exit(11);
		if (!strcmp(how, "mistake"))
			shmem_int_p((int *)16, 1, 99);
	}
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
