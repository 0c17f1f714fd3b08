/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * survivor FOLDER PHASE VICTIM SIGNAL MICROSECONDS BOUND: one PE of a job without a launcher, of
 * which a PE is killed or stopped so long after a phase begins. tests/survive starts it, reads the
 * lines that it prints, and hands out what is in FOLDER. A survivor finalizes the broken job, fills
 * memory that it got back, becomes a PE of a smaller job of the survivors, and looks at the memory
 * again.
 *
 * survivor FOLDER again RANK SIZE STARTS: jobs of two, of which each loses PE 1; PE 0 is the same
 * process in all of them.
 */
#include <dirent.h>
#include <pthread.h>
#include <shmemx.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define WORDS 4096
#define BROUGHT ((size_t)4 << 20)
#define PATTERN 0x5a

static const char *folder, *phase;
static int rank, victim, number, delay_us;
static double bound;
static long *target, *source, *sum, lock_word;
static long private_words[8][WORDS]; /* gets may still write here when the job breaks */
static char *brought;
static bool fault_comes;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A line for tests/survive, in one write. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[2048];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof line - 1, format, arguments);
	va_end(arguments);
	line[length++] = '\n';
	if (write(STDOUT_FILENO, line, (size_t)length) != length)
		_exit(40);
}

_Noreturn __attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	say("wrong %s", text);
	_exit(41);
}

/* --- Files of the folder --- */

static void file_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *data, size_t bytes)
{
	char path[512], made[512];
	FILE *file;

	file_path(path, sizeof path, name);
	file_path(made, sizeof made, "made");
	file = fopen(made, "w");
	if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) || rename(made, path))
		fail("%s cannot be written", path);
}

static size_t read_file(const char *name, void *data, size_t bytes)
{
	char path[512];
	FILE *file = NULL;

	file_path(path, sizeof path, name);
	for (double end = now() + 60; !(file = fopen(path, "r"));) {
		if (now() > end)
			fail("%s has not come", path);
		usleep(1000);
	}
	bytes = fread(data, 1, bytes, file);
	fclose(file);
	return bytes;
}

/* --- The fault --- */

static void *strike(void *delay)
{
	usleep(*(useconds_t *)delay);
	say("struck %.6f", now());
	raise(number);
	return NULL;
}

/* The phase begins, in which the victim is struck a little later. */
static void begin_fault(void)
{
	static useconds_t delay;
	pthread_t thread;

	if (rank != victim || fault_comes)
		return;
	fault_comes = true;
	delay = (useconds_t)delay_us;
	if (pthread_create(&thread, NULL, strike, &delay) || pthread_detach(thread))
		fail("no thread");
}

static bool is_broken(void)
{
	return shmemx_error(NULL) != SHMEMX_ERROR_NONE;
}

/* --- What the job does when it is struck --- */

static void put_and_get(int me, int n)
{
	for (int i = 0; i < 8 && !is_broken(); i++) {
		int pe = (me + 1 + i % (n > 1 ? n - 1 : 1)) % n;

		shmem_putmem_nbi(target, source, sizeof(long) * WORDS, pe);
		shmem_getmem_nbi(private_words[i], target, sizeof(long) * WORDS, pe);
		shmem_putmem_nbi(brought + (size_t)i * 32768, source, sizeof(long) * WORDS, pe);
		shmem_long_atomic_add(&target[WORDS - 1], 1, pe);
		if (shmem_long_g(target, pe) == -1)
			fail("a word is -1");
	}
	shmem_quiet();
}

static void collectives(void)
{
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, target, source, WORDS);
	shmem_broadcastmem(SHMEM_TEAM_WORLD, target, source, sizeof(long) * WORDS, 0);
	shmem_alltoallmem(SHMEM_TEAM_WORLD, target, source, 1024);
	shmem_fcollectmem(SHMEM_TEAM_WORLD, target, source, 1024);
	shmem_sync(SHMEM_TEAM_WORLD);
	shmem_barrier_all();
}

static void plans(void)
{
	static shmemx_plan_t plan = SHMEMX_PLAN_INVALID;

	if (plan == SHMEMX_PLAN_INVALID && shmemx_allreduce_init(SHMEM_TEAM_WORLD, target, source, WORDS, SHMEMX_LONG,
								 SHMEMX_SUM, SHMEMX_PLAN_AUTO, &plan)) {
		if (!is_broken())
			fail("no plan");
		return;
	}
	shmemx_plan_start(plan);
	shmemx_plan_wait(plan);
}

