/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the environment says about the job: the variables of this library, a launcher's PMIx, or the
 * variables by which launchers without PMIx number their processes.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider.h"
#include "rte/settings.h"

/*
 * The first row counts whose two variables are set. A number above 1 means that there are other
 * PEs: the program must not continue as a job of one PE, because its results would be wrong.
 */
static const struct numbering {
	const char *rank, *size;
	const char *root, *port; /* must also be set; PE 0 listens at the next port */
	const char *source;
} numberings[] = {
	{"SHMEM_RANK", "SHMEM_SIZE", NULL, NULL, "SHMEM_RANK and SHMEM_SIZE"},
	{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, NULL, "variables of Open MPI"},
	{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, NULL, "variables of Slurm"},
	{"PMI_RANK", "PMI_SIZE", NULL, NULL, "variables of MPICH"},
	{"FLUX_TASK_RANK", "FLUX_JOB_SIZE", NULL, NULL, "variables of Flux"},
	{"PALS_RANKID", "PALS_NRANKS", NULL, NULL, "variables of PALS"},
};

/* The number of a variable, or -1: it is not set, or is no number. */
static int number_in(const char *name)
{
	const char *text = getenv(name);
	char *end;
	long number;

	if (!text || text[0] < '0' || text[0] > '9')
		return -1;
	number = strtol(text, &end, 10);
	return *end || number > INT_MAX ? -1 : (int)number;
}

static bool is_set(const char *name)
{
	return !name || getenv(name);
}

static const struct numbering *find_numbering(void)
{
	if (getenv("SHMEM_RANK"))
		return &numberings[0];
	for (size_t i = 0; i < sizeof numberings / sizeof numberings[0]; i++) {
		const struct numbering *row = &numberings[i];

		if (getenv(row->rank) && getenv(row->size) && is_set(row->root) && is_set(row->port))
			return row;
	}
	return NULL;
}

/* Module files set SHMEM_ROOT to a folder. */
static const char *root_setting(void)
{
	const char *root = setting_text(SETTING_ROOT);

	return root[0] == '/' ? "" : root;
}

/* The first name in a list such as node[03-07,12],other4. */
static void first_host(char *name, size_t size, const char *list)
{
	size_t prefix = strcspn(list, "[,");
	const char *number = list[prefix] == '[' ? list + prefix + 1 : "";

	snprintf(name, size, "%.*s%.*s", (int)prefix, list, (int)strcspn(number, "-,]"), number);
}

/* All PEs of a step compute the same port. */
static int port_of_step(void)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	unsigned hash = (unsigned)(job ? atoi(job) : 0) * 31u + (unsigned)(step ? atoi(step) : 0);

	return 20000 + (int)(hash % 10000u);
}

static void find_root(struct rte_start *start, const struct numbering *row)
{
	const char *hosts = getenv("SLURM_STEP_NODELIST"), *root = root_setting();
	char name[256];

	if (root[0]) {
		snprintf(start->root, sizeof start->root, "%s", root);
	} else if (row->root && number_in(row->port) > 0) {
		snprintf(start->root, sizeof start->root, strchr(getenv(row->root), ':') ? "[%s]:%d" : "%s:%d",
			 getenv(row->root), number_in(row->port) + 1);
	} else if (!strcmp(row->rank, "SLURM_PROCID") && hosts && hosts[0]) {
		first_host(name, sizeof name, hosts);
		snprintf(start->root, sizeof start->root, "%s:%d", name, port_of_step());
	}
}

/*
 * Launchers that tell the processes their number only by another way, of which the library learns
 * that there are several.
 */
static bool has_silent_launcher(void)
{
	static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE",
					     "FLUX_JOB_SIZE",	     "MPI_LOCALNRANKS",	     "PALS_NRANKS"};

	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		if (number_in(counts[i]) <= 1)
			continue;
		snprintf(rte.problem, sizeof rte.problem, "%s=%d", counts[i], number_in(counts[i]));
		return true;
	}
	/*
	 * MPICH's mpiexec -pmi-port gives the number only over this port, whose protocol the
	 * library does not speak.
	 */
	if (getenv("PMI_PORT"))
		snprintf(rte.problem, sizeof rte.problem, "PMI_PORT=%s", getenv("PMI_PORT"));
	return getenv("PMI_PORT");
}

static void read_numbering(struct rte_start *start, const struct numbering *row)
{
	const char *rank = getenv(row->rank), *size = getenv(row->size);
	int pe = number_in(row->rank), n_pes = number_in(row->size);

	start->source = row->source;
	find_root(start, row);
	if (pe < 0 || n_pes < 1 || pe >= n_pes) {
		snprintf(rte.problem, sizeof rte.problem,
			 "%s=%.20s and %s=%.20s: give a number of PEs, and the number of this PE below that", row->rank,
			 rank, row->size, size ? size : "");
		start->status = RTE_BAD_START;
		return;
	}
	start->pe = pe;
	start->n_pes = n_pes;
	if (n_pes == 1)
		return;
	if (start->root[0]) {
		start->by = START_RENDEZVOUS;
		return;
	}
	if (row == &numberings[0])
		snprintf(rte.problem, sizeof rte.problem,
			 "SHMEM_RANK=%d and no SHMEM_ROOT: give HOST:PORT, at which PE 0 is to listen", pe);
	else
		snprintf(rte.problem, sizeof rte.problem, "%s=%d", row->size, n_pes);
	start->status = row == &numberings[0] ? RTE_BAD_START : RTE_NO_LAUNCHER_PMIX;
}

struct rte_start rte_find_start(void)
{
	const struct numbering *row = find_numbering();
	struct rte_start start = {.status = RTE_OK};

	if (rte_unique_id_in_use(&start.pe, &start.n_pes)) {
		start.source = "a unique id";
		start.by = start.n_pes > 1 ? START_RENDEZVOUS : START_ALONE;
	} else if (getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK") && row != &numberings[0]) {
		start.source = "PMIx";
		start.by = START_PMIX;
	} else if (row) {
		read_numbering(&start, row);
	} else if (has_silent_launcher()) {
		start.status = RTE_NO_LAUNCHER_PMIX;
	}
	return start;
}
