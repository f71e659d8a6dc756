/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/function_exits.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/elf/x86_code.h"

struct search {
	struct function_exits *exits;
	const struct function_part *parts;
	size_t part_cnt;
};

static int add_exit(struct search *search, uint64_t address)
{
	struct function_exits *exits = search->exits;

	if (exits->cnt == FUNCTION_EXIT_MAX)
		return -ENOTSUP;
	exits->addresses[exits->cnt++] = address;
	return 0;
}

static bool is_inside(const struct search *search, uint64_t address)
{
	for (size_t i = 0; i < search->part_cnt; i++)
		if (address - search->parts[i].address < search->parts[i].size)
			return true;
	return false;
}

static int read_x86(struct search *search, const struct function_part *part, uint8_t *begins)
{
	struct x86_instruction instruction;
	int err = 0;

	for (uint64_t at = 0; !err && at < part->size; at += instruction.length) {
		err = x86_instruction_read(&instruction, part->code + at, part->size - at);
		if (err)
			return -ENOTSUP;
		begins[at] = 1;
		if (instruction.flow == X86_RETURNS ||
		    (instruction.flow == X86_JUMPS &&
		     !is_inside(search,
				part->address + at + instruction.length + (uint64_t)instruction.target)))
			err = add_exit(search, part->address + at);
	}
	return err;
}

/* Jumps within a part have to lead to where an instruction was found. */
static int check_x86(const struct function_part *part, const uint8_t *begins)
{
	struct x86_instruction instruction;

	for (uint64_t at = 0; at < part->size; at += instruction.length) {
		uint64_t target;

		x86_instruction_read(&instruction, part->code + at, part->size - at);
		target = at + instruction.length + (uint64_t)instruction.target;
		if ((instruction.flow == X86_JUMPS || instruction.flow == X86_JUMPS_SOMETIMES) &&
		    target < part->size && !begins[target])
			return -ENOTSUP;
	}
	return 0;
}

static int find_x86(struct search *search, const struct function_part *part)
{
	uint8_t *begins = calloc(part->size + 1, 1);
	int err = begins ? read_x86(search, part, begins) : -ENOMEM;

	if (!err)
		err = check_x86(part, begins);
	free(begins);
	return err;
}

/* All instructions have 4 bytes: ret (retaa, retab), and b to elsewhere. */
static int find_arm(struct search *search, const struct function_part *part)
{
	int err = 0;

	if (part->size % 4 || part->address % 4)
		return -ENOTSUP;
	for (uint64_t at = 0; !err && at < part->size; at += 4) {
		uint32_t word;

		memcpy(&word, part->code + at, 4);
		if ((word & 0xfffffc1f) == 0xd65f0000 || word == 0xd65f0bff || word == 0xd65f0fff) {
			err = add_exit(search, part->address + at);
		} else if ((word & 0xfc000000) == 0x14000000) {
			int64_t target = (int64_t)((uint64_t)(word & 0x03ffffff) << 38) >> 36;

			if (!is_inside(search, part->address + at + (uint64_t)target))
				err = add_exit(search, part->address + at);
		}
	}
	return err;
}

int function_exits_find(struct function_exits *exits, const struct function_part *parts, size_t part_cnt,
			uint16_t machine)
{
	struct search search = { .exits = exits, .parts = parts, .part_cnt = part_cnt };
	int err = 0;

	*exits = (struct function_exits){ .addresses = calloc(FUNCTION_EXIT_MAX, sizeof(*exits->addresses)) };
	if (!exits->addresses)
		return -ENOMEM;
	for (size_t i = 0; !err && i < part_cnt; i++) {
		if (!parts[i].size || parts[i].size > FUNCTION_BYTES_MAX)
			err = -ENOTSUP;
		else
			err = machine == EM_X86_64    ? find_x86(&search, &parts[i])
			      : machine == EM_AARCH64 ? find_arm(&search, &parts[i])
						      : -ENOTSUP;
	}
	if (err)
		function_exits_release(exits);
	return err;
}

void function_exits_release(struct function_exits *exits)
{
	free(exits->addresses);
	*exits = (struct function_exits){ 0 };
}
