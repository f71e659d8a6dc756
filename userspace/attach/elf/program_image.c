/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/program_image.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SEGMENT_MAX 64
#define PAGE_MASK UINT64_C(0xfff)

static int read_at(int fd, void *to, size_t size, uint64_t offset)
{
	ssize_t got = pread(fd, to, size, (off_t)offset);

	if (got < 0)
		return -errno;
	return (size_t)got == size ? 0 : -EBADMSG;
}

/* How many there are, or a negative errno. */
static int read_segments(int fd, Elf64_Phdr segments[SEGMENT_MAX])
{
	Elf64_Ehdr header;
	int err = read_at(fd, &header, sizeof(header), 0);

	if (err)
		return err;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(*segments))
		return -ENOEXEC;
	if (header.e_phnum > SEGMENT_MAX)
		return -EBADMSG;
	err = read_at(fd, segments, header.e_phnum * sizeof(*segments), header.e_phoff);
	return err ? err : header.e_phnum;
}

/* The file's own address of its lowest code; UINT64_MAX: it has none. */
static uint64_t lowest_code(const Elf64_Phdr *segments, int cnt)
{
	uint64_t lowest = UINT64_MAX;

	for (int i = 0; i < cnt; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X &&
		    segments[i].p_vaddr < lowest)
			lowest = segments[i].p_vaddr;
	return lowest;
}

int program_image_note(struct program_memory *memory, uint32_t tgid, uint64_t now_ns, uint64_t code_start,
		       const struct proc_mapping *mapping, int fd)
{
	Elf64_Phdr segments[SEGMENT_MAX];
	int cnt = read_segments(fd, segments), err = 0;
	uint64_t code = lowest_code(segments, cnt), bias = code_start - code;

	if (cnt < 0)
		return cnt;
	if (code == UINT64_MAX || code > code_start || bias & PAGE_MASK)
		return -EBADMSG;
	for (int i = 0; i < cnt && !err; i++) {
		const Elf64_Phdr *segment = &segments[i];
		struct proc_mapping part = *mapping;

		if (segment->p_type != PT_LOAD || segment->p_flags & PF_W || !(segment->p_flags & PF_R) ||
		    segment->p_offset > INT64_MAX)
			continue;
		part.start = (segment->p_vaddr + bias) & ~PAGE_MASK;
		part.offset = segment->p_offset & ~PAGE_MASK;
		part.end = (segment->p_vaddr + bias + segment->p_filesz + PAGE_MASK) & ~PAGE_MASK;
		part.is_readable = true;
		if (part.end > part.start && part.end < UINT64_C(1) << 56)
			err = program_memory_note_mapping(memory, tgid, code_start | 1, now_ns, &part, fd);
	}
	return err;
}
