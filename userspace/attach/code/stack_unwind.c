/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/stack_unwind.h"

#include <stdlib.h>
#include <string.h>

#define CACHE_SIZE 4096 /* a power of two */

/*
 * Where a frame pointer points to are the caller's and the return address. On x86-64 they are the frame's
 * end, on aarch64 its begin.
 */
#if defined(__x86_64__)
#define RECORD_ENDS_FRAME true
#else
#define RECORD_ENDS_FRAME false
#endif

/* On aarch64 a return address may be signed, in the bits above those of an address. */
#define ADDRESS_BITS 48

struct cached_row {
	uint64_t address;
	uint32_t file; /* number + 1; 0: empty */
	bool is_known;
	struct unwind_row row;
};

struct stack_unwind {
	struct cached_row rows[CACHE_SIZE];
};

/* Where the walk is. */
struct frame {
	uint64_t registers[UNWIND_REGISTER_COUNT];
	bool is_known[UNWIND_REGISTER_COUNT];
	bool is_call; /* the code address is a return address: the call is before it */
};

struct stack_unwind *stack_unwind_new(void)
{
	return calloc(1, sizeof(struct stack_unwind));
}

void stack_unwind_free(struct stack_unwind *unwind)
{
	free(unwind);
}

static const struct unwind_row *find_row(struct stack_unwind *unwind, struct code_file *file,
					 uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)file->number << 40) * 0x9e3779b97f4a7c15ULL;
	struct cached_row *cached = &unwind->rows[hash >> 52 & (CACHE_SIZE - 1)];

	if (cached->file != file->number + 1 || cached->address != address) {
		cached->file = file->number + 1;
		cached->address = address;
		cached->is_known = code_file_unwind(file, address, &cached->row);
	}
	return cached->is_known ? &cached->row : NULL;
}

static bool read_stack(const struct stack_copy *copy, uint64_t address, uint64_t *word)
{
	uint64_t before = address - copy->registers[UNWIND_SP];

	if (copy->byte_cnt < sizeof(*word) || before > copy->byte_cnt - sizeof(*word))
		return false;
	memcpy(word, copy->bytes + before, sizeof(*word));
	return true;
}

static uint64_t without_signature(uint64_t address)
{
	return address & ((UINT64_C(1) << ADDRESS_BITS) - 1);
}

/*
 * Is the return address still in the link register? So it is before it is saved, and in a function that calls
 * nobody: nowhere but in the innermost frame, for a call has overwritten it.
 */
static bool is_in_link(const struct unwind_row *row, const struct frame *frame)
{
	return row->return_register == UNWIND_LINK && row->rules[UNWIND_LINK] == UNWIND_SAME &&
	       !frame->is_call;
}

/* The caller's frame by the rules. False: it can't be found. *is_end: there is none. */
static bool step_by_rules(const struct stack_copy *copy, const struct unwind_row *row, struct frame *frame,
			  bool *is_end)
{
	const uint8_t back = row->return_register;
	bool is_link = is_in_link(row, frame);
	struct frame caller = *frame;
	uint64_t address;

	*is_end = row->rules[back] == UNWIND_UNDEFINED;
	if (*is_end)
		return false;
	address = frame->registers[row->frame_register] + (uint64_t)(int64_t)row->frame_offset;
	if (row->is_plt && (frame->registers[UNWIND_PC] & 15) >= 11)
		address += 8;
	for (int i = 0; i < UNWIND_REGISTER_COUNT; i++) {
		if (row->rules[i] == UNWIND_AT)
			caller.is_known[i] = read_stack(copy, address + (uint64_t)(int64_t)row->offsets[i],
							&caller.registers[i]);
		else if (row->rules[i] != UNWIND_SAME)
			caller.is_known[i] = false;
	}
	if ((row->rules[back] != UNWIND_AT && !is_link) || !caller.is_known[back] ||
	    address < frame->registers[UNWIND_SP] || (address == frame->registers[UNWIND_SP] && !is_link))
		return false;
	if (back == UNWIND_LINK) {
		caller.registers[UNWIND_PC] = without_signature(caller.registers[UNWIND_LINK]);
		caller.is_known[UNWIND_PC] = true;
	}
	caller.registers[UNWIND_SP] = address;
	caller.is_known[UNWIND_SP] = true;
	caller.is_call = true;
	*frame = caller;
	return true;
}

static bool step_by_frame_pointer(struct code_map *map, const struct stack_copy *copy, struct frame *frame)
{
	uint64_t at = frame->registers[UNWIND_FP], caller, next;

	if (!frame->is_known[UNWIND_FP] || at < frame->registers[UNWIND_SP] || at & 7 ||
	    !read_stack(copy, at, &next) || !read_stack(copy, at + 8, &caller) || caller < 4096)
		return false;
	if (!RECORD_ENDS_FRAME)
		caller = without_signature(caller);
	if (code_map_find(map, &copy->moment, caller, false).kind == CODE_UNKNOWN)
		return false;
	memset(frame->is_known, 0, sizeof(frame->is_known));
	frame->registers[UNWIND_PC] = caller;
	frame->registers[UNWIND_SP] = at + 16;
	frame->registers[UNWIND_FP] = next;
	frame->is_known[UNWIND_PC] = frame->is_known[UNWIND_FP] = true;
	frame->is_known[UNWIND_SP] = RECORD_ENDS_FRAME;
	frame->is_call = true;
	return true;
}

size_t stack_unwind_walk(struct stack_unwind *unwind, struct code_map *map, const struct stack_copy *copy,
			 uint64_t *addresses, size_t max, bool *is_whole)
{
	struct frame frame = { .is_call = false };
	size_t cnt = 0;

	*is_whole = false;
	memcpy(frame.registers, copy->registers, sizeof(frame.registers));
	memset(frame.is_known, true, sizeof(frame.is_known));
	while (cnt < max) {
		const struct unwind_row *row = NULL;
		struct code_place place;

		if (frame.registers[UNWIND_PC] == 0) {
			*is_whole = cnt > 0;
			break;
		}
		addresses[cnt++] = frame.registers[UNWIND_PC];
		place = code_map_find(map, &copy->moment, frame.registers[UNWIND_PC] - frame.is_call, true);
		if (place.kind == CODE_FILE)
			row = find_row(unwind, place.file, place.address);
		if (row && !frame.is_known[row->frame_register] &&
		    row->rules[row->return_register] != UNWIND_UNDEFINED)
			row = NULL;
		if (row ? !step_by_rules(copy, row, &frame, is_whole)
			: !step_by_frame_pointer(map, copy, &frame))
			break;
	}
	return cnt;
}
