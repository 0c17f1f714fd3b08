/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches errors that return: a service of two processes goes on when one of them is lost. This
 * process starts a worker, and both become a job by a unique id. The worker computes squares, until
 * it crashes at the third request. The server says which PE was lost, starts a new worker, becomes
 * a job with that one, and repeats the request.
 *
 *     ./service           (without a launcher)
 *
 * The calls to look at: shmemx_init_attr with errors that return, shmemx_error.
 */
#include <shmemx.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUESTS 5
#define CRASHES_AT 3
#define NO_MORE (-1L)

enum { SERVER, WORKER, PES };

/* The symmetric memory of both. */
struct box {
	long request, answer;
};

/* Both processes of a job call this; an error breaks the job then, and the process goes on. */
static int join(int rank, const shmemx_unique_id_t *id)
{
	shmemx_init_attr_t attr = {.rank = rank, .size = PES, .id = id, .errors = SHMEMX_ERRORS_RETURN, .silence = 10};

	return shmemx_init_attr(&attr);
}

static int work(long crashes_at)
{
	shmemx_unique_id_t id;
	struct box *box;
	long done = 0;

	if (fread(&id, sizeof id, 1, stdin) != 1 || join(WORKER, &id))
		return 1;
	box = shmem_calloc(1, sizeof *box);
	while (box) {
		shmem_long_wait_until(&box->request, SHMEM_CMP_NE, done);
		if (shmemx_error(NULL) || box->request == NO_MORE)
			break;
		done = box->request;
		if (done == crashes_at)
			raise(SIGKILL);
		shmem_long_p(&box->answer, done * done, SERVER);
	}
	shmem_finalize();
	return 0;
}

/* Starts this program once more, and writes the id to its standard input. */
static pid_t start_worker(const char *crashes_at, const shmemx_unique_id_t *id)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		exit(1);
	pid = fork();
	if (pid == 0) {
		dup2(ends[0], STDIN_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl("/proc/self/exe", "service", crashes_at, (char *)NULL);
		_exit(1);
	}
	close(ends[0]);
	if (pid < 0 || write(ends[1], id, sizeof *id) != sizeof *id)
		exit(1);
	close(ends[1]);
	return pid;
}

/* Returns the first request that has no answer. */
static long serve(long request)
{
	struct box *box = shmem_calloc(1, sizeof *box);

	for (; box && request <= REQUESTS; request++) {
		shmem_long_p(&box->request, request, WORKER);
		shmem_long_wait_until(&box->answer, SHMEM_CMP_EQ, request * request);
		if (shmemx_error(NULL))
			return request;
		printf("request %ld: the square is %ld\n", request, box->answer);
	}
	if (box)
		shmem_long_p(&box->request, NO_MORE, WORKER);
	return request;
}

int main(int argc, char **argv)
{
	char crashes_at[16];
	long request = 1;

	if (argc > 1)
		return work(atol(argv[1]));
	for (int worker = 1; request <= REQUESTS; worker++) {
		shmemx_unique_id_t id;
		shmemx_error_t error;
		pid_t pid;

		if (shmemx_get_unique_id(&id))
			return 1;
		snprintf(crashes_at, sizeof crashes_at, "%d", worker == 1 ? CRASHES_AT : 0);
		pid = start_worker(crashes_at, &id);
		if (join(SERVER, &id))
			return 1;
		request = serve(request);
		if (shmemx_error(&error))
			printf("PE %d is lost, worker %d; another one gets request %ld\n", error.pe, worker, request);
		shmem_finalize();
		waitpid(pid, NULL, 0);
	}
	printf("all %d requests have their answers\n", REQUESTS);
	return 0;
}
