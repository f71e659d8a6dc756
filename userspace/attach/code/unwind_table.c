/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/unwind_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define REMEMBERED_MAX 8

/* By these an entry tells its machine. */
#define RETURN_X86_64 16
#define RETURN_AARCH64 30

/* DW_CFA_AARCH64_negate_ra_state: the return address is signed from here on, or no more */
#define CFA_NEGATE_SIGNATURE 0x2d

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool is_bad; /* it has been read beyond its end, or makes no sense */
};

/* What the entries of several functions share (DWARF's CIE). */
struct common {
	struct cursor program;
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_register;
	uint8_t encoding; /* of addresses */
	bool has_augmentation;
};

static uint64_t take(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->is_bad = true;
		cursor->at = cursor->end;
		return 0;
	}
	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)cursor->at[i] << 8 * i;
	cursor->at += size;
	return value;
}

static int64_t take_signed(struct cursor *cursor, size_t size)
{
	uint64_t value = take(cursor, size), sign = UINT64_C(1) << (8 * size - 1);

	return (int64_t)((value ^ sign) - sign);
}

static uint64_t take_leb(struct cursor *cursor, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take(cursor, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !cursor->is_bad);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~UINT64_C(0) << shift;
	return value;
}

static void skip(struct cursor *cursor, uint64_t size)
{
	if ((uint64_t)(cursor->end - cursor->at) < size) {
		cursor->is_bad = true;
		size = (uint64_t)(cursor->end - cursor->at);
	}
	cursor->at += size;
}

/* A number in one of the encodings of .eh_frame, without what it is relative to. */
static uint64_t take_number(struct cursor *cursor, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return take(cursor, 8);
	case DW_EH_PE_uleb128:
		return take_leb(cursor, false);
	case DW_EH_PE_sleb128:
		return take_leb(cursor, true);
	case DW_EH_PE_udata2:
		return take(cursor, 2);
	case DW_EH_PE_sdata2:
		return (uint64_t)take_signed(cursor, 2);
	case DW_EH_PE_udata4:
		return take(cursor, 4);
	case DW_EH_PE_sdata4:
		return (uint64_t)take_signed(cursor, 4);
	default:
		cursor->is_bad = true;
		return 0;
	}
}

static uint64_t take_address(const struct unwind_table *table, struct cursor *cursor, uint8_t encoding)
{
	uint64_t here = table->address + (uint64_t)(cursor->at - table->section);
	uint64_t value = take_number(cursor, encoding);

	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		return value + here;
	if (encoding & ~0x0f)
		cursor->is_bad = true;
	return value;
}

/*
 * The entry at the offset, behind its length. *next: that of the entry behind it. False: the section ends
 * here.
 */
static bool entry_at(const struct unwind_table *table, size_t offset, struct cursor *entry, size_t *next)
{
	struct cursor cursor = { .at = table->section + offset, .end = table->section + table->size };
	uint64_t length;

	if (offset >= table->size)
		return false;
	length = take(&cursor, 4);
	if (length == UINT32_MAX)
		length = take(&cursor, 8);
	if (cursor.is_bad || length < 4 || length > (uint64_t)(cursor.end - cursor.at))
		return false;
	*entry = (struct cursor){ .at = cursor.at, .end = cursor.at + length };
	*next = (size_t)(entry->end - table->section);
	return true;
}

static bool read_augmentation(const char *letters, struct cursor *cursor, struct common *common)
{
	if (letters[0] == '\0')
		return true;
	if (*letters++ != 'z')
		return false;
	common->has_augmentation = true;
	take_leb(cursor, false);
	for (; *letters; letters++) {
		if (*letters == 'R')
			common->encoding = (uint8_t)take(cursor, 1);
		else if (*letters == 'L')
			take(cursor, 1);
		else if (*letters == 'P')
			take_number(cursor, (uint8_t)take(cursor, 1));
		else if (*letters != 'S' && *letters != 'B')
			return false;
	}
	return true;
}

