/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/unmodified/span_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/stream_fields.h"

/* Where the parser is, and the first thing that it did not like. */
struct reader {
	const char *text;
	const char *at;
	char *room; /* for the strings: they are shorter than the text together, and one may be there twice */
	const char *complaint;
	const char *complaint_at;
};

static bool complain_at(struct reader *reader, const char *at, const char *complaint)
{
	if (!reader->complaint) {
		reader->complaint = complaint;
		reader->complaint_at = at;
	}
	return false;
}

static bool complain(struct reader *reader, const char *complaint)
{
	return complain_at(reader, reader->at, complaint);
}

static bool takes(struct reader *reader, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(reader->at, word, length) != 0)
		return false;
	reader->at += length;
	return true;
}

static const char *keep(struct reader *reader, const char *bytes, size_t length)
{
	char *string = reader->room;

	memcpy(string, bytes, length);
	string[length] = '\0';
	reader->room += length + 1;
	return string;
}

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* A run of letters, digits, _ and what else is allowed. */
static const char *read_word(struct reader *reader, const char *others, const char *complaint)
{
	const char *start = reader->at;

	while (*reader->at && (is_word_byte(*reader->at) || strchr(others, *reader->at)))
		reader->at++;
	if (reader->at != start)
		return keep(reader, start, (size_t)(reader->at - start));
	complain(reader, complaint);
	return NULL;
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static int depth_change(char c)
{
	return c == '(' || c == '<' || c == '[' ? 1 : c == ')' || c == '>' || c == ']' ? -1 : 0;
}

/* Up to a comma, a bar or two dots outside of brackets. */
static const char *read_symbol(struct reader *reader, const char *complaint)
{
	const char *start = reader->at;
	int depth = 0;

	for (; *reader->at; reader->at++) {
		if (!depth && (*reader->at == ',' || *reader->at == '|' || strncmp(reader->at, "..", 2) == 0))
			break;
		depth += depth_change(*reader->at);
	}
	if (depth) {
		complain_at(reader, start,
			    "the brackets of this symbol do not match; its mangled name has none");
		return NULL;
	}
	if (reader->at != start)
		return keep(reader, start, (size_t)(reader->at - start));
	complain(reader, complaint);
	return NULL;
}

/* Up to a colon, which is skipped. */
static const char *read_binary(struct reader *reader)
{
	const char *start = reader->at, *end = strchr(start, ':');

	if (!end || end == start) {
		complain(reader, "expected BINARY:SYMBOL; BINARY is the name of a program or library, or a "
				 "pattern such as '*'");
		return NULL;
	}
	reader->at = end + 1;
	return keep(reader, start, (size_t)(end - start));
}

static bool read_label(struct reader *reader, const char **label)
{
	const char *end = strchr(reader->at, '=');

	if (!end || end == reader->at)
		return complain(reader, "expected LABEL=BEGIN..END");
	if (end - reader->at > SPAN_LABEL_BYTES_MAX)
		return complain(reader, "the label is too long; it may have 255 bytes");
	*label = keep(reader, reader->at, (size_t)(end - reader->at));
	reader->at = end + 1;
	return true;
}

static bool read_argument_names(struct reader *reader, struct span_point *point)
{
	if (!takes(reader, "("))
		return true;
	do {
		if (point->argument_cnt == SPAN_ARGUMENT_MAX)
			return complain(reader, "a probe has at most 12 arguments");
		point->arguments[point->argument_cnt] = read_word(reader, "",
								  "expected the name of an argument");
		if (!point->arguments[point->argument_cnt++])
			return false;
	} while (takes(reader, ","));
	return takes(reader, ")") || complain(reader, "expected ',' or ')' after the name of an argument");
}

static bool read_point(struct reader *reader, struct span_point *point)
{
	bool is_entry = takes(reader, "uprobe:"), is_return = !is_entry && takes(reader, "uretprobe:");

	if (is_entry || is_return) {
		point->kind = is_entry ? SPAN_POINT_ENTRY : SPAN_POINT_RETURN;
		point->object = read_binary(reader);
		point->name = point->object ? read_symbol(reader, "expected the name of a function") : NULL;
		return point->name;
	}
	takes(reader, "usdt:");
	point->kind = SPAN_POINT_USDT;
	point->object = read_word(reader, "-",
				  "expected PROVIDER:PROBE, uprobe:BINARY:SYMBOL or uretprobe:BINARY:SYMBOL");
	if (!point->object)
		return false;
	if (!takes(reader, ":"))
		return complain(reader, "expected ':' and the name of a probe after the provider's");
	point->name = read_word(reader, "-", "expected the name of a probe");
	return point->name && read_argument_names(reader, point);
}

static bool read_points(struct reader *reader, struct span_point *points, size_t *cnt)
{
	do {
		if (*cnt == SPAN_POINT_MAX)
			return complain(reader, "a span may have 8 begins and 8 ends");
		if (!read_point(reader, &points[*cnt]))
			return false;
		(*cnt)++;
	} while (takes(reader, "|"));
	return true;
}

/* "arg7": 7; another word: -1. */
static int argument_number(const char *word)
{
	char *end;
	long number;

	if (strncmp(word, "arg", 3) != 0 || !isdigit((unsigned char)word[3]))
		return -1;
	number = strtol(word + 3, &end, 10);
	return *end || number >= SPAN_ARGUMENT_MAX ? -1 : (int)number;
}

/* Behind the address of a string. */
static bool read_string_end(struct reader *reader, struct span_term *term)
{
	if (takes(reader, ",")) {
		const char *word = read_word(reader, "",
					     "expected the argument that has the string's length");
		int number = word ? argument_number(word) : 0;

		term->has_length = true;
		term->length_idx = number < 0 ? 0 : (unsigned int)number;
		term->length_argument = number < 0 ? word : NULL;
	}
	return takes(reader, ")") || complain(reader, "expected ')'");
}

static bool read_term(struct reader *reader, struct span_term *term, bool has_name)
{
	const char *start = reader->at;
	const char *word;
	int number;

	term->is_string = takes(reader, "str(");
	word = read_word(reader, "",
			 "expected tid, arg0 to arg11, retval, str(…), or the name of an argument");
	if (!word)
		return false;
	if (has_name && !term->name && !term->is_string && takes(reader, ":")) {
		term->name = word;
		return read_term(reader, term, has_name);
	}
	if (term->is_string && !read_string_end(reader, term))
		return false;
	if (!term->name)
		term->name = word;
	number = argument_number(word);
	term->kind = strcmp(word, "tid") == 0	   ? SPAN_TERM_TID
		     : strcmp(word, "retval") == 0 ? SPAN_TERM_RETVAL
						   : SPAN_TERM_ARGUMENT;
	term->idx = number < 0 ? 0 : (unsigned int)number;
	term->argument = term->kind == SPAN_TERM_ARGUMENT && number < 0 ? word : NULL;
	if (term->kind == SPAN_TERM_TID && term->is_string)
		return complain_at(reader, start, "a thread's number is no string");
	return true;
}

static bool read_terms(struct reader *reader, struct span_terms *terms, size_t max, bool have_names)
{
	do {
		if (terms->cnt == max)
			return complain(reader,
					have_names ? "a span may have 4 tags at its begin and 4 at its end"
						   : "a key may have 2 parts");
		if (!read_term(reader, &terms->terms[terms->cnt], have_names))
			return false;
		terms->cnt++;
	} while (takes(reader, "+"));
	return true;
}

/*
 * What a thread is named by is known without being looked up; what a string names is known to the log by its
 * bytes, in every process.
 */
static bool settle_key(struct reader *reader, struct span_terms *key, const char *at)
{
	if (key->cnt == 1 && key->terms[0].kind == SPAN_TERM_TID)
		key->cnt = 0;
	if (key->cnt && (key->terms[0].has_length || key->terms[key->cnt - 1].has_length))
		return complain_at(reader, at, "a string that is a key ends with its NUL, it has no length");
	if (key->cnt > 1 && (key->terms[0].is_string || key->terms[1].is_string))
		return complain_at(reader, at, "a string is a key alone, not with another part");
	return true;
}

static bool read_key(struct reader *reader, struct span_spec *spec)
{
	const char *at = reader->at;

	if (!read_terms(reader, &spec->key, FOREIGN_KEY_MAX, false))
		return false;
	spec->end_key = spec->key;
	if (takes(reader, "/")) {
		spec->end_key.cnt = 0;
		if (!read_terms(reader, &spec->end_key, FOREIGN_KEY_MAX, false))
			return false;
	}
	if (!settle_key(reader, &spec->key, at) || !settle_key(reader, &spec->end_key, at))
		return false;
	if (spec->key.cnt != spec->end_key.cnt ||
	    (spec->key.cnt && spec->key.terms[0].is_string != spec->end_key.terms[0].is_string))
		return complain_at(reader, at, "the key at the end has to be like that at the begin");
	return true;
}

static bool read_tag(struct reader *reader, struct span_spec *spec)
{
	return read_terms(reader, &spec->tags, FOREIGN_TAG_MAX, true);
}

static bool read_end_tag(struct reader *reader, struct span_spec *spec)
{
	return read_terms(reader, &spec->end_tags, FOREIGN_TAG_MAX, true);
}

static bool read_parent(struct reader *reader, struct span_spec *spec)
{
	const char *at = reader->at;
	size_t length = strcspn(at, ",(");

	if (!length)
		return complain(reader, "expected thread, a label, or LABEL(KEY)");
	spec->parent_label = keep(reader, at, length);
	reader->at += length;
	spec->parent = strcmp(spec->parent_label, "thread") == 0 ? FOREIGN_PARENT_THREAD :
		       strcmp(spec->parent_label, "none") == 0	 ? FOREIGN_PARENT_ROOT :
								   FOREIGN_PARENT_SPAN;
	if (!takes(reader, "("))
		return true;
	if (!read_terms(reader, &spec->parent_key, FOREIGN_KEY_MAX, false))
		return false;
	if (!takes(reader, ")"))
		return complain(reader, "expected ')'");
	for (size_t i = 0; i < spec->parent_key.cnt; i++)
		if (spec->parent_key.terms[i].is_string)
			return complain_at(reader, at, "a span that is named by a string cannot be a parent");
	return settle_key(reader, &spec->parent_key, at);
}

static bool read_again(struct reader *reader, struct span_spec *spec)
{
	spec->counts_again = takes(reader, "inside");
	return spec->counts_again || takes(reader, "restart") ||
	       complain(reader, "expected inside or restart");
}

static bool read_blocked(struct reader *reader, struct span_spec *spec)
{
	size_t length = strcspn(reader->at, ",");
	int reason = stream_name_find(&stream_reasons, reader->at, length);

	if (reason < 0)
		return complain(reader, "expected a reason: lock, disk, network, sleep, pipe, wait or other");
	spec->told_reason = (uint32_t)reason + 1;
	reader->at += length;
	return true;
}

static const struct {
	const char *name;
	bool (*read)(struct reader *reader, struct span_spec *spec);
} settings[] = {
	{ "key=", read_key },
	{ "tag=", read_tag },
	{ "end-tag=", read_end_tag },
	{ "parent=", read_parent },
	{ "again=", read_again },
	{ "blocked=", read_blocked },
};

static bool read_setting(struct reader *reader, struct span_spec *spec)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (takes(reader, settings[i].name))
			return settings[i].read(reader, spec);
	return complain(reader, "expected key=, tag=, end-tag=, parent=, again= or blocked=");
}

