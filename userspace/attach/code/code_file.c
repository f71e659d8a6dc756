/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/code_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/elf/elf_segments.h"

/* version, three encodings, and where .eh_frame is, as 4 bytes relative to their own place */
#define EH_FRAME_HDR_BYTES 8
#define EH_FRAME_PCREL_SDATA4 0x1b

static void read_segments(struct code_file *file)
{
	struct elf_segments segments;

	if (elf_segments_read(&segments, file->fd))
		return;
	for (size_t i = 0; i < segments.cnt && file->segments.cnt < CODE_SEGMENT_MAX; i++) {
		const Elf64_Phdr *segment = &segments.list[i];

		if (segment->p_type == PT_GNU_EH_FRAME &&
		    (segments.header.e_machine == EM_X86_64 || segments.header.e_machine == EM_AARCH64))
			file->unwind_address = segment->p_vaddr;
		if (segment->p_type == PT_LOAD && segment->p_filesz <= UINT64_MAX - segment->p_offset &&
		    segment->p_filesz <= UINT64_MAX - segment->p_vaddr)
			file->segments.segments[file->segments.cnt++] = (struct code_segment){
				segment->p_vaddr, segment->p_offset, segment->p_filesz
			};
	}
	elf_segments_release(&segments);
}

static bool is_libc(const char *name)
{
	static const char *const beginnings[] = { "libc.so", "libc-2.",	  "libpthread",	  "ld-linux",
						  "ld-musl", "libc.musl", "libstdc++.so", "libc++.so" };

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	}
	return false;
}

static struct code_file *make(uint32_t number, int fd, const char *path)
{
	struct code_file *file = calloc(1, sizeof(*file));
	const char *slash = strrchr(path, '/');

	if (!file)
		return NULL;
	file->number = number;
	file->fd = fd;
	snprintf(file->name, sizeof(file->name), "%s", slash ? slash + 1 : path);
	file->is_libc = is_libc(file->name);
	return file;
}

struct code_file *code_file_new(uint32_t number, int fd, const char *path)
{
	struct code_file *file = make(number, fd, path);

	if (file)
		read_segments(file);
	return file;
}

struct code_file *code_file_new_outside(struct unwinder *unwinder, uint32_t number, int fd, const char *path)
{
	struct code_file *file = make(number, fd, path);

	if (!file)
		return NULL;
	file->unwinder = unwinder;
	unwinder_open(unwinder, number, fd, &file->segments);
	return file;
}

void code_file_free(struct code_file *file)
{
	if (!file)
		return;
	close(file->fd);
	unwind_table_release(&file->unwind);
	free(file);
}

bool code_file_address(const struct code_file *file, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < file->segments.cnt; i++) {
		const struct code_segment *segment = &file->segments.segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size) {
			*address = segment->address + (offset - segment->offset);
			return true;
		}
	}
	return false;
}

/* The bytes at the address, to the end of its segment. */
static bool read_segment_from(const struct code_file *file, uint64_t address, uint8_t **bytes, size_t *size)
{
	for (size_t i = 0; i < file->segments.cnt; i++) {
		const struct code_segment *segment = &file->segments.segments[i];
		uint64_t before = address - segment->address;

		if (address < segment->address || before >= segment->size)
			continue;
		*size = segment->size - before < CODE_FILE_UNWIND_MAX ? (size_t)(segment->size - before)
								      : CODE_FILE_UNWIND_MAX;
		*bytes = malloc(*size);
		if (*bytes && !elf_read(file->fd, *bytes, *size, segment->offset + before))
			return true;
		free(*bytes);
		return false;
	}
	return false;
}

static void read_unwind(struct code_file *file)
{
	uint8_t header[EH_FRAME_HDR_BYTES], *section;
	uint64_t address;
	int32_t distance;
	size_t size;

	file->has_unwind = true;
	for (size_t i = 0; i < file->segments.cnt; i++) {
		const struct code_segment *segment = &file->segments.segments[i];
		uint64_t before = file->unwind_address - segment->address;

		if (!file->unwind_address || file->unwind_address < segment->address ||
		    before >= segment->size)
			continue;
		if (elf_read(file->fd, header, sizeof(header), segment->offset + before) ||
		    header[0] != 1 || header[1] != EH_FRAME_PCREL_SDATA4)
			return;
		memcpy(&distance, header + 4, sizeof(distance));
		address = file->unwind_address + 4 + (uint64_t)(int64_t)distance;
		if (read_segment_from(file, address, &section, &size))
			unwind_table_init(&file->unwind, section, size, address);
		return;
	}
}

bool code_file_unwind(struct code_file *file, uint64_t address, struct unwind_row *row)
{
	if (file->unwinder)
		return unwinder_row(file->unwinder, file->number, address, row);
	if (!file->has_unwind)
		read_unwind(file);
	return unwind_table_find(&file->unwind, address, row);
}
