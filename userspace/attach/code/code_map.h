/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose code is at an address of a process: the files that it has mapped for
 * execution, read from /proc when the process is looked at, and again when an
 * address comes up that nobody knows. What is known stays known when the
 * process has ended; the files are held open.
 *
 * Bounded: CODE_MAP_*. Of processes the one goes that was asked for least
 * recently; other things beyond are unknown. Not thread-safe.
 */
#ifndef CODE_MAP_H
#define CODE_MAP_H

#include <sys/types.h>

#include "attach/code/code_file.h"

#define CODE_MAP_PROCESS_MAX 4096
#define CODE_MAP_MAPPING_MAX 4096 /* of a process */
#define CODE_MAP_FILE_MAX 256     /* open at once */
#define CODE_MAP_LOOK_NS 50000000 /* an unknown address lets a process be looked at this often at most */

struct process_reader;
struct code_map;

struct code_map *code_map_new(void); /* NULL: no memory */
/* who reads for it; before that it reads itself */
void code_map_set_reader(struct code_map *map, struct process_reader *reader);
/* who reads the files; before that it does so itself */
void code_map_set_unwinder(struct code_map *map, struct unwinder *unwinder);
void code_map_free(struct code_map *map); /* NULL is allowed */

/*
 * Reads what the process has mapped now. Only -ENOMEM is an error; a process
 * that has gone is known as it was.
 */
int code_map_look(struct code_map *map, uint32_t tgid, uint64_t now_ns);

/* The child begins with the parent's memory. */
int code_map_fork(struct code_map *map, uint32_t parent_tgid, uint32_t child_tgid);

/* It got a new program at exec_ns: what was mapped before holds for addresses of before. */
void code_map_exec(struct code_map *map, uint32_t tgid, uint64_t exec_ns);

/* There were more files than CODE_MAP_FILE_MAX: code of the others is unknown. */
bool code_map_is_full(const struct code_map *map);

enum code_place_kind {
	CODE_UNKNOWN = 0,
	CODE_FILE = 1,
	/* the process is known, and no file is there: made by the program itself, or by the kernel (vdso) */
	CODE_NO_FILE = 2,
};

struct code_place {
	enum code_place_kind kind;
	struct code_file *file; /* FILE; the map's */
	uint64_t address;       /* FILE: as the file has it; else that in the process */
};

/* Whose code it was when. */
struct code_moment {
	uint32_t tgid;
	uint64_t event_ns; /* when the address was there */
	uint64_t now_ns;
};

/* may_look: /proc may be read for it. */
struct code_place code_map_find(struct code_map *map, const struct code_moment *moment, uint64_t address,
				bool may_look);

#endif
