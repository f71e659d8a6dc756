/* SPDX-License-Identifier: BSD-2-Clause */
/* After the opcode maps of the manuals of Intel (volume 2, appendix A) and AMD (volume 3, appendix A). */
#include "attach/elf/x86_code.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LENGTH_MAX 15

/*
 * What follows an opcode, a letter for each:
 *	.  nothing                      b  a byte
 *	w  2 bytes                      e  3 bytes
 *	z  4 bytes (2 with prefix 66)   v  4, 2 or 8 bytes (mov)
 *	o  8 bytes (mov)                j  a jump by a byte
 *	J  a jump by 4 bytes            M  ModRM
 *	B  ModRM and a byte             Z  ModRM and 4 bytes (2 with prefix 66)
 *	3  ModRM; a byte if it is test  4  ModRM; likewise, 4 bytes
 *	P  it is a prefix               R  a REX prefix
 *	F  0F: another map              V  VEX
 *	E  EVEX                         x  there is none
 */
static const char one_byte_map[256 + 1] =
	/* 00 to 3f */
	"MMMMbzxx" "MMMMbzxF" "MMMMbzxx" "MMMMbzxx" "MMMMbzPx" "MMMMbzPx" "MMMMbzPx" "MMMMbzPx"
	/* 40 to 7f */
	"RRRRRRRR" "RRRRRRRR" "........" "........" "xxEMPPPP" "zZbB...." "jjjjjjjj" "jjjjjjjj"
	/* 80 to bf */
	"BZxBMMMM" "MMMMMMMM" "........" "..x....." "oooo...." "bz......" "bbbbbbbb" "vvvvvvvv"
	/* c0 to ff */
	"BBw.VVBZ" "e.w..bx." "MMMMxxx." "MMMMMMMM" "jjjjbbbb" "JJxj...." "P.PP..34" "......MM";

static const char two_byte_map[256 + 1] =
	/* 00 to 3f */
	"MMMMx..." "..x.xMxx" "MMMMMMMM" "MMMMMMMM" "MMMMxxxx" "MMMMMMMM" "......x." "xxxxxxxx"
	/* 40 to 7f */
	"MMMMMMMM" "MMMMMMMM" "MMMMMMMM" "MMMMMMMM" "MMMMMMMM" "MMMMMMMM" "BBBBMMM." "MMxxMMMM"
	/* 80 to bf */
	"JJJJJJJJ" "JJJJJJJJ" "MMMMMMMM" "MMMMMMMM" "...MBMxx" "...MBMMM" "MMMMMMMM" "MMBMMMMM"
	/* c0 to ff */
	"MMBMBBBM" "........" "MMMMMMMM" "MMMMMMMM" "MMMMMMMM" "MMMMMMMM" "MMMMMMMM" "MMMMMMMM";

struct cursor {
	const uint8_t *bytes;
	size_t size;
	size_t at;
	bool is_short; /* prefix 66 */
	bool is_wide;  /* REX.W */
};

/* The next byte, or -1 behind the end. */
static int next_byte(struct cursor *cursor)
{
	return cursor->at < cursor->size && cursor->at < LENGTH_MAX ? cursor->bytes[cursor->at++] : -1;
}

static int skip(struct cursor *cursor, size_t cnt)
{
	cursor->at += cnt;
	return cursor->at > cursor->size ? -EBADMSG : cursor->at > LENGTH_MAX ? -ENOTSUP : 0;
}

