/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/label_files.h"

#include <bpf/bpf.h>
#include <stdlib.h>

#include "attach/elf/program_image.h"
#include "txtrace/event.h"

struct label_files {
	struct program_memory *memory;
	int map_fd;
	uint32_t last_number;
	/* by number: when the file lost its marks; 0: it has some, or is forgotten */
	uint64_t retired_ns[WIRE_LABEL_FILE_MAX];
	struct wire_label_file ranges[WIRE_LABEL_FILE_MAX]; /* by number, as the kernel side has them */
};

struct label_files *label_files_new(struct program_memory *memory, int map_fd)
{
	struct label_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->memory = memory;
	files->map_fd = map_fd;
	return files;
}

void label_files_free(struct label_files *files)
{
	free(files);
}

/* From the lowest read-only segment to the highest; size 0 if there is none, or a writable one among them. */
static struct wire_label_file read_only_range(const struct elf_segments *segments)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (size_t i = 0; i < segments->cnt; i++) {
		const Elf64_Phdr *segment = &segments->list[i];

		if (!elf_segment_is_read_only(segment))
			continue;
		start = segment->p_vaddr < start ? segment->p_vaddr : start;
		if (segment->p_vaddr + segment->p_filesz > end)
			end = segment->p_vaddr + segment->p_filesz;
	}
	for (size_t i = 0; i < segments->cnt; i++) {
		const Elf64_Phdr *segment = &segments->list[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_W && segment->p_vaddr < end &&
		    segment->p_vaddr + segment->p_memsz > start)
			return (struct wire_label_file){ 0 };
	}
	if (start >= end || end > WIRE_LABEL_PLACE_MAX)
		return (struct wire_label_file){ 0 };
	return (struct wire_label_file){ .start = start, .size = end - start };
}

static uint32_t program_of(uint32_t number)
{
	return PROGRAM_IS_FILE | number;
}

/* Of the next number. False: its labels cannot be read, or the kernel side not be told. */
static bool add(struct label_files *files, const struct label_file *file, const struct proc_mapping *mapping,
		uint32_t number)
{
	const struct wire_label_file range = read_only_range(&file->segments);

	if (range.size &&
	    !program_image_note_file(files->memory, program_of(number), mapping, &file->segments) &&
	    !bpf_map_update_elem(files->map_fd, &number, &range, BPF_ANY)) {
		files->ranges[number] = range;
		return true;
	}
	program_memory_forget(files->memory, program_of(number), UINT64_MAX); /* the next file gets it */
	return false;
}

void label_files_open(struct label_files *files, struct label_file *file, const struct proc_mapping *mapping,
		      int fd)
{
	*file = (struct label_file){ 0 };
	if (!files || files->last_number + 1 >= WIRE_LABEL_FILE_MAX || elf_segments_read(&file->segments, fd))
		return;
	if (add(files, file, mapping, files->last_number + 1))
		file->number = ++files->last_number;
}

void label_file_release(struct label_file *file)
{
	elf_segments_release(&file->segments);
}

uint64_t label_file_cookie(const struct label_file *file, uint64_t offset)
{
	for (size_t i = 0; file->number && i < file->segments.cnt; i++) {
		const Elf64_Phdr *segment = &file->segments.list[i];
		uint64_t address = offset - segment->p_offset + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && offset >= segment->p_offset &&
		    offset - segment->p_offset < segment->p_filesz && address <= WIRE_LABEL_PLACE_MAX)
			return (uint64_t)file->number << WIRE_LABEL_PLACE_BITS | address;
	}
	return 0;
}

bool label_files_has(const struct label_files *files, uint64_t place)
{
	const struct wire_label_file *range =
		&files->ranges[place >> WIRE_LABEL_PLACE_BITS & (WIRE_LABEL_FILE_MAX - 1)];

	return (place & WIRE_LABEL_PLACE_MAX) - range->start < range->size;
}

int label_files_read(struct label_files *files, uint64_t place, struct event_text *out)
{
	uint32_t number = (uint32_t)((place & ~WIRE_LABEL_IS_PLACE) >> WIRE_LABEL_PLACE_BITS);

	return program_memory_literal(files->memory, program_of(number), place & WIRE_LABEL_PLACE_MAX, out);
}

void label_files_retire(struct label_files *files, uint32_t number, uint64_t now_ns)
{
	if (files && number)
		files->retired_ns[number] = now_ns;
}

void label_files_forget(struct label_files *files, uint64_t now_ns)
{
	for (uint32_t number = 1; files && number <= files->last_number; number++) {
		if (!files->retired_ns[number] || now_ns - files->retired_ns[number] < LABEL_FILES_KEEP_NS)
			continue;
		program_memory_forget(files->memory, program_of(number), UINT64_MAX);
		files->retired_ns[number] = 0;
	}
}
