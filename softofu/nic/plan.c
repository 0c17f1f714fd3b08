/* SPDX-License-Identifier: BSD-3-Clause */
/* The network that the settings ask for: of the job's cards, and of a replay of what they did. */
#include <stdio.h>

#include "softofu/net/net.h"
#include "softofu/nic/carry.h"

bool packets_plan(const struct settings *settings, struct net_settings *plan)
{
	char problem[NET_PROBLEM];

	net_settings_default(plan);
	plan->cqs = CQS;
	plan->buffers = plan->queue = plan->door = 4;
	plan->seed = settings->seed;
	plan->shape.axes = BOX_AXES;
	for (int a = 0; a < BOX_AXES; a++)
		plan->shape.axis[a] =
			(struct torus_axis){settings->box.size[a], settings->box.ring[a] && settings->box.size[a] > 2};
	if (!torus_shape_complete(&plan->shape))
		fprintf(stderr, "softofu: SOFTOFU_NET: the box is too large\n");
	else if (net_settings_read(plan, settings->net, problem) && net_bytes(plan, problem))
		return true;
	else
		fprintf(stderr, "softofu: SOFTOFU_NET=%.80s: %s\n", settings->net, problem);
	return false;
}
