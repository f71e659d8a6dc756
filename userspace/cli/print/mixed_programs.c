/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/mixed_programs.h"

#include <string.h>

#define NAMED_MAX 3

void mixed_programs_add(struct mixed_programs *mixed, const char *name, uint64_t programs)
{
	if (!span_programs_is_mixed(programs))
		return;
	mixed->programs |= programs;
	if (mixed->row_cnt++ < NAMED_MAX)
		text_append_format(&mixed->rows, "%s%s", mixed->row_cnt > 1 ? ", " : "", name);
}

static void append_programs(struct text *sentence, const struct span_programs *known, uint64_t programs)
{
	size_t cnt = 0;

	for (unsigned int i = 0; i < known->cnt; i++) {
		if (!(programs >> i & 1) || cnt++ >= NAMED_MAX)
			continue;
		text_append(sentence, cnt > 1 ? ", " : "");
		text_append_escaped(sentence, known->names[i], strlen(known->names[i]));
	}
	if (cnt > NAMED_MAX)
		text_append_format(sentence, " and %zu more", cnt - NAMED_MAX);
}

void mixed_programs_end(struct mixed_programs *mixed, const char *what, struct text *sentence)
{
	if (mixed->row_cnt > 0) {
		text_append(sentence, text_string(&mixed->rows));
		if (mixed->row_cnt > NAMED_MAX)
			text_append_format(sentence, " and %zu more", mixed->row_cnt - NAMED_MAX);
		text_append_format(sentence,
				   " add%s up %s of different programs: ", mixed->row_cnt == 1 ? "s" : "",
				   what);
		append_programs(sentence, mixed->known, mixed->programs);
	}
	sentence->err = sentence->err ? sentence->err : mixed->rows.err;
	text_release(&mixed->rows);
}

int mixed_programs_print(struct mixed_programs *mixed, const char *what, FILE *file)
{
	struct text sentence = { 0 };
	int err;

	mixed_programs_end(mixed, what, &sentence);
	err = sentence.err;
	if (!err && sentence.length)
		fprintf(file, "%s\n", text_string(&sentence));
	text_release(&sentence);
	return err;
}

void mixed_programs_json(struct json *json, const struct span_programs *known, uint64_t programs)
{
	json_name(json, "programs");
	json_array_begin(json);
	for (unsigned int i = 0; i < known->cnt; i++)
		if (programs >> i & 1)
			json_string(json, known->names[i], strlen(known->names[i]));
	json_array_end(json);
}
