/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/usdt_argument.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENT_BYTES_MAX 64 /* of one argument's text */

/*
 * The names of a register, by how much of it they mean, and where it is in struct pt_regs: that of the
 * machine on which the recorder runs, which is the kernel's ABI and does not change.
 */
struct x86_register {
	const char *names[4]; /* 64, 32, 16, 8 bits; bits 8 to 15 (ah) cannot be read */
	uint16_t offset;
};

static const struct x86_register x86_registers[] = {
	{ { "r15", "r15d", "r15w", "r15b" }, 0 },
	{ { "r14", "r14d", "r14w", "r14b" }, 8 },
	{ { "r13", "r13d", "r13w", "r13b" }, 16 },
	{ { "r12", "r12d", "r12w", "r12b" }, 24 },
	{ { "rbp", "ebp", "bp", "bpl" }, 32 },
	{ { "rbx", "ebx", "bx", "bl" }, 40 },
	{ { "r11", "r11d", "r11w", "r11b" }, 48 },
	{ { "r10", "r10d", "r10w", "r10b" }, 56 },
	{ { "r9", "r9d", "r9w", "r9b" }, 64 },
	{ { "r8", "r8d", "r8w", "r8b" }, 72 },
	{ { "rax", "eax", "ax", "al" }, 80 },
	{ { "rcx", "ecx", "cx", "cl" }, 88 },
	{ { "rdx", "edx", "dx", "dl" }, 96 },
	{ { "rsi", "esi", "si", "sil" }, 104 },
	{ { "rdi", "edi", "di", "dil" }, 112 },
	{ { "rip", "eip", "ip" }, 128 },
	{ { "rsp", "esp", "sp", "spl" }, 152 },
};

#define X86_AX 80
static const uint16_t x86_parameters[] = { 112, 104, 96, 88, 72, 64 };

struct argument {
	const char *at;
	struct foreign_value *value;
};

/* The offset of the register that is named here; -1: none that can be read. */
static int x86_register_read(const char **at)
{
	size_t length = 0;

	while (isalnum((unsigned char)(*at)[length]))
		length++;
	for (size_t i = 0; i < sizeof(x86_registers) / sizeof(x86_registers[0]); i++)
		for (size_t n = 0; n < 4 && x86_registers[i].names[n]; n++)
			if (strlen(x86_registers[i].names[n]) == length &&
			    memcmp(*at, x86_registers[i].names[n], length) == 0) {
				*at += length;
				return x86_registers[i].offset;
			}
	return -1;
}

/* [-]digits, decimal or hexadecimal; false: there are none. */
static bool number_read(const char **at, int64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**at) &&
	    !((**at == '-' || **at == '+') && isdigit((unsigned char)(*at)[1])))
		return false;
	errno = 0;
	*number = strtoll(*at, &end, 0);
	if (errno == ERANGE)
		*number = (int64_t)strtoull(*at, &end, 0);
	*at = end;
	return true;
}

/* Behind the bracket: %base, %base,%index or %base,%index,scale; ,%index,scale has no base. */
static int x86_memory_read(struct argument *argument)
{
	struct foreign_value *value = argument->value;
	int64_t scale = 1;
	int offset;

	value->source = FOREIGN_MEMORY;
	if (*argument->at == '%') {
		argument->at++;
		offset = x86_register_read(&argument->at);
		if (offset < 0)
			return -ENOTSUP;
		/* relative to the instruction behind, whose length nobody tells, or to a symbol */
		if (offset == 128)
			return -ENOTSUP;
		value->register_offset = (uint16_t)offset;
	}
	if (argument->at[0] == ',' && argument->at[1] == '%') {
		argument->at += 2;
		offset = x86_register_read(&argument->at);
		if (offset < 0)
			return -ENOTSUP;
		value->index_offset = (uint16_t)offset;
		if (*argument->at == ',') {
			argument->at++;
			if (!number_read(&argument->at, &scale) ||
			    (scale != 1 && scale != 2 && scale != 4 && scale != 8))
				return -EBADMSG;
		}
		value->index_shift = (uint32_t)__builtin_ctz((unsigned int)scale);
	}
	return *argument->at++ == ')' ? 0 : -EBADMSG;
}

/* %reg, $5, 16(%rsp), (%rax,%rbx,4), sym(%rip) */
static int x86_place_read(struct argument *argument)
{
	struct foreign_value *value = argument->value;
	int offset;

	if (*argument->at == '%') {
		argument->at++;
		offset = x86_register_read(&argument->at);
		value->source = FOREIGN_REGISTER;
		value->register_offset = (uint16_t)offset;
		return offset < 0 ? -ENOTSUP : 0;
	}
	if (*argument->at == '$') {
		argument->at++;
		value->source = FOREIGN_CONSTANT;
		return number_read(&argument->at, &value->offset) ? 0 : -ENOTSUP;
	}
	number_read(&argument->at, &value->offset);
	if (*argument->at != '(')
		return -ENOTSUP; /* a symbol */
	argument->at++;
	return x86_memory_read(argument);
}