/* A name has to be one of every point at which it is looked up. */
static bool check_terms(struct reader *reader, const struct span_terms *terms,
			const struct span_point *points, size_t cnt)
{
	for (size_t i = 0; i < terms->cnt; i++)
		for (size_t point = 0; point < cnt; point++) {
			if ((terms->terms[i].kind == SPAN_TERM_ARGUMENT &&
			     span_term_argument(&terms->terms[i], &points[point]) < 0) ||
			    (terms->terms[i].has_length &&
			     span_term_length_argument(&terms->terms[i], &points[point]) < 0))
				return complain_at(reader, reader->text,
						   "a key, tag or parent names an argument that not all of "
						   "its probes have; name "
						   "arguments after the probe, "
						   "PROVIDER:PROBE(first,second), or use arg0, arg1, …");
			if (terms->terms[i].kind == SPAN_TERM_RETVAL &&
			    points[point].kind != SPAN_POINT_RETURN)
				return complain_at(reader, reader->text,
						   "there is a retval only at a uretprobe");
			if ((terms->terms[i].kind == SPAN_TERM_ARGUMENT || terms->terms[i].has_length) &&
			    points[point].kind == SPAN_POINT_RETURN)
				return complain_at(
					reader, reader->text,
					"at a uretprobe there are no arguments any more, only retval");
		}
	return true;
}

