/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PTX text of the kernels. The texts are the same for all types but for an instruction or two,
 * which are put in here. Any GPU from 2016 on (sm_60) takes them.
 *
 * The loop of combine: thread i of all of them does the elements i, i + threads, and so on.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels.h"

#define HEAD ".version 7.0\n.target sm_60\n.address_size 64\n"

#define LOOP_HEAD                                                          \
	"	.reg .pred %%end, %%choice;\n"                                   \
	"	.reg .b32 %%block, %%blocks, %%size, %%thread;\n"                \
	"	.reg .b64 %%i, %%step, %%n, %%to, %%one, %%two, %%at, %%wide;\n" \
	"	mov.u32 %%block, %%ctaid.x;\n"                                   \
	"	mov.u32 %%blocks, %%nctaid.x;\n"                                 \
	"	mov.u32 %%size, %%ntid.x;\n"                                     \
	"	mov.u32 %%thread, %%tid.x;\n"                                    \
	"	mul.wide.u32 %%i, %%block, %%size;\n"                            \
	"	cvt.u64.u32 %%wide, %%thread;\n"                                 \
	"	add.u64 %%i, %%i, %%wide;\n"                                     \
	"	mul.wide.u32 %%step, %%blocks, %%size;\n"                        \
	"	ld.param.u64 %%to, [dest];\n"                                    \
	"	ld.param.u64 %%n, [count];\n"

#define LOOP_BEGIN                        \
	"again:\n"                        \
	"	setp.ge.u64 %%end, %%i, %%n;\n" \
	"	@%%end bra done;\n"

#define LOOP_END                       \
	"	add.u64 %%i, %%i, %%step;\n" \
	"	bra again;\n"                \
	"done:\n"                      \
	"	ret;\n"                      \
	"}\n"

static const size_t widths[GPU_WIDTHS] = {1, 2, 4, 8};

__attribute__((format(printf, 2, 3))) static bool write_text(char text[GPU_TEXT_BYTES], const char *format, ...)
{
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, GPU_TEXT_BYTES, format, arguments);
	va_end(arguments);
	return length > 0 && length < GPU_TEXT_BYTES;
}

/* The letter of a type in PTX. */
static char letter_of(enum gpu_kind kind)
{
	return "usf"[kind];
}

/* c = a op b, in registers of 32 or 64 bits. */
static void combine_instruction(enum gpu_operator op, enum gpu_kind kind, unsigned bits, char *text, size_t size)
{
	static const char *const logic[GPU_OPERATORS] = {[GPU_AND] = "and", [GPU_OR] = "or", [GPU_XOR] = "xor"};
	const char *rounding = kind == GPU_FLOAT ? ".rn" : "";
	char letter = letter_of(kind);

	switch (op) {
	case GPU_SUM: snprintf(text, size, "add%s.%c%u %%c, %%a, %%b;", rounding, letter, bits); break;
	case GPU_PROD:
		snprintf(text, size, "mul%s.%c%u %%c, %%a, %%b;", kind == GPU_FLOAT ? ".rn" : ".lo", letter, bits);
		break;
	case GPU_MIN:
	case GPU_MAX: /* as a < b ? a : b in C, also where one is no number */
		snprintf(text, size, "setp.%s.%c%u %%choice, %%a, %%b;\n\tselp.b%u %%c, %%a, %%b, %%choice;",
			 op == GPU_MIN ? "lt" : "gt", letter, bits, bits);
		break;
	default: snprintf(text, size, "%s.b%u %%c, %%a, %%b;", logic[op], bits);
	}
}

