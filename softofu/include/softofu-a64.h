/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_A64_H
#define SOFTOFU_A64_H

/*
 * Programs for the machine contain instructions of its processor: barriers, cache maintenance
 * before reads of what the network wrote, and hints in loops that wait. With `cc -include
 * softofu-a64.h` the assembler of an x86 accepts them. Barriers remain barriers; cache maintenance
 * becomes nothing, because the caches are coherent. CNTVCT_EL0 counts with CNTFRQ_EL0, the 100 MHz
 * of the machine, from the monotonic clock of Linux.
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
	".macro sevl\n .endm\n"
	/* Leaves all other registers and the 128 bytes below the stack pointer as they are. */
	".macro softofu_counter register\n"
	" lea -160(%rsp), %rsp\n" /* from there: seconds, nanoseconds, the result */
	/* clock_gettime(CLOCK_MONOTONIC). */
	" push %rax\n push %rcx\n push %rdx\n push %rsi\n push %rdi\n push %r11\n"
	" mov $228, %eax\n mov $1, %edi\n lea 48(%rsp), %rsi\n syscall\n"
	" mov 56(%rsp), %rax\n xor %edx, %edx\n mov $10, %ecx\n div %rcx\n"
	" imul $100000000, 48(%rsp), %rdx\n add %rdx, %rax\n mov %rax, 64(%rsp)\n"
	" pop %r11\n pop %rdi\n pop %rsi\n pop %rdx\n pop %rcx\n pop %rax\n"
	" mov 16(%rsp), \\register\n lea 160(%rsp), %rsp\n"
	" .endm\n"
	".macro mrs register, name\n"
	" .ifc \\name,CNTVCT_EL0\n softofu_counter \\register\n .else\n"
	" .ifc \\name,cntvct_el0\n softofu_counter \\register\n .else\n"
	" .ifc \\name,CNTFRQ_EL0\n mov $100000000, \\register\n .else\n"
	" .ifc \\name,cntfrq_el0\n mov $100000000, \\register\n .else\n"
	" .error \"softofu-a64.h knows CNTVCT_EL0 and CNTFRQ_EL0 only\"\n"
	" .endif\n .endif\n .endif\n .endif\n"
	" .endm\n");
#endif

#endif
