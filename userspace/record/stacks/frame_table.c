/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/stacks/frame_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/code/kernel_symbols.h"
#include "attach/process/process_reader.h"
#include "attach/code/symbolizer.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/id_map.h"

#define SPACE_KERNEL (UINT64_C(1) << 40)
#define SPACE_NO_FILE (UINT64_C(1) << 41) /* and the process */
#define SPACE_UNKNOWN (UINT64_C(1) << 42)
#define SPACE_CUT (UINT64_C(1) << 43)
#define JIT_PAUSE_NS 50000000u /* between two looks for a map, and so many times what a reading takes: */
#define JIT_PAUSE_FACTOR 100
#define JIT_PROCESS_MAX 256

struct frame {
	uint64_t space; /* file's number + 1, or one of the above */
	uint64_t address;
	uint64_t offset;
	char *names; /* then the source file's, terminated; NULL: none */
	uint32_t names_length;
	uint32_t line;
	bool is_resolved;
	bool is_libc;
};

struct jit {
	struct perf_map map;
	uint64_t next_look_ns;
	uint32_t tgid;
	bool has_unnamed; /* code has been seen since the map was read last that it does not know */
	bool is_fresh;    /* read a moment ago */
};

struct frame_table {
	struct process_reader *reader;
	struct frame *frames;
	size_t cnt;
	size_t size;
	size_t names_bytes;
	struct id_map numbers; /* (space, address) -> number + 1 */
	struct id_map files;   /* number -> name of a file that has no symbols */
	struct id_map jits;    /* tgid -> struct jit */
	struct symbolizer *symbolizer; /* NULL: none is wanted, or it could not be started */
	struct kernel_symbols kernel;
};

struct frame_table *frame_table_new(const struct outside_settle *settle, bool wants_kernel)
{
	struct frame_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	id_map_init(&table->numbers);
	id_map_init(&table->files);
	id_map_init(&table->jits);
	if (settle && symbolizer_new(&table->symbolizer, settle))
		table->symbolizer = NULL;
	if (wants_kernel)
		kernel_symbols_read(&table->kernel); /* without them the kernel's code has no names */
	return table;
}

void frame_table_set_reader(struct frame_table *table, struct process_reader *reader)
{
	table->reader = reader;
}

void frame_table_free(struct frame_table *table)
{
	struct jit *jit;
	char *name;

	if (!table)
		return;
	symbolizer_free(table->symbolizer);
	for (size_t i = 0; i < table->cnt; i++)
		free(table->frames[i].names);
	for (size_t i = 0; (jit = id_map_next(&table->jits, &i));) {
		perf_map_release(&jit->map);
		free(jit);
	}
	for (size_t i = 0; (name = id_map_next(&table->files, &i));)
		free(name);
	id_map_release(&table->numbers);
	id_map_release(&table->files);
	id_map_release(&table->jits);
	kernel_symbols_release(&table->kernel);
	free(table->frames);
	free(table);
}

/* Its names, and where the innermost stands. Without memory, or beyond the limit, it has none. */
static void set_names(struct frame_table *table, struct frame *frame, const char *names, size_t length,
		      const char *source, uint32_t line)
{
	size_t source_size = strlen(source) + 1;

	frame->is_resolved = true;
	if (length == 0 || length > UINT32_MAX ||
	    table->names_bytes + length + source_size > FRAME_NAMES_BYTES_MAX)
		return;
	frame->names = malloc(length + source_size);
	if (!frame->names)
		return;
	memcpy(frame->names, names, length);
	memcpy(frame->names + length, source, source_size);
	frame->names_length = (uint32_t)length;
	frame->line = line;
	table->names_bytes += length + source_size;
}