static bool is_same_point(const struct span_point *a, const struct span_point *b)
{
	return a->kind == b->kind && strcmp(a->object, b->object) == 0 && strcmp(a->name, b->name) == 0;
}

static bool check_span(struct reader *reader, const struct span_spec *spec)
{
	for (size_t i = 0; i < spec->begin_cnt; i++)
		for (size_t j = 0; j < spec->end_cnt; j++)
			if (is_same_point(&spec->begins[i], &spec->ends[j]))
				return complain_at(reader, reader->text,
						   "a probe cannot be both a begin and an end");
	if (spec->key.cnt && spec->key.terms[0].is_string &&
	    (spec->tags.cnt || spec->end_tags.cnt || spec->parent))
		return complain_at(reader, reader->text,
				   "a span that is named by a string has neither tags nor a parent");
	if (spec->key.cnt && spec->counts_again)
		return complain_at(reader, reader->text, "again=inside is for spans whose key is tid");
	if (spec->key.cnt && spec->told_reason)
		return complain_at(reader, reader->text, "blocked= is for spans whose key is tid");
	return check_terms(reader, &spec->key, spec->begins, spec->begin_cnt) &&
	       check_terms(reader, &spec->end_key, spec->ends, spec->end_cnt) &&
	       check_terms(reader, &spec->tags, spec->begins, spec->begin_cnt) &&
	       check_terms(reader, &spec->end_tags, spec->ends, spec->end_cnt) &&
	       check_terms(reader, &spec->parent_key, spec->begins, spec->begin_cnt);
}

