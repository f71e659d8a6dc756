/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where an executable was in the memory of a process that has gone: worked out
 * from the address of its code and the file's own segments.
 */
#ifndef PROGRAM_IMAGE_H
#define PROGRAM_IMAGE_H

#include <stdint.h>

#include "attach/elf/elf_segments.h"
#include "attach/process/proc_maps.h"
#include "attach/process/program_memory.h"

/*
 * Notes the read-only segments of the ELF file at fd for the process, as from
 * now_ns on. code_start: where the kernel mapped the lowest executable segment.
 * The mapping has the file's numbers and path. 0; -ENOEXEC: no 64-bit ELF file;
 * -EBADMSG; errors of pread and of program_memory_note_mapping().
 */
int program_image_note(struct program_memory *memory, uint32_t tgid, uint64_t now_ns, uint64_t code_start,
		       const struct proc_mapping *mapping, int fd);

/* The same for the file itself, number: PROGRAM_IS_FILE and its own; at the addresses that it has. */
int program_image_note_file(struct program_memory *memory, uint32_t number,
			    const struct proc_mapping *mapping, const struct elf_segments *segments);

#endif
