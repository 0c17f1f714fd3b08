/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * many_ranks FOLDER: each rank puts its number to the next one, whatever the number of ranks on a
 * node. Ids and addresses go through files in the folder. Rank 0 prints how much memory it has to
 * itself.
 */
#include <sys/stat.h>

#include "together.h"

struct meeting {
	utofu_vcq_id_t id;
	utofu_stadd_t stadd;
};

static void file_name(char path[4096], const char *folder, int rank, const char *end)
{
	snprintf(path, 4096, "%s/%d%s", folder, rank, end);
}

static void publish(const char *folder, int rank, const struct meeting *mine)
{
	char path[4096], ready[4096];
	FILE *file;

	file_name(path, folder, rank, ".new");
	file_name(ready, folder, rank, "");
	file = fopen(path, "w");
	CHECK(file && fwrite(mine, sizeof *mine, 1, file) == 1 && fclose(file) == 0 && rename(path, ready) == 0);
}

static struct meeting find(const char *folder, int rank)
{
	struct meeting theirs;
	char path[4096];
	FILE *file;

	file_name(path, folder, rank, "");
	while (!(file = fopen(path, "r")))
		usleep(100000);
	CHECK(fread(&theirs, sizeof theirs, 1, file) == 1);
	fclose(file);
	return theirs;
}

/* KiB of this process that no other one shares. */
static long own_memory(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	long sum = 0, part;
	char line[256];

	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "Private_Dirty: %ld", &part) == 1 || sscanf(line, "Private_Clean: %ld", &part) == 1)
			sum += part;
	if (file)
		fclose(file);
	return sum;
}

int main(int argc, char **argv)
{
	int rank = getenv("PMIX_RANK") ? atoi(getenv("PMIX_RANK")) : 0;
	static _Alignas(256) volatile uint64_t seen[32];
	struct utofu_mrq_notice notice;
	struct meeting mine, theirs;
	utofu_vcq_hdl_t vcq;
	utofu_tni_id_t *tnis;
	size_t count, bytes;
	unsigned ranks;
	void *map;
	int code;

	CHECK(argc == 2 && !jtofu_create_mapinfo_by_envvars(&map, &bytes, &ranks));
	free(map);
	OK(utofu_get_onesided_tnis(&tnis, &count));
	CHECK(count > 0);
	OK(utofu_create_vcq(tnis[0], 0, &vcq));
	free(tnis);
	OK(utofu_query_vcq_id(vcq, &mine.id));
	OK(utofu_reg_mem(vcq, (void *)(uintptr_t)seen, sizeof seen, 0, &mine.stadd));
	publish(argv[1], rank, &mine);
	theirs = find(argv[1], (rank + 1) % (int)ranks);
	OK(utofu_set_vcq_id_path(&theirs.id, NULL));
	OK(utofu_put_piggyback8(vcq, theirs.id, (uint64_t)rank + 1, theirs.stadd, 8, 0,
				UTOFU_ONESIDED_FLAG_STRONG_ORDER | UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE, NULL));
	while ((code = utofu_poll_mrq(vcq, 0, &notice)) == UTOFU_ERR_NOT_FOUND)
		usleep(20000);
	CHECK(code == UTOFU_SUCCESS && notice.notice_type == UTOFU_MRQ_TYPE_RMT_PUT);
	CHECK(seen[0] == (uint64_t)(rank + (int)ranks - 1) % ranks + 1);
	if (rank == 0)
		printf("%u ranks, %ld KiB of rank 0 alone\n", ranks, own_memory());
	OK(utofu_free_vcq(vcq));
	return 0;
}
