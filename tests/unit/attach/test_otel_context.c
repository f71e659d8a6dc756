/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process says of itself, and where its threads have their variable: by words that loaders have
 * written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/otel/process_context.h"
#include "attach/otel/thread_place.h"
#include "programs/otel_context.h"

struct otel_record **otel_variable(void)
{
	return NULL;
}

/* ---- the process ---- */

static void read_own(struct process_context *context, const struct otel_header *header, int wanted)
{
	assert_int_equal(process_context_read(context, NULL, getpid(), (uint64_t)(uintptr_t)header), wanted);
}

static void own_context_is_read(void **state)
{
	static const struct {
		const char *name;
		enum thread_schema schema;
	} schemas[] = {
		{ "tlsdesc_v1_dev", THREAD_SCHEMA_TLS },
		{ "tlsdesc_v1", THREAD_SCHEMA_TLS },
		{ "tls_v1", THREAD_SCHEMA_TLS },
		{ "tls_v10", THREAD_SCHEMA_OTHER },
		{ "tls_v", THREAD_SCHEMA_OTHER },
		{ "nodejs_v1_dev", THREAD_SCHEMA_NODEJS },
		{ "nodejs_v1", THREAD_SCHEMA_NODEJS },
		{ "nodejs_v2", THREAD_SCHEMA_OTHER },
		{ "", THREAD_SCHEMA_NONE },
	};
	struct otel_header *header = otel_announce(NULL, "the service", NULL);
	struct process_context context;
	uint64_t published_ns = 0;

	(void)state;
	read_own(&context, header, 0);
	assert_string_equal(context.service, "the service");
	assert_int_equal(context.schema, THREAD_SCHEMA_NONE);
	assert_int_equal(context.published_ns, header->published_ns);
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		otel_announce(header, "another", schemas[i].name);
		read_own(&context, header, 0);
		assert_int_equal(context.schema, schemas[i].schema);
		assert_string_equal(context.schema_name, schemas[i].name);
		assert_string_equal(context.service, "another");
	}
	process_context_published(&published_ns, NULL, getpid(), (uint64_t)(uintptr_t)header);
	assert_int_equal(published_ns, header->published_ns);
}

static void damaged_contexts_are_refused(void **state)
{
	struct otel_header *header = otel_announce(NULL, "s", "tls_v1"), good = *header;
	struct process_context context;

	(void)state;
	header->published_ns = 0;
	read_own(&context, header, -EAGAIN);
	*header = good;
	header->version = 3;
	read_own(&context, header, -ENOTSUP);
	header->version = 0;
	read_own(&context, header, -ENOTSUP);
	*header = good;
	header->signature[7]++;
	read_own(&context, header, -EPROTO);
	*header = good;
	header->message_bytes = 65537;
	read_own(&context, header, -EPROTO);
	*header = good;
	header->message = NULL;
	read_own(&context, header, -EFAULT);
	*header = good;
	header->version = 1;
	read_own(&context, header, 0);
}

/* A message that is cut off is none, or a smaller one; nothing behind it is read. */
static void cut_off_messages(void **state)
{
	struct otel_header *header = otel_announce(NULL, "the service", "tls_v1");
	struct process_context context;
	size_t whole_cnt = 0;

	(void)state;
	for (uint32_t length = 0; length <= header->message_bytes; length++) {
		char *bytes = malloc(length ? length : 1);
		int err;

		assert_non_null(bytes);
		memcpy(bytes, header->message, length);
		err = process_context_parse(&context, bytes, length);
		assert_true(err == 0 || err == -EPROTO);
		whole_cnt += !err;
		free(bytes);
	}
	assert_int_equal(whole_cnt, 3); /* nothing, the resource, both */
}

static void long_names_are_cut(void **state)
{
	char name[100];
	struct otel_header *header;
	struct process_context context;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	header = otel_announce(NULL, name, NULL);
	read_own(&context, header, 0);
	assert_int_equal(strlen(context.service), PROCESS_CONTEXT_TEXT_MAX - 1);
}

/* ---- its threads ---- */

#define BIAS 0x7f0000000000ull

static struct otel_place place_of(const struct elf_tls *tls, uint64_t first, uint64_t second,
				  const uint64_t target[2], bool is_musl, int wanted)
{
	static const uint64_t none[2];
	const uint64_t words[2] = { first, second };
	struct otel_place place;

	assert_int_equal(thread_place_of_words(&place, tls, words, target ? target : none, BIAS, is_musl),
			 wanted);
	return place;
}

