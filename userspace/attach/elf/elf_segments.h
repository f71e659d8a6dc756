/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header and the program headers of an ELF file of 64 bits, little-endian:
 * read by pread, so that a file that shrinks meanwhile is an error, never a
 * SIGBUS. Nothing in them is trusted: what lies outside the file is not found.
 */
#ifndef ELF_SEGMENTS_H
#define ELF_SEGMENTS_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENT_MAX 256 /* a file with more is refused */

struct elf_segments {
	int fd; /* the caller's */
	uint64_t file_bytes;
	Elf64_Ehdr header; /* e_machine may be anything */
	Elf64_Phdr *list;
	size_t cnt;
};

/*
 * 0; -ENOEXEC: no regular file, or no ELF file of that kind; -EBADMSG: its
 * tables are damaged; -ENOMEM; errors of fstat and pread. After an error there
 * is nothing to release.
 */
int elf_segments_read(struct elf_segments *segments, int fd);
void elf_segments_release(struct elf_segments *segments);

/* One that is mapped, and that nobody can write to there. */
static inline bool elf_segment_is_read_only(const Elf64_Phdr *segment)
{
	return segment->p_type == PT_LOAD && segment->p_flags & PF_R && !(segment->p_flags & PF_W);
}

/* All of it; -EBADMSG: it reaches beyond the end of the file; errors of pread. */
int elf_read(int fd, void *to, uint64_t size, uint64_t offset);

/*
 * Where in the file lies what a PT_LOAD segment with one of these flags has at
 * the address, so many bytes of it. False: nowhere.
 */
bool elf_segments_find(const struct elf_segments *segments, uint64_t address, uint64_t size, uint32_t flags,
		       uint64_t *offset);

#endif
