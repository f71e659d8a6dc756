/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The USDT notes of ELF files: of this program, whose probes are where its symbols say, and of files made by
 * hand, good and hostile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "attach/elf/elf_notes.h"
#include "attach/process/proc_maps.h"
#include "txtrace.h"
#include "unit/elf_image.h"

/* So that this program has some of the probes. */
static void use_some_marks(void)
{
	TXTRACE_SPAN("self");
	TXTRACE_COUNTER("self", 1);
}

static const struct elf_note *find_note(const struct elf_notes *notes, const char *name)
{
	for (size_t i = 0; i < notes->cnt; i++)
		if (strcmp(notes->notes[i].provider, "txtrace") == 0 &&
		    strcmp(notes->notes[i].name, name) == 0)
			return &notes->notes[i];
	return NULL;
}

/* Where in the file lies what this process has at the address. */
static uint64_t offset_of(const struct proc_maps *maps, const void *address)
{
	const struct proc_mapping *mapping = proc_maps_find(maps, (uintptr_t)address);

	assert_non_null(mapping);
	return mapping->offset + ((uintptr_t)address - mapping->start);
}

static void the_probes_of_this_program_are_where_its_symbols_are(void **state)
{
	struct elf_notes notes;
	struct proc_maps maps;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	use_some_marks();
	assert_true(fd >= 0);
	assert_int_equal(elf_notes_read(&notes, fd), 0);
	assert_int_equal(proc_maps_read(&maps, getpid()), 0);
	assert_int_equal(notes.cnt, 16);
	assert_int_equal(notes.skipped_cnt, 0);

	assert_non_null(find_note(&notes, "begin"));
	assert_int_equal(find_note(&notes, "begin")->offset,
			 offset_of(&maps, (const void *)(uintptr_t)txtrace_site_begin));
	assert_int_equal(find_note(&notes, "begin")->semaphore_offset, offset_of(&maps, &txtrace_switches));
	assert_int_equal(find_note(&notes, "counter")->offset,
			 offset_of(&maps, (const void *)(uintptr_t)txtrace_site_counter));
#if defined(__x86_64__)
	assert_string_equal(find_note(&notes, "begin")->args, "8@%rdi 8@%rsi 8@%rdx");
	assert_string_equal(find_note(&notes, "counter")->args, "8@%rdi -8@%rsi");
#endif
	proc_maps_release(&maps);
	elf_notes_release(&notes);
	close(fd);
}

#define STRINGS(text) text, sizeof(text)

static void every_field_of_a_note_is_read(void **state)
{
	struct elf_image image;
	struct elf_notes notes;
	int fd;

	(void)state;
	elf_image_init(&image);
	elf_image_add_note(&image, ELF_TEXT_ADDRESS + 0x10, ELF_BASE_ADDRESS, 0,
			   STRINGS("postgresql\0transaction__start\0004@%edi"));
	elf_image_add_note(&image, ELF_TEXT_ADDRESS + 0xfff, ELF_BASE_ADDRESS, ELF_DATA_ADDRESS + 0x20,
			   STRINGS("libc\0setjmp\0"));
	fd = elf_image_file(&image, sizeof(image));
	assert_int_equal(elf_notes_read(&notes, fd), 0);
	assert_int_equal(notes.machine, EM_X86_64);
	assert_int_equal(notes.cnt, 2);
	assert_int_equal(notes.skipped_cnt, 0);

	assert_string_equal(notes.notes[0].provider, "postgresql");
	assert_string_equal(notes.notes[0].name, "transaction__start");
	assert_string_equal(notes.notes[0].args, "4@%edi");
	assert_int_equal(notes.notes[0].offset, ELF_TEXT_OFFSET + 0x10);
	assert_int_equal(notes.notes[0].semaphore_offset, 0);

	assert_string_equal(notes.notes[1].provider, "libc");
	assert_string_equal(notes.notes[1].name, "setjmp");
	assert_string_equal(notes.notes[1].args, "");
	assert_int_equal(notes.notes[1].offset, ELF_TEXT_OFFSET + 0xfff);
	assert_int_equal(notes.notes[1].semaphore_offset, ELF_DATA_OFFSET + 0x20);
	elf_notes_release(&notes);
	close(fd);
}

/*
 * prelink moved the file by 0x1000 after the notes had been written: the base section moved along, the notes
 * did not.
 */
