/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_A64_H
#define SOFTOFU_A64_H

/*
 * Programs for the machine contain instructions of its processor: barriers, cache maintenance before reads of what
 * the network wrote, and hints in loops that wait. With `cc -include softofu-a64.h` the assembler of an x86 accepts
 * them. Barriers remain barriers; cache maintenance becomes nothing, because the caches are coherent.
 */
#if defined __x86_64__
__asm__(".macro dsb option\n mfence\n .endm\n"
	".macro dmb option\n mfence\n .endm\n"
	".macro isb option\n .endm\n"
	".macro dc operation, address\n .endm\n"
	".macro prfm operation, address\n .endm\n"
	".macro yield\n pause\n .endm\n"
	".macro wfe\n pause\n .endm\n"
	".macro sev\n .endm\n"
	".macro sevl\n .endm\n");
#endif

#endif