static void exchange(int me, int n)
{
	static shmemx_exchange_t made = SHMEMX_EXCHANGE_INVALID;
	shmemx_edge_t edges[2] = {{(me + 1) % n, 1, 32768, 32768, 0}, {(me + n - 1) % n, 0, 32768, 32768, 0}};

	if (made == SHMEMX_EXCHANGE_INVALID && shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &made)) {
		if (!is_broken())
			fail("no exchange");
		return;
	}
	for (int edge = 0; edge < 2; edge++)
		shmemx_exchange_send(made, edge, source, 32768);
	for (int edge = 0; edge < 2; edge++) {
		size_t bytes = 0;

		shmemx_exchange_wait(made, edge, &bytes);
		shmemx_exchange_release(made, edge);
	}
}

static void locks(void)
{
	shmem_set_lock(&lock_word);
	shmem_long_p(target, 3, 0);
	shmem_clear_lock(&lock_word);
}

static void work_once(int me, int n)
{
	if (!strcmp(phase, "puts"))
		put_and_get(me, n);
	else if (!strcmp(phase, "collectives"))
		collectives();
	else if (!strcmp(phase, "plans"))
		plans();
	else if (!strcmp(phase, "exchange"))
		exchange(me, n);
	else if (!strcmp(phase, "locks"))
		locks();
	else if (!strcmp(phase, "waits"))
		shmem_long_wait_until(&sum[1], SHMEM_CMP_EQ, -5);
	else
		shmem_barrier_all();
}

/* --- The first job --- */

static void allocate(void)
{
	shmemx_heap_t heap;

	target = shmem_calloc(2 * WORDS, sizeof *target);
	source = shmem_calloc(2 * WORDS, sizeof *source);
	sum = shmem_calloc(4, sizeof *sum);
	brought = mmap(NULL, BROUGHT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (brought == MAP_FAILED)
		fail("no memory");
	if (shmemx_heap_create_in(brought, BROUGHT, &heap) && !is_broken())
		fail("no heap in memory of the program");
	if (!is_broken() && (!target || !source || !sum))
		fail("no memory in a job that is whole");
}

static void report_error(const char *where)
{
	shmemx_error_t error;
	int kind = shmemx_error(&error);

	say("broken %.6f %s %d %d %s %s", now(), where, kind, error.pe, error.routine ? error.routine : "-",
	    error.message);
}

static void run_first(void)
{
	shmemx_init_attr_t attr = {.threads = SHMEM_THREAD_SERIALIZED,
				   .errors = SHMEMX_ERRORS_RETURN,
				   .silence = bound};
	int me, n;

	if (!strcmp(phase, "start"))
		begin_fault();
	if (shmemx_init_attr(&attr)) {
		if (shmemx_error(NULL) == SHMEMX_ERROR_NONE)
			fail("a start failed without an error");
		report_error("start");
		say("finalized %.6f 0", now());
		return;
	}
	me = shmem_my_pe(), n = shmem_n_pes();
	if (me != rank)
		fail("rank %d is PE %d", rank, me);
	allocate();
	if (!is_broken())
		shmem_barrier_all();
	begin_fault();
	if (!strcmp(phase, "finalize"))
		usleep((useconds_t)(rank * 700)); /* in turn */
	else
		while (!is_broken())
			work_once(me, n);
	if (is_broken())
		report_error("work");
	double begun = now();
	shmem_finalize();
	if (!strcmp(phase, "finalize"))
		report_error("finalize");
	say("finalized %.6f %.6f", now(), now() - begun);
}

/* --- Memory that the program got back --- */

static void fill_memory(void)
{
	memset(private_words, PATTERN, sizeof private_words);
	if (brought)
		memset(brought, PATTERN, BROUGHT);
}

static void check_memory(void)
{
	const char *bytes = (const char *)private_words;

	for (size_t i = 0; i < sizeof private_words; i++)
		if (bytes[i] != PATTERN)
			fail("byte %zu of a private array was written after shmem_finalize", i);
	for (size_t i = 0; brought && i < BROUGHT; i++)
		if (brought[i] != PATTERN)
			fail("byte %zu of memory of the program was written after shmem_finalize", i);
}

/* --- The job of the survivors --- */

static void check_data(void)
{
	int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
	long *words = shmem_calloc(WORDS, sizeof *words), *in = shmem_calloc(WORDS, sizeof *in);

	if (!words || !in)
		fail("no memory in the next job");
	for (int i = 0; i < WORDS; i++)
		in[i] = me * 7 + i;
	shmem_putmem(words, in, sizeof *in * WORDS, next);
	shmem_barrier_all();
	for (int i = 0; i < WORDS; i++)
		if (words[i] != (me + n - 1) % n * 7 + i)
			fail("the next job: word %d is %ld", i, words[i]);
	shmem_sync_all();
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, words, in, WORDS);
	for (int i = 0; i < WORDS; i++)
		if (words[i] != 7L * n * (n - 1) / 2 + (long)n * i)
			fail("the next job: sum %d is %ld", i, words[i]);
	shmem_free(in);
	shmem_free(words);
}

