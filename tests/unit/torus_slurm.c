/* SPDX-License-Identifier: BSD-3-Clause */
/* comms/torus/slurm/slurm.h: lists of names, coordinates in names, tori, rings and blocks, as Slurm's files have them. */
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
		{"TopologyPlugin=topology/ring\r\n", SLURM_RING},
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
		{"n[5-4,1-9]", "n1", -1},
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

static void check_toruses(const char *topology, bool yaml, const char *hosts, const char *expected)
{
	char copy[256], *list[64];
	size_t count;

	snprintf(copy, sizeof copy, "%s", hosts);
	count = split(copy, list);
	check_line(slurm_toruses(topology, yaml, list, count), expected, hosts);
}

static const char torus_yaml[] =
	"---\n# ours\n- topology: topo1\n  cluster_default: true # this one\n  torus3d:\n    toruses:\n"
	"      - name: pod1\n        dims:\n          x: 4\n          y: 3\n          z: 2\n"
	"        nodes: n[01-24] # x fastest\n        placements:\n          - dims:\n              x: 2\n"
	"              y: 2\n              z: 1\n            anchor_spacing: {x: 1, y: 1, z: 1}\n"
	"      - name: 'pod 2'\n        nodes: m[2,1,3-8]\n        dims: {x: 8, y: 1, z: 1}\n";

static const char box[] = "shape 4x3x2;host n01 0,0,0;host n02 1,0,0;host n05 0,1,0;host n06 1,1,0;";
static const char along_z[] = "shape 4x3x2;host n01 0,0,0;host n05 0,1,0;host n09 0,2,0;host n13 0,0,1;host n17 0,1,1;"
			      "host n21 0,2,1;";

static void check_torus3d(void)
{
	check_toruses(torus_yaml, true, "n01 n02 n05 n06", box);
	check_toruses(torus_yaml, true, "n01 n05 n09 n13 n17 n21", along_z);
	/* Over the end of a ring. */
	check_toruses(torus_yaml, true, "n04.example.org n01 n08 n05",
		      "shape 4x3x2;host n04.example.org 3,0,0;host n01 0,0,0;host n08 3,1,0;host n05 0,1,0;");
	check_toruses(torus_yaml, true, "m1 m2 m3", "shape 8x1x1;host m1 1,0,0;host m2 0,0,0;host m3 2,0,0;");
	check_toruses(torus_yaml, true, "n01 n02 n05", NULL);	  /* no whole box */
	check_toruses(torus_yaml, true, "n01 n02 n05 n05", NULL); /* twice */
	check_toruses(torus_yaml, true, "n01 n02 m1", NULL);	  /* of two */
	check_toruses(torus_yaml, true, "n01 n02 n25", NULL);	  /* of none */
	check_toruses(torus_yaml, true, "a b c", NULL);
}

/* Each stands for torus_yaml. */
static void check_styles(void)
{
	static const char *const same[] = {
		"- {topology: t, torus3d: {toruses: [{name: a, dims: {x: 4, y: 3, z: 2}, nodes: \"n[01-24]\"}]}}\n",
		"[{\"topology\":\"t\",\"cluster_default\":true,\"torus3d\":{\"toruses\":[\n\t{\"name\":\"a\",\"dims\":{\"x\":4,"
		"\"y\":3,\"z\":2},\"nodes\":\"n[01-24]\"}]}}]",
		"-\r\n  topology: t\r\n  torus3d: # here\r\n   toruses:\r\n   - dims: { x: 4,\r\n  y: 3, # wide\r\n"
		"  z: 2 }\r\n\r\n     nodes: 'n[01-24]'\r\n     name: \"it\\\"s\"\r\n",
		"- topology: other\n  flat: true\n- topology: t\n  torus3d:\n    toruses:\n    - dims: {x: 4, y: 3, z: 2}\n"
		"      nodes: n[01-10],n11,n[12-24]\n  cluster_default: True\n",
		/* A region may stand anywhere, and places may be empty. */
		"- topology: t\n  torus3d:\n    toruses:\n    - dims: {x: 4, y: 3, z: 2}\n      regions:\n"
		"      - anchor: {x: 2, y: 0, z: 0}\n        dims: {x: 2, y: 3, z: 1}\n        nodes: n[03,04,07,08,11,12]\n"
		"      - anchor: {x: 0, y: 0, z: 0}\n        dims: {x: 2, y: 3, z: 1}\n"
		"        nodes: n[01-02,05-06,09-10]\n"
		"      - anchor: {x: 0, y: 0, z: 1}\n        dims:\n          {x: 1, y: 3, z: 1}\n        nodes: n[13,17,21]\n",
	};

	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
		check_toruses(same[i], true, "n01 n02 n05 n06", box);
		check_toruses(same[i], true, "n01 n05 n09 n13 n17 n21", along_z);
	}
}

