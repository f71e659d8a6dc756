/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record_fields: the table of records as text, for what compares it with documents. A line for each field,
 * whose words are separated by tabs: kind, name, type, group or "-", the name in the group or "-",
 * "optional" or "always", and the names of numbers, separated by commas, or "-".
 */
#include <stdio.h>

#include "log/format/record_table.h"

static const char *const types[] = {
	[RECORD_TIME] = "number64",    [RECORD_DURATION] = "number64", [RECORD_COUNT] = "number64",
	[RECORD_SPAN_ID] = "id",       [RECORD_ADDRESS] = "address",   [RECORD_I64] = "signed64",
	[RECORD_PID] = "number32",     [RECORD_TID] = "number32",      [RECORD_CPU] = "number32",
	[RECORD_U32] = "number32",     [RECORD_I32] = "signed32",      [RECORD_ENUM] = "enum",
	[RECORD_SET] = "set",	       [RECORD_FLAG] = "bool",	       [RECORD_BOOL] = "bool",
	[RECORD_STRING] = "string",    [RECORD_KEY] = "key",	       [RECORD_TEXT] = "text",
	[RECORD_CHARS] = "string",     [RECORD_VALUE] = "value",       [RECORD_WALL] = "number64",
	[RECORD_BLOCKED] = "number64",
};

static void print_names(const struct record_names *of)
{
	const char *separator = "";

	for (unsigned int i = 0; of && i < of->cnt; i++) {
		if (!of->names[i])
			continue;
		printf("%s%s", separator, of->names[i]);
		separator = ",";
	}
	puts(of ? "" : "-");
}

int main(void)
{
	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++) {
		for (unsigned int i = 0; i < record_kinds[kind].field_cnt; i++) {
			const struct record_field *field = &record_kinds[kind].fields[i];
			bool is_optional = field->when || field->rules & RECORD_OMIT_0 ||
					   field->type == RECORD_KEY;

			printf("%s\t%s\t%s\t%s\t%s\t%s\t", record_kinds[kind].name, field->name,
			       types[field->type], field->group ? field->group : "-",
			       field->group ? field->entry : "-", is_optional ? "optional" : "always");
			print_names(field->names);
		}
	}
	return 0;
}
