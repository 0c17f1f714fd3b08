/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SLURM_YAML_H
#define TORUS_SLURM_YAML_H

#include <stdbool.h>

/*
 * As much of YAML as a topology.yaml needs: maps and lists in block and flow style, plain and quoted texts on one line, comments. Other files,
 * with anchors, tags, or texts over several lines, are refused, as malformed ones are.
 */
struct yaml_node {
	const char *key;	 /* NULL: an item of a list */
	const char *text;	 /* "" if there is none; NULL: a list or a map */
	struct yaml_node *child; /* the first one */
	struct yaml_node *next;
};

struct yaml {
	struct yaml_node *nodes; /* the root first */
	char *texts;
};

/* False: the text is no such YAML, or there is no memory. */
bool yaml_read(struct yaml *yaml, const char *text);
void yaml_free(struct yaml *yaml);

/* The member of a map; NULL: it has none, or node is NULL. */
const struct yaml_node *yaml_member(const struct yaml_node *node, const char *key);

/* Its text; NULL: there is no such member, or it is a list or a map. */
const char *yaml_text(const struct yaml_node *node, const char *key);

/* The items of a list in a map in this one, as in "block: {blocks: [...]}"; NULL: there are none. */
const struct yaml_node *yaml_items(const struct yaml_node *node, const char *map, const char *list);

/* The default topology of the cluster; NULL: it is one of several, and none of them says that. */
const struct yaml_node *yaml_topology(const struct yaml *yaml);

#endif
