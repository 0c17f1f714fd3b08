/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/net/net_settings.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "softofu/net/packet.h"

/*
 * tofud          fitted to published figures, which softofu-replay --published shows: a put of 8
 *                bytes to the next node takes 0.49 us, a link carries 6.35 of its 6.8 GB/s, six
 *                TNIs inject 38.1 GB/s, and a put takes 1.4 us where a program posts it and polls.
 *                The envelope is what gives the rates. No figure for a further hop was found; this
 *                one is ours.
 * tofud-nominal  the nominal rates, the same latency, and software that takes no time
 * apenet         the raw rate of a link, a host interface of 4 GB/s, 60 ns for a router, 6.5 us end
 *                to end
 */
static const struct {
	const char *name;
	double link_rate, tni_rate, hop_time, send_time, take_time, software_time;
	int envelope;
} presets[] = {
	{"tofud", 6.8, 6.8, 100, 184, 185, 910, 136},
	{"tofud-nominal", 6.8, 6.8, 100, 195, 194, 0, 0},
	{"apenet", 4.25, 4.0, 60, 3250, 3250, 0, NET_ENVELOPE},
};

static bool use_preset(struct net_settings *settings, const char *name)
{
	for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
		if (strcmp(presets[i].name, name) != 0)
			continue;
		settings->link_rate = presets[i].link_rate;
		settings->tni_rate = presets[i].tni_rate;
		settings->hop_time = presets[i].hop_time;
		settings->send_time = presets[i].send_time;
		settings->take_time = presets[i].take_time;
		settings->software_time = presets[i].software_time;
		settings->envelope = presets[i].envelope;
		return true;
	}
	return false;
}

void net_settings_default(struct net_settings *settings)
{
	*settings = (struct net_settings){
		.mode = NET_PACKETS,
		.tnis = NET_TNIS,
		.cqs = 12,
		.buffers = 8,
		.queue = 8,
		.receive_queue = 8,
		.window = 4,
		.lanes = NET_LANES,
		.seed = 1,
	};
	settings->shape.axes = 1;
	settings->shape.axis[0].size = 1;
	net_shape_complete(&settings->shape);
	use_preset(settings, presets[0].name);
}

/* Rows of a name, where the value goes, and what it may be. */
static const struct {
	const char *name;
	size_t where;
	double least, most;
	enum { WHOLE, REAL, LONG } kind;
} rows[] = {
#define ROW(name, member, least, most, kind)                                   \
	{                                                                      \
		name, offsetof(struct net_settings, member), least, most, kind \
	}
	ROW("tnis", tnis, 1, NET_TNIS, WHOLE),
	ROW("cqs", cqs, 1, NET_CQS, WHOLE),
	ROW("buffers", buffers, 1, 1024, WHOLE),
	ROW("queue", queue, 1, 1024, WHOLE),
	ROW("receive-queue", receive_queue, 1, 65536, WHOLE),
	ROW("window", window, 1, 1024, WHOLE),
	ROW("lanes", lanes, 1, NET_LANES, WHOLE),
	ROW("link-rate", link_rate, 1e-3, 1e6, REAL),
	ROW("tni-rate", tni_rate, 1e-3, 1e6, REAL),
	ROW("hop", hop_time, 0, 1e9, REAL),
	ROW("send", send_time, 0, 1e9, REAL),
	ROW("take", take_time, 0, 1e9, REAL),
	ROW("software", software_time, 0, 1e9, REAL),
	ROW("envelope", envelope, 0, 4096, WHOLE),
	ROW("errors", packet_errors, 0, 0.9, REAL),
	ROW("bit-errors", bit_errors, 0, 0.01, REAL),
	ROW("seed", seed, 0, 1e18, LONG),
#undef ROW
};

static bool read_net_number(struct net_settings *settings, size_t row, const char *value, char problem[NET_PROBLEM])
{
	char *end, *member = (char *)settings + rows[row].where;
	double number = strtod(value, &end);

	if (end == value || *end || !(number >= rows[row].least && number <= rows[row].most) ||
	    (rows[row].kind != REAL && floor(number) != number))
		return net_refuse(problem, "%s=%.60s: give a%s number from %g to %g", rows[row].name, value,
				  rows[row].kind == REAL ? "" : " whole", rows[row].least, rows[row].most);
	switch (rows[row].kind) {
	case WHOLE: *(int *)(void *)member = (int)number; break;
	case REAL: *(double *)(void *)member = number; break;
	case LONG: *(uint64_t *)(void *)member = (uint64_t)number; break;
	}
	return true;
}

static int read_direction(const char *text)
{
	for (int direction = 0; direction < NET_DIRECTIONS; direction++)
		if (strncmp(text, net_direction_name(direction), 2) == 0)
			return direction;
	return -1;
}

