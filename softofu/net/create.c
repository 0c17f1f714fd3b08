/* SPDX-License-Identifier: BSD-3-Clause */
/* A network's memory: what is where, how it begins, and who may touch it. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "softofu/net/state.h"

static size_t reserve(size_t *end, size_t count, size_t bytes)
{
	size_t start = (*end + NET_ALIGN - 1) / NET_ALIGN * NET_ALIGN;

	*end = start + count * bytes;
	return start;
}

/* What is large comes last: slots of which many are never used, so that their pages are never there. */
static void lay_out(struct net *net, const struct net_settings *settings)
{
	size_t nodes = (size_t)settings->shape.places, end = sizeof *net, tnis = (size_t)settings->tnis;
	size_t links, slots, doors;

	net->settings = *settings;
	net->ways = 2 * settings->shape.axes;
	net->ports = net->ways + settings->tnis;
	net->inputs = net->ways * NET_CHANNELS + settings->tnis * NET_CLASSES;
	links = nodes * (size_t)net->ways;
	slots = nodes * (links / nodes * NET_CHANNELS * (size_t)settings->buffers +
			 tnis * NET_CLASSES * (size_t)settings->queue);
	doors = nodes * tnis * (size_t)settings->cqs * NET_CLASSES;
	net->coordinates = reserve(&end, nodes * 8, sizeof(uint16_t));
	net->hosts = reserve(&end, nodes, sizeof(uint16_t));
	net->links = reserve(&end, links, sizeof(struct net_link));
	net->tni_list = reserve(&end, nodes * tnis, sizeof(struct net_tni));
	net->port_list = reserve(&end, nodes * (size_t)net->ports, sizeof(struct net_port));
	net->agenda = reserve(&end, nodes * (size_t)net->ports + 1, sizeof(int32_t));
	net->input_list = reserve(&end, nodes * (size_t)net->inputs, sizeof(struct net_input));
	net->doors = reserve(&end, doors, sizeof(struct net_door));
	net->freed_at = reserve(&end, slots, sizeof(int64_t));
	net->windows = reserve(&end, links * (size_t)settings->window, sizeof(struct net_slot));
	net->slots = reserve(&end, slots, sizeof(struct net_slot));
	net->rooms = reserve(&end, doors * (size_t)settings->door, sizeof(struct net_room));
	net->size = end;
}

size_t net_bytes(const struct net_settings *settings, char problem[NET_PROBLEM])
{
	struct net net;

	if (!net_settings_check(settings, problem))
		return 0;
	lay_out(&net, settings);
	return net.size;
}

static void set_links(struct net *net)
{
	const struct torus_shape *shape = &net->settings.shape;

	for (int node = 0; node < shape->places; node++)
		for (int way = 0; way < net->ways; way++) {
			struct net_link *link = net_link(net, net_link_number(net, node, way));

			link->from = node;
			link->way = (uint8_t)way;
			link->enters = (uint8_t)(way ^ 1);
			link->to = torus_neighbour(shape, node, way);
			if (shape->axis[way / 2].size == 1)
				link->to = -1;
			link->deadline = NET_NEVER;
			for (int c = 0; c < NET_CHANNELS; c++)
				link->limit[c] = (uint32_t)net->settings.buffers;
		}
	for (int i = 0; i < net->settings.cuts; i++) {
		const struct net_cut *cut = &net->settings.cut[i];
		int there = torus_neighbour(shape, cut->place, cut->way);
		struct net_link *both[2] = {net_link(net, net_link_number(net, cut->place, cut->way)),
					    net_link(net, net_link_number(net, there, cut->way ^ 1))};

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
	lay_out(net, settings);
	if (!make_lock(net))
		return torus_refuse(problem, "this system has no robust mutex for several processes");
	net->hop_time = (int64_t)(settings->hop_time * 1000);
	net->send_time = (int64_t)(settings->send_time * 1000);
	net->take_time = (int64_t)(settings->take_time * 1000);
	net->link_pace = 1000 / settings->link_rate;
	net->tni_pace = 1000 / settings->tni_rate;
	net->lots = settings->seed * 0x9e3779b97f4a7c15u + 1;
	coordinates = net_part(net, net->coordinates);
	for (int node = 0; node < settings->shape.places; node++)
		for (int axis = 0; axis < settings->shape.axes; axis++)
			coordinates[8 * node + axis] = (uint16_t)torus_coordinate(&settings->shape, node, axis);
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

/* The line may just be written. Who writes it may also have been ended in the midst of it; nobody waits for that longer than a second. */
const char *net_trouble(const struct net *net)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	atomic_int *broken = &((struct net *)(uintptr_t)net)->broken;

	for (int looks = 0; looks < 1000 && atomic_load_explicit(broken, memory_order_relaxed) < 0; looks++)
		nanosleep(&moment, NULL);
	switch (atomic_load_explicit(broken, memory_order_acquire)) {
	case 0: return NULL;
	case 1: return net->trouble;
	default: return "the network has failed";
	}
}

/*
 * A process that dies with the lock leaves a state in which anything may be half done. The job has lost a process and is to
 * end anyway, so the others are told instead of going on with it.
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

/* The lock is held for microseconds, so it pays to look again a few times before the kernel is asked. */
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
