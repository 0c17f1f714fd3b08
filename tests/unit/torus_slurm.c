/* SPDX-License-Identifier: BSD-3-Clause */
/* comms/torus/slurm/slurm.h: coordinates in names and blocks of nodes, as Slurm has them. */
#include <stdlib.h>
#include <string.h>

#include "comms/torus/file.h"
#include "comms/torus/slurm/slurm.h"
#include "tests/lib/unit.h"

static void check_plugins(void)
{
	static const struct {
		const char *conf;
		enum slurm_plugin plugin;
	} rows[] = {
		{"", SLURM_OTHER},
		{"TopologyPlugin=topology/3d_torus\n", SLURM_3D_TORUS},
		{"ClusterName=c\n  topologyplugin = 3d_torus # ours", SLURM_3D_TORUS},
		{"TopologyPlugin=topology/3d_torus_of_mine\n", SLURM_OTHER},
		{"#TopologyPlugin=topology/3d_torus\n", SLURM_OTHER},
		{"TopologyPlugin=topology/tree\nTopologyPlugin=topology/block\n", SLURM_BLOCK},
		{"TopologyPlugin=topology/block\nTopologyPlugin=topology/flat\n", SLURM_OTHER},
		{"TopologyPlugin=topology/block\r\n", SLURM_BLOCK},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		EXPECT(slurm_plugin(rows[i].conf) == rows[i].plugin, "%s", rows[i].conf);
}

/* hosts: with blanks between; expected: NULL, or the line, in which they are all. */
static size_t split(char *hosts, char **list)
{
	size_t count = 0;

	for (char *word = strtok(hosts, " "); word; word = strtok(NULL, " "))
		list[count++] = word;
	return count;
}

static void check_line(char *line, const char *expected, const char *about)
{
	char problem[TORUS_PROBLEM];
	struct torus_file file;

	EXPECT(!line == !expected && (!line || !strcmp(line, expected)), "%s: %s", about, line ? line : "nothing");
	for (char *at = line; at && *at; at++)
		*at = *at == ';' ? '\n' : *at;
	if (line) {
		EXPECT(torus_file_read(&file, line, problem), "%s: %s", about, problem);
		torus_file_free(&file);
	}
	free(line);
}

static void check_torus(const char *nodes, const char *hosts, const char *expected)
{
	char copy[256], *list[32];
	size_t count;

	snprintf(copy, sizeof copy, "%s", hosts);
	count = split(copy, list);
	check_line(slurm_torus(nodes, list, count), expected, hosts);
}

static void check_tori(void)
{
	static const char nodes[] =
		"login\nn000\nn001\nn010\nn011\nn100\nn101\nn110\nn111\nn200\nn201\nn210\nn211\ngpu999\n";

	check_torus(nodes, "n000 n100 n200", "shape 3x2x2;host n000 0,0,0;host n100 1,0,0;host n200 2,0,0;");
	check_torus(nodes, "n211.example.org n210 n201 n200",
		    "shape 3x2x2;host n211.example.org 2,1,1;host n210 2,1,0;host n201 2,0,1;host n200 2,0,0;");
	check_torus(nodes, "n000 n200 n001 n201",
		    "shape 3x2x2;host n000 0,0,0;host n200 2,0,0;host n001 0,0,1;host n201 2,0,1;");
	check_torus(nodes, "n000 n100 n110", NULL);   /* no whole box */
	check_torus(nodes, "n000 n100 n000", NULL);   /* twice */
	check_torus(nodes, "n000 n100 login", NULL);  /* no coordinates */
	check_torus(nodes, "n000 n100 gpu999", NULL); /* elsewhere */
	check_torus(nodes, "n000 n100 n300", NULL);   /* not of the cluster */
	check_torus(nodes, "00 01 02", NULL);
	/* Over the end of a ring, and names of coordinates alone. */
	check_torus("000\n001\n00Z\n", "000 001 00Z", "shape 1x1x36;host 000 0,0,0;host 001 0,0,1;host 00Z 0,0,35;");
	check_torus("000\n001\n00Y\n00Z\n", "000 001 00Y", NULL);
	check_torus("x00Y\nx00Z\nx00a\n", "x00Y x00Z", "shape 1x1x36;host x00Y 0,0,34;host x00Z 0,0,35;");
}

static void check_blocks(const char *conf, const char *hosts, const char *expected)
{
	char copy[256], *list[32];
	size_t count;

	snprintf(copy, sizeof copy, "%s", hosts);
	count = split(copy, list);
	check_line(slurm_blocks(conf, list, count), expected, hosts);
}

static void check_block_files(void)
{
	static const char conf[] =
		"# ours\nBlockName=b1 Nodes=n[01-04]\n  blockname=b2 nodes=n[05-08] # here\nBlockSizes=4\n"
		"SwitchName=s Nodes=n[09-12]\n";

	check_blocks(conf, "n01 n05 n02 n06", "shape 2x2;host n01 0,0;host n05 1,0;host n02 0,1;host n06 1,1;");
	check_blocks(
		conf, "n01 n02 n03 n04 n05 n06 n07 n08",
		"shape 2x2x2;host n01 0,0,0;host n02 0,0,1;host n03 0,1,0;host n04 0,1,1;host n05 1,0,0;host n06 1,0,1;"
		"host n07 1,1,0;host n08 1,1,1;");
	check_blocks(conf, "n01 n02 n03 n04", NULL); /* one block */
	check_blocks(conf, "n01 n05", NULL);	     /* one host of each */
	check_blocks(conf, "n01 n02 n03 n05", NULL); /* uneven */
	check_blocks(conf, "n01 n02 n09 n10", NULL); /* in no block */
	check_blocks("", "n01 n02 n03 n04", NULL);
}

/* Which names a list stands for: a block of two such hosts and another block of two are 2x2. */
static void check_lists(void)
{
	static const struct {
		const char *list, *name;
		bool there;
	} rows[] = {
		{"node1", "node1", true},
		{"node1", "node1.example.org", true},
		{"node1", "node12", false},
		{"node12", "node1", false},
		{"x,node1,y", "node1", true},
		{"node[1-18]", "node7", true},
		{"node[1-18]", "node18", true},
		{"node[1-18]", "node19", false},
		{"node[1-18]", "node07", false},
		{"node[01-18]", "node07", true},
		{"node[01-18]", "node7", false},
		{"node[098-102]", "node100", true},
		{"node[8-12]", "node10", true},
		{"node[8-12]", "node010", false},
		{"tux[0-3,12,18-20]", "tux12", true},
		{"tux[0-3,12,18-20]", "tux13", false},
		{"tux[0-3,12,18-20]", "tux19", true},
		{"node[1-16,20],login[01-02]", "node20", true},
		{"node[1-16,20],login[01-02]", "login02", true},
		{"x,r[1-2]n[3-4],y", "r1n4", true},
		{"x,r[1-2]n[3-4],y", "y", true},
		{"n[1-2][01-02]", "n201", true},
		{"n[1-11][1-2]", "n111", true},
		{"r[1-2]n[3-4]x,login", "r2n3x", true},
		{"r[1-2]n[3-4]x,login", "r2n5x", false},
		{"r[1-2]n[3-4]x,login", "r2n3", false},
		{"n[1", "n1", false},
		{"n[a-b]", "na", false},
		{"n[5-3]", "n5", false},
		{"n[1-]", "n1", false},
		{"n[]", "n", false},
		{"n[0000000001-0000000002]", "n0000000001", false},
		{"", "n", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char conf[256], *hosts[] = {"first", (char *)rows[i].name, "a", "b"}, *line;

		snprintf(conf, sizeof conf, "BlockName=1 Nodes=first,%s\nBlockName=2 Nodes=a,b\n", rows[i].list);
		line = slurm_blocks(conf, hosts, 4);
		EXPECT(!line == !rows[i].there, "%s in %s: %s", rows[i].name, rows[i].list, line ? line : "no");
		free(line);
	}
}

int main(void)
{
	check_plugins();
	check_tori();
	check_block_files();
	check_lists();
	return unit_failures > 0;
}