/* "1,0,0:x+" or "1,0,0:x+@5000"; the cable must be there. */
static bool read_cut(struct net_settings *settings, const char *value, size_t length, char problem[NET_PROBLEM])
{
	const struct net_shape *shape = &settings->shape;
	struct net_cut cut = {0};
	char *at = (char *)(uintptr_t)value;
	int coordinates[NET_AXES];

	if (settings->cuts == NET_LOST)
		return net_refuse(problem, "cut: more than %d links", NET_LOST);
	for (int a = 0; a < shape->axes; a++) {
		long number = strtol(at, &at, 10);

		if (number < 0 || number >= shape->axis[a].size || *at != (a < shape->axes - 1 ? ',' : ':'))
			return net_refuse(problem, "cut=%.*s: give a node and a direction of the shape, as in 1,0,0:x+",
					  (int)length, value);
		coordinates[a] = (int)number;
		at++;
	}
	cut.place = net_place_at(shape, coordinates);
	cut.direction = read_direction(at);
	if (cut.direction < 0 || cut.direction >= 2 * shape->axes || shape->axis[cut.direction / 2].size == 1 ||
	    net_neighbour(shape, cut.place, cut.direction) < 0)
		return net_refuse(problem, "cut=%.*s: there is no such link", (int)length, value);
	at += 2;
	if (*at == '@')
		cut.after = strtoull(at + 1, &at, 10);
	if ((size_t)(at - value) != length)
		return net_refuse(problem, "cut=%.*s: after the direction comes nothing, or @ and a number of packets",
				  (int)length, value);
	settings->cut[settings->cuts++] = cut;
	return true;
}

static bool read_cuts(struct net_settings *settings, const char *value, char problem[NET_PROBLEM])
{
	for (;;) {
		size_t length = strcspn(value, ";");

		if (!read_cut(settings, value, length, problem))
			return false;
		if (!value[length])
			return true;
		value += length + 1;
	}
}

bool net_settings_set(struct net_settings *settings, const char *name, const char *value, char problem[NET_PROBLEM])
{
	if (strcmp(name, "shape") == 0)
		return net_shape_read(&settings->shape, value, problem);
	if (strcmp(name, "cut") == 0)
		return read_cuts(settings, value, problem);
	if (strcmp(name, "preset") == 0) {
		if (use_preset(settings, value))
			return true;
		return net_refuse(problem, "preset=%.60s: the presets are tofud, tofud-nominal and apenet", value);
	}
	if (strcmp(name, "mode") == 0) {
		settings->mode = strcmp(value, "through") == 0 ? NET_THROUGH : NET_PACKETS;
		if (settings->mode == NET_THROUGH || strcmp(value, "packets") == 0)
			return true;
		return net_refuse(problem, "mode=%.60s: the modes are through and packets", value);
	}
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (strcmp(rows[i].name, name) == 0)
			return read_net_number(settings, i, value, problem);
	return net_refuse(problem, "%.60s: there is no such setting of the network", name);
}

/* A comma before a name ends a value; those in the coordinates of a cut are before digits. */
static size_t value_length(const char *value)
{
	size_t length = strcspn(value, ",");

	while (value[length] && value[length + 1] >= '0' && value[length + 1] <= '9')
		length += 1 + strcspn(value + length + 1, ",");
	return length;
}

bool net_settings_read(struct net_settings *settings, const char *text, char problem[NET_PROBLEM])
{
	while (*text) {
		char name[32], value[512];
		size_t before = strcspn(text, "="), length;

		if (text[before] != '=' || before >= sizeof name)
			return net_refuse(problem, "%.60s: settings of the network are name=value, with commas between",
					  text);
		memcpy(name, text, before);
		name[before] = '\0';
		text += before + 1;
		length = value_length(text);
		if (length >= sizeof value)
			return net_refuse(problem, "%s: the value is too long", name);
		memcpy(value, text, length);
		value[length] = '\0';
		if (!net_settings_set(settings, name, value, problem))
			return false;
		text += length + (text[length] == ',');
	}
	return true;
}

bool net_settings_check(const struct net_settings *settings, char problem[NET_PROBLEM])
{
	const struct net_shape *shape = &settings->shape;

	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > UINT16_MAX)
			return net_refuse(problem, "the shape's axis of %d nodes is longer than %d",
					  shape->axis[a].size, UINT16_MAX);
	if (shape->axes < 1 || shape->places < 1 || shape->places > 1 << 20)
		return net_refuse(problem, "a grid of %d nodes; it can have from 1 to %d", shape->places, 1 << 20);
	for (int i = 0; i < settings->cuts; i++)
		if (settings->cut[i].place >= shape->places || settings->cut[i].direction >= 2 * shape->axes ||
		    net_neighbour(shape, settings->cut[i].place, settings->cut[i].direction) < 0)
			return net_refuse(problem, "a cut link is not in the shape; set the shape before the cut");
	if (settings->mode == NET_THROUGH && (settings->packet_errors > 0 || settings->bit_errors > 0))
		return net_refuse(problem, "errors on links need mode=packets; without routers no link is gone over");
	return true;
}
