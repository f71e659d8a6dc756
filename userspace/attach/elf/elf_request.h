/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the recorder and the process that reads an ELF file for it say to each
 * other, on a stream: a request, and an answer to it. An answer is a header,
 * items, and strings, each terminated; items refer to strings by their place
 * among them.
 */
#ifndef ELF_REQUEST_H
#define ELF_REQUEST_H

#include <stdint.h>

#include "attach/process/outside_process.h"

enum elf_question {
	ELF_QUESTION_NOTES = 1,     /* elf_notes_read() */
	ELF_QUESTION_FUNCTIONS = 2, /* elf_functions_read() */
	/* function_exits_find() of parts of the file; what is told are places in the file, too */
	ELF_QUESTION_EXITS = 3,
	ELF_QUESTION_COUNT = 4,     /* function_count_read(): item_cnt */
	ELF_QUESTION_CONTEXT = 5,   /* elf_tls_read_context() */
};

#define ELF_PART_MAX 2

struct elf_part {
	uint64_t offset; /* in the file */
	uint64_t size;
};

struct elf_request {
	uint32_t question;
	uint16_t machine; /* of EXITS */
	uint16_t part_cnt;
	struct elf_part parts[ELF_PART_MAX];
};

#define ELF_ANSWER_IS_GO 1u
#define ELF_ANSWER_HAS_UNWINDER 2u
#define ELF_ANSWER_IS_STRIPPED 4u
#define ELF_ANSWER_NEEDS_OTHERS 8u
#define ELF_ANSWER_IS_EXPORTED_ONLY 16u

struct elf_answer {
	int32_t err; /* a negative errno: nothing follows */
	uint16_t machine;
	uint16_t flags;
	uint64_t item_cnt;
	uint64_t skipped_cnt;
	uint64_t strings_size;
};

struct elf_note_item {
	uint64_t offset;
	uint64_t semaphore_offset;
	uint32_t provider;
	uint32_t name;
	uint32_t args;
	uint32_t zero;
};

struct elf_function_item {
	uint64_t address;
	uint64_t size;
	uint64_t offset;
	uint64_t name;
	uint64_t is_chooser; /* 0 or 1 */
};

/* An item of EXITS is a uint64_t; the one of CONTEXT is a struct elf_tls. */

/*
 * What comes to the first process with a byte: the file and the socket of one
 * conversation. A byte alone: the one that is there is to be killed.
 */
#define ELF_FD_CNT 2

/* Gives up what the first process needs no more, and what its children need no more. */
struct elf_settle {
	void (*settle)(void *context);
	void (*enter)(void *context); /* a child, for one file; what it says is on OUTSIDE_SOCKET_FD */
	void *context;
};

/*
 * The first process: has a child read each file, so that what one file does to
 * it touches no other. context: its elf_settle.
 */
void elf_reader_serve(void *context);

#endif
