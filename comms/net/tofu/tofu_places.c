/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions of PEs in the network: the launcher's map, read by jTofu. */
#include "tofu_inside.h"

#include <stdlib.h>

#include "rte/rte.h"
#include "comms/torus/shape.h"

#define JOB 0
#define MOST_ON_NODE 48

static bool jtofu_is_open;

/* The node's coordinates as digits of one number. */
static uint64_t coordinates_number(const union jtofu_phys_coords *at)
{
	uint64_t number = 0;

	for (int axis = 0; axis < 6; axis++)
		number = number << 8 | at->a[axis];
	return number;
}

static union jtofu_phys_coords physical_coordinates(int pe)
{
	union jtofu_phys_coords at = {0};
	int code = jtofu.query_phys_coords(JOB, (jtofu_rank_t)pe, &at);

	if (code != JTOFU_SUCCESS)
		rte_die(NULL, "jtofu_query_phys_coords: error %d: the launcher's map does not say where PE %d is", code,
			pe);
	return at;
}

/*
 * A launcher without Tofu support, such as Open MPI's, publishes no map. Software Tofu makes one
 * from SOFTOFU_SHAPE and its other settings, the same in every process of the job. NULL: there is
 * none.
 */
static void *map_of_settings(void)
{
	const char *shape = getenv("SOFTOFU_SHAPE");
	unsigned ranks;
	size_t size;
	void *map;

	if (!shape || !*shape || !softofu.create_map || softofu.create_map(&map, &size, &ranks) != JTOFU_SUCCESS)
		return NULL;
	if (ranks < (unsigned)comms.n_pes)
		rte_die_together("shmem_init", "SOFTOFU_SHAPE=%s: this box has %u ranks for %d PEs; give a larger one",
				 shape, ranks, comms.n_pes);
	return map;
}

static void die_without(bool libraries, const char *problem)
{
	if (!libraries)
		rte_die_together("shmem_init",
				 "SHMEM_PATHS names tofu, and its libraries cannot be loaded (%s); leave tofu out, or "
				 "configure torushmem --with-tofu=DIR",
				 problem);
	rte_die_together(
		"shmem_init",
		"SHMEM_PATHS names tofu, and the launcher does not publish the PEs' places in a Tofu network (fjpmix.rankmap); for software Tofu, set SOFTOFU_SHAPE, as in SOFTOFU_SHAPE=2x2");
}

bool tofu_find(bool must)
{
	char problem[TOFU_PROBLEM];
	size_t size;
	void *map = rte_vendor_map(must, &size);
	bool libraries = (map || must) && tofu_library_load(problem);
	int code = JTOFU_ERR_NOT_INITIALIZED;

	if (!map && libraries)
		map = map_of_settings();
	if (must && (!libraries || !map))
		die_without(libraries, problem);
	if (map && libraries)
		code = jtofu.initialize(JOB, (jtofu_rank_t)comms.pe, map);
	free(map);
	jtofu_is_open = code == JTOFU_SUCCESS;
	if (libraries && !jtofu_is_open)
		rte_die_together(
			"shmem_init",
			"jtofu_initialize: error %d: the libraries beside %s do not understand the launcher's map of the Tofu network; configure torushmem --with-tofu=DIR with those of this machine, or set "
			"SHMEM_PATHS=local,ucx",
			code, tofu_library_file());
	return jtofu_is_open;
}

static uint64_t tofu_node_of(int pe)
{
	union jtofu_phys_coords at = physical_coordinates(pe);

	return coordinates_number(&at);
}

/* A pair has one cable on this network. */
static bool tofu_find_machine(struct torus_shape *machine)
{
	union jtofu_phys_coords size, ring;

	if (jtofu.query_sys_size(&size) != JTOFU_SUCCESS || jtofu.query_sys_torus(&ring) != JTOFU_SUCCESS)
		return false;
	machine->axes = TORUS_AXES;
	for (int axis = 0; axis < TORUS_AXES; axis++)
		machine->axis[axis] = (struct torus_axis){size.a[axis], ring.a[axis] && size.a[axis] > 2};
	return torus_shape_complete(machine);
}

static int tofu_place_in(const struct torus_shape *machine, int pe)
{
	union jtofu_phys_coords at = physical_coordinates(pe);
	int coordinates[TORUS_AXES];

	for (int axis = 0; axis < TORUS_AXES; axis++) {
		coordinates[axis] = at.a[axis];
		if (coordinates[axis] >= machine->axis[axis].size)
			rte_die(NULL,
				"jtofu_query_phys_coords: PE %d is outside of the machine that jtofu_query_sys_size describes",
				pe);
	}
	return torus_place_at(machine, coordinates);
}

const struct comms_map tofu_map = {tofu_node_of, tofu_find_machine, tofu_place_in};

static size_t pes_beside(int pe, jtofu_rank_t ranks[MOST_ON_NODE])
{
	union jtofu_phys_coords at = physical_coordinates(pe);
	size_t count = 0;

	jtofu.query_ranks_from_phys_coords(JOB, &at, MOST_ON_NODE, ranks, &count);
	return count < MOST_ON_NODE ? count : MOST_ON_NODE;
}

static int place_on_node(int pe)
{
	jtofu_rank_t ranks[MOST_ON_NODE];
	size_t count = pes_beside(pe, ranks), place = 0;

	while (place < count && ranks[place] != (jtofu_rank_t)pe)
		place++;
	return (int)place;
}

/*
 * Treats the PEs of a node as a tile of size two in each dimension, as a grid of two or more
 * dimensions places them: the direction is along the highest bit in which their indices differ. So
 * messages on the node use the directions that those to other nodes do not.
 */
static int direction_on_node(int count, int from, int to)
{
	int bits = 0, dim = 0;

	while (count > 1 << bits)
		bits++;
	while (dim < bits - 1 && !((from ^ to) >> (bits - 1 - dim) & 1))
		dim++;
	return 2 * dim + (bits > 0 ? from >> (bits - 1 - dim) & 1 : 0);
}

int tofu_tni_of(int pe, int other, int tnis)
{
	jtofu_rank_t beside[MOST_ON_NODE];
	struct torus_shape machine;
	int direction = -1;

	if (tnis > 1 && tofu_find_machine(&machine))
		direction = torus_next(&machine, tofu_place_in(&machine, pe), tofu_place_in(&machine, other));
	/* On the same node, or at an unknown place. */
	if (direction < 0)
		direction = direction_on_node((int)pes_beside(pe, beside), place_on_node(pe), place_on_node(other));
	return (direction + 4 * place_on_node(pe)) % tnis;
}

void tofu_leave(void)
{
	if (jtofu_is_open)
		jtofu.finalize();
	jtofu_is_open = false;
}
