/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

/*
 * The steps of each kind of collective.
 *
 * barrier      ranks of a node notify their leader, leaders synchronise along the axes of the torus
 *              in turn
 * bcast        down trees that have no link in common; pieces take them in turn
 * reduce       up the same trees: each rank combines the pieces of its children with its own, in a
 *              fixed order
 * allreduce    up and then down, so that all ranks have the same bits
 * allgather    both ways along the path through all nodes
 * alltoall     each rank puts to the others in the order of the path, beginning behind itself
 */

static struct plan_spot at(enum plan_region_name region, size_t offset)
{
	return (struct plan_spot){region, offset};
}

static void await_flag(struct plan_maker *maker, int rank)
{
	plan_add_await(maker, PLAN_FLAGS, rank, 0);
}

/* --- Memory --- */

static void use_region(struct fjmpi_plan *plan, enum plan_region_name name, const void *memory, size_t block,
		       int blocks)
{
	plan->region[name] = (struct plan_region){.at = (unsigned char *)(uintptr_t)memory,
						  .bytes = block * (size_t)blocks,
						  .block = block};
}

void plan_lay_out(struct plan_maker *maker)
{
	struct fjmpi_plan *plan = maker->plan;
	const struct fjmpi_plan_call *call = &plan->call;
	int ranks = call->ranks, children = maker->child_count;

	use_region(plan, PLAN_FLAGS, NULL, sizeof(uint64_t), ranks);
	switch (call->kind) {
	case FJMPI_PLAN_BARRIER: return;
	case FJMPI_PLAN_BCAST: use_region(plan, PLAN_RECEIVE, call->receive, call->bytes, 1); return;
	case FJMPI_PLAN_REDUCE:
		/* A rank that is not the root adds up in the block behind those of its children. */
		use_region(plan, PLAN_STAGING, NULL, call->bytes, children ? children + 1 : 0);
		use_region(plan, PLAN_RECEIVE, call->receive, call->bytes, call->rank == call->root);
		break;
	case FJMPI_PLAN_ALLREDUCE:
		use_region(plan, PLAN_STAGING, NULL, call->bytes, 2 * children);
		use_region(plan, PLAN_RECEIVE, call->receive, call->bytes, 1);
		break;
	case FJMPI_PLAN_ALLGATHER:
	case FJMPI_PLAN_ALLTOALL: use_region(plan, PLAN_RECEIVE, call->receive, call->bytes, ranks); break;
	case FJMPI_PLAN_SENDS:
	case FJMPI_PLAN_RECEIVES: return; /* plan_pair.c */
	}
	if (call->send)
		use_region(plan, PLAN_SEND, call->send, call->bytes, call->kind == FJMPI_PLAN_ALLTOALL ? ranks : 1);
}

/* --- Barrier --- */

static void write_barrier(struct plan_maker *maker)
{
	const struct plan_members *members = &maker->members;
	int me = maker->plan->call.rank, node = members->node[me], leader = members->leader[node];
	int to[PLAN_ROUNDS], from[PLAN_ROUNDS], rounds;

	if (me != leader) {
		plan_add_notify(maker, leader);
		await_flag(maker, leader);
		return;
	}
	for (int rank = 0; rank < members->ranks; rank++)
		if (rank != me && members->node[rank] == node)
			await_flag(maker, rank);
	rounds = plan_members_rounds(members, node, to, from);
	for (int round = 0; round < rounds; round++) {
		plan_add_notify(maker, members->leader[to[round]]);
		await_flag(maker, members->leader[from[round]]);
	}
	for (int rank = 0; rank < members->ranks; rank++)
		if (rank != me && members->node[rank] == node)
			plan_add_notify(maker, rank);
}

/* --- Trees --- */

static int parent_of(const struct plan_maker *maker, int piece)
{
	return plan_members_parent(&maker->members, piece % maker->trees, maker->plan->call.rank);
}

static bool is_child(const struct plan_maker *maker, int piece, int rank)
{
	return plan_members_parent(&maker->members, piece % maker->trees, rank) == maker->plan->call.rank;
}

/* For each parent, once: a rank may be the child of another in several trees. */
static void with_parents(struct plan_maker *maker, void (*add)(struct plan_maker *maker, int rank))
{
	for (int tree = 0; tree < maker->trees; tree++) {
		int parent = parent_of(maker, tree);
		bool first = parent >= 0;

		for (int other = 0; other < tree; other++)
			first = first && parent_of(maker, other) != parent;
		if (first)
			add(maker, parent);
	}
}

