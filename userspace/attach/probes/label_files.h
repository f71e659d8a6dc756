/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that have marks, by number: the kernel side names a label by its
 * place in such a file (txtrace/event.h). It has to know the number of each file,
 * and where the read-only segments are; program_memory reads the strings.
 *
 *	files = label_files_new(memory, map_fd);
 *	label_files_open(files, &file, mapping, fd);   before its marks are attached
 *	label_file_cookie(&file, offset);              of each of them
 *	label_file_release(&file);
 *	…
 *	label_files_retire(files, number, now_ns);     it has no marks any more
 *	label_files_forget(files, now_ns);             from time to time
 *
 * A number is used once. A file for which there is no number, or no room, has
 * number 0: the kernel side copies its labels.
 */
#ifndef LABEL_FILES_H
#define LABEL_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/elf/elf_segments.h"
#include "attach/process/proc_maps.h"
#include "attach/process/program_memory.h"

/* A file is forgotten so long after it has lost its marks: all of its events have been read by then. */
#define LABEL_FILES_KEEP_NS 10000000000u

struct label_files;

/* memory and the map (bpf/label.h) live as long. NULL: no memory. */
struct label_files *label_files_new(struct program_memory *memory, int map_fd);
void label_files_free(struct label_files *files); /* NULL is allowed */

struct label_file {
	uint32_t number; /* 0: none */
	struct elf_segments segments;
};

/* The mapping has the file's numbers. fd: open at least until the release. files: NULL gives number 0. */
void label_files_open(struct label_files *files, struct label_file *file, const struct proc_mapping *mapping,
		      int fd);
void label_file_release(struct label_file *file);

/* For a mark at that offset in the file; 0: its labels cannot be told by their places. */
uint64_t label_file_cookie(const struct label_file *file, uint64_t offset);

/* Whether the place is in the read-only part of a file that has marks, where literals are. */
bool label_files_has(const struct label_files *files, uint64_t place);

/* The label at a place; *out is always filled, as by program_memory_label(). */
int label_files_read(struct label_files *files, uint64_t place, struct event_text *out);

void label_files_retire(struct label_files *files, uint32_t number, uint64_t now_ns);
void label_files_forget(struct label_files *files, uint64_t now_ns);

#endif
