/* SPDX-License-Identifier: BSD-3-Clause */
#include "join_trace.h"

#include <sys/stat.h>

#include "rte/trace/trace_events.h"
#include "say.h"

static bool join_and_report(const char *file, struct trace_joined *joined)
{
	if (!trace_join(file, joined)) {
		say("the parts of a trace, %s.PE*, cannot be joined: %s", file, joined->problem);
		return false;
	}
	if (joined->pes > 0)
		say("the trace of %d PE%s that ended early is in %s%s", joined->pes, joined->pes == 1 ? "" : "s", file,
		    joined->which);
	return true;
}

bool join_trace(const char *file)
{
	struct trace_joined joined;

	if (!join_and_report(file, &joined))
		return false;
	if (joined.pes == 0)
		say("--join-trace %s: there are no parts of it, such as %s.PE0; give the name that SHMEM_TRACE had",
		    file, file);
	return joined.pes > 0;
}

void join_trace_after_job(const char *file)
{
	struct trace_joined joined;
	struct stat status;

	if (!file || !join_and_report(file, &joined))
		return;
	if (joined.pes == 0 && !stat(file, &status) && S_ISREG(status.st_mode) && status.st_size == 0)
		say("the trace %s is empty: the PEs ended early and left no parts", file);
}