/* As the psABIs lay it out; the first two were measured. */
static void in_the_program(void **state)
{
	static const struct {
		uint64_t machine, value, address, bytes, align;
		int64_t offset;
	} programs[] = {
		{ EM_X86_64, 0, 0x3db8, 8, 8, -8 },
		{ EM_X86_64, 0x20, 0x3d40, 0x48, 8, -0x28 },
		{ EM_X86_64, 0, 0x4000, 0x28, 0x40, -0x40 },
		{ EM_X86_64, 8, 0x4000, 0x28, 0x40, -0x38 },
		/* the block begins 16 bytes behind a multiple of its alignment */
		{ EM_X86_64, 8, 0x4010, 0x28, 0x40, -0x30 + 8 },
		{ EM_AARCH64, 0, 0x1fd80, 8, 8, 16 },
		{ EM_AARCH64, 8, 0x20000, 0x28, 0x40, 0x40 + 8 },
		{ EM_AARCH64, 8, 0x20010, 0x28, 0x40, 0x10 + 8 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const struct elf_tls tls = { .way = ELF_TLS_EXECUTABLE,
					     .machine = programs[i].machine,
					     .value = programs[i].value,
					     .address = programs[i].address,
					     .bytes = programs[i].bytes,
					     .align = programs[i].align };
		struct otel_place place = place_of(&tls, 0, 0, NULL, false, 0);

		assert_int_equal(place.offset, programs[i].offset);
		assert_int_equal(place.module, 0);
	}
}

static void at_a_distance(void **state)
{
	const struct elf_tls tls = { .way = ELF_TLS_DISTANCE, .machine = EM_X86_64 };
	struct otel_place place = place_of(&tls, (uint64_t)-152, 0, NULL, false, 0);

	(void)state;
	assert_int_equal(place.offset, -152);
	assert_int_equal(place.module, 0);
	place_of(&tls, 0, 0, NULL, false, -EAGAIN);
	place_of(&tls, BIAS, 0, NULL, false, -ENOTSUP);
	place_of(&tls, -BIAS, 0, NULL, false, -ENOTSUP);
}

static void in_a_module(void **state)
{
	static const struct {
		uint64_t machine;
		bool is_musl;
		int32_t list;
		uint8_t entry_bytes, has_count;
	} libraries[] = {
		{ EM_X86_64, false, 8, 16, 0 },
		{ EM_X86_64, true, 8, 8, 0 },
		{ EM_AARCH64, false, 0, 16, 0 },
		{ EM_AARCH64, true, -8, 8, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
		const struct elf_tls tls = { .way = ELF_TLS_MODULE, .machine = libraries[i].machine };
		struct otel_place place = place_of(&tls, 3, 40, NULL, libraries[i].is_musl, 0);

		assert_int_equal(place.module, 3);
		assert_int_equal(place.offset, 40);
		assert_int_equal(place.list, libraries[i].list);
		assert_int_equal(place.entry_bytes, libraries[i].entry_bytes);
		assert_int_equal(place.has_count, libraries[i].has_count);
		place = place_of(&tls, 15, 40, NULL, libraries[i].is_musl, 0);
		assert_int_equal(place.has_count, !libraries[i].is_musl); /* the list may be shorter */
		place_of(&tls, 0, 40, NULL, libraries[i].is_musl, -EAGAIN);
		place_of(&tls, BIAS, 40, NULL, libraries[i].is_musl, -EAGAIN);
		place_of(&tls, 3, BIAS, NULL, libraries[i].is_musl, -ENOTSUP);
	}
}

static void by_descriptor(void **state)
{
	const struct elf_tls tls = { .way = ELF_TLS_DESCRIPTOR, .machine = EM_X86_64, .end = 0x5000 };
	const uint64_t target[2] = { 2, 24 };
	struct otel_place place = place_of(&tls, BIAS + 0x900000, (uint64_t)-64, NULL, false, 0);

	(void)state;
	assert_int_equal(place.offset, -64);
	assert_int_equal(place.module, 0);
	place = place_of(&tls, BIAS + 0x900000, BIAS + 0x800000, target, false, 0);
	assert_int_equal(place.module, 2);
	assert_int_equal(place.offset, 24);
	/* not yet bound: nothing, and the place of the file's relocation */
	place_of(&tls, 0, 0, target, false, -EAGAIN);
	place_of(&tls, BIAS + 0x900000, BIAS + 0x400, target, false, -EAGAIN);
}

static void no_way(void **state)
{
	const struct elf_tls tls = { .way = ELF_TLS_UNKNOWN, .machine = EM_X86_64 };

	(void)state;
	place_of(&tls, 1, 2, NULL, false, -ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_context_is_read),
		cmocka_unit_test(damaged_contexts_are_refused),
		cmocka_unit_test(cut_off_messages),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(in_the_program),
		cmocka_unit_test(at_a_distance),
		cmocka_unit_test(in_a_module),
		cmocka_unit_test(by_descriptor),
		cmocka_unit_test(no_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
