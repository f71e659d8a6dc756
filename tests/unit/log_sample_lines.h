/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the log: records as lines of text that show every member
 * that is not 0, as the number that it is, in the order of their names.
 * tests/golden/read_log.py writes the same lines, and knows nothing of the table
 * of records.
 */
#ifndef LOG_SAMPLE_LINES_H
#define LOG_SAMPLE_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/record_table.h"

#define SAMPLE_MEMBERS_MAX 64

struct sample_member {
	const char *name;
	uint64_t number;
	struct txtrace_string string;
	bool is_signed;
};

static inline int compare_members(const void *a, const void *b)
{
	return strcmp(((const struct sample_member *)a)->name, ((const struct sample_member *)b)->name);
}

static inline void put_member(FILE *out, const struct sample_member *member)
{
	fprintf(out, " %s=", member->name);
	if (member->number)
		fprintf(out, member->is_signed ? "%lld" : "%llu", (unsigned long long)member->number);
	for (size_t i = 0; i < member->string.length; i++) {
		unsigned char byte = (unsigned char)member->string.bytes[i];

		if (byte > ' ' && byte < 0x7f && byte != '%')
			fputc(byte, out);
		else
			fprintf(out, "%%%02x", byte);
	}
}

/* What is computed is no member; flags are one. */
static inline size_t sample_members(const struct txtrace_record *record, struct sample_member *members)
{
	const struct record_kind *kind = record_kind_of(record);
	uint32_t flags = 0;
	size_t cnt = 0;

	for (unsigned int i = 0; i < kind->field_cnt; i++) {
		const struct record_field *field = &kind->fields[i];

		if (field->type == RECORD_FLAG)
			memcpy(&flags, record_at(field, record), sizeof(flags));
		else if (field->type != RECORD_WALL && field->type != RECORD_BLOCKED)
			members[cnt++] = (struct sample_member){
				field->name, record_number(field, record), record_bytes(field, record),
				field->type == RECORD_I32 || field->type == RECORD_I64
			};
	}
	members[cnt++] = (struct sample_member){ .name = "flags", .number = flags };
	if (record->kind == TXTRACE_RECORD_RUN)
		members[cnt++] = (struct sample_member){ .name = "has_wait_end",
							 .number = record->run.has_wait_end };
	if (record->kind == TXTRACE_RECORD_ATTRIBUTE)
		members[cnt++] = (struct sample_member){ .name = "string", .string = record->attribute.string };
	return cnt;
}

static inline void put_record(FILE *out, const struct txtrace_record *record)
{
	struct sample_member members[SAMPLE_MEMBERS_MAX];
	const char *kind = txtrace_record_kind_name(record->kind);
	size_t cnt = sample_members(record, members);

	qsort(members, cnt, sizeof(*members), compare_members);
	fputs(kind ? kind : "?", out);
	for (size_t i = 0; i < cnt; i++)
		if (members[i].number || members[i].string.length)
			put_member(out, &members[i]);
	fputc('\n', out);
}

#endif