/* ModRM and the SIB byte and displacement that it asks for. Its reg field, or a negative errno. */
static int skip_modrm(struct cursor *cursor)
{
	int modrm = next_byte(cursor), sib = 0, err = 0;
	int mode, rm;

	if (modrm < 0)
		return -EBADMSG;
	mode = modrm >> 6;
	rm = modrm & 7;
	if (mode != 3 && rm == 4) {
		sib = next_byte(cursor);
		if (sib < 0)
			return -EBADMSG;
	}
	if (mode == 1)
		err = skip(cursor, 1);
	else if (mode == 2 || (mode == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
		err = skip(cursor, 4);
	return err ? err : modrm >> 3 & 7;
}

static size_t immediate_size(const struct cursor *cursor)
{
	return cursor->is_short && !cursor->is_wide ? 2 : 4;
}

static int skip_modrm_and(struct cursor *cursor, size_t cnt)
{
	int reg = skip_modrm(cursor);

	return reg < 0 ? reg : skip(cursor, cnt);
}

/* test has an immediate, the others of its group have none. */
static int skip_test_group(struct cursor *cursor, size_t cnt)
{
	int reg = skip_modrm(cursor);

	return reg < 0 ? reg : reg < 2 ? skip(cursor, cnt) : 0;
}

static int read_jump(struct cursor *cursor, struct x86_instruction *instruction, size_t size,
		     enum x86_flow flow)
{
	int32_t wide;
	int8_t narrow;
	size_t at = cursor->at;
	int err = skip(cursor, size);

	if (err)
		return err;
	memcpy(&narrow, cursor->bytes + at, 1);
	instruction->target = narrow;
	if (size == 4) {
		memcpy(&wide, cursor->bytes + at, 4);
		instruction->target = wide;
	}
	instruction->flow = flow;
	return 0;
}

static int skip_operands(struct cursor *cursor, char shape)
{
	switch (shape) {
	case '.':
		return 0;
	case 'M':
		return skip_modrm_and(cursor, 0);
	case 'B':
		return skip_modrm_and(cursor, 1);
	case 'Z':
		return skip_modrm_and(cursor, immediate_size(cursor));
	case 'b':
		return skip(cursor, 1);
	case 'w':
		return skip(cursor, 2);
	case 'e':
		return skip(cursor, 3);
	case 'z':
		return skip(cursor, immediate_size(cursor));
	case 'v':
		return skip(cursor, cursor->is_wide ? 8 : immediate_size(cursor));
	case 'o':
		return skip(cursor, 8);
	case '3':
		return skip_test_group(cursor, 1);
	case '4':
		return skip_test_group(cursor, immediate_size(cursor));
	default:
		return -ENOTSUP;
	}
}

/*
 * Behind VEX and EVEX there is no prefix any more, and an opcode of one of the maps 0F, 0F 38, 0F 3A, and
 * others that have ModRM alone.
 */
static int skip_vector(struct cursor *cursor, int map)
{
	int opcode = next_byte(cursor);

	if (opcode < 0)
		return -EBADMSG;
	if (map == 1)
		return two_byte_map[opcode] == 'J' ? -ENOTSUP : skip_operands(cursor, two_byte_map[opcode]);
	if (map == 2 || map == 5 || map == 6)
		return skip_operands(cursor, 'M');
	return map == 3 ? skip_operands(cursor, 'B') : -ENOTSUP;
}

static int read_vex(struct cursor *cursor, int first)
{
	int second = next_byte(cursor), err;

	if (second < 0)
		return -EBADMSG;
	if (first == 0xc5)
		return skip_vector(cursor, 1);
	err = skip(cursor, first == 0x62 ? 2 : 1);
	return err ? err : skip_vector(cursor, first == 0x62 ? second & 7 : second & 0x1f);
}

static int read_two_byte(struct cursor *cursor, struct x86_instruction *instruction)
{
	int opcode = next_byte(cursor);

	if (opcode < 0)
		return -EBADMSG;
	if (opcode == 0x38 || opcode == 0x3a)
		return next_byte(cursor) < 0 ? -EBADMSG : skip_operands(cursor, opcode == 0x38 ? 'M' : 'B');
	if (two_byte_map[opcode] == 'J')
		return read_jump(cursor, instruction, 4, X86_JUMPS_SOMETIMES);
	return skip_operands(cursor, two_byte_map[opcode]);
}

static int read_one_byte(struct cursor *cursor, struct x86_instruction *instruction, int opcode)
{
	char shape = one_byte_map[opcode];

	if (shape == 'F')
		return read_two_byte(cursor, instruction);
	if (shape == 'V' || shape == 'E')
		return read_vex(cursor, opcode);
	if (shape == 'j')
		return read_jump(cursor, instruction, 1, opcode == 0xeb ? X86_JUMPS : X86_JUMPS_SOMETIMES);
	if (shape == 'J' && opcode == 0xe8) /* a call comes back */
		return skip(cursor, 4);
	if (shape == 'J')
		return read_jump(cursor, instruction, 4, X86_JUMPS);
	if (opcode == 0x8f && cursor->at < cursor->size && cursor->bytes[cursor->at] >> 3 & 7)
		return -ENOTSUP; /* XOP */
	if (opcode == 0xc2 || opcode == 0xc3)
		instruction->flow = X86_RETURNS;
	return skip_operands(cursor, shape);
}

int x86_instruction_read(struct x86_instruction *instruction, const uint8_t *bytes, size_t size)
{
	struct cursor cursor = { .bytes = bytes, .size = size };
	int opcode, err;

	*instruction = (struct x86_instruction){ 0 };
	do {
		opcode = next_byte(&cursor);
		if (opcode < 0)
			return -EBADMSG;
		cursor.is_short |= opcode == 0x66;
	} while (one_byte_map[opcode] == 'P');
	if (one_byte_map[opcode] == 'R') { /* counts only right before the opcode */
		cursor.is_wide = opcode & 8;
		opcode = next_byte(&cursor);
		if (opcode < 0)
			return -EBADMSG;
		if (one_byte_map[opcode] == 'P' || one_byte_map[opcode] == 'R')
			return -ENOTSUP;
	}
	err = read_one_byte(&cursor, instruction, opcode);
	instruction->length = cursor.at;
	return err;
}
