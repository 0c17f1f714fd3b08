/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The modelled clock: latency by hops, one flow, flows that share a link or a TNI. Figures:
 * docs/decisions/softofu.md.
 */
#include <math.h>

#include "tests/lib/unit.h"
#include "softofu/tests/flows.h"

/* Of nominal rates, so that times are sums of round numbers. */
#define NOMINAL "preset=tofud-nominal"
#define LINK 6.8 /* GB/s: bytes in a nanosecond */
#define HOP 100.0
#define BASE 390.0
#define MESSAGE (1u << 18)

static double one_message(const char *shape, const char *settings, int to, uint32_t bytes)
{
	struct flows *flows = flows_start(shape, settings, NULL, NULL);
	double time;

	flows_post(flows, &(struct flows_message){.to = to, .bytes = bytes});
	time = flows_finish(flows);
	flows_free(flows);
	return time;
}

static void check_latency(void)
{
	EXPECT(fabs(one_message("8", "", 1, 8) - 490) < 1, "8 bytes to the next node, fitted");
	for (int to = 0; to < 8; to++) {
		double time = one_message("8", NOMINAL, to, 8), hops = to < 4 ? to : 8 - to;

		EXPECT(fabs(time - BASE - hops * HOP) < 2, "8 bytes over %g hops: %g ns", hops, time);
	}
	EXPECT(fabs(one_message("8", "preset=apenet", 3, 8) - 6500 - 3 * 60 - 136 / 4.25) < 3, "apenet");
	EXPECT(fabs(one_message("4x4x4", NOMINAL ",hop=250", 21, 8) - BASE - 3 * 250) < 2, "a hop time of our own");
	EXPECT(fabs(one_message("4x4x4", NOMINAL ",errors=0.05,seed=7", 21, 8) - BASE - 3 * HOP) < 2,
	       "no error by this seed");
}

/*
 * A router passes a packet on before its end has come, so the time of the packet on a link counts
 * once, whatever the number of hops.
 */
static void check_stream(void)
{
	double full = MESSAGE / LINK, rate;

	for (int to = 0; to < 4; to++)
		EXPECT(fabs(one_message("8", NOMINAL, to, MESSAGE) - BASE - to * HOP - full) < 2,
		       "256 KiB over %d hops", to);
	rate = MESSAGE / (one_message("8", "", 1, MESSAGE) - one_message("8", "", 1, 8));
	EXPECT(fabs(rate - 6.35) < 0.01, "the envelope costs a link 7 %%: %g GB/s", rate);
	EXPECT(MESSAGE / one_message("8", NOMINAL ",buffers=1", 1, MESSAGE) < 0.75 * LINK,
	       "with one buffer each packet waits for the credit of the one before");
	EXPECT(one_message("8", NOMINAL ",errors=0.02", 1, MESSAGE) > 1.02 * full, "what is sent again takes time");
}

/* So many messages of one node, each over a link of its own, sent by a TNI each or all by one. */
static double to_neighbours(int count, bool tni_each)
{
	struct flows *flows = flows_start("4x4x4", NOMINAL, NULL, NULL);
	const struct net_shape *shape = &net_settings(flows_net(flows))->shape;
	double time;

	for (int i = 0; i < count; i++)
		flows_post(flows, &(struct flows_message){.from_tni = tni_each ? i : 0,
							  .from_cq = i % 4,
							  .to = net_neighbour(shape, 0, i),
							  .to_tni = i,
							  .bytes = MESSAGE});
	time = flows_finish(flows);
	flows_free(flows);
	return time - BASE - HOP;
}

static void check_contention(void)
{
	for (int count = 1; count <= 6; count++) {
		struct flows *flows = flows_start("8", NOMINAL, NULL, NULL);
		struct net_link_count link;
		double time, alone = MESSAGE / LINK;

		for (int i = 0; i < count; i++)
			flows_post(flows,
				   &(struct flows_message){.from_tni = i, .to = 1, .to_tni = i, .bytes = MESSAGE});
		time = flows_finish(flows) - BASE - HOP;
		EXPECT(fabs(time / (count * alone) - 1) < 0.01, "%d over one link: %g of one", count, time / alone);
		net_count_link(flows_net(flows), 0, 0, &link);
		EXPECT(link.bytes == (uint64_t)count * MESSAGE && (link.waited > 0) == (count > 1),
		       "counters of the link");
		flows_free(flows);

		time = to_neighbours(count, true);
		EXPECT(fabs(time / alone - 1) < 0.01, "%d over a link each: %g of one", count, time / alone);
		time = to_neighbours(count, false);
		EXPECT(fabs(time / (count * alone) - 1) < 0.01, "%d by one TNI: %g of one", count, time / alone);
	}
}

int main(void)
{
	check_latency();
	check_stream();
	check_contention();
	return unit_failures != 0;
}
