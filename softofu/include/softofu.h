/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_H
#define SOFTOFU_H

/*
 * Functions that software Tofu has beside uTofu. The libraries of a machine lack them: a program
 * for both finds them with dlsym.
 *
 * A recorded run (SOFTOFU_RECORD) makes everything a process sends depend on all notices that it
 * has read before. A program that reads notices before it needs them says with these functions when
 * it needs them.
 */
#include <stdbool.h>
#include <stdint.h>
#include "utofu.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Starts or stops this for puts with an edata: their arrival counts when the program says so, and
 * not when it reads their notices. Returns false if nothing is recorded.
 */
bool softofu_record_when_needed(utofu_vcq_hdl_t vcq_hdl, uint8_t edata, bool on);
/* Everything that follows depends on the notices that were read. */
void softofu_record_needed(utofu_vcq_hdl_t vcq_hdl, uint8_t edata);

#ifdef __cplusplus
}
#endif

#endif