static bool read_common(const struct unwind_table *table, size_t offset, struct common *common)
{
	struct cursor cursor, data;
	const char *letters;
	uint64_t version, length;
	size_t next;

	*common = (struct common){ .encoding = DW_EH_PE_absptr };
	if (!entry_at(table, offset, &cursor, &next) || take(&cursor, 4) != 0)
		return false;
	version = take(&cursor, 1);
	letters = (const char *)cursor.at;
	length = strnlen(letters, (size_t)(cursor.end - cursor.at));
	skip(&cursor, length + 1);
	if (cursor.is_bad || (version != 1 && version != 3))
		return false;
	common->code_factor = take_leb(&cursor, false);
	common->data_factor = (int64_t)take_leb(&cursor, true);
	common->return_register = version == 1 ? take(&cursor, 1) : take_leb(&cursor, false);
	data = cursor;
	if (!read_augmentation(letters, &data, common) || data.is_bad)
		return false;
	if (common->has_augmentation) {
		length = take_leb(&cursor, false);
		skip(&cursor, length);
	}
	common->program = cursor;
	return !cursor.is_bad &&
	       (common->return_register == RETURN_X86_64 || common->return_register == RETURN_AARCH64);
}

/* entry: behind its length. Moves it to the function's program. */
static bool read_function(const struct unwind_table *table, struct cursor *entry, struct common *common,
			  uint64_t *begin, uint64_t *end)
{
	size_t here = (size_t)(entry->at - table->section);
	uint64_t back = take(entry, 4), length;

	if (back == 0 || back > here || !read_common(table, here - back, common))
		return false;
	*begin = take_address(table, entry, common->encoding);
	length = take_number(entry, common->encoding & 0x0f);
	*end = *begin + length;
	if (common->has_augmentation)
		skip(entry, take_leb(entry, false));
	return !entry->is_bad && *end > *begin;
}

