/* SPDX-License-Identifier: BSD-3-Clause */
/* comms/torus/slurm.h: lists of names, coordinates in names, and blocks, as Slurm's files have them. */
#include <stdlib.h>
#include <string.h>

#include "comms/torus/file.h"
#include "comms/torus/slurm.h"
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
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		EXPECT(slurm_plugin(rows[i].conf) == rows[i].plugin, "%s", rows[i].conf);
}

static void check_lists(void)
{
	static const struct {
		const char *list, *name;
		long position;
	} rows[] = {
		{"node1", "node1", 0},
		{"node1", "node1.example.org", 0},
		{"node1", "node12", -1},
		{"node12", "node1", -1},
		{"a,node1,b", "node1", 1},
		{"a, node1, b", "node1", 1},
		{"node[1-18]", "node7", 6},
		{"node[1-18]", "node18", 17},
		{"node[1-18]", "node19", -1},
		{"node[1-18]", "node07", -1},
		{"node[01-18]", "node07", 6},
		{"node[01-18]", "node7", -1},
		{"node[098-102]", "node100", 2},
		{"node[8-12]", "node10", 2},
		{"node[8-12]", "node010", -1},
		{"tux[0-3,12,18-20]", "tux12", 4},
		{"tux[0-3,12,18-20]", "tux13", -1},
		{"tux[0-3,12,18-20]", "tux19", 6},
		{"tux[12,0-3]", "tux0", 1},
		{"node[1-16,20],login[01-02]", "node20", 16},
		{"node[1-16,20],login[01-02]", "login02", 18},
		/* The last brackets count fastest, then the first, as in Slurm. */
		{"x,r[1-2]n[3-4],y", "r1n3", 1},
		{"x,r[1-2]n[3-4],y", "r1n4", 2},
		{"x,r[1-2]n[3-4],y", "r2n3", 3},
		{"x,r[1-2]n[3-4],y", "y", 5},
		{"n[1-2][01-02]", "n201", 2},
		{"a[1-2]b[1-3]c[1-2]", "a1b1c2", 1},
		{"a[1-2]b[1-3]c[1-2]", "a2b1c1", 2},
		{"a[1-2]b[1-3]c[1-2]", "a1b2c1", 4},
		{"a[1-2]b[1-3]c[1-2]d[1-2]", "a2b3c2d1", 22},
		{"n[1-11][1-2]", "n111", 20},
		{"r[1-2]n[3-4]x,login", "r2n3x", 2},
		{"r[1-2]n[3-4]x,login", "r2n5x", -1},
		{"r[1-2]n[3-4]x,login", "r2n3", -1},
		{"r[1-2]n[3-4]x,login", "login", 4},
		{"n[1", "n1", -1},
		{"n[a-b]", "na", -1},
		{"n[5-3]", "n5", -1},
		{"n[1-]", "n1", -1},
		{"n[1,]", "n1", -1},
		{"n[]", "n", -1},
		{"n1]", "n1", -1},
		{"n[0000000001-0000000002]", "n0000000001", -1},
		{"", "n", -1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		long position = slurm_list_position(rows[i].list, rows[i].name);

		EXPECT(position == rows[i].position, "%s in %s: %ld", rows[i].name, rows[i].list, position);
	}
}

static void check_counts(void)
{
	static const struct {
		const char *list;
		long count;
	} rows[] = {
		{"", 0},
		{"node1", 1},
		{"node[1-16,20],login[01-02]", 19},
		{"r[1-2]n[3-4]x,login", 5},
		{"n[098-102]", 5},
		{"n[1-999999999]", -1},
		{"n[1-9999]m[1-9999]", -1},
		{"a,n[1-2", -1},
		{"n[1-2],m[2-1]", -1},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		long count = slurm_list_count(rows[i].list);

		EXPECT(count == rows[i].count, "%s: %ld", rows[i].list, count);
	}
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

static void check_blocks(const char *topology, bool yaml, const char *hosts, const char *expected)
{
	char copy[256], *list[32];
	size_t count;

	snprintf(copy, sizeof copy, "%s", hosts);
	count = split(copy, list);
	check_line(slurm_blocks(topology, yaml, list, count), expected, hosts);
}

static void check_block_files(void)
{
	static const char conf[] =
		"# ours\nBlockName=b1 Nodes=n[01-04]\n  blockname=b2 nodes=n[05-08] # here\nBlockSizes=4\n"
		"SwitchName=s Nodes=n[09-12]\n";
	static const char yaml[] =
		"- topology: t1\n  cluster_default: false\n  block:\n    blocks:\n"
		"    - block: a\n      nodes: n[01-08]\n"
		"- topology: t2\n  cluster_default: True\n  block:\n    block_sizes:\n      - 4\n    blocks:\n"
		"    - block: b1\n      nodes: n[01-04]\n    - block: b2\n      nodes: \"n[05-08]\" # here\n"
		"- topology: t3\n  flat: True\n";
	static const char tree[] =
		"- topology: t\n  cluster_default: true\n  tree:\n    switches:\n    - switch: s1\n      nodes: n[01-02]\n"
		"    - switch: s2\n      nodes: n[03-04]\n";
	static const char four[] = "shape 2x2;host n01 0,0;host n05 1,0;host n02 0,1;host n06 1,1;";

	check_blocks(conf, false, "n01 n05 n02 n06", four);
	check_blocks(yaml, true, "n01 n05 n02 n06", four);
	check_blocks(
		conf, false, "n01 n02 n03 n04 n05 n06 n07 n08",
		"shape 2x2x2;host n01 0,0,0;host n02 0,0,1;host n03 0,1,0;host n04 0,1,1;host n05 1,0,0;host n06 1,0,1;"
		"host n07 1,1,0;host n08 1,1,1;");
	check_blocks(conf, false, "n01 n02 n03 n04", NULL); /* one block */
	check_blocks(conf, false, "n01 n05", NULL);	    /* one host of each */
	check_blocks(conf, false, "n01 n02 n03 n05", NULL); /* uneven */
	check_blocks(conf, false, "n01 n02 n09 n10", NULL); /* in no block */
	check_blocks(tree, true, "n01 n02 n03 n04", NULL);
	/* The default may be any of several, and no job says which is its own. */
	check_blocks(strstr(yaml, "- topology: t2"), true, "n01 n05 n02 n06", four);
	check_blocks("- topology: t\n  block:\n    blocks:\n    - nodes: n[01-02]\n    - nodes: n[05-06]\n", true,
		     "n01 n05 n02 n06", four);
	check_blocks("[{topology: t, block: {blocks: [{nodes: 'n[01-02]'}, {nodes: 'n[05-06]'}]}}]", true,
		     "n01 n05 n02 n06", four);
	check_blocks(
		"- topology: t\n  block:\n    blocks:\n    - nodes: n[01-02]\n    - nodes: n[05-06]\n- topology: u\n",
		true, "n01 n05 n02 n06", NULL);
}

int main(void)
{
	check_plugins();
	check_lists();
	check_counts();
	check_tori();
	check_block_files();
	return unit_failures > 0;
}