/* x0 … x30, w0 … w30, sp; struct user_pt_regs has them in this order. */
static int arm_register_read(const char **at)
{
	char *end;
	unsigned long number;

	if (strncmp(*at, "sp", 2) == 0 && !isalnum((unsigned char)(*at)[2])) {
		*at += 2;
		return 31 * 8;
	}
	if ((**at != 'x' && **at != 'w') || !isdigit((unsigned char)(*at)[1]))
		return -1;
	number = strtoul(*at + 1, &end, 10);
	*at = end;
	return number <= 30 ? (int)number * 8 : -1;
}

static void skip_blanks(const char **at)
{
	while (**at == ' ')
		(*at)++;
}

/* Behind the bracket: sp, 12] or x0] or x0, x1] */
static int arm_memory_read(struct argument *argument)
{
	struct foreign_value *value = argument->value;
	int offset = arm_register_read(&argument->at);

	if (offset < 0)
		return -ENOTSUP;
	value->source = FOREIGN_MEMORY;
	value->register_offset = (uint16_t)offset;
	skip_blanks(&argument->at);
	if (*argument->at == ',') {
		argument->at++;
		skip_blanks(&argument->at);
		if (*argument->at == '#')
			argument->at++;
		if (!number_read(&argument->at, &value->offset)) {
			offset = arm_register_read(&argument->at);
			if (offset < 0)
				return -ENOTSUP;
			value->index_offset = (uint16_t)offset;
		}
		skip_blanks(&argument->at);
	}
	return *argument->at++ == ']' ? 0 : -ENOTSUP;
}

static int arm_place_read(struct argument *argument)
{
	struct foreign_value *value = argument->value;
	int offset;

	if (*argument->at == '[') {
		argument->at++;
		return arm_memory_read(argument);
	}
	if (number_read(&argument->at, &value->offset)) {
		value->source = FOREIGN_CONSTANT;
		return 0;
	}
	offset = arm_register_read(&argument->at);
	value->source = FOREIGN_REGISTER;
	value->register_offset = (uint16_t)offset;
	return offset < 0 ? -ENOTSUP : 0;
}

/* "-4@" */
static int size_read(struct argument *argument)
{
	int64_t size;

	if (!number_read(&argument->at, &size))
		return -EBADMSG;
	if (*argument->at == 'f')
		return -ENOTSUP;
	if (*argument->at++ != '@' || (size != 1 && size != 2 && size != 4 && size != 8 && size != -1 &&
				       size != -2 && size != -4 && size != -8))
		return -EBADMSG;
	argument->value->size_bytes = (uint8_t)(size < 0 ? -size : size);
	argument->value->is_signed = size < 0;
	return 0;
}

/*
 * Arguments are separated by blanks, and those of aarch64 have blanks in brackets. Returns where the next one
 * begins.
 */
static const char *argument_end(const char *at)
{
	bool is_inside = false;

	for (; *at && (is_inside || *at != ' '); at++)
		is_inside = *at == '[' || (is_inside && *at != ']');
	return at;
}

static const char *argument_start(const char *arguments, size_t idx)
{
	skip_blanks(&arguments);
	for (; idx && *arguments; idx--) {
		arguments = argument_end(arguments);
		skip_blanks(&arguments);
	}
	return *arguments ? arguments : NULL;
}

static void value_clear(struct foreign_value *value)
{
	value->source = FOREIGN_NOTHING;
	value->size_bytes = 8;
	value->is_signed = 0;
	value->register_offset = value->index_offset = FOREIGN_NO_REGISTER;
	value->index_shift = value->padding = 0;
	value->offset = 0;
}

int usdt_argument_find(struct foreign_value *value, const char *arguments, size_t idx, uint16_t machine)
{
	struct argument argument = { .at = argument_start(arguments, idx), .value = value };
	const char *end;
	int err;

	value_clear(value);
	if (!argument.at)
		return -ENOENT;
	end = argument_end(argument.at);
	if (end - argument.at > ARGUMENT_BYTES_MAX)
		return -ENOTSUP;
	err = size_read(&argument);
	if (!err)
		err = machine == EM_X86_64 ? x86_place_read(&argument) : arm_place_read(&argument);
	if (!err && argument.at != end)
		err = -ENOTSUP;
	return err;
}

size_t usdt_argument_cnt(const char *arguments)
{
	size_t cnt = 0;

	while (argument_start(arguments, cnt))
		cnt++;
	return cnt;
}

int usdt_argument_of_function(struct foreign_value *value, size_t idx, uint16_t machine)
{
	size_t cnt = machine == EM_X86_64 ? sizeof(x86_parameters) / sizeof(x86_parameters[0]) : 8;

	value_clear(value);
	if (idx >= cnt)
		return -ENOTSUP;
	value->source = FOREIGN_REGISTER;
	value->register_offset = machine == EM_X86_64 ? x86_parameters[idx] : (uint16_t)(8 * idx);
	return 0;
}

void usdt_return_value(struct foreign_value *value, uint16_t machine)
{
	value_clear(value);
	value->source = FOREIGN_REGISTER;
	value->register_offset = machine == EM_X86_64 ? X86_AX : 0;
}
