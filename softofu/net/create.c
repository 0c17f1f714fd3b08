/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout and initial state of a network's memory, and its lock. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "softofu/net/state.h"

static size_t reserve_part(size_t *end, size_t count, size_t bytes)
{
	size_t start = (*end + NET_ALIGN - 1) / NET_ALIGN * NET_ALIGN;

	*end = start + count * bytes;
	return start;
}

/* Large parts come last: many slots are never used, and their pages are never allocated. */
static void lay_out_net(struct net *net, const struct net_settings *settings)
{
	size_t nodes = (size_t)settings->shape.places, end = sizeof *net, tnis = (size_t)settings->tnis;
	size_t links, slots, receive_queues;

	net->settings = *settings;
	net->directions = 2 * settings->shape.axes;
	net->ports = net->directions + settings->tnis;
	net->inputs = net->directions * NET_CHANNELS + settings->tnis * NET_CLASSES;
	links = nodes * (size_t)net->directions;
	slots = nodes * (links / nodes * NET_CHANNELS * (size_t)settings->buffers +
			 tnis * NET_CLASSES * (size_t)settings->queue);
	receive_queues = nodes * tnis * (size_t)settings->cqs * NET_CLASSES;
	net->coordinates = reserve_part(&end, nodes * 8, sizeof(uint16_t));
	net->hosts = reserve_part(&end, nodes, sizeof(uint16_t));
	net->links = reserve_part(&end, links, sizeof(struct net_link));
	net->tni_list = reserve_part(&end, nodes * tnis, sizeof(struct net_tni));
	net->port_list = reserve_part(&end, nodes * (size_t)net->ports, sizeof(struct net_port));
	net->agenda = reserve_part(&end, nodes * (size_t)net->ports + 1, sizeof(int32_t));
	net->input_list = reserve_part(&end, nodes * (size_t)net->inputs, sizeof(struct net_input));
	net->receive_queues = reserve_part(&end, receive_queues, sizeof(struct net_receive_queue));
	net->freed_at = reserve_part(&end, slots, sizeof(int64_t));
	net->windows = reserve_part(&end, links * (size_t)settings->window, sizeof(struct net_slot));
	net->slots = reserve_part(&end, slots, sizeof(struct net_slot));
	net->receive_entries =
		reserve_part(&end, receive_queues * (size_t)settings->receive_queue, sizeof(struct net_receive_entry));
	net->size = end;
}

size_t net_bytes(const struct net_settings *settings, char problem[NET_PROBLEM])
{
	struct net net;

	if (!net_settings_check(settings, problem))
		return 0;
	lay_out_net(&net, settings);
	return net.size;
}

static void set_links(struct net *net)
{
	const struct net_shape *shape = &net->settings.shape;

	for (int node = 0; node < shape->places; node++)
		for (int direction = 0; direction < net->directions; direction++) {
			struct net_link *link = net_link(net, net_link_number(net, node, direction));

			link->from = node;
			link->direction = (uint8_t)direction;
			link->enters = (uint8_t)(direction ^ 1);
			link->to = net_neighbour(shape, node, direction);
			if (shape->axis[direction / 2].size == 1)
				link->to = -1;
			link->deadline = NET_NEVER;
			for (int c = 0; c < NET_CHANNELS; c++)
				link->limit[c] = (uint32_t)net->settings.buffers;
		}
	for (int i = 0; i < net->settings.cuts; i++) {
		const struct net_cut *cut = &net->settings.cut[i];
		int there = net_neighbour(shape, cut->place, cut->direction);
		struct net_link *both[2] = {net_link(net, net_link_number(net, cut->place, cut->direction)),
					    net_link(net, net_link_number(net, there, cut->direction ^ 1))};

		for (int b = 0; b < 2; b++) {
			both[b]->cut = cut->after == 0;
			both[b]->dies = cut->after > 0;
			both[b]->carries = cut->after;
		}
		net->cut_links += cut->after == 0;
	}
}

