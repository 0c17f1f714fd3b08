/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the network between the NICs of a job, and of a replay. */
#include <stdio.h>

#include "softofu/net/net.h"
#include "softofu/nic/carrier.h"

bool packets_plan(const struct settings *settings, struct net_settings *plan)
{
	char problem[NET_PROBLEM];

	net_settings_default(plan);
	plan->cqs = CQS;
	plan->buffers = plan->queue = plan->receive_queue = 4;
	plan->seed = settings->seed;
	plan->shape.axes = GRID_AXES;
	for (int a = 0; a < GRID_AXES; a++)
		plan->shape.axis[a] =
			(struct net_axis){settings->grid.size[a], settings->grid.ring[a] && settings->grid.size[a] > 2};
	if (!net_shape_complete(&plan->shape))
		fprintf(stderr, "softofu: SOFTOFU_NET: the grid is too large\n");
	else if (net_settings_read(plan, settings->net, problem) && net_bytes(plan, problem))
		return true;
	else
		fprintf(stderr, "softofu: SOFTOFU_NET=%.80s: %s\n", settings->net, problem);
	return false;
}