static void with_children(struct plan_maker *maker, void (*add)(struct plan_maker *maker, int rank))
{
	for (int i = 0; i < maker->child_count; i++)
		add(maker, maker->children[i]);
}

static void put_down(struct plan_maker *maker, int piece)
{
	struct plan_spot spot = at(PLAN_RECEIVE, (size_t)piece * PLAN_PIECE);
	size_t bytes = plan_piece_bytes(maker->plan->call.bytes, piece);

	for (int i = 0; i < maker->child_count; i++)
		if (is_child(maker, piece, maker->children[i]))
			plan_add_put(maker, maker->children[i], spot, spot, bytes);
}

static void write_down(struct plan_maker *maker)
{
	for (int piece = 0; piece < plan_pieces(maker->plan->call.bytes); piece++) {
		if (parent_of(maker, piece) >= 0)
			plan_add_await(maker, PLAN_RECEIVE, 0, piece);
		put_down(maker, piece);
	}
}

static void write_bcast(struct plan_maker *maker)
{
	with_parents(maker, plan_add_notify);
	with_children(maker, await_flag);
	write_down(maker);
}

/* Combines the children's pieces with this rank's. Returns where the result is. */
static struct plan_spot combine_piece(struct plan_maker *maker, int piece, int first_block)
{
	const struct fjmpi_plan_call *call = &maker->plan->call;
	size_t offset = (size_t)piece * PLAN_PIECE, bytes = plan_piece_bytes(call->bytes, piece);
	bool has_result = maker->plan->region[PLAN_RECEIVE].bytes > 0;
	struct plan_spot so_far = at(call->send ? PLAN_SEND : PLAN_RECEIVE, offset), sum;

	sum = has_result ? at(PLAN_RECEIVE, offset)
			 : at(PLAN_STAGING, (size_t)maker->child_count * call->bytes + offset);
	for (int i = 0; i < maker->child_count; i++) {
		int block = first_block + i;

		if (!is_child(maker, piece, maker->children[i]))
			continue;
		plan_add_await(maker, PLAN_STAGING, block, piece);
		plan_add_combine(maker, sum, so_far, at(PLAN_STAGING, (size_t)block * call->bytes + offset), bytes);
		so_far = sum;
	}
	/* A root without children has only its own message. */
	if (parent_of(maker, piece) < 0 && so_far.region == PLAN_SEND) {
		plan_add_copy(maker, sum, so_far, bytes);
		so_far = sum;
	}
	return so_far;
}

/* The block of the parent's staging memory that is for this rank. */
static int block_at_parent(struct plan_maker *maker, int parent, int parity)
{
	int *list = maker->at_parent, count, place = 0;

	count = plan_members_children(&maker->members, maker->trees, parent, list);
	while (list[place] != maker->plan->call.rank)
		place++;
	return parity * count + place;
}

/* parity: of the half of the staging memory */
static void write_up(struct plan_maker *maker, int parity, bool and_down)
{
	const struct fjmpi_plan_call *call = &maker->plan->call;
	int block[NET_AXES];

	for (int tree = 0; tree < maker->trees; tree++)
		block[tree] = parent_of(maker, tree) < 0 ? 0 : block_at_parent(maker, parent_of(maker, tree), parity);
	for (int piece = 0; piece < plan_pieces(call->bytes); piece++) {
		struct plan_spot sum = combine_piece(maker, piece, parity * maker->child_count);
		size_t offset = (size_t)block[piece % maker->trees] * call->bytes + (size_t)piece * PLAN_PIECE;
		int parent = parent_of(maker, piece);

		if (parent >= 0)
			plan_add_put(maker, parent, sum, at(PLAN_STAGING, offset),
				     plan_piece_bytes(call->bytes, piece));
		else if (and_down)
			put_down(maker, piece);
	}
}

static void write_reduce(struct plan_maker *maker)
{
	with_children(maker, plan_add_notify);
	with_parents(maker, await_flag);
	write_up(maker, 0, false);
}

static void write_allreduce(struct plan_maker *maker, int parity)
{
	write_up(maker, parity, true);
	if (parent_of(maker, 0) >= 0)
		write_down(maker);
}

/* --- Blocks --- */

