/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_A64_H
#define SOFTOFU_A64_H

/*
 * Programs written for the machine alone have instructions of its processor in them: barriers, cache maintenance before
 * they look at what the network wrote, hints in loops that wait. `cc -include softofu-a64.h` lets the assembler of an x86
 * read them. A barrier stays one; caches are coherent here, so cleaning them is nothing.
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
