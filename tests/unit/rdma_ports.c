/* SPDX-License-Identifier: BSD-3-Clause */
/* rte/host/rdma_ports.h: device and GID of a port, in a folder that is like the kernel's. */
#include "rte/host/rdma_ports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/unit.h"

#define LINK_LOCAL "fe80:0000:0000:0000:0204:06ff:fe08:0a0c"
#define IPV4 "0000:0000:0000:0000:0000:ffff:0a3d:0001"
#define IPV6 "fd00:0000:0000:0000:0000:0000:0000:0001"

static char folder[] = "/tmp/rdma_ports.XXXXXX";

static void write_entry(const char *device, const char *file, int index, const char *text)
{
	char path[200];
	FILE *entry;

	snprintf(path, sizeof path, "%s/%s/ports/1/%s/%d", folder, device, file, index);
	for (char *slash = strchr(path + sizeof folder, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		EXPECT(!mkdir(path, 0700) || errno == EEXIST, "%s", path);
		*slash = '/';
	}
	entry = fopen(path, "w");
	EXPECT(entry, "%s", path);
	if (!entry)
		exit(1);
	fprintf(entry, "%s\n", text);
	fclose(entry);
}

static void add_gid(const char *device, int index, const char *port, const char *type, const char *gid)
{
	write_entry(device, "gids", index, gid);
	write_entry(device, "gid_attrs/types", index, type);
	write_entry(device, "gid_attrs/ndevs", index, port);
}

static void expect(const char *port, const char *device, int gid)
{
	struct rdma_port found;

	EXPECT(rdma_port_find(folder, port, &found), "%s has a device", port);
	EXPECT(!strcmp(found.device, device) && found.gid == gid, "%s: %s, GID %d", port, found.device, found.gid);
}

int main(void)
{
	char command[sizeof folder + 20];
	struct rdma_port found;

	if (!mkdtemp(folder))
		return 1;
	EXPECT(!rdma_port_find("/nonexistent", "eth1", &found), "no folder");
	/* As a driver lists them: each address in both types. */
	add_gid("mlx5_0", 0, "eth1", "IB/RoCE v1", LINK_LOCAL);
	add_gid("mlx5_0", 1, "eth1", "RoCE v2", LINK_LOCAL);
	add_gid("mlx5_0", 2, "eth1", "IB/RoCE v1", IPV4);
	add_gid("mlx5_0", 3, "eth1", "RoCE v2", IPV4);
	/* With a gap, another port's, and a global address first. */
	add_gid("mlx5_1", 0, "eth2", "RoCE v2", IPV6);
	add_gid("mlx5_1", 1, "eth2.7", "RoCE v2", IPV4);
	add_gid("mlx5_1", 5, "eth2", "RoCE v2", IPV4);
	add_gid("mlx5_2", 0, "eth3", "IB/RoCE v1", LINK_LOCAL);
	add_gid("mlx5_2", 1, "eth3", "RoCE v2", IPV6);
	expect("eth1", "mlx5_0", 1);
	expect("eth2", "mlx5_1", 5);
	expect("eth2.7", "mlx5_1", 1);
	expect("eth3", "mlx5_2", 1);
	EXPECT(!rdma_port_find(folder, "eth", &found), "a port without a device");
	snprintf(command, sizeof command, "rm -r %s", folder);
	EXPECT(system(command) == 0, "%s", command);
	return unit_failures != 0;
}