static void prelink_is_corrected(void **state)
{
	struct elf_image image;
	struct elf_notes notes;
	int fd;

	(void)state;
	elf_image_init(&image);
	elf_image_add_note(&image, ELF_TEXT_ADDRESS - 0x1000, ELF_BASE_ADDRESS - 0x1000,
			   ELF_DATA_ADDRESS - 0x1000 + 8, STRINGS("a\0b\0"));
	fd = elf_image_file(&image, sizeof(image));
	assert_int_equal(elf_notes_read(&notes, fd), 0);
	assert_int_equal(notes.cnt, 1);
	assert_int_equal(notes.notes[0].offset, ELF_TEXT_OFFSET);
	assert_int_equal(notes.notes[0].semaphore_offset, ELF_DATA_OFFSET + 8);
	elf_notes_release(&notes);
	close(fd);
}

static void an_elf_file_without_probes_has_none(void **state)
{
	struct elf_image image;
	struct elf_notes notes;
	int fd;

	(void)state;
	elf_image_init(&image);
	image.header.e_shoff = 0; /* stripped of its sections altogether */
	image.header.e_shnum = 0;
	fd = elf_image_file(&image, sizeof(image));
	assert_int_equal(elf_notes_read(&notes, fd), 0);
	assert_int_equal(notes.cnt, 0);
	elf_notes_release(&notes);
	close(fd);
}

/* Each row is a note that points or ends where it must not; the good one before it is still read. */
static void damaged_notes_are_skipped_and_counted(void **state)
{
	static const struct {
		const char *what;
		uint64_t pc;
		uint64_t semaphore;
		const char *strings;
		size_t size;
	} cases[] = {
		{ "an instruction before its segment", ELF_TEXT_ADDRESS - 1, 0, STRINGS("p\0n\0") },
		{ "an instruction behind its segment", ELF_TEXT_ADDRESS + 0x1000, 0, STRINGS("p\0n\0") },
		{ "an instruction in the data", ELF_DATA_ADDRESS, 0, STRINGS("p\0n\0") },
		{ "an instruction nowhere", UINT64_MAX, 0, STRINGS("p\0n\0") },
		{ "a semaphore in the text", ELF_TEXT_ADDRESS, ELF_TEXT_ADDRESS, STRINGS("p\0n\0") },
		{ "a semaphore half behind the file's part of the data", ELF_TEXT_ADDRESS,
		  ELF_DATA_ADDRESS + 0xfff, STRINGS("p\0n\0") },
		{ "a semaphore that is not in the file", ELF_TEXT_ADDRESS, ELF_DATA_ADDRESS + 0x1800,
		  STRINGS("p\0n\0") },
		{ "arguments without an end", ELF_TEXT_ADDRESS, 0, "p\0n\0abcd", 8 },
		{ "a name without an end", ELF_TEXT_ADDRESS, 0, "p\0nnnnnn", 8 },
		{ "a provider without an end", ELF_TEXT_ADDRESS, 0, "pppppppp", 8 },
		{ "no strings at all", ELF_TEXT_ADDRESS, 0, "", 0 },
		{ "an empty provider", ELF_TEXT_ADDRESS, 0, STRINGS("\0n\0") },
		{ "an empty name", ELF_TEXT_ADDRESS, 0, STRINGS("p\0\0") },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elf_image image;
		struct elf_notes notes;
		int fd;

		elf_image_init(&image);
		elf_image_add_note(&image, ELF_TEXT_ADDRESS, ELF_BASE_ADDRESS, 0, STRINGS("good\0one\0"));
		elf_image_add_note(&image, cases[i].pc, ELF_BASE_ADDRESS, cases[i].semaphore,
				   cases[i].strings, cases[i].size);
		fd = elf_image_file(&image, sizeof(image));
		assert_int_equal(elf_notes_read(&notes, fd), 0);
		if (notes.cnt != 1 || notes.skipped_cnt != 1)
			fail_msg("%s: %zu read, %zu skipped", cases[i].what, notes.cnt, notes.skipped_cnt);
		assert_string_equal(notes.notes[0].provider, "good");
		elf_notes_release(&notes);
		close(fd);
	}
}