static int rank_at(const struct plan_maker *maker, int position)
{
	int ranks = maker->members.ranks;

	return maker->members.order[(position % ranks + ranks) % ranks];
}

static void copy_own_block(struct plan_maker *maker, size_t from)
{
	const struct fjmpi_plan_call *call = &maker->plan->call;

	if (call->send)
		plan_add_copy(maker, at(PLAN_RECEIVE, (size_t)call->rank * call->bytes), at(PLAN_SEND, from),
			      call->bytes);
}

static void await_block(struct plan_maker *maker, int owner)
{
	for (int piece = 0; piece < plan_pieces(maker->plan->call.bytes); piece++)
		plan_add_await(maker, PLAN_RECEIVE, owner, piece);
}

/* Forwards the block of the rank this many steps away in the same direction. */
static void pass_on(struct plan_maker *maker, int steps, int direction)
{
	const struct fjmpi_plan_call *call = &maker->plan->call;
	int mine = maker->members.position[call->rank], owner = rank_at(maker, mine - direction * steps);
	size_t target = (size_t)owner * call->bytes;

	for (int piece = 0; piece < plan_pieces(call->bytes); piece++) {
		size_t offset = (size_t)piece * PLAN_PIECE;
		struct plan_spot from = at(PLAN_RECEIVE, target + offset);

		if (steps > 0)
			plan_add_await(maker, PLAN_RECEIVE, owner, piece);
		else if (call->send)
			from = at(PLAN_SEND, offset);
		plan_add_put(maker, rank_at(maker, mine + direction), from, at(PLAN_RECEIVE, target + offset),
			     plan_piece_bytes(call->bytes, piece));
	}
}

static void write_allgather(struct plan_maker *maker)
{
	int ranks = maker->members.ranks, mine = maker->members.position[maker->plan->call.rank];
	int forward = ranks / 2, backward = ranks - 1 - forward;

	copy_own_block(maker, 0);
	if (forward > 0)
		plan_add_notify(maker, rank_at(maker, mine - 1));
	if (backward > 0)
		plan_add_notify(maker, rank_at(maker, mine + 1));
	if (forward > 0)
		await_flag(maker, rank_at(maker, mine + 1));
	if (backward > 0)
		await_flag(maker, rank_at(maker, mine - 1));
	for (int steps = 0; steps < forward; steps++) {
		pass_on(maker, steps, 1);
		if (steps < backward)
			pass_on(maker, steps, -1);
	}
	if (forward > 0)
		await_block(maker, rank_at(maker, mine - forward));
	if (backward > 0)
		await_block(maker, rank_at(maker, mine + backward));
}

static void write_alltoall(struct plan_maker *maker)
{
	const struct fjmpi_plan_call *call = &maker->plan->call;
	int mine = maker->members.position[call->rank];

	for (int steps = 1; steps < call->ranks; steps++)
		plan_add_notify(maker, rank_at(maker, mine - steps));
	copy_own_block(maker, (size_t)call->rank * call->bytes);
	for (int steps = 1; steps < call->ranks; steps++) {
		int target = rank_at(maker, mine + steps);

		await_flag(maker, target);
		for (int piece = 0; piece < plan_pieces(call->bytes); piece++) {
			size_t offset = (size_t)piece * PLAN_PIECE;

			plan_add_put(maker, target, at(PLAN_SEND, (size_t)target * call->bytes + offset),
				     at(PLAN_RECEIVE, (size_t)call->rank * call->bytes + offset),
				     plan_piece_bytes(call->bytes, piece));
		}
	}
	for (int steps = 1; steps < call->ranks; steps++)
		await_block(maker, rank_at(maker, mine - steps));
}

void plan_write_steps(struct plan_maker *maker, int parity)
{
	enum fjmpi_plan_kind kind = maker->plan->call.kind;

	if (kind == FJMPI_PLAN_BARRIER)
		write_barrier(maker);
	else if (maker->plan->call.bytes == 0)
		return;
	else if (kind == FJMPI_PLAN_BCAST)
		write_bcast(maker);
	else if (kind == FJMPI_PLAN_REDUCE)
		write_reduce(maker);
	else if (kind == FJMPI_PLAN_ALLREDUCE)
		write_allreduce(maker, parity);
	else if (kind == FJMPI_PLAN_ALLGATHER)
		write_allgather(maker);
	else
		write_alltoall(maker);
	plan_add_sent(maker);
}