/* tests/survive writes the ranks of all survivors into the file `next`. */
static bool find_place(int *place, int *count)
{
	char text[64] = "";
	bool is_in = false;

	read_file("next", text, sizeof text - 1);
	*count = 0;
	for (char *rest = text, *word; (word = strtok_r(rest, " \n", &rest)); ++*count)
		if (atoi(word) == rank) {
			*place = *count;
			is_in = true;
		}
	return is_in;
}

static void start_by_id(int pe, int n, const char *name, bool makes)
{
	shmemx_unique_id_t id;
	shmemx_init_attr_t attr = {.rank = pe,
				   .size = n,
				   .id = &id,
				   .threads = SHMEM_THREAD_SERIALIZED,
				   .errors = SHMEMX_ERRORS_RETURN,
				   .silence = 10};

	if (makes && shmemx_get_unique_id(&id))
		fail("no id");
	if (makes)
		write_file(name, &id, sizeof id);
	else if (read_file(name, &id, sizeof id) != sizeof id)
		fail("half an id");
	if (shmemx_init_attr(&attr)) {
		report_error("next");
		fail("the next job does not start");
	}
}

/* On the path cables-ring, the PEs are the ring. */
static void set_ring(int n)
{
	char text[16];

	snprintf(text, sizeof text, "%d", n);
	if (getenv("SHMEM_TORUS") && setenv("SHMEM_TORUS", text, 1))
		fail("no memory");
}

static void run_next(void)
{
	int place, count;

	if (!find_place(&place, &count)) {
		say("left");
		return;
	}
	set_ring(count);
	start_by_id(place, count, "id", place == 0);
	check_data();
	shmem_finalize();
	if (is_broken()) {
		report_error("next");
		fail("the next job is broken");
	}
	say("again %d", count);
}

static int run_round(char **argument)
{
	phase = argument[2];
	victim = atoi(argument[3]);
	number = atoi(argument[4]);
	delay_us = atoi(argument[5]);
	bound = atof(argument[6]);
	rank = atoi(getenv("SHMEM_RANK"));
	run_first();
	fill_memory();
	double filled = now();
	run_next();
	while (now() < filled + 1)
		usleep(10000);
	check_memory();
	return 0;
}

/* --- Again and again --- */

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

static long resident_kib(void)
{
	long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		fail("no /proc/self/statm");
	fclose(file);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* The job i, which loses PE 1 when it has checked its data; every other one by PE 1's id. */
static void run_and_lose(int i)
{
	char name[32];
	int waits = 0;
	double lost;

	snprintf(name, sizeof name, "id.%d", i);
	start_by_id(rank, 2, name, rank == i % 2);
	check_data();
	shmem_barrier_all();
	if (rank == 1)
		raise(SIGKILL);
	for (lost = now(); !is_broken(); waits++)
		shmem_barrier_all();
	shmemx_error_t error;
	if (shmemx_error(&error) != SHMEMX_ERROR_LOST || error.pe != 1)
		fail("start %d: %s", i, error.message);
	shmem_finalize();
	say("start %d %.6f %ld", i, now() - lost, resident_kib());
}

static int run_again(char **argument)
{
	int files = 0, threads = 0, starts = atoi(argument[5]), first = atoi(argument[3]);
	long memory = 0;

	rank = first > 0;
	if (rank == 1) {
		run_and_lose(first - 1);
		return 0;
	}
	for (int i = 0; i < starts; i++) {
		run_and_lose(i);
		usleep(10000);
		if (i == starts / 2) { /* by now every library is loaded, and has its arenas */
			files = entries_of("/proc/self/fd");
			threads = entries_of("/proc/self/task");
			memory = resident_kib();
		}
	}
	say("grown %d %d %ld", entries_of("/proc/self/fd") - files, entries_of("/proc/self/task") - threads,
	    resident_kib() - memory);
	return 0;
}

int main(int count, char **argument)
{
	if (count < 6)
		return 2;
	folder = argument[1];
	if (!strcmp(argument[2], "again"))
		return run_again(argument);
	return count < 7 ? 2 : run_round(argument);
}