static bool combine_text(size_t number, char name[GPU_NAME_BYTES], char text[GPU_TEXT_BYTES])
{
	static const char *const operators[GPU_OPERATORS] = {"sum", "prod", "min", "max", "and", "or", "xor"};
	enum gpu_operator op = (enum gpu_operator)(number / (GPU_KINDS * GPU_WIDTHS));
	enum gpu_kind kind = (enum gpu_kind)(number / GPU_WIDTHS % GPU_KINDS);
	size_t width = widths[number % GPU_WIDTHS];
	unsigned bits = width == 8 ? 64 : 32;
	char type[8], instruction[128];

	if (kind == GPU_FLOAT && (width < 4 || op >= GPU_AND))
		return false;
	snprintf(type, sizeof type, "%c%zu", letter_of(kind), width * 8);
	snprintf(name, GPU_NAME_BYTES, "combine_%s_%s", operators[op], type);
	combine_instruction(op, kind, bits, instruction, sizeof instruction);
	return write_text(text,
			  HEAD ".visible .entry %s(.param .u64 dest, .param .u64 low, .param .u64 high,\n"
			       "	.param .u64 count)\n"
			       "{\n" LOOP_HEAD "	.reg .b%u %%a, %%b, %%c;\n"
			       "	ld.param.u64 %%one, [low];\n"
			       "	ld.param.u64 %%two, [high];\n" LOOP_BEGIN
			       "	mad.lo.u64 %%at, %%i, %zu, %%one;\n"
			       "	ld.%s %%a, [%%at];\n"
			       "	mad.lo.u64 %%at, %%i, %zu, %%two;\n"
			       "	ld.%s %%b, [%%at];\n"
			       "	%s\n"
			       "	mad.lo.u64 %%at, %%i, %zu, %%to;\n"
			       "	st.%s [%%at], %%c;\n" LOOP_END,
			  name, bits, width, type, width, type, instruction, width, type);
}

/* The fences order with the word what went before and what comes after. */
static bool atomic_text(size_t number, char name[GPU_NAME_BYTES], char text[GPU_TEXT_BYTES])
{
	static const struct {
		const char *name, *instruction;
	} ops[GPU_ATOMICS] = {
		[COMMS_FETCH] = {"fetch", "ld.volatile.u%u %%old, [%%word];"},
		[COMMS_ADD] = {"add", "atom.sys.add.u%u %%old, [%%word], %%value;"},
		[COMMS_AND] = {"and", "atom.sys.and.b%u %%old, [%%word], %%value;"},
		[COMMS_OR] = {"or", "atom.sys.or.b%u %%old, [%%word], %%value;"},
		[COMMS_XOR] = {"xor", "atom.sys.xor.b%u %%old, [%%word], %%value;"},
		[COMMS_SWAP] = {"swap", "atom.sys.exch.b%u %%old, [%%word], %%value;"},
		[COMMS_CSWAP] = {"cswap", "atom.sys.cas.b%u %%old, [%%word], %%compared, %%value;"},
	};
	size_t op = number / 2;
	unsigned bits = number % 2 ? 64 : 32;
	char instruction[128];

	snprintf(name, GPU_NAME_BYTES, "atomic_%s_%u", ops[op].name, bits);
	snprintf(instruction, sizeof instruction, ops[op].instruction, bits);
	return write_text(text,
			  HEAD ".visible .entry %s(.param .u64 dest, .param .u64 operand, .param .u64 compare,\n"
			       "	.param .u64 result)\n"
			       "{\n"
			       "	.reg .b64 %%word, %%to, %%wide;\n"
			       "	.reg .b%u %%old, %%value, %%compared;\n"
			       "	ld.param.u64 %%word, [dest];\n"
			       "	ld.param.u64 %%to, [result];\n"
			       "	ld.param.u%u %%value, [operand];\n"
			       "	ld.param.u%u %%compared, [compare];\n"
			       "	membar.sys;\n"
			       "	%s\n"
			       "	%s %%wide, %%old;\n"
			       "	membar.sys;\n"
			       "	st.volatile.u64 [%%to], %%wide;\n"
			       "	ret;\n"
			       "}\n",
			  name, bits, bits, bits, instruction, bits == 64 ? "mov.b64" : "cvt.u64.u32");
}

bool gpu_kernel_text(size_t number, char name[GPU_NAME_BYTES], char text[GPU_TEXT_BYTES])
{
	if (number < GPU_FIRST_ATOMIC)
		return combine_text(number, name, text);
	return number < GPU_KERNELS && atomic_text(number - GPU_FIRST_ATOMIC, name, text);
}