/* Sizes that lie, in the note's own header. */
static void a_note_that_claims_too_much_ends_the_reading(void **state)
{
	static const struct {
		size_t field; /* of the header of the second note */
		uint32_t value;
		size_t skipped_cnt;
	} cases[] = {
		{ offsetof(Elf64_Nhdr, n_namesz), UINT32_MAX, 1 },
		{ offsetof(Elf64_Nhdr, n_namesz), 0x10000, 1 },
		{ offsetof(Elf64_Nhdr, n_descsz), UINT32_MAX, 1 },
		{ offsetof(Elf64_Nhdr, n_descsz), 0x10000, 1 },
		{ offsetof(Elf64_Nhdr, n_type), 4, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct elf_image image;
		struct elf_notes notes;
		size_t second;
		int fd;

		elf_image_init(&image);
		elf_image_add_note(&image, ELF_TEXT_ADDRESS, ELF_BASE_ADDRESS, 0, STRINGS("good\0one\0"));
		second = ELF_NOTES_OFFSET + elf_image_sections(&image)[SECTION_NOTES].sh_size;
		elf_image_add_note(&image, ELF_TEXT_ADDRESS, ELF_BASE_ADDRESS, 0, STRINGS("bad\0one\0"));
		memcpy(image.bytes + second + cases[i].field, &cases[i].value, sizeof(cases[i].value));
		fd = elf_image_file(&image, sizeof(image));
		assert_int_equal(elf_notes_read(&notes, fd), 0);
		assert_int_equal(notes.cnt, 1);
		assert_int_equal(notes.skipped_cnt, cases[i].skipped_cnt);
		elf_notes_release(&notes);
		close(fd);
	}
}

static void what_is_no_elf_file_of_ours_is_told(void **state)
{
	static const struct {
		size_t at;
		unsigned char value;
	} changes[] = {
		{ 0, 'X' },
		{ EI_CLASS, ELFCLASS32 },
		{ EI_DATA, ELFDATA2MSB },
		{ offsetof(Elf64_Ehdr, e_machine), EM_386 },
	};
	struct elf_image image;
	struct elf_notes notes;
	int fd, pipe_fds[2];

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		elf_image_init(&image);
		image.bytes[changes[i].at] = changes[i].value;
		fd = elf_image_file(&image, sizeof(image));
		assert_int_equal(elf_notes_read(&notes, fd), -ENOEXEC);
		close(fd);
	}
	fd = elf_image_file(&image, 0);
	assert_int_equal(elf_notes_read(&notes, fd), -ENOEXEC);
	close(fd);
	fd = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(elf_notes_read(&notes, fd), -ENOEXEC);
	close(fd);
	assert_int_equal(pipe(pipe_fds), 0);
	assert_int_equal(elf_notes_read(&notes, pipe_fds[0]), -ENOEXEC);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	assert_int_equal(elf_notes_read(&notes, -1), -EBADF);
}

static void damaged_tables_are_refused(void **state)
{
	struct elf_image image;
	struct elf_notes notes;

	(void)state;
	for (int i = 0; i < 9; i++) {
		Elf64_Shdr *sections = elf_image_sections(&image);
		int fd;

		elf_image_init(&image);
		elf_image_add_note(&image, ELF_TEXT_ADDRESS, ELF_BASE_ADDRESS, 0, STRINGS("p\0n\0"));
		switch (i) {
		case 0: image.header.e_shoff = UINT64_MAX - 8; break;
		case 1: image.header.e_shoff = sizeof(image) - 8; break;
		case 2: image.header.e_shnum = 0xff00; break; /* more than there are */
		case 3: image.header.e_shentsize = 1; break;
		case 4: image.header.e_shstrndx = 77; break;
		case 5: image.header.e_phnum = 0xffff; break;
		case 6: image.header.e_phentsize = 57; break;
		case 7: sections[SECTION_NAMES].sh_size = UINT64_MAX; break;
		case 8: sections[SECTION_NOTES].sh_offset = sizeof(image); break;
		}
		fd = elf_image_file(&image, sizeof(image));
		assert_int_equal(elf_notes_read(&notes, fd), -EBADMSG);
		close(fd);
	}
}

