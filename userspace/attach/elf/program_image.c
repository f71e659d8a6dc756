/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/program_image.h"

#include <errno.h>

#include "attach/elf/elf_segments.h"

#define PAGE_MASK UINT64_C(0xfff)

/* The file's own address of its lowest code; UINT64_MAX: it has none. */
static uint64_t lowest_code(const struct elf_segments *segments)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < segments->cnt; i++)
		if (segments->list[i].p_type == PT_LOAD && segments->list[i].p_flags & PF_X &&
		    segments->list[i].p_vaddr < lowest)
			lowest = segments->list[i].p_vaddr;
	return lowest;
}

/* The read-only segments, where bias moved them. */
static int note_segments(struct program_memory *memory, uint32_t tgid, uint64_t now_ns, uint64_t image,
			 const struct proc_mapping *mapping, const struct elf_segments *segments,
			 uint64_t bias)
{
	int err = 0;

	for (size_t i = 0; i < segments->cnt && !err; i++) {
		const Elf64_Phdr *segment = &segments->list[i];
		struct proc_mapping part = *mapping;

		if (!elf_segment_is_read_only(segment) || segment->p_offset > INT64_MAX)
			continue;
		part.start = (segment->p_vaddr + bias) & ~PAGE_MASK;
		part.offset = segment->p_offset & ~PAGE_MASK;
		part.end = (segment->p_vaddr + bias + segment->p_filesz + PAGE_MASK) & ~PAGE_MASK;
		part.is_readable = true;
		if (part.end > part.start && part.end < UINT64_C(1) << 56)
			err = program_memory_note_mapping(memory, tgid, image, now_ns, &part, segments->fd);
	}
	return err;
}

int program_image_note(struct program_memory *memory, uint32_t tgid, uint64_t now_ns, uint64_t code_start,
		       const struct proc_mapping *mapping, int fd)
{
	struct elf_segments segments;
	int err = elf_segments_read(&segments, fd);
	uint64_t code, bias;

	if (err)
		return err;
	code = lowest_code(&segments);
	bias = code_start - code;
	err = code == UINT64_MAX || code > code_start || bias & PAGE_MASK
		      ? -EBADMSG
		      : note_segments(memory, tgid, now_ns, code_start | 1, mapping, &segments, bias);
	elf_segments_release(&segments);
	return err;
}

int program_image_note_file(struct program_memory *memory, uint32_t number,
			    const struct proc_mapping *mapping, const struct elf_segments *segments)
{
	return note_segments(memory, number, 0, 1, mapping, segments, 0);
}
