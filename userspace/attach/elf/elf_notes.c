/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/elf_notes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/elf/elf_segments.h"
#include "base/array.h"

#define NOTE_SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"
#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE 3
#define SECTION_NAMES_MAX (4u << 20)

/* What is needed of a file while its notes are read. */
struct elf_file {
	struct elf_segments segments;
	Elf64_Shdr *sections;
	size_t section_cnt;
	char *names; /* of the sections; terminated */
	size_t names_size;
	uint64_t base; /* address of .stapsdt.base; 0: none */
};

/* A copy of a part of the file, with a NUL behind it. */
static int load(const struct elf_file *file, void *out, uint64_t size, uint64_t offset)
{
	char *bytes;
	int err;

	if (offset > file->segments.file_bytes || size > file->segments.file_bytes - offset)
		return -EBADMSG;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	err = elf_read(file->segments.fd, bytes, size, offset);
	if (err) {
		free(bytes);
		return err;
	}
	bytes[size] = '\0';
	memcpy(out, &bytes, sizeof(bytes));
	return 0;
}

/* Counts that do not fit into the header stand in the first section's. */
static int load_sections(struct elf_file *file)
{
	const Elf64_Ehdr *header = &file->segments.header;
	uint64_t cnt = header->e_shnum, names_idx = header->e_shstrndx;
	Elf64_Shdr first;
	int err;

	if (header->e_shoff == 0)
		return 0;
	if (header->e_shentsize != sizeof(Elf64_Shdr))
		return -EBADMSG;
	err = elf_read(file->segments.fd, &first, sizeof(first), header->e_shoff);
	if (err)
		return err;
	if (cnt == 0)
		cnt = first.sh_size;
	if (names_idx == SHN_XINDEX)
		names_idx = first.sh_link;
	if (cnt > ELF_SECTION_MAX || names_idx >= cnt)
		return -EBADMSG;
	err = load(file, &file->sections, cnt * sizeof(Elf64_Shdr), header->e_shoff);
	if (err)
		return err;
	file->section_cnt = cnt;
	file->names_size = file->sections[names_idx].sh_size;
	if (file->names_size > SECTION_NAMES_MAX || file->sections[names_idx].sh_type != SHT_STRTAB)
		return -EBADMSG;
	return load(file, &file->names, file->names_size, file->sections[names_idx].sh_offset);
}

static void file_close(struct elf_file *file)
{
	elf_segments_release(&file->segments);
	free(file->sections);
	free(file->names);
}

static int file_open(struct elf_file *file, int fd)
{
	uint16_t machine;
	int err;

	memset(file, 0, sizeof(*file));
	err = elf_segments_read(&file->segments, fd);
	if (err)
		return err;
	machine = file->segments.header.e_machine;
	err = machine == EM_X86_64 || machine == EM_AARCH64 ? load_sections(file) : -ENOEXEC;
	if (err)
		file_close(file);
	return err;
}

static bool section_is(const struct elf_file *file, const Elf64_Shdr *section, uint32_t type,
		       const char *name)
{
	return section->sh_type == type && section->sh_name < file->names_size &&
	       strcmp(file->names + section->sh_name, name) == 0;
}

/*
 * The address that the linker gave to .stapsdt.base; what moved the file's addresses later (prelink) moved
 * that with them.
 */
static void find_base(struct elf_file *file)
{
	for (size_t i = 0; i < file->section_cnt && !file->base; i++)
		if (section_is(file, &file->sections[i], SHT_PROGBITS, BASE_SECTION))
			file->base = file->sections[i].sh_addr;
}

struct note_addresses {
	uint64_t pc;
	uint64_t base;
	uint64_t semaphore;
};