/* None of these says where n01, n02, n05 and n06 are. */
static void check_malformed(void)
{
#define TORUS "- topology: t\n  torus3d:\n    toruses:\n"
#define DIMS "    - dims: {x: 4, y: 3, z: 2}\n"
	static const char *const rows[] = {
		"",
		"x",
		"---\n",
		"torus3d\n",
		TORUS,
		TORUS "    - nodes: n[01-24]\n",
		TORUS "    - dims: {x: 4, y: 3}\n      nodes: n[01-24]\n",
		TORUS "    - dims: {x: 4, y: 3, z: 0}\n      nodes: n[01-24]\n",
		TORUS "    - dims: {x: 4, y: 3, z: 2m}\n      nodes: n[01-24]\n",
		TORUS "    - dims: {x: 65535, y: 65535, z: 65535}\n      nodes: n[01-24]\n",
		TORUS DIMS "      nodes: n[01-23]\n",
		TORUS DIMS "      nodes: n[01-25]\n",
		TORUS DIMS "      nodes: n[01-24\n",
		TORUS DIMS "      nodes:\n",
		TORUS DIMS "      nodes: [n01]\n",
		TORUS DIMS "      nodes: 'n[01-24]\n",
		TORUS DIMS "      nodes: n[01-24]\n     name: a\n",
		TORUS DIMS "      nodes: n[01-24]\n       name: a\n",
		TORUS DIMS "      nodes: n[01-24]\n      name\n",
		TORUS DIMS "\t\t\t\t\t\tnodes: n[01-24]\n",
		TORUS "\t\t\t\t\t- dims: {x: 4, y: 3, z: 2}\n      nodes: n[01-24]\n",
		TORUS DIMS "      nodes: &a n[01-24]\n",
		TORUS DIMS "      nodes: >-\n        n[01-24]\n",
		TORUS DIMS "      nodes: n[01-24]\n---\n- topology: u\n",
		TORUS "    - {dims: {x: 4, y: 3, z: 2}, nodes: n[01-24]}\n",
		TORUS "    - {dims: {x: 4, y: 3, z: 2, nodes: 'n[01-24]'}\n",
		TORUS "    - {dims: {x: 4, y: 3, z: 2}, nodes: 'n[01-24]'}}\n",
		TORUS DIMS
		"      nodes: n[01-24]\n      regions: [{anchor: {x: 0, y: 0, z: 0}, dims: {x: 4, y: 3, z: 2}, nodes: 'n[01-24]'}]\n",
		TORUS DIMS "      regions: []\n",
		TORUS DIMS "      regions:\n      - dims: {x: 4, y: 3, z: 2}\n        nodes: n[01-24]\n",
		TORUS DIMS
		"      regions:\n      - anchor: {x: 1, y: 0, z: 0}\n        dims: {x: 4, y: 3, z: 2}\n        nodes: n[01-24]\n",
		TORUS DIMS
		"      regions:\n      - anchor: {x: 0, y: 0, z: 0}\n        dims: {x: 4, y: 3, z: 1}\n        nodes: n[01-12]\n"
		"      - anchor: {x: 0, y: 2, z: 0}\n        dims: {x: 1, y: 1, z: 1}\n        nodes: m1\n",
		/* another torus is wrong, or another topology is the default, or either may be */
		TORUS DIMS "      nodes: n[01-24]\n    - nodes: m1\n",
		TORUS DIMS "      nodes: n[01-24]\n- topology: u\n  cluster_default: true\n  flat: true\n",
		TORUS DIMS "      nodes: n[01-24]\n- topology: u\n  flat: true\n",
		TORUS DIMS "      nodes: n[01-24]\n    - dims: {x: 1, y: 1, z: 1}\n      nodes: n06\n",
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check_toruses(rows[i], true, "n01 n02 n05 n06", NULL);
	/* These are right, and by what was added to them the ones above are not. */
	check_toruses(TORUS DIMS "      nodes: n[01-24]\n      regions: []\n", true, "n01 n02 n05 n06", box);
	check_toruses(TORUS DIMS "      nodes: n[01-24]\n", true, "n01 n02 n05 n06", box);
#undef TORUS
#undef DIMS
}

/* Deeper than anything that Slurm reads, in both styles. */
static void check_depth(void)
{
	enum { DEPTH = 1 << 16 };
	char *list[] = {"n01", "n02", "n05"}, *text = malloc(2 * DEPTH + 1), *line;

	for (int style = 0; text && style < 2; style++) {
		for (size_t i = 0; i < 2 * (size_t)DEPTH; i++)
			text[i] = style ? '[' : i % 2 ? ' ' : '-';
		text[2 * DEPTH] = '\0';
		line = slurm_toruses(text, true, list, 3);
		EXPECT(!line, "style %d: %s", style, line);
		free(line);
	}
	free(text);
}

/* A text that ends too early, in memory of its own, says the same or nothing. */
static void check_cut(const char *topology, bool yaml, const char *hosts, const char *expected)
{
	char copy[256], *list[64];
	size_t whole = strlen(topology), count;

	snprintf(copy, sizeof copy, "%s", hosts);
	count = split(copy, list);
	for (size_t length = 0; length <= whole; length++) {
		char *text = strndup(topology, length), *line = slurm_toruses(text, yaml, list, count);
		char *blocks = slurm_blocks(text, yaml, list, count);

		EXPECT(line ? !strcmp(line, expected) : length < whole, "%zu bytes: %s", length,
		       line ? line : "nothing");
		EXPECT(!blocks, "%zu bytes: %s", length, blocks);
		free(blocks);
		free(line);
		free(text);
	}
}

static void check_rings(void)
{
	static const char yaml[] = "- topology: t\n  cluster_default: true\n  ring:\n    rings:\n"
				   "    - ring: r0\n      nodes: n[1-6]\n    - ring: r1\n      nodes: n[10,8,7,9]\n";
	static const char conf[] =
		"# ours\nRingName=r0 Nodes=n[1-6]\n ringname=r1 nodes=n[10,8,7,9] # here\nBlockName=b Nodes=n[11-13]\n";
	static const char whole[] = "shape 4;host n7 2;host n8 1;host n9 3;host n10 0;";

	for (int is_yaml = 0; is_yaml < 2; is_yaml++) {
		const char *text = is_yaml ? yaml : conf;

		check_toruses(text, is_yaml, "n2 n3 n4", "shape 6;host n2 1;host n3 2;host n4 3;");
		check_toruses(text, is_yaml, "n6 n1 n2", "shape 6;host n6 5;host n1 0;host n2 1;");
		check_toruses(text, is_yaml, "n7 n8 n9 n10", whole);
		check_toruses(text, is_yaml, "n1 n2 n4", NULL);	   /* no run */
		check_toruses(text, is_yaml, "n6 n7 n8", NULL);	   /* of two */
		check_toruses(text, is_yaml, "n11 n12 n13", NULL); /* of none */
	}
	check_toruses("RingName=r0 Nodes=n[1-6]\nRingName=r1 Nodes=n[9-7]\n", false, "n1 n2 n3", NULL);
	check_cut(yaml, true, "n10 n8 n7 n9", "shape 4;host n10 0;host n8 1;host n7 2;host n9 3;");
	check_cut(torus_yaml, true, "n01 n02 n05 n06", box);
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
	check_torus3d();
	check_styles();
	check_malformed();
	check_depth();
	check_rings();
	check_block_files();
	return unit_failures > 0;
}