/* *number of the place; *is_new: it has yet to be named. */
static int find_or_add(struct frame_table *table, uint64_t space, uint64_t address, uint32_t *number,
		       bool *is_new)
{
	uintptr_t known = (uintptr_t)id_map_get(&table->numbers, space, address);
	struct frame *grown;

	*is_new = false;
	if (!known && table->cnt >= FRAME_MAX) {
		space = SPACE_UNKNOWN;
		address = 0;
		known = (uintptr_t)id_map_get(&table->numbers, space, address);
	}
	if (known) {
		*number = (uint32_t)(known - 1);
		return 0;
	}
	grown = array_grow(table->frames, &table->size, table->cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	table->frames = grown;
	if (id_map_put(&table->numbers, space, address, (void *)(uintptr_t)(table->cnt + 1)))
		return -ENOMEM;
	*number = (uint32_t)table->cnt;
	table->frames[table->cnt++] = (struct frame){ .space = space, .address = address };
	*is_new = true;
	return 0;
}

static void name_suffixed(struct frame_table *table, struct frame *frame, const char *name, size_t length,
			  const char *suffix)
{
	char text[PERF_MAP_NAME_MAX + 8];

	snprintf(text, sizeof(text), "%.*s%s", (int)(length < PERF_MAP_NAME_MAX ? length : PERF_MAP_NAME_MAX),
		 name, suffix);
	for (char *at = text; *at; at++)
		*at = *at == '\n' ? '?' : *at;
	set_names(table, frame, text, strlen(text), "", 0);
}

static void ask_symbolizer(struct frame_table *table, uint32_t number, const struct code_file *file)
{
	struct frame *frame = &table->frames[number];
	struct symbol_query query = {
		.cookie = number, .file = file->number, .fd = file->fd, .address = frame->address
	};

	if (!id_map_get(&table->files, file->number, 0)) {
		char *name = strdup(file->name);

		if (name && id_map_put(&table->files, file->number, 0, name))
			free(name);
	}
	frame->is_libc = file->is_libc;
	if (!table->symbolizer || symbolizer_ask(table->symbolizer, &query))
		frame->is_resolved = true;
}

static struct jit *jit_get(struct frame_table *table, uint32_t tgid)
{
	struct jit *jit = id_map_get(&table->jits, tgid, 0);

	if (jit)
		return jit;
	jit = calloc(1, sizeof(*jit));
	if (!jit || id_map_put(&table->jits, tgid, 0, jit)) {
		free(jit);
		return NULL;
	}
	jit->tgid = tgid;
	return jit;
}

/* False: there is none. */
static bool jit_read(const struct frame_table *table, struct jit *jit)
{
	uint64_t begin_ns = clock_now_ns(), end_ns;
	struct perf_map fresh;
	int err = process_reader_perf_map(table->reader, &fresh, (pid_t)jit->tgid);

	if (!err) {
		perf_map_release(&jit->map);
		jit->map = fresh;
	}
	end_ns = clock_now_ns();
	jit->next_look_ns = end_ns + JIT_PAUSE_NS + (err ? 0 : JIT_PAUSE_FACTOR * (end_ns - begin_ns));
	jit->has_unnamed = false;
	return !err;
}

static bool name_by_map(struct frame_table *table, const struct jit *jit, struct frame *frame)
{
	const struct perf_map_entry *entry = perf_map_find(&jit->map, frame->address);

	if (entry)
		name_suffixed(table, frame, entry->name, strnlen(entry->name, entry->name_length), "_[j]");
	return entry != NULL;
}

/*
 * A JIT compiler's code: the map is read anew when it does not know an address, now and then; what it does
 * not know yet is looked for again later.
 */
static int name_jit(struct frame_table *table, uint32_t tgid, struct frame *frame)
{
	struct jit *jit;

	if (table->jits.cnt >= JIT_PROCESS_MAX && !id_map_get(&table->jits, tgid, 0))
		return 0;
	jit = jit_get(table, tgid);
	if (!jit)
		return -ENOMEM;
	frame->is_resolved = true;
	if (name_by_map(table, jit, frame))
		return 0;
	if (clock_now_ns() >= jit->next_look_ns)
		jit_read(table, jit);
	jit->has_unnamed |= !name_by_map(table, jit, frame);
	return 0;
}

void frame_table_look_again(struct frame_table *table, bool is_last)
{
	uint64_t time_ns = clock_now_ns();
	bool has_read = false;
	struct jit *jit;

	for (size_t i = 0; (jit = id_map_next(&table->jits, &i));) {
		jit->is_fresh = jit->has_unnamed && (is_last || time_ns >= jit->next_look_ns) &&
				jit_read(table, jit);
		has_read |= jit->is_fresh;
	}
	for (size_t i = 0; has_read && i < table->cnt; i++) {
		struct frame *frame = &table->frames[i];

		jit = frame->space & SPACE_NO_FILE && !frame->names
			      ? id_map_get(&table->jits, (uint32_t)frame->space, 0)
			      : NULL;
		if (jit && jit->is_fresh)
			name_by_map(table, jit, frame);
	}
}

int frame_table_add(struct frame_table *table, uint32_t tgid, const struct code_place *place,
		    uint32_t *number)
{
	uint64_t space = place->kind == CODE_FILE      ? place->file->number + UINT64_C(1)
			 : place->kind == CODE_NO_FILE ? SPACE_NO_FILE | tgid
						       : SPACE_UNKNOWN;
	bool is_new;
	int err = find_or_add(table, space, place->kind == CODE_UNKNOWN ? 0 : place->address, number,
			      &is_new);
	struct frame *frame = err ? NULL : &table->frames[*number];

	if (err || (!is_new && (place->kind != CODE_NO_FILE || frame->names)))
		return err;
	if (place->kind == CODE_FILE)
		ask_symbolizer(table, *number, place->file);
	else if (place->kind == CODE_NO_FILE)
		return name_jit(table, tgid, frame);
	frame->is_resolved |= place->kind == CODE_UNKNOWN;
	return 0;
}

int frame_table_add_kernel(struct frame_table *table, uint64_t address, uint32_t *number)
{
	bool is_new;
	int err = find_or_add(table, SPACE_KERNEL, address, number, &is_new);
	const char *name;

	if (err || !is_new)
		return err;
	name = kernel_symbols_find(&table->kernel, address);
	name = name ? name : "[kernel]";
	name_suffixed(table, &table->frames[*number], name, strlen(name), "_[k]");
	return 0;
}

uint32_t frame_table_cut(struct frame_table *table)
{
	uint32_t number = 0;
	bool is_new;

	if (!find_or_add(table, SPACE_CUT, 0, &number, &is_new))
		table->frames[number].is_resolved = true;
	return number;
}

bool frame_table_is_schedule(struct frame_table *table, uint64_t kernel_address)
{
	const char *name = kernel_symbols_find(&table->kernel, kernel_address);

	return name && strcmp(name, "__schedule") == 0;
}

static int take_answer(void *context, const struct symbol_answer *answer)
{
	struct frame_table *table = context;
	struct frame *frame = &table->frames[answer->cookie];

	frame->offset = answer->offset;
	set_names(table, frame, answer->names, answer->names_length, answer->source, answer->line);
	return 0;
}

int frame_table_poll(struct frame_table *table, uint64_t wait_ns)
{
	return table->symbolizer ? symbolizer_poll(table->symbolizer, take_answer, table, wait_ns) : 0;
}

size_t frame_table_outstanding_cnt(const struct frame_table *table)
{
	return table->symbolizer ? symbolizer_outstanding_cnt(table->symbolizer) : 0;
}

bool frame_table_is_resolved(const struct frame_table *table, uint32_t number)
{
	return table->frames[number].is_resolved;
}

struct frame_name frame_table_name(const struct frame_table *table, uint32_t number)
{
	const struct frame *frame = &table->frames[number];
	struct frame_name name = { .offset = frame->offset,
				   .line = frame->line,
				   .source = "",
				   .is_libc = frame->is_libc,
				   .is_known = frame->names };

	if (frame->names) {
		name.names = frame->names;
		name.length = frame->names_length;
		name.source = frame->names + frame->names_length;
		return name;
	}
	name.offset = frame->address;
	name.names = frame->space == SPACE_CUT	    ? "[cut off]"
		     : frame->space & SPACE_NO_FILE ? "[no file]"
						    : "[unknown]";
	if (frame->space < SPACE_KERNEL) {
		const char *file = id_map_get(&table->files, frame->space - 1, 0);

		name.names = file && *file ? file : name.names;
	}
	name.length = strlen(name.names);
	return name;
}

bool frame_table_has_failed(const struct frame_table *table)
{
	return table->symbolizer && symbolizer_has_failed(table->symbolizer);
}