/* The three terminated strings behind the addresses; false if they are not all there. */
static bool note_strings(struct elf_note *note, const char *bytes, size_t size)
{
	const char **strings[] = { &note->provider, &note->name, &note->args };

	for (size_t i = 0; i < 3; i++) {
		const char *end = memchr(bytes, '\0', size);

		if (!end)
			return false;
		*strings[i] = bytes;
		size -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	return note->provider[0] && note->name[0];
}

static bool note_decode(const struct elf_file *file, struct elf_note *note, const char *description,
			size_t size)
{
	struct note_addresses addresses;

	if (size < sizeof(addresses))
		return false;
	memcpy(&addresses, description, sizeof(addresses));
	if (!note_strings(note, description + sizeof(addresses), size - sizeof(addresses)))
		return false;
	if (addresses.base && file->base) {
		addresses.pc += file->base - addresses.base;
		if (addresses.semaphore)
			addresses.semaphore += file->base - addresses.base;
	}
	note->semaphore_offset = 0;
	return elf_segments_find(&file->segments, addresses.pc, 1, PF_X, &note->offset) && note->offset &&
	       (!addresses.semaphore ||
		(elf_segments_find(&file->segments, addresses.semaphore, sizeof(uint16_t), PF_W,
				   &note->semaphore_offset) &&
		 note->semaphore_offset));
}

static int notes_add(struct elf_notes *notes, const struct elf_note *note)
{
	struct elf_note *grown;

	if (notes->cnt >= ELF_NOTE_MAX) {
		notes->skipped_cnt++;
		return 0;
	}
	grown = array_grow_unnoted(notes->notes, notes->cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	notes->notes = grown;
	notes->notes[notes->cnt++] = *note;
	return 0;
}

/* A note's name and description are each padded to 4 bytes. */
static uint64_t padded(uint32_t size)
{
	return ((uint64_t)size + 3) & ~3ull;
}

static int section_notes(const struct elf_file *file, struct elf_notes *notes, const char *bytes, size_t size)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		struct elf_note note = { 0 };
		Elf64_Nhdr header;
		uint64_t description;

		memcpy(&header, bytes + at, sizeof(header));
		description = at + sizeof(header) + padded(header.n_namesz);
		if (description > size || header.n_descsz > size - description) {
			notes->skipped_cnt++;
			return 0;
		}
		if (header.n_type != NOTE_TYPE || header.n_namesz != sizeof(NOTE_OWNER) ||
		    memcmp(bytes + at + sizeof(header), NOTE_OWNER, sizeof(NOTE_OWNER)) != 0 ||
		    !note_decode(file, &note, bytes + description, header.n_descsz))
			notes->skipped_cnt++;
		else if (notes_add(notes, &note))
			return -ENOMEM;
		if (description + padded(header.n_descsz) >= size)
			return 0;
		at = description + padded(header.n_descsz);
	}
	return 0;
}

/* The linker leaves one note section; others behind the first are counted, not read. */
static int file_notes(const struct elf_file *file, struct elf_notes *notes)
{
	for (size_t i = 0; i < file->section_cnt; i++) {
		const Elf64_Shdr *section = &file->sections[i];
		int err;

		if (!section_is(file, section, SHT_NOTE, NOTE_SECTION))
			continue;
		if (notes->strings || section->sh_size > ELF_NOTE_BYTES_MAX) {
			notes->skipped_cnt++;
			continue;
		}
		err = load(file, &notes->strings, section->sh_size, section->sh_offset);
		if (!err)
			err = section_notes(file, notes, notes->strings, section->sh_size);
		if (err)
			return err;
	}
	return 0;
}

int elf_notes_read(struct elf_notes *notes, int fd)
{
	struct elf_file file;
	int err;

	memset(notes, 0, sizeof(*notes));
	err = file_open(&file, fd);
	if (err)
		return err;
	notes->machine = file.segments.header.e_machine;
	find_base(&file);
	err = file_notes(&file, notes);
	file_close(&file);
	if (err)
		elf_notes_release(notes);
	return err;
}

void elf_notes_release(struct elf_notes *notes)
{
	free(notes->notes);
	free(notes->strings);
	memset(notes, 0, sizeof(*notes));
}
