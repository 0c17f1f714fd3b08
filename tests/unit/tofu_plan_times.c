/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modelled clock of software Tofu times this library's plans: the two methods of giving the
 * messages of a halo exchange to the TNIs, and one, three and six trees. Figures:
 * docs/decisions/softofu.md.
 */
#include <math.h>

#include "comms/torus/tni.h"
#include "comms/torus/trees.h"
#include "softofu/tests/flows.h"
#include "tests/lib/unit.h"

/* Of nominal rates, so that times are sums of round numbers. */
#define NOMINAL "preset=tofud-nominal"
#define LINK 6.8 /* GB/s: bytes in a nanosecond */
#define HOP 100.0
#define BASE 390.0
#define MESSAGE (1u << 18)

/*
 * A halo exchange of tiles of 2 x 2 ranks to a node, all messages through TNIs. Returns GB/s of a
 * node.
 */
static double halo(enum torus_assign how)
{
	struct torus_step step =
		{.dims = 2, .tile = {2, 2}, .tnis = 6, .tni_rate = LINK, .link_rate = LINK, .volume = {1, 1, 1, 1}};
	struct flows *flows = flows_start("4x4", NOMINAL, NULL, NULL);
	const struct net_shape *shape = &net_settings(flows_net(flows))->shape;
	struct torus_assignment plan;
	char problem[TORUS_PROBLEM];
	double time;

	if (!torus_step_complete(&step, problem) || !torus_assign(&plan, &step, how))
		return -1;
	for (int node = 0; node < shape->places; node++)
		for (int pe = 0; pe < step.pes; pe++)
			for (int direction = 0; direction < 4; direction++) {
				bool leaves;
				int target = torus_step_target(&step, pe, direction, &leaves),
				    back = target * 4 + (direction ^ 1);

				flows_post(flows,
					   &(struct flows_message){.from = node,
								   .from_tni = plan.tni[pe * 4 + direction],
								   .from_cq = pe,
								   .to = leaves ? net_neighbour(shape, node, direction)
										: node,
								   .to_tni = plan.tni[back],
								   .bytes = MESSAGE});
			}
	time = flows_finish(flows);
	flows_free(flows);
	torus_assignment_free(&plan);
	return 16.0 * MESSAGE / time;
}

static void check_halo(void)
{
	double by_direction = halo(TORUS_BY_DIRECTION), round_robin = halo(TORUS_ROUND_ROBIN);

	printf("halo: a TNI for each direction %.2f GB/s, TNIs in rotation %.2f GB/s\n", by_direction, round_robin);
	EXPECT(fabs(by_direction - 27.2) < 0.2, "a TNI for each direction: %.2f GB/s", by_direction);
	EXPECT(fabs(round_robin - 36.27) < 0.3, "TNIs in rotation: %.2f GB/s", round_robin);
}

/* --- Trees --- */

struct broadcast {
	struct torus_shape shape;
	enum torus_trees kind;
	uint32_t segment;
};

enum { SEGMENTS = 1 << 16 };

static void forward(struct flows *flows, const struct net_packet *last, void *context)
{
	const struct broadcast *broadcast = context;
	const struct torus_tree tree = {&broadcast->shape, broadcast->kind, 0, (int)(flows_tag(last) / SEGMENTS)};
	int children[TORUS_DIRECTIONS], directions[TORUS_DIRECTIONS];
	int count = torus_tree_children(&tree, (int)last->to, children, directions);

	for (int c = 0; c < count; c++)
		flows_post(flows, &(struct flows_message){.from = (int)last->to,
							  .from_tni = directions[c] % 6,
							  .to = children[c],
							  .to_tni = directions[c] % 6,
							  .bytes = broadcast->segment,
							  .time = last->tail,
							  .tag = flows_tag(last)});
}

/*
 * GB/s of a broadcast, and what the pipeline's fill leaves of it: the depth in segments, each with
 * a message's latency.
 */
static void check_trees(const char *text, enum torus_trees kind, int expected)
{
	struct broadcast broadcast = {.kind = kind, .segment = 4 * NET_PAYLOAD};
	const struct torus_shape *shape = &broadcast.shape;
	char problem[TORUS_PROBLEM];
	bool read = torus_shape_read(&broadcast.shape, text, problem);
	struct flows *flows = flows_start(text, NOMINAL, forward, &broadcast);
	int trees = torus_tree_count(shape, kind), depth = 0, segments = 120;
	double time, ideal, fill, rate, one_segment = broadcast.segment / LINK;

	EXPECT(read && trees == expected, "%s has %d trees", text, trees);
	for (int t = 0; t < trees; t++) {
		struct net_packet root = {.to = 0};
		int d = torus_tree_depth(&(struct torus_tree){shape, kind, 0, t});

		depth = d > depth ? d : depth;
		for (int s = 0; s < segments; s++) {
			uint64_t tag = (uint64_t)(t * SEGMENTS + s);

			__builtin_memcpy(root.note, &tag, sizeof tag);
			forward(flows, &root, &broadcast);
		}
	}
	time = flows_finish(flows);
	ideal = segments * one_segment;
	fill = (depth - 1) * (one_segment + BASE + HOP) + BASE + HOP;
	rate = (double)trees * segments * broadcast.segment / (time - fill);
	printf("%s: %d trees: %.2f links, fill %.1f of %.1f us\n", text, trees, rate / LINK, fill * 1e-3, time * 1e-3);
	EXPECT(time > 0 && fabs(time - ideal - fill) < 0.02 * ideal, "%s, %d trees: %.1f us, of %.1f + %.1f", text,
	       trees, time * 1e-3, ideal * 1e-3, fill * 1e-3);
	EXPECT(fabs(rate / LINK - expected) < 0.02 * expected, "%s, %d trees: %.2f links less the fill", text, trees,
	       rate / LINK);
	flows_free(flows);
}

int main(void)
{
	check_halo();
	check_trees("8", TORUS_TREES_UP, 1);
	check_trees("4x4x4", TORUS_TREES_UP, 3);
	check_trees("4x4x4", TORUS_TREES_TWICE, 6);
	check_trees("4x3x3", TORUS_TREES_TWICE, 6);
	return unit_failures != 0;
}
