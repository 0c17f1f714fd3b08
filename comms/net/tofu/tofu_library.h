/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOFU_LIBRARY_H
#define COMMS_TOFU_LIBRARY_H

#include <jtofu.h>
#include <stdbool.h>
#include <stddef.h>
#include <utofu.h>

/*
 * The functions of uTofu and jTofu that the Tofu path calls, as utofu.put and so on. The libraries
 * are loaded when a job takes the path: other programs load neither, and need not link them.
 */
/* clang-format off */
#define UTOFU_FUNCTIONS(F)                                                                                 \
	F(utofu, alloc_vbg) F(utofu, armw4) F(utofu, armw8) F(utofu, barrier) F(utofu, create_vcq)         \
	F(utofu, cswap4) F(utofu, cswap8) F(utofu, dereg_mem) F(utofu, free_vbg) F(utofu, free_vcq)        \
	F(utofu, get) F(utofu, get_barrier_tnis) F(utofu, get_onesided_tnis) F(utofu, post_toq)            \
	F(utofu, prepare_nop) F(utofu, prepare_put) F(utofu, prepare_put_piggyback) F(utofu, poll_barrier) \
	F(utofu, poll_reduce_double) F(utofu, poll_reduce_uint64) F(utofu, poll_mrq) F(utofu, poll_tcq)    \
	F(utofu, put) F(utofu, put_piggyback) F(utofu, query_barrier_caps) F(utofu, query_onesided_caps)   \
	F(utofu, query_stadd) F(utofu, query_utofu_version) F(utofu, query_vcq_id) F(utofu, reduce_double) \
	F(utofu, reduce_uint64) F(utofu, reg_mem) F(utofu, reg_mem_with_stag) F(utofu, set_vbg)            \
	F(utofu, set_vcq_id_path)
#define JTOFU_FUNCTIONS(F)                                                                        \
	F(jtofu, finalize) F(jtofu, initialize) F(jtofu, query_phys_coords)                       \
	F(jtofu, query_ranks_from_phys_coords) F(jtofu, query_sys_size) F(jtofu, query_sys_torus)
/* clang-format on */

#define TOFU_MEMBER(library, name) __typeof__(library##_##name) *name;
struct utofu_library {
	UTOFU_FUNCTIONS(TOFU_MEMBER)
};
struct jtofu_library {
	JTOFU_FUNCTIONS(TOFU_MEMBER)
};
#undef TOFU_MEMBER
extern struct utofu_library utofu;
extern struct jtofu_library jtofu;

/*
 * What software Tofu provides and a machine's libraries need not (NULL): softofu/include/softofu.h,
 * and its settings.
 */
struct softofu_library {
	__typeof__(jtofu_create_mapinfo_by_envvars) *create_map;
	bool (*record_when_needed)(utofu_vcq_hdl_t vcq_hdl, uint8_t edata, bool on);
	void (*record_needed)(utofu_vcq_hdl_t vcq_hdl, uint8_t edata);
};
extern struct softofu_library softofu;

/*
 * Returns false if they cannot be loaded; problem says why. They stay loaded until the process
 * ends.
 */
enum { TOFU_PROBLEM = 512 };
bool tofu_library_load(char problem[TOFU_PROBLEM]);
/* The file that uTofu was loaded from. */
const char *tofu_library_file(void);

#endif