static bool read_span(struct reader *reader, struct span_spec *spec)
{
	if (!read_label(reader, &spec->label) || !read_points(reader, spec->begins, &spec->begin_cnt))
		return false;
	if (!takes(reader, ".."))
		return complain(reader, "expected '..' between the begins and the ends of the span");
	if (!read_points(reader, spec->ends, &spec->end_cnt))
		return false;
	while (takes(reader, ","))
		if (!read_setting(reader, spec))
			return false;
	if (*reader->at)
		return complain(reader, "expected ',' or the end");
	return check_span(reader, spec);
}

/* "BINARY:", which people repeat before each symbol; "BINARY::" is the begin of a C++ name. */
static void skip_binary(struct reader *reader, const char *binary)
{
	size_t length = strlen(binary);

	if (strncmp(reader->at, binary, length) == 0 && reader->at[length] == ':' &&
	    reader->at[length + 1] != ':')
		reader->at += length + 1;
}

static bool read_func(struct reader *reader, struct func_spec *spec)
{
	spec->binary = read_binary(reader);
	if (!spec->binary)
		return false;
	do {
		if (spec->symbol_cnt == SPAN_POINT_MAX)
			return complain(reader,
					"at most 8 functions or patterns; give --func again for more");
		if (spec->symbol_cnt)
			skip_binary(reader, spec->binary);
		spec->symbols[spec->symbol_cnt] = read_symbol(reader, "expected the name of a function");
		if (!spec->symbols[spec->symbol_cnt++])
			return false;
	} while (takes(reader, ","));
	return !*reader->at || complain(reader, "expected ',' or the end");
}

static int reader_open(struct reader *reader, const char *text, char **strings, struct error *error)
{
	size_t length = strlen(text);

	*strings = NULL;
	if (length > SPAN_SPEC_BYTES_MAX) {
		error_set(error, "a span may be written in %d bytes, not in %zu: '%.40s…'",
			  SPAN_SPEC_BYTES_MAX, length, text);
		return -EINVAL;
	}
	for (size_t i = 0; i < length; i++)
		if (is_control(text[i])) {
			error_set(error, "a span has no control characters: '%s'", text);
			return -EINVAL;
		}
	*strings = malloc(4 * length + 1);
	*reader = (struct reader){ .text = text, .at = text, .room = *strings };
	return *strings ? 0 : -ENOMEM;
}

static int explain(const struct reader *reader, const char *option, struct error *error)
{
	size_t place = (size_t)(reader->complaint_at - reader->text);

	if (*reader->complaint_at)
		error_set(error, "--%s '%s': at character %zu, '%.24s': %s", option, reader->text, place + 1,
			  reader->complaint_at, reader->complaint);
	else
		error_set(error, "--%s '%s': at its end: %s", option, reader->text, reader->complaint);
	return -EINVAL;
}

int span_spec_parse(struct span_spec *spec, const char *text, struct error *error)
{
	struct reader reader;
	int err;

	memset(spec, 0, sizeof(*spec));
	err = reader_open(&reader, text, &spec->strings, error);
	if (!err && !read_span(&reader, spec))
		err = explain(&reader, "span", error);
	if (err)
		span_spec_release(spec);
	return err;
}

void span_spec_release(struct span_spec *spec)
{
	free(spec->strings);
	memset(spec, 0, sizeof(*spec));
}

static int argument_of(const char *name, unsigned int idx, const struct span_point *point)
{
	if (!name)
		return (int)idx;
	for (size_t i = 0; i < point->argument_cnt; i++)
		if (strcmp(point->arguments[i], name) == 0)
			return (int)i;
	return -1;
}

int span_term_argument(const struct span_term *term, const struct span_point *point)
{
	return argument_of(term->argument, term->idx, point);
}

int span_term_length_argument(const struct span_term *term, const struct span_point *point)
{
	return argument_of(term->length_argument, term->length_idx, point);
}

int func_spec_parse(struct func_spec *spec, const char *text, struct error *error)
{
	struct reader reader;
	int err;

	memset(spec, 0, sizeof(*spec));
	err = reader_open(&reader, text, &spec->strings, error);
	if (!err && !read_func(&reader, spec))
		err = explain(&reader, "func", error);
	if (err)
		func_spec_release(spec);
	return err;
}

void func_spec_release(struct func_spec *spec)
{
	free(spec->strings);
	memset(spec, 0, sizeof(*spec));
}
