/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as what names code and finds callers: the first says whether the rest is a JIT compiler's map, a
 * section of unwinding rules, or an ELF file.
 */
#include "attach/code/code_file.h"
#include "attach/process/perf_map.h"
#include "fuzz/fuzz.h"

static void look_at_map(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct perf_map map;

	LAW(text);
	memcpy(text, data, size);
	LAW(perf_map_parse(&map, text, size) == 0);
	for (size_t i = 0; i < map.cnt; i++) {
		const struct perf_map_entry *entry = &map.entries[i];

		LAW(entry->begin < entry->end && (i == 0 || map.entries[i - 1].end <= entry->begin));
		LAW(entry->name >= text && entry->name + entry->name_length <= text + size);
		LAW(perf_map_find(&map, entry->begin) == entry &&
		    perf_map_find(&map, entry->end - 1) == entry);
	}
	perf_map_release(&map);
}

static void law_of_rows(const struct unwind_row *row)
{
	LAW(row->frame_register < UNWIND_REGISTER_COUNT);
	for (int i = 0; i < UNWIND_REGISTER_COUNT; i++)
		LAW(row->rules[i] <= UNWIND_STRANGE && (row->rules[i] == UNWIND_AT || row->offsets[i] == 0));
}

static void look_at_rules(const uint8_t *data, size_t size)
{
	uint8_t *section = malloc(size ? size : 1);
	struct unwind_table table;
	struct unwind_row row;

	LAW(section);
	memcpy(section, data, size);
	LAW(unwind_table_init(&table, section, size, 0x1000) == 0);
	LAW(table.cnt <= size);
	for (size_t i = 0; i < table.cnt; i++) {
		LAW(table.functions[i].begin < table.functions[i].end);
		if (unwind_table_find(&table, table.functions[i].begin, &row))
			law_of_rows(&row);
		if (unwind_table_find(&table, table.functions[i].end - 1, &row))
			law_of_rows(&row);
	}
	unwind_table_release(&table);
}

static void look_at_file(const uint8_t *data, size_t size)
{
	static struct fuzz_file bytes;
	struct code_file *file;
	struct unwind_row row;
	uint64_t address;

	fuzz_file_set(&bytes, data, size);
	file = code_file_new(1, dup(bytes.fd), "/lib/libfuzz.so");
	LAW(file);
	for (uint64_t offset = 0; offset < 4096; offset += 97) {
		if (code_file_address(file, offset, &address) && code_file_unwind(file, address, &row))
			law_of_rows(&row);
	}
	code_file_unwind(file, 0x1100, &row);
	code_file_free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (data[0] % 3 == 0)
		look_at_map(data + 1, size - 1);
	else if (data[0] % 3 == 1)
		look_at_rules(data + 1, size - 1);
	else
		look_at_file(data + 1, size - 1);
	return 0;
}
