/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=1,3 paths=local,ucx-tcp,hosts not=tsan */
/*
 * Global data is shared between PEs, but not between a PE and its children; and a child's end is
 * not the PE's.
 */
#include <spawn.h>
#include <sys/wait.h>

#include "tests/lib/check.h"

extern char **environ;
static long word = 5, untouched[3000];
static char text[] = "mine";

static void expect_end(pid_t child, int code)
{
	int status = -1;

	CHECK(child > 0);
	CHECK(waitpid(child, &status, 0) == child);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != code)
		check_failed(__FILE__, __LINE__, "child's status: got 0x%x, expected exit code %d", status, code);
}

/* A child sees what was there, changes it, and the parent sees nothing of that. */
static void check_copy(bool by_exit)
{
	pid_t child;

	word = 5;
	strcpy(text, "mine");
	fflush(NULL);
	child = fork();
	if (child == 0) {
		bool good = word == 5 && !strcmp(text, "mine");

		word = 6;
		strcpy(text, "his");
		memset(untouched, 1, sizeof untouched);
		if (by_exit)
			exit(good ? 3 : 4); /* runs the library's exit handlers, which do nothing */
		_exit(good ? 3 : 4);
	}
	expect_end(child, 3);
	CHECK_EQUAL(word, 5);
	CHECK(!strcmp(text, "mine"));
	CHECK_FILL(untouched, 0, sizeof untouched);
}

/*
 * While the child lives, the parent's globals stay reachable for other PEs; the child's are its
 * own.
 */
static void check_alive(void)
{
	int down[2], status;
	char byte = 0;
	pid_t child;

	CHECK(pipe(down) == 0);
	word = 5;
	shmem_barrier_all();
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		close(down[1]);
		status = read(down[0], &byte, 1) == 1 && word == 5 ? 0 : 1;
		_exit(status);
	}
	close(down[0]);
	shmem_barrier_all(); /* all children have their copies */
	shmem_long_p(&word, 70 + me, (me + 1) % npes);
	shmem_barrier_all();
	CHECK_EQUAL(word, 70 + (me + npes - 1) % npes);
	CHECK(write(down[1], "x", 1) == 1);
	close(down[1]);
	expect_end(child, 0);
	shmem_barrier_all();
}

static void check_commands(void)
{
	char answer[32] = "", *const arguments[] = {"true", NULL};
	FILE *pipe_in;
	pid_t child = -1;

	word = 11;
	CHECK_EQUAL(system("exit 7") >> 8, 7);
	pipe_in = popen("echo from a child", "r");
	CHECK(pipe_in && fgets(answer, sizeof answer, pipe_in));
	CHECK(!strcmp(answer, "from a child\n"));
	CHECK_EQUAL(pclose(pipe_in), 0);
	CHECK_EQUAL(posix_spawnp(&child, "true", NULL, NULL, arguments, environ), 0);
	expect_end(child, 0);
	CHECK_EQUAL(word, 11);
}

int main(void)
{
	begin();
	check_copy(false);
	check_copy(true);
	check_alive();
	check_commands();
	shmem_barrier_all();
	shmem_long_p(&word, 1000 + me, (me + 1) % npes); /* and the job goes on */
	shmem_barrier_all();
	CHECK_EQUAL(word, 1000 + (me + npes - 1) % npes);
	return end();
}
