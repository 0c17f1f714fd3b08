/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PMIx client that does what its arguments say, one after the other, so that a test can put any
 * mishap at any
 * place of a job:   peer init fence @2:signal=11 fence finalize
 * [@PE:]action[=value]; with @PE: only that PE does it, with !PE: all but that one.
 */
#include <pmix.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pmix_proc_t me;
static pmix_proc_t all;
static int inits;
static volatile sig_atomic_t caught;

static void fail(const char *what, pmix_status_t status)
{
	fprintf(stderr, "peer %s: %s: %s\n", getenv("PMIX_RANK"), what, PMIx_Error_string(status));
	_exit(99);
}

static void check(const char *what, pmix_status_t status)
{
	if (status != PMIX_SUCCESS)
		fail(what, status);
}

static unsigned get_number(const pmix_proc_t *of, const char *key)
{
	pmix_value_t *value = NULL;
	unsigned number = 0;

	check(key, PMIx_Get(of, key, NULL, 0, &value));
	switch (value->type) {
	case PMIX_UINT32: number = value->data.uint32; break;
	case PMIX_UINT16: number = value->data.uint16; break;
	case PMIX_INT: number = (unsigned)value->data.integer; break;
	case PMIX_PROC_RANK: number = value->data.rank; break;
	default: fail(key, PMIX_ERR_TYPE_MISMATCH);
	}
	PMIX_VALUE_RELEASE(value);
	return number;
}

static void do_init(const char *value)
{
	(void)value;
	inits++;
	check("init", PMIx_Init(&me, NULL, 0));
	PMIX_LOAD_PROCID(&all, me.nspace, PMIX_RANK_WILDCARD);
}

/*
 * A job that loses a PE reports that by PMIX_ERR_PARTIAL_SUCCESS; then this PE waits for its end,
 * as a barrier would. It reports, too, when another PE's old connection closes only now, behind the
 * first fence of a PE that has come back already. So who has come back tries again, as the library
 * does.
 */
static void do_fence(const char *value)
{
	const struct timespec between = {0, 10000000};
	pmix_status_t status;

	(void)value;
	for (int tries = inits > 1 ? 1000 : 1; tries > 0; tries--) {
		status = PMIx_Fence(&all, 1, NULL, 0);
		if (status == PMIX_SUCCESS)
			return;
		if (status != PMIX_ERR_PARTIAL_SUCCESS)
			break;
		nanosleep(&between, NULL);
	}
	for (;;)
		pause();
}

/* Every PE publishes a number, and reads everybody's. */
static void do_exchange(const char *value)
{
	bool collect = true;
	pmix_value_t number = {.type = PMIX_INT, .data.integer = 1000 + (int)me.rank};
	pmix_info_t info;
	unsigned size = get_number(&all, PMIX_JOB_SIZE);

	(void)value;
	check("put", PMIx_Put(PMIX_GLOBAL, "number", &number));
	check("commit", PMIx_Commit());
	PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
	check("fence", PMIx_Fence(&all, 1, &info, 1));
	for (unsigned pe = 0; pe < size; pe++) {
		pmix_proc_t of;

		PMIX_LOAD_PROCID(&of, me.nspace, pe);
		if (get_number(&of, "number") != 1000 + pe)
			fail("wrong number", PMIX_ERROR);
	}
}

static void print_text(const pmix_proc_t *of, const char *key, const char *shown)
{
	pmix_value_t *value = NULL;

	check(key, PMIx_Get(of, key, NULL, 0, &value));
	if (value->type != PMIX_STRING)
		fail(key, PMIX_ERR_TYPE_MISMATCH);
	printf(" %s=%s", shown, value->data.string);
	PMIX_VALUE_RELEASE(value);
}

static void do_keys(const char *value)
{
	(void)value;
	printf("size=%u", get_number(&all, PMIX_JOB_SIZE));
	printf(" universe=%u", get_number(&all, PMIX_UNIV_SIZE));
	printf(" local=%u", get_number(&all, PMIX_LOCAL_SIZE));
	printf(" node=%u", get_number(&all, PMIX_NODE_SIZE));
	printf(" nodes=%u", get_number(&all, PMIX_NUM_NODES));
	printf(" rank=%u", get_number(&me, PMIX_GLOBAL_RANK));
	printf(" local_rank=%u", get_number(&me, PMIX_LOCAL_RANK));
	printf(" node_rank=%u", get_number(&me, PMIX_NODE_RANK));
	printf(" app=%u", get_number(&me, PMIX_APPNUM));
	printf(" nodeid=%u", get_number(&me, PMIX_NODEID));
	print_text(&all, PMIX_LOCAL_PEERS, "peers");
	print_text(&me, PMIX_HOSTNAME, "host");
	print_text(&all, PMIX_NSDIR, "folder");
	putchar('\n');
	fflush(stdout);
}

