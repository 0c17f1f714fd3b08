/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2 ucx-tcp=2 paths=local,ucx-tcp not=valgrind */
/* UCX is loaded when the job needs it, and not with the program. */
#include "tests/lib/check.h"

static bool is_loaded(const char *library)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	bool found = false;

	while (maps && !found && fgets(line, sizeof line, maps))
		found = strstr(line, library) != NULL;
	CHECK(maps != NULL);
	if (maps)
		fclose(maps);
	return found;
}

int main(void)
{
	const char *paths = getenv("SHMEM_PATHS");
	bool before = is_loaded("/libucp.so");

	begin();
	CHECK(!before);
	CHECK_EQUAL(is_loaded("/libucp.so"), paths && !strcmp(paths, "ucx"));
	return end();
}
