/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The USDT probes of an ELF file: the notes in its .note.stapsdt sections
 * (systemtap's format, version 3).
 *
 * Reads 64-bit little-endian files for x86-64 and aarch64, by pread alone (a
 * file that shrinks meanwhile is an error, never a SIGBUS), and trusts nothing
 * in them: what lies outside the file, is not terminated or is too large is
 * skipped and counted.
 */
#ifndef ELF_NOTES_H
#define ELF_NOTES_H

#include <stddef.h>
#include <stdint.h>

/* A file with more of something has the rest ignored (notes) or is refused (sections, elf_segments.h). */
#define ELF_SECTION_MAX 65536
#define ELF_NOTE_MAX 65536
#define ELF_NOTE_BYTES_MAX (16u << 20) /* of one note section */

struct elf_note {
	const char *provider; /* the strings belong to the struct elf_notes; any bytes may be in them */
	const char *name;
	const char *args;          /* as in the note: "8@%rdi -4@%esi"; "" if there are none */
	uint64_t offset;           /* of the probe's instruction in the file */
	uint64_t semaphore_offset; /* of its 16-bit counter in the file; 0: it has none */
};

struct elf_notes {
	struct elf_note *notes; /* in the order of the file */
	size_t cnt;
	size_t skipped_cnt; /* notes that are damaged or point outside the file's segments */
	uint16_t machine;   /* EM_X86_64 or EM_AARCH64 */
	char *strings;
};

/*
 * Reads the notes of the file open at fd; its position is neither used nor
 * moved. A file without probes gives 0 and cnt 0. -ENOEXEC: no ELF file, or
 * none of ours (32 bit, big endian, another machine); -EBADMSG: an ELF file
 * whose tables are damaged; -ENOMEM; errors of pread. After an error there is
 * nothing to release.
 */
int elf_notes_read(struct elf_notes *notes, int fd);

void elf_notes_release(struct elf_notes *notes);

#endif