/* value=KEY: what the job's server has under that key, or how many bytes it is. */
static void do_value(const char *key)
{
	pmix_value_t *value = NULL;

	check(key, PMIx_Get(&all, key, NULL, 0, &value));
	if (value->type == PMIX_UINT32)
		printf("%s=%u\n", key, value->data.uint32);
	else if (value->type == PMIX_BYTE_OBJECT)
		printf("%s=%zu bytes\n", key, value->data.bo.size);
	else
		fail(key, PMIX_ERR_TYPE_MISMATCH);
	PMIX_VALUE_RELEASE(value);
	fflush(stdout);
}

static void report_to_oshrun(const char *key, bool value)
{
	pmix_info_t info;

	PMIX_INFO_LOAD(&info, key, &value, PMIX_BOOL);
	check(key, PMIx_Job_control(&me, 1, &info, 1, NULL, NULL));
}

/*
 * up=0, up=1: what the library says in shmem_finalize, and in shmem_init when it has stayed
 * connected.
 */
static void do_up(const char *value)
{
	report_to_oshrun("torushmem.up", atoi(value));
}

/* in_fence=0, in_fence=1: what it says behind a fence, and in front of one. */
static void do_in_fence(const char *value)
{
	report_to_oshrun("torushmem.fence", atoi(value));
}

static void do_finalize(const char *value)
{
	(void)value;
	check("finalize", PMIx_Finalize(NULL, 0));
}

/* abort=STATUS:MESSAGE */
static void do_abort(const char *value)
{
	const char *colon = strchr(value, ':');

	PMIx_Abort(atoi(value), colon ? colon + 1 : "", NULL, 0);
	_exit(77);
}

static void do_signal(const char *value)
{
	raise(atoi(value));
}

static void do_exit(const char *value)
{
	_exit(atoi(value));
}

static void do_sleep(const char *value)
{
	double seconds = atof(value);
	struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	while (nanosleep(&time, &time) && !caught)
		;
}

static void do_print(const char *value)
{
	printf("%s\n", value);
	fflush(stdout);
}

static void catch_signal(int number)
{
	(void)number;
	caught = 1;
}

/* catch=SIGNAL: it only ends a sleep. */
static void do_catch(const char *value)
{
	signal(atoi(value), catch_signal);
}

static void do_ignore(const char *value)
{
	signal(atoi(value), SIG_IGN);
}

static const struct {
	const char *name;
	void (*act)(const char *value);
} actions[] = {
	{"init", do_init},     {"fence", do_fence},	  {"exchange", do_exchange},
	{"keys", do_keys},     {"finalize", do_finalize}, {"abort", do_abort},
	{"signal", do_signal}, {"exit", do_exit},	  {"sleep", do_sleep},
	{"print", do_print},   {"ignore", do_ignore},	  {"value", do_value},
	{"up", do_up},	       {"in_fence", do_in_fence}, {"catch", do_catch},
};

static void act(const char *text)
{
	size_t length = strcspn(text, "=");
	const char *value = text[length] ? text + length + 1 : "";

	for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
		if (strlen(actions[i].name) == length && !strncmp(actions[i].name, text, length)) {
			actions[i].act(value);
			return;
		}
	fprintf(stderr, "peer: no action %s\n", text);
	_exit(98);
}

int main(int argc, char **argv)
{
	const char *rank = getenv("PMIX_RANK");

	for (int i = 1; i < argc; i++) {
		const char *colon = strchr(argv[i], ':');
		bool mine = rank && colon && atoi(argv[i] + 1) == atoi(rank);

		if (argv[i][0] != '@' && argv[i][0] != '!')
			act(argv[i]);
		else if (colon && mine == (argv[i][0] == '@'))
			act(colon + 1);
	}
	return 0;
}