static bool make_lock(struct net *net)
{
	pthread_mutexattr_t kind;
	bool made = !pthread_mutexattr_init(&kind) && !pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) &&
		    !pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) && !pthread_mutex_init(&net->lock, &kind);

	pthread_mutexattr_destroy(&kind);
	return made;
}

bool net_create(struct net *net, const struct net_settings *settings, char problem[NET_PROBLEM])
{
	uint16_t *coordinates;

	if (!net_settings_check(settings, problem))
		return false;
	lay_out_net(net, settings);
	if (!make_lock(net))
		return net_refuse(problem, "this system has no robust mutex for several processes");
	net->hop_time = (int64_t)(settings->hop_time * 1000);
	net->send_time = (int64_t)(settings->send_time * 1000);
	net->take_time = (int64_t)(settings->take_time * 1000);
	net->link_pace = 1000 / settings->link_rate;
	net->tni_pace = 1000 / settings->tni_rate;
	net->random_state = settings->seed * 0x9e3779b97f4a7c15u + 1;
	coordinates = net_part(net, net->coordinates);
	for (int node = 0; node < settings->shape.places; node++)
		for (int axis = 0; axis < settings->shape.axes; axis++)
			coordinates[8 * node + axis] = (uint16_t)net_coordinate(&settings->shape, node, axis);
	for (int i = 0; i < settings->shape.places * net->inputs; i++)
		net_input(net, 0, i)->port = -1;
	set_links(net);
	return true;
}

void net_destroy(struct net *net)
{
	pthread_mutex_destroy(&net->lock);
}

const struct net_settings *net_settings(const struct net *net)
{
	return &net->settings;
}

int net_fail(struct net *net, const char *format, ...)
{
	va_list arguments;
	int nobody = 0;

	if (atomic_compare_exchange_strong_explicit(&net->broken, &nobody, -1, memory_order_relaxed,
						    memory_order_relaxed)) {
		va_start(arguments, format);
		vsnprintf(net->trouble, sizeof net->trouble, format, arguments);
		va_end(arguments);
		atomic_store_explicit(&net->broken, 1, memory_order_release);
	}
	return -1;
}

/*
 * Another process may be writing the line, or may have died while it wrote. Waits at most one
 * second.
 */
const char *net_trouble(const struct net *net)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	atomic_int *broken = &((struct net *)(uintptr_t)net)->broken;

	for (int tries = 0; tries < 1000 && atomic_load_explicit(broken, memory_order_relaxed) < 0; tries++)
		nanosleep(&moment, NULL);
	switch (atomic_load_explicit(broken, memory_order_acquire)) {
	case 0: return NULL;
	case 1: return net->trouble;
	default: return "the network has failed";
	}
}

/*
 * If a process dies with the lock, the state may be half changed. The job has lost a process and
 * ends anyway, so this fails the network instead of going on with a damaged state.
 */
static bool locked(struct net *net, int result)
{
	if (result == EOWNERDEAD) {
		net_fail(net, "a process died while it moved packets of the network");
		pthread_mutex_consistent(&net->lock);
	} else if (result) {
		return false;
	}
	if (!net_is_broken(net))
		return true;
	pthread_mutex_unlock(&net->lock);
	return false;
}

/* The lock is held for microseconds: spin before asking the kernel. */
bool net_lock(struct net *net)
{
	int result = EBUSY;

	for (int tries = 0; tries < 100 && result == EBUSY; tries++)
		result = pthread_mutex_trylock(&net->lock);
	if (result == EBUSY)
		result = pthread_mutex_lock(&net->lock);
	return locked(net, result);
}

bool net_try_lock(struct net *net)
{
	return locked(net, pthread_mutex_trylock(&net->lock));
}

void net_unlock(struct net *net)
{
	pthread_mutex_unlock(&net->lock);
}
