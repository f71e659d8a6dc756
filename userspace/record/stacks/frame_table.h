/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The places in code that stacks go through, each once: known by file and
 * address in it, so that threads and processes share them; of code without a
 * file by process and address. Their names come later, from the symbolizer,
 * kallsyms, or the map of a JIT compiler.
 */
#ifndef FRAME_TABLE_H
#define FRAME_TABLE_H

#include <stdbool.h>

#include "attach/code/code_map.h"
#include "attach/code/symbolizer.h"

#define FRAME_MAX (1u << 20)            /* further ones are all the same one */
#define FRAME_NAMES_BYTES_MAX (256u << 20) /* of names; further ones are unknown */

struct process_reader;
struct frame_table;

struct frame_name {
	/* of functions, the outermost first, separated by newlines; not terminated; never empty */
	const char *names;
	size_t length;
	uint64_t offset;    /* in the outermost; of a file without symbols, in the file */
	const char *source; /* of the innermost; "": not known */
	uint32_t line;
	bool is_libc;       /* of a library in which programs wait */
	bool is_known;      /* it is a function's name, not a file's */
};

/*
 * NULL: no memory. Starts the symbolizer's process, unless settle is NULL, and
 * reads the kernel's symbols, which later the recorder may no longer see.
 */
struct frame_table *frame_table_new(const struct outside_settle *settle, bool wants_kernel);
/* Who reads the maps of JIT compilers; before that we do. */
void frame_table_set_reader(struct frame_table *table, struct process_reader *reader);
void frame_table_free(struct frame_table *table); /* NULL is allowed */

/* The number of a place; the address is one of the instruction itself, or of the call. 0 or -ENOMEM. */
int frame_table_add(struct frame_table *table, uint32_t tgid, const struct code_place *place,
		    uint32_t *number);
int frame_table_add_kernel(struct frame_table *table, uint64_t address, uint32_t *number);
uint32_t frame_table_cut(struct frame_table *table); /* that of "what was further out is not known" */

/* Is it of the scheduler, or of what looks at it? */
bool frame_table_is_schedule(struct frame_table *table, uint64_t kernel_address);

/*
 * Looks again for names of code that JIT compilers had not told of; is_last: at
 * once, or else when it is time.
 */
void frame_table_look_again(struct frame_table *table, bool is_last);

/* Takes what the symbolizer has to say, for up to wait_ns, or until nothing is outstanding. 0 or -ENOMEM. */
int frame_table_poll(struct frame_table *table, uint64_t wait_ns);

/* Names that the symbolizer has not said yet. */
size_t frame_table_outstanding_cnt(const struct frame_table *table);

bool frame_table_is_resolved(const struct frame_table *table, uint32_t number);
struct frame_name frame_table_name(const struct frame_table *table, uint32_t number);

/* the symbolizer's process died: names may be missing */
bool frame_table_has_failed(const struct frame_table *table);

#endif
