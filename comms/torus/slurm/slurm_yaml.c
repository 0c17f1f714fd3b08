/* SPDX-License-Identifier: BSD-3-Clause */
#include "slurm_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Every node begins behind one of these characters, but the root. Every text is followed by a character that belongs to no other, or by the
 * end; so memory can be allocated before anything is read.
 */
#define BEFORE_NODES ":-,[{"
#define FLOW_MARKS ",[]{}"

enum { DEEPEST = 32 };

struct reader {
	const char *at, *line; /* the line begins there */
	struct yaml_node *free;
	size_t nodes_left;
	char *texts;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool ends_word(char c)
{
	return !c || c == '\n' || is_blank(c);
}

static bool is_dash(const struct reader *reader)
{
	return *reader->at == '-' && ends_word(reader->at[1]);
}

static bool opens_flow(const struct reader *reader)
{
	return *reader->at == '[' || *reader->at == '{';
}

static long column(const struct reader *reader)
{
	return reader->at - reader->line;
}

/* Does something begin in this column, without a tab before it? */
static bool stands_at(const struct reader *reader, long indent)
{
	return *reader->at && column(reader) == indent && !memchr(reader->line, '\t', (size_t)indent);
}

/* To the next character that is neither blank nor in a comment. */
static void skip(struct reader *reader)
{
	for (;; reader->at++) {
		if (*reader->at == '#' && (column(reader) == 0 || is_blank(reader->at[-1])))
			reader->at += strcspn(reader->at, "\n");
		if (*reader->at == '\n')
			reader->line = reader->at + 1;
		else if (!is_blank(*reader->at))
			return;
	}
}

/* The same; false: there is something else on the line. */
static bool end_line(struct reader *reader)
{
	const char *line = reader->line;

	skip(reader);
	return !*reader->at || reader->line != line;
}

/* --- Texts --- */

static const char *keep_text(struct reader *reader, const char *text, size_t length)
{
	char *copy = reader->texts;

	memcpy(copy, text, length);
	copy[length] = '\0';
	reader->texts += length + 1;
	return copy;
}

/* Escapes stay as they are: no name has any. */
static const char *read_quoted(struct reader *reader)
{
	char quote = *reader->at++;
	const char *begin = reader->at, *at = begin;

	while (*at && *at != '\n' && (*at != quote || (quote == '\'' && at[1] == quote)))
		at += (*at == quote || (*at == '\\' && quote == '"')) && at[1] && at[1] != '\n' ? 2 : 1;
	reader->at = at + 1;
	return *at == quote ? keep_text(reader, begin, (size_t)(at - begin)) : NULL;
}

static bool ends_key(const char *at, bool flow)
{
	return *at == ':' && (ends_word(at[1]) || (flow && strchr(FLOW_MARKS, at[1])));
}

static const char *read_plain(struct reader *reader, bool flow)
{
	const char *begin = reader->at, *at = begin, *end;

	if (strchr("&*!|>%@`?:#" FLOW_MARKS, *begin) || is_dash(reader))
		return NULL;
	while (*at && *at != '\n' && !ends_key(at, flow) && !(*at == '#' && is_blank(at[-1])) &&
	       !(flow && strchr(FLOW_MARKS, *at)))
		at++;
	for (end = at; is_blank(end[-1]); end--)
		;
	reader->at = at;
	return keep_text(reader, begin, (size_t)(end - begin));
}

/* NULL: there is none. */
static const char *read_text(struct reader *reader, bool flow)
{
	return *reader->at == '"' || *reader->at == '\'' ? read_quoted(reader) : read_plain(reader, flow);
}

/* Is the text that was read a key? Then reader goes behind the colon. */
static bool read_colon(struct reader *reader, bool flow)
{
	bool quoted = reader->at[-1] == '"' || reader->at[-1] == '\'';

	reader->at += strspn(reader->at, " \t");
	if (!ends_key(reader->at, flow) && !(flow && quoted && *reader->at == ':'))
		return false;
	reader->at++;
	return true;
}

/* --- Nodes --- */

static struct yaml_node *new_node(struct reader *reader)
{
	if (reader->nodes_left == 0)
		return NULL;
	reader->nodes_left--;
	reader->free->text = "";
	return reader->free++;
}

static bool read_flow(struct reader *reader, struct yaml_node *node, int depth);

static bool read_flow_member(struct reader *reader, struct yaml_node *member, bool in_map, int depth)
{
	if (in_map) {
		member->key = read_text(reader, true);
		if (!member->key || !read_colon(reader, true))
			return false;
		skip(reader);
		if (*reader->at == ',' || *reader->at == '}')
			return true;
	}
	if (opens_flow(reader))
		return read_flow(reader, member, depth);
	member->text = read_text(reader, true);
	return member->text;
}

static bool read_flow(struct reader *reader, struct yaml_node *node, int depth)
{
	char close = *reader->at++ == '[' ? ']' : '}';
	struct yaml_node **next = &node->child;

	if (depth == 0)
		return false;
	node->text = NULL;
	for (skip(reader); *reader->at != close; skip(reader)) {
		struct yaml_node *member = *next = new_node(reader);

		if (!member || !read_flow_member(reader, member, close == '}', depth - 1))
			return false;
		next = &member->next;
		skip(reader);
		if (*reader->at == ',')
			reader->at++;
		else if (*reader->at != close)
			return false;
	}
	reader->at++;
	return true;
}

/* These read up to the first character of what follows, on a line below. */
static bool read_block(struct reader *reader, struct yaml_node *node, int depth);

static bool read_list(struct reader *reader, struct yaml_node *node, int depth)
{
	struct yaml_node **next = &node->child;
	long indent = column(reader);

	node->text = NULL;
	do {
		struct yaml_node *item = *next = new_node(reader);
		const char *line = reader->line;

		reader->at++;
		skip(reader);
		if (!item || (*reader->at && (reader->line == line || column(reader) > indent) &&
			      !read_block(reader, item, depth)))
			return false;
		next = &item->next;
	} while (stands_at(reader, indent) && is_dash(reader));
	return true;
}

/* What is behind a colon. A list may begin where its key does. */
static bool read_value(struct reader *reader, struct yaml_node *node, long indent, int depth)
{
	if (end_line(reader)) {
		if (*reader->at && (column(reader) > indent || (column(reader) == indent && is_dash(reader))))
			return read_block(reader, node, depth);
		return true;
	}
	if (opens_flow(reader))
		return read_flow(reader, node, depth) && end_line(reader);
	node->text = read_text(reader, false);
	return node->text && end_line(reader);
}

static bool read_map(struct reader *reader, struct yaml_node *node, const char *key, long indent, int depth)
{
	struct yaml_node **next = &node->child;

	node->text = NULL;
	for (;;) {
		struct yaml_node *member = *next = new_node(reader);

		if (!member || !read_value(reader, member, indent, depth))
			return false;
		member->key = key;
		next = &member->next;
		if (!*reader->at || column(reader) < indent)
			return true;
		key = stands_at(reader, indent) ? read_text(reader, false) : NULL;
		if (!key || !read_colon(reader, false))
			return false;
	}
}

static bool read_block(struct reader *reader, struct yaml_node *node, int depth)
{
	long indent = column(reader);

	if (depth == 0 || !stands_at(reader, indent))
		return false;
	if (is_dash(reader))
		return read_list(reader, node, depth - 1);
	if (opens_flow(reader))
		return read_flow(reader, node, depth - 1) && end_line(reader);
	node->text = read_text(reader, false);
	if (node->text && read_colon(reader, false))
		return read_map(reader, node, node->text, indent, depth - 1);
	return node->text && end_line(reader);
}

bool yaml_read(struct yaml *yaml, const char *text)
{
	struct reader reader = {.at = text, .line = text, .nodes_left = 1};

	for (const char *at = text; *at; at++)
		reader.nodes_left += strchr(BEFORE_NODES, *at) != NULL;
	yaml->nodes = reader.free = calloc(reader.nodes_left, sizeof *yaml->nodes);
	yaml->texts = reader.texts = malloc(strlen(text) + 1);
	if (yaml->nodes && yaml->texts) {
		struct yaml_node *root = new_node(&reader);

		skip(&reader);
		if (column(&reader) == 0 && !strncmp(reader.at, "---", 3) && ends_word(reader.at[3])) {
			reader.at += 3;
			skip(&reader);
		}
		if (read_block(&reader, root, DEEPEST) && !*reader.at)
			return true;
	}
	yaml_free(yaml);
	return false;
}

void yaml_free(struct yaml *yaml)
{
	free(yaml->nodes);
	free(yaml->texts);
	*yaml = (struct yaml){0};
}

/* --- What it says --- */

const struct yaml_node *yaml_member(const struct yaml_node *node, const char *key)
{
	const struct yaml_node *member = node ? node->child : NULL;

	while (member && (!member->key || strcmp(member->key, key) != 0))
		member = member->next;
	return member;
}

const char *yaml_text(const struct yaml_node *node, const char *key)
{
	const struct yaml_node *member = yaml_member(node, key);

	return member ? member->text : NULL;
}

const struct yaml_node *yaml_items(const struct yaml_node *node, const char *map, const char *list)
{
	const struct yaml_node *member = yaml_member(yaml_member(node, map), list);

	return member && member->child && !member->child->key ? member->child : NULL;
}

const struct yaml_node *yaml_topology(const struct yaml *yaml)
{
	const struct yaml_node *first = yaml->nodes->child;

	for (const struct yaml_node *item = first; item; item = item->next) {
		const char *is_default = yaml_text(item, "cluster_default");

		if (is_default && !strcasecmp(is_default, "true"))
			return item;
	}
	return first && !first->key && !first->next ? first : NULL;
}
