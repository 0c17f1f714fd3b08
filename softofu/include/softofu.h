/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_H
#define SOFTOFU_H

/*
 * What software Tofu has beside uTofu. The libraries of a machine have none of it: who runs on both looks for these with dlsym.
 *
 * A recorded run (SOFTOFU_RECORD) takes what a process sends to follow from all notices that it has read by then. A program that reads
 * notices before it needs them says here when it does.
 */
#include <stdbool.h>
#include <stdint.h>
#include "utofu.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From now on, or no longer: that puts with this edata have come counts when the program says so, and not when it reads their notices.
 * False: nothing is recorded.
 */
bool softofu_record_when_needed(utofu_vcq_hdl_t vcq_hdl, uint8_t edata, bool on);
/* What it does from now on follows from those that it has read. */
void softofu_record_needed(utofu_vcq_hdl_t vcq_hdl, uint8_t edata);

#ifdef __cplusplus
}
#endif

#endif
