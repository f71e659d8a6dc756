/* SPDX-License-Identifier: BSD-2-Clause */
/* Labels by their places in the file of a mark: of this program, which is at another address than it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/probes/label_files.h"
#include "txtrace/event.h"
#include "unit/skip.h"

static const char literal[] = "a label of this program";
static char writable[] = "no literal";

/* As bpf/label.h has it. */
static int make_map(void)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "label_files", 4, sizeof(struct wire_label_file),
			      WIRE_LABEL_FILE_MAX, NULL);
}

static struct proc_mapping mapping_of(const struct proc_maps *maps, const void *address)
{
	const struct proc_mapping *mapping = proc_maps_find(maps, (uintptr_t)address);

	assert_non_null(mapping);
	return *mapping;
}

/* What the BPF program makes of a mark at `site` with this label: a place, or 0. */
static uint64_t place_of(int map_fd, uint64_t cookie, const void *site, const void *label)
{
	uint32_t number = (uint32_t)(cookie >> WIRE_LABEL_PLACE_BITS);
	uint64_t address = (cookie & WIRE_LABEL_PLACE_MAX) + ((uintptr_t)label - (uintptr_t)site);
	struct wire_label_file file;

	assert_int_equal(bpf_map_lookup_elem(map_fd, &number, &file), 0);
	return address - file.start < file.size
		       ? WIRE_LABEL_IS_PLACE | (uint64_t)number << WIRE_LABEL_PLACE_BITS | address
		       : 0;
}

struct part {
	struct program_memory *memory;
	struct label_files *files;
	struct proc_maps maps;
	int map_fd;
	int fd; /* of this program */
};

static void part_open(struct part *part)
{
	part->map_fd = make_map();
	if (part->map_fd < 0)
		skip_because("bpf: maps cannot be made here");
	part->memory = program_memory_new(NULL);
	part->files = label_files_new(part->memory, part->map_fd);
	part->fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_true(part->fd >= 0);
	assert_int_equal(proc_maps_read(&part->maps, getpid()), 0);
}

static void part_close(struct part *part)
{
	proc_maps_release(&part->maps);
	close(part->fd);
	close(part->map_fd);
	label_files_free(part->files);
	program_memory_free(part->memory);
}

/* Of a mark at the address of main. */
static uint64_t open_self(struct part *part, struct label_file *file)
{
	const struct proc_mapping code = mapping_of(&part->maps, (const void *)(uintptr_t)make_map);

	label_files_open(part->files, file, &code, part->fd);
	return label_file_cookie(file, (uintptr_t)make_map - code.start + code.offset);
}

static void assert_label(struct part *part, uint64_t place, const char *expected)
{
	struct event_text text;

	assert_int_equal(label_files_read(part->files, place, &text), 0);
	assert_int_equal(text.is_unreadable, !expected);
	assert_int_equal(text.length, expected ? strlen(expected) : 0);
	assert_memory_equal(text.bytes, expected ? expected : "", text.length);
}

static void a_literal_is_known_by_its_place(void **state)
{
	const void *site = (const void *)(uintptr_t)make_map;
	struct label_file file;
	struct part part;
	uint64_t cookie;

	(void)state;
	part_open(&part);
	cookie = open_self(&part, &file);
	assert_int_equal(file.number, 1);
	assert_int_equal(cookie >> WIRE_LABEL_PLACE_BITS, 1);
	assert_label(&part, place_of(part.map_fd, cookie, site, literal), literal);
	assert_int_equal(place_of(part.map_fd, cookie, site, writable), 0);
	assert_int_equal(place_of(part.map_fd, cookie, site, &part), 0); /* on the stack */
	assert_int_equal(label_file_cookie(&file, UINT64_MAX), 0);
	assert_label(&part, WIRE_LABEL_IS_PLACE | 2ull << WIRE_LABEL_PLACE_BITS | 0x1000, NULL);
	label_file_release(&file);
	part_close(&part);
}

static void a_number_is_used_once(void **state)
{
	const void *site = (const void *)(uintptr_t)make_map;
	struct label_file file, again;
	struct part part;
	uint64_t place;

	(void)state;
	part_open(&part);
	place = place_of(part.map_fd, open_self(&part, &file), site, literal);
	label_files_retire(part.files, file.number, 1000);
	label_files_forget(part.files, 1000 + LABEL_FILES_KEEP_NS - 1);
	assert_label(&part, place, literal); /* its last events may still come */
	open_self(&part, &again);
	assert_int_equal(again.number, 2);
	label_files_forget(part.files, 1000 + LABEL_FILES_KEEP_NS);
	assert_label(&part, place + (1ull << WIRE_LABEL_PLACE_BITS), literal);
	label_files_retire(part.files, 2, 1000);
	label_files_forget(part.files, UINT64_MAX);
	assert_label(&part, place + (1ull << WIRE_LABEL_PLACE_BITS), NULL);
	label_file_release(&file);
	label_file_release(&again);
	for (int i = 3; i < WIRE_LABEL_FILE_MAX; i++) {
		open_self(&part, &file);
		assert_int_equal(file.number, i);
		label_file_release(&file);
	}
	assert_int_equal(open_self(&part, &file), 0); /* its labels are copied */
	assert_int_equal(file.number, 0);
	label_file_release(&file);
	part_close(&part);
}

/* Nothing stays noted under the number, which the next file gets. */
static void a_file_that_the_kernel_side_is_not_told_of_has_no_number(void **state)
{
	const void *site = (const void *)(uintptr_t)make_map;
	struct label_file file;
	struct part part;
	uint64_t place;

	(void)state;
	part_open(&part);
	place = place_of(part.map_fd, open_self(&part, &file), site, literal);
	label_file_release(&file);
	program_memory_free(part.memory);
	label_files_free(part.files);
	part.memory = program_memory_new(NULL);
	part.files = label_files_new(part.memory, -1);
	assert_int_equal(open_self(&part, &file), 0);
	assert_int_equal(file.number, 0);
	assert_label(&part, place, NULL);
	label_file_release(&file);
	part_close(&part);
}

static void what_is_no_program_has_no_number(void **state)
{
	const struct proc_mapping mapping = { .path = "text" };
	int fd = open(__FILE__, O_RDONLY | O_CLOEXEC);
	struct label_file file;
	struct part part;

	(void)state;
	part_open(&part);
	label_files_open(part.files, &file, &mapping, fd);
	assert_int_equal(file.number, 0);
	assert_int_equal(label_file_cookie(&file, 0), 0);
	label_file_release(&file);
	label_files_open(NULL, &file, &mapping, part.fd);
	assert_int_equal(file.number, 0);
	label_file_release(&file);
	close(fd);
	part_close(&part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_literal_is_known_by_its_place),
		cmocka_unit_test(a_number_is_used_once),
		cmocka_unit_test(a_file_that_the_kernel_side_is_not_told_of_has_no_number),
		cmocka_unit_test(what_is_no_program_has_no_number),
	};

	return cmocka_run_group_tests_name("label_files", tests, NULL, NULL);
}