/* A header with 0 sections says that the first section's size is their number. */
static void a_huge_section_count_is_refused(void **state)
{
	static const uint64_t counts[] = { ELF_SECTION_MAX + 1, 1ull << 32, UINT64_MAX,
					   UINT64_MAX / sizeof(Elf64_Shdr) + 2 };
	struct elf_image image;
	struct elf_notes notes;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		elf_image_init(&image);
		image.header.e_shnum = 0;
		elf_image_sections(&image)[SECTION_NULL].sh_size = counts[i];
		fd = elf_image_file(&image, sizeof(image));
		assert_int_equal(elf_notes_read(&notes, fd), -EBADMSG);
		close(fd);
	}
	elf_image_init(&image);
	elf_image_add_note(&image, ELF_TEXT_ADDRESS, ELF_BASE_ADDRESS, 0, STRINGS("p\0n\0"));
	image.header.e_shnum = 0;
	elf_image_sections(&image)[SECTION_NULL].sh_size = SECTION_CNT;
	fd = elf_image_file(&image, sizeof(image));
	assert_int_equal(elf_notes_read(&notes, fd), 0);
	assert_int_equal(notes.cnt, 1);
	elf_notes_release(&notes);
	close(fd);
}

/*
 * Whatever the bytes are, the answer is one of those that the header promises, and every note lies within the
 * file.
 */
static void check_any_file(const struct elf_image *image, size_t size)
{
	struct elf_notes notes;
	int fd = elf_image_file(image, size);
	int err = elf_notes_read(&notes, fd);

	assert_true(err == 0 || err == -ENOEXEC || err == -EBADMSG);
	for (size_t i = 0; !err && i < notes.cnt; i++) {
		assert_in_range(notes.notes[i].offset, 1, size - 1);
		assert_in_range(notes.notes[i].semaphore_offset, 0, size - 2);
		assert_true(strlen(notes.notes[i].provider) > 0 && strlen(notes.notes[i].name) > 0);
		assert_true(strlen(notes.notes[i].args) < ELF_NOTES_ROOM);
	}
	if (!err)
		elf_notes_release(&notes);
	close(fd);
}

static void no_truncation_harms(void **state)
{
	struct elf_image image;

	(void)state;
	elf_image_init(&image);
	elf_image_add_note(&image, ELF_TEXT_ADDRESS, ELF_BASE_ADDRESS, ELF_DATA_ADDRESS,
			   STRINGS("provider\0name\0008@%rdi"));
	for (size_t size = 0; size <= sizeof(image);
	     size += size < 256 || size >= ELF_SECTIONS_OFFSET ? 1 : 97)
		check_any_file(&image, size);
}

static void no_changed_byte_harms(void **state)
{
	static const unsigned char values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	static const struct {
		size_t begin;
		size_t end;
	} parts[] = {
		{ 0, sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) },
		{ ELF_NOTES_OFFSET, ELF_NOTES_OFFSET + 144 },
		{ ELF_NAMES_OFFSET, ELF_NAMES_OFFSET + 39 },
		{ ELF_SECTIONS_OFFSET, sizeof(struct elf_image) },
	};
	struct elf_image image;

	(void)state;
	elf_image_init(&image);
	elf_image_add_note(&image, ELF_TEXT_ADDRESS, ELF_BASE_ADDRESS, ELF_DATA_ADDRESS,
			   STRINGS("provider\0name\0008@%rdi"));
	elf_image_add_note(&image, ELF_TEXT_ADDRESS + 9, ELF_BASE_ADDRESS, 0, STRINGS("p\0n\0"));
	for (size_t part = 0; part < sizeof(parts) / sizeof(parts[0]); part++) {
		for (size_t at = parts[part].begin; at < parts[part].end; at++) {
			unsigned char before = image.bytes[at];

			for (size_t i = 0; i < sizeof(values); i++) {
				image.bytes[at] = values[i];
				check_any_file(&image, sizeof(image));
			}
			image.bytes[at] = before;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_probes_of_this_program_are_where_its_symbols_are),
		cmocka_unit_test(every_field_of_a_note_is_read),
		cmocka_unit_test(prelink_is_corrected),
		cmocka_unit_test(an_elf_file_without_probes_has_none),
		cmocka_unit_test(damaged_notes_are_skipped_and_counted),
		cmocka_unit_test(a_note_that_claims_too_much_ends_the_reading),
		cmocka_unit_test(what_is_no_elf_file_of_ours_is_told),
		cmocka_unit_test(damaged_tables_are_refused),
		cmocka_unit_test(a_huge_section_count_is_refused),
		cmocka_unit_test(no_truncation_harms),
		cmocka_unit_test(no_changed_byte_harms),
	};

	return cmocka_run_group_tests_name("elf_notes", tests, NULL, NULL);
}