static int compare(const void *left, const void *right)
{
	const struct unwind_function *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static int list_functions(struct unwind_table *table)
{
	size_t offset = 0, next, room = 0;
	struct cursor entry;

	for (; table->cnt < UNWIND_FUNCTION_MAX && entry_at(table, offset, &entry, &next); offset = next) {
		struct unwind_function function = { .entry = (uint32_t)offset }, *grown;
		struct common common;

		if (!read_function(table, &entry, &common, &function.begin, &function.end))
			continue;
		grown = array_grow(table->functions, &room, table->cnt, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		table->functions = grown;
		table->functions[table->cnt++] = function;
	}
	if (table->cnt > 0)
		qsort(table->functions, table->cnt, sizeof(*table->functions), compare);
	return 0;
}

int unwind_table_init(struct unwind_table *table, uint8_t *section, size_t size, uint64_t address)
{
	int err;

	*table = (struct unwind_table){ .section = section,
					.size = size < UINT32_MAX ? size : 0,
					.address = address };
	err = list_functions(table);
	if (err)
		unwind_table_release(table);
	return err;
}

void unwind_table_release(struct unwind_table *table)
{
	free(table->section);
	free(table->functions);
	*table = (struct unwind_table){ 0 };
}

/* ---- the programs ---- */

struct machine {
	const struct common *common;
	struct unwind_row row;
	struct unwind_row initial;
	struct unwind_row remembered[REMEMBERED_MAX];
	size_t remembered_cnt;
	uint64_t at; /* the instruction for which the row holds from here on */
	uint64_t wanted;
	bool has_failed;
};

/* A register's number here; UNWIND_REGISTER_COUNT: one that nobody needs to find a caller. */
static uint64_t own_number(const struct common *common, uint64_t number)
{
	if (common->return_register == RETURN_X86_64)
		return number < UNWIND_REGISTER_COUNT ? number : UNWIND_REGISTER_COUNT;
	if (number >= 19 && number <= 24)
		return number - 19;
	if (number >= 25 && number <= 28)
		return number - 25 + 8;
	if (number == 29)
		return UNWIND_FP;
	if (number == 30)
		return UNWIND_LINK;
	return number == 31 ? UNWIND_SP : UNWIND_REGISTER_COUNT;
}

static uint64_t take_register(const struct machine *machine, struct cursor *program)
{
	return own_number(machine->common, take_leb(program, false));
}

static void set_rule(struct machine *machine, uint64_t number, enum unwind_rule rule, int64_t offset)
{
	if (number >= UNWIND_REGISTER_COUNT)
		return;
	if (offset > INT32_MAX || offset < INT32_MIN)
		rule = UNWIND_STRANGE;
	machine->row.rules[number] = rule;
	machine->row.offsets[number] = rule == UNWIND_AT ? (int32_t)offset : 0;
}

static void set_frame(struct machine *machine, uint64_t number, int64_t offset)
{
	machine->row.is_plt = false;
	machine->row.frame_register = (uint8_t)number;
	machine->row.frame_offset = (int32_t)offset;
	if (number >= UNWIND_REGISTER_COUNT || offset > INT32_MAX || offset < INT32_MIN)
		machine->has_failed = true;
}

static int64_t factored(const struct machine *machine, uint64_t number)
{
	return (int64_t)(number * (uint64_t)machine->common->data_factor);
}

/* "sp + 8 + ((pc & 15) >= 11) * 8" is what linkers write for a PLT. */
static void take_frame_expression(struct machine *machine, struct cursor *program)
{
	static const uint8_t plt[] = { DW_OP_breg7, 8,	      DW_OP_breg16, 0,	       DW_OP_lit15, DW_OP_and,
				       DW_OP_lit11, DW_OP_ge, DW_OP_lit3,   DW_OP_shl, DW_OP_plus };
	uint64_t length = take_leb(program, false);
	const uint8_t *begin = program->at;

	skip(program, length);
	if (program->is_bad || length != sizeof(plt) || memcmp(begin, plt, sizeof(plt)) != 0) {
		machine->has_failed = true;
		return;
	}
	set_frame(machine, UNWIND_SP, 8);
	machine->row.is_plt = true;
}

static void restore(struct machine *machine, uint64_t number)
{
	if (number >= UNWIND_REGISTER_COUNT)
		return;
	machine->row.rules[number] = machine->initial.rules[number];
	machine->row.offsets[number] = machine->initial.offsets[number];
}

static void remember(struct machine *machine, bool is_back)
{
	if (is_back ? machine->remembered_cnt == 0 : machine->remembered_cnt == REMEMBERED_MAX)
		machine->has_failed = true;
	else if (is_back)
		machine->row = machine->remembered[--machine->remembered_cnt];
	else
		machine->remembered[machine->remembered_cnt++] = machine->row;
}

static void advance(struct machine *machine, uint64_t delta)
{
	machine->at += delta * machine->common->code_factor;
}

/* Instructions that tell where the frame of the caller is. */
static void step_frame(struct machine *machine, struct cursor *program, uint8_t code)
{
	uint64_t number;

	switch (code) {
	case DW_CFA_def_cfa:
		number = take_register(machine, program);
		set_frame(machine, number, (int64_t)take_leb(program, false));
		break;
	case DW_CFA_def_cfa_sf:
		number = take_register(machine, program);
		set_frame(machine, number, factored(machine, take_leb(program, true)));
		break;
	case DW_CFA_def_cfa_register:
		set_frame(machine, take_register(machine, program), machine->row.frame_offset);
		break;
	case DW_CFA_def_cfa_offset:
		set_frame(machine, machine->row.frame_register, (int64_t)take_leb(program, false));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_frame(machine, machine->row.frame_register, factored(machine, take_leb(program, true)));
		break;
	case DW_CFA_def_cfa_expression:
		take_frame_expression(machine, program);
		break;
	default:
		machine->has_failed = true;
		break;
	}
}

/* Instructions that tell of one register, or of none; the others are left to step_frame(). */
static void step_extended(const struct unwind_table *table, struct machine *machine, struct cursor *program,
			  uint8_t code)
{
	uint64_t number;

	switch (code) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		machine->at = take_address(table, program, machine->common->encoding);
		break;
	case DW_CFA_advance_loc1:
		advance(machine, take(program, 1));
		break;
	case DW_CFA_advance_loc2:
		advance(machine, take(program, 2));
		break;
	case DW_CFA_advance_loc4:
		advance(machine, take(program, 4));
		break;
	case DW_CFA_offset_extended:
		number = take_register(machine, program);
		set_rule(machine, number, UNWIND_AT, factored(machine, take_leb(program, false)));
		break;
	case DW_CFA_offset_extended_sf:
		number = take_register(machine, program);
		set_rule(machine, number, UNWIND_AT, factored(machine, take_leb(program, true)));
		break;
	case DW_CFA_restore_extended:
		restore(machine, take_register(machine, program));
		break;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		set_rule(machine, take_register(machine, program),
			 code == DW_CFA_undefined ? UNWIND_UNDEFINED : UNWIND_SAME, 0);
		break;
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		remember(machine, code == DW_CFA_restore_state);
		break;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_rule(machine, take_register(machine, program), UNWIND_STRANGE, 0);
		take_leb(program, false);
		break;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_rule(machine, take_register(machine, program), UNWIND_STRANGE, 0);
		skip(program, take_leb(program, false));
		break;
	case CFA_NEGATE_SIGNATURE: /* whoever takes the address leaves the signature away */
		machine->has_failed |= machine->common->return_register != RETURN_AARCH64;
		break;
	case DW_CFA_GNU_args_size:
		take_leb(program, false);
		break;
	default:
		step_frame(machine, program, code);
		break;
	}
}

/* Runs it up to the wanted instruction. */
static bool run(const struct unwind_table *table, struct machine *machine, struct cursor program)
{
	while (program.at < program.end && !program.is_bad && !machine->has_failed) {
		struct unwind_row before = machine->row;
		uint8_t code = (uint8_t)take(&program, 1), low = code & 0x3f;

		if ((code & 0xc0) == DW_CFA_advance_loc)
			advance(machine, low);
		else if ((code & 0xc0) == DW_CFA_offset)
			set_rule(machine, own_number(machine->common, low), UNWIND_AT,
				 factored(machine, take_leb(&program, false)));
		else if ((code & 0xc0) == DW_CFA_restore)
			restore(machine, own_number(machine->common, low));
		else
			step_extended(table, machine, &program, code);
		if (machine->at > machine->wanted) {
			machine->row = before;
			return true;
		}
	}
	return !program.is_bad && !machine->has_failed;
}

static const struct unwind_function *find_function(const struct unwind_table *table, uint64_t address)
{
	size_t low = 0, high = table->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->functions[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < table->functions[low - 1].end ? &table->functions[low - 1] : NULL;
}

bool unwind_table_find(const struct unwind_table *table, uint64_t address, struct unwind_row *row)
{
	const struct unwind_function *function = find_function(table, address);
	struct machine machine = { .wanted = address };
	struct common common;
	struct cursor entry;
	uint64_t begin, end;
	size_t next;

	if (!function || !entry_at(table, function->entry, &entry, &next) ||
	    !read_function(table, &entry, &common, &begin, &end))
		return false;
	machine.common = &common;
	machine.row.frame_register = UNWIND_SP;
	machine.row.return_register = common.return_register == RETURN_AARCH64 ? UNWIND_LINK : UNWIND_PC;
	machine.at = begin;
	if (!run(table, &machine, common.program))
		return false;
	machine.at = begin;
	machine.initial = machine.row;
	if (!run(table, &machine, entry))
		return false;
	*row = machine.row;
	return true;
}
