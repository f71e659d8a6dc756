/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/fvm_story.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"

#define TEXT_MAX 60000u /* of what becomes a string of the log */
#define OTHER_NAMES "(other names)"

struct sum {
	uint32_t name;
	int64_t milligas;
};

/* An open call or label span, or the root. */
struct fvm_span {
	uint64_t id, parent, begin;
	bool is_label;
	struct text label;
	struct sum *sums; /* charged to it directly */
	size_t sum_cnt;
	int64_t self, total;
	uint64_t elapsed_ns;
	bool has_elapsed;
	/* of calls */
	struct text from, to, value, params, code;
	uint64_t method, gas_limit;
	bool has_gas_limit, has_read_only, is_read_only;
};

struct timed {
	struct text label, tag, code;
	uint64_t number, parent, method, begin, begin_ns;
};

static struct txtrace_string text_of(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static struct txtrace_string string_of(const struct text *text)
{
	return (struct txtrace_string){ text->bytes, text->length };
}

int fvm_story_init(struct fvm_story *story, struct import *import, bool is_json)
{
	*story = (struct fvm_story){ .import = import, .is_json = is_json };
	story->calls = calloc(FVM_CALL_MAX, sizeof(*story->calls));
	story->labels = calloc(FVM_LABEL_MAX, sizeof(*story->labels));
	story->names = string_pool_new();
	story->timed = calloc(1, sizeof(*story->timed));
	if (story->timed)
		id_map_init(story->timed);
	return story->calls && story->labels && story->names && story->timed ? 0 : -ENOMEM;
}

static void free_span(struct fvm_span *span)
{
	text_release(&span->label);
	text_release(&span->from);
	text_release(&span->to);
	text_release(&span->value);
	text_release(&span->params);
	text_release(&span->code);
	free(span->sums);
	free(span);
}

static void free_timed(struct timed *timed)
{
	text_release(&timed->label);
	text_release(&timed->tag);
	text_release(&timed->code);
	free(timed);
}

void fvm_story_release(struct fvm_story *story)
{
	struct timed *timed;

	for (size_t i = 0; i < story->call_cnt; i++)
		free_span(story->calls[i]);
	for (size_t i = 0; i < story->label_cnt; i++)
		free_span(story->labels[i]);
	for (size_t i = 0; story->timed && (timed = id_map_next(story->timed, &i));)
		free_timed(timed);
	if (story->timed)
		id_map_release(story->timed);
	free(story->timed);
	free(story->calls);
	free(story->labels);
	string_pool_free(story->names);
	text_release(&story->text);
}

static void keep(struct fvm_story *story, struct text *text, struct txtrace_string string)
{
	story->cut_cnt += string.length > TEXT_MAX;
	text_append_bytes(text, string.bytes, string.length > TEXT_MAX ? TEXT_MAX : string.length);
}

/* ---- records ---- */

static int tell_thread(struct fvm_story *story, uint32_t pid, const char *name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD };

	record.thread = (struct txtrace_thread){
		.tid = FVM_TID, .pid = pid, .is_seed = true, .comm = text_of(name)
	};
	return import_add(story->import, &record);
}

static int open_span(struct fvm_story *story, uint64_t parent, struct fvm_span **opened)
{
	struct fvm_span *span = calloc(1, sizeof(*span));

	*opened = span;
	if (!span)
		return -ENOMEM;
	span->id = ++story->span_cnt;
	span->parent = parent;
	span->begin = story->clock;
	return 0;
}

static int begin(struct fvm_story *story)
{
	struct txtrace_log_info info = { .pid = FVM_PID };
	struct fvm_span *root;
	int err;

	if (story->has_begun)
		return 0;
	story->has_begun = true;
	strcpy(info.options, story->is_json ? FVM_CLOCK_JSON : FVM_CLOCK);
	err = import_begin(story->import, &info);
	err = err ? err : tell_thread(story, FVM_PID, "machine");
	if (err || story->is_json)
		return err;
	err = open_span(story, 0, &root);
	if (err)
		return err;
	text_append(&root->label, FVM_ROOT);
	story->calls[story->call_cnt++] = root;
	return root->label.err;
}

static struct fvm_span *innermost(const struct fvm_story *story)
{
	return story->call_cnt > 0 ? story->calls[story->call_cnt - 1] : NULL;
}

/* What is in story->text, as an instant of the innermost call. */
static int tell_event(struct fvm_story *story)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_INSTANT };
	const struct fvm_span *span = innermost(story);
	struct text *text = &story->text;
	int err = text->err;

	record.instant = (struct txtrace_instant){ .time_ns = story->clock,
						   .span = span ? span->id : 0,
						   .pid = FVM_PID,
						   .tid = FVM_TID,
						   .name = string_of(text) };
	if (record.instant.name.length > TEXT_MAX + 4096) { /* the parts are short, but for escapes */
		record.instant.name.length = TEXT_MAX + 4096;
		story->cut_cnt++;
	}
	err = err ? err : import_add(story->import, &record);
	text_clear(text);
	return err;
}

/* In Rust's words: quoted and escaped. */
static void append_quoted(struct text *text, struct txtrace_string string)
{
	size_t length = string.length > TEXT_MAX ? TEXT_MAX : string.length;

	text_append(text, "\"");
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)string.bytes[i];

		if (c == '"' || c == '\\')
			text_append_format(text, "\\%c", c);
		else if (c == '\n')
			text_append(text, "\\n");
		else if (c == '\r')
			text_append(text, "\\r");
		else if (c == '\t')
			text_append(text, "\\t");
		else if (c == '\0')
			text_append(text, "\\0");
		else if (c < 0x20 || c == 0x7f)
			text_append_format(text, "\\u{%x}", c);
		else
			text_append_bytes(text, string.bytes + i, 1);
	}
	text_append(text, "\"");
}

static void append_or(struct text *text, struct txtrace_string string, const char *otherwise)
{
	if (string.length > 0)
		text_append_bytes(text, string.bytes, string.length > TEXT_MAX ? TEXT_MAX : string.length);
	else
		text_append(text, otherwise);
}

/* ---- attributes of a span ---- */

static int tell_attribute(struct fvm_story *story, const struct fvm_span *span,
			  struct txtrace_attribute attribute)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	attribute.time_ns = story->clock;
	attribute.span = span->id;
	attribute.pid = FVM_PID;
	attribute.tid = FVM_TID;
	record.attribute = attribute;
	return import_add(story->import, &record);
}

static int tell_text(struct fvm_story *story, const struct fvm_span *span, const char *name,
		     struct txtrace_string text)
{
	if (text.length == 0)
		return 0;
	return tell_attribute(story, span,
			      (struct txtrace_attribute){ .type = TXTRACE_ATTRIBUTE_STRING,
							  .name = text_of(name),
							  .string = text,
							  .is_truncated = text.length == TEXT_MAX });
}

static int tell_number(struct fvm_story *story, const struct fvm_span *span, enum txtrace_attribute_type type,
		       const char *name, uint64_t value)
{
	return tell_attribute(story, span,
			      (struct txtrace_attribute){
				      .type = (uint8_t)type, .name = text_of(name), .value = value });
}

static int tell_sums(struct fvm_story *story, const struct fvm_span *span)
{
	struct text *name = &story->text;
	int err = 0;

	for (size_t i = 0; !err && i < span->sum_cnt; i++) {
		struct txtrace_string charge;

		charge.bytes = string_pool_get(story->names, span->sums[i].name, &charge.length);
		text_append(name, FVM_GAS);
		text_append_bytes(name, charge.bytes, charge.length);
		err = name->err ? name->err
				: tell_attribute(story, span,
						 (struct txtrace_attribute){
							 .type = TXTRACE_ATTRIBUTE_INT,
							 .name = string_of(name),
							 .value = (uint64_t)span->sums[i].milligas });
		text_clear(name);
	}
	err = err ? err : tell_number(story, span, TXTRACE_ATTRIBUTE_INT, FVM_SELF, (uint64_t)span->self);
	return err ? err : tell_number(story, span, TXTRACE_ATTRIBUTE_INT, FVM_TOTAL, (uint64_t)span->total);
}

static int tell_call(struct fvm_story *story, const struct fvm_span *call, const struct fvm_end *end)
{
	int err = tell_text(story, call, FVM_FROM, string_of(&call->from));

	err = err ? err : tell_text(story, call, FVM_TO, string_of(&call->to));
	err = err ? err : tell_number(story, call, TXTRACE_ATTRIBUTE_UINT, FVM_METHOD, call->method);
	err = err ? err : tell_text(story, call, "value", string_of(&call->value));
	err = err ? err : tell_text(story, call, "params", string_of(&call->params));
	err = err ? err : tell_text(story, call, "code", string_of(&call->code));
	if (!err && call->has_gas_limit)
		err = tell_number(story, call, TXTRACE_ATTRIBUTE_UINT, "gas_limit", call->gas_limit);
	if (!err && call->has_read_only)
		err = tell_number(story, call, TXTRACE_ATTRIBUTE_BOOL, "read_only", call->is_read_only);
	if (!err && end && end->has_exit_code)
		err = tell_number(story, call, TXTRACE_ATTRIBUTE_INT, FVM_EXIT, (uint64_t)end->exit_code);
	if (!err && end && end->returned.length <= TEXT_MAX)
		err = tell_text(story, call, "return", end->returned);
	if (!err && end && end->error.length <= TEXT_MAX)
		err = tell_text(story, call, "error", end->error);
	if (!err && call->has_elapsed)
		err = tell_number(story, call, TXTRACE_ATTRIBUTE_UINT, FVM_ELAPSED, call->elapsed_ns);
	return err;
}

static int tell_span(struct fvm_story *story, const struct fvm_span *of, bool is_unfinished)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;
	struct text tag = { 0 };
	int err;

	if (of->to.length > 0)
		text_append_format(&tag, "to=%.*s,method=%" PRIu64, (int)of->to.length, of->to.bytes,
				   of->method);
	*span = (struct txtrace_span){ .id = of->id,
				       .parent = of->parent,
				       .pid = FVM_PID,
				       .tid = FVM_TID,
				       .end_tid = is_unfinished ? 0 : FVM_TID,
				       .begin_ns = of->begin,
				       .end_ns = story->clock,
				       .label = string_of(&of->label),
				       .tag = string_of(&tag) };
	span->work_ns = span->ledger.unknown_ns = span->end_ns - span->begin_ns;
	span->flags = of->parent == 0 ? TXTRACE_SPAN_ROOT : of->is_label ? TXTRACE_SPAN_NESTED : 0;
	if (is_unfinished)
		span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	err = tag.err ? tag.err : import_add(story->import, &record);
	text_release(&tag);
	return err;
}

/* ---- charges ---- */

/* Amounts that don't fit stop at the largest one, which is counted. */
static void add(struct fvm_story *story, int64_t *sum, int64_t amount)
{
	if (!__builtin_add_overflow(*sum, amount, sum))
		return;
	*sum = amount < 0 ? INT64_MIN : INT64_MAX;
	story->sum_cnt++;
}

static int charge_span(struct fvm_story *story, struct fvm_span *span, uint32_t name, int64_t amount)
{
	size_t i = 0;

	add(story, &span->self, amount);
	add(story, &span->total, amount);
	while (i < span->sum_cnt && span->sums[i].name != name)
		i++;
	if (i == span->sum_cnt) {
		struct sum *sums = array_grow_unnoted(span->sums, span->sum_cnt, sizeof(*sums));

		if (!sums)
			return -ENOMEM;
		span->sums = sums;
		span->sums[span->sum_cnt++] = (struct sum){ .name = name };
	}
	add(story, &span->sums[i].milligas, amount);
	return 0;
}

static int name_number(struct fvm_story *story, struct txtrace_string name, uint32_t *number)
{
	if (name.length > 1024 ||
	    (string_pool_count(story->names) >= FVM_NAME_MAX &&
	     string_pool_find(story->names, name.bytes, name.length) == STRING_POOL_NONE))
		name = text_of(OTHER_NAMES);
	return string_pool_add(story->names, name.bytes, name.length, number);
}

int fvm_story_charge(struct fvm_story *story, const struct fvm_charge *charge)
{
	struct fvm_span *call;
	int64_t amount = charge->compute;
	uint32_t name;
	int err = begin(story);

	add(story, &amount, charge->other);
	err = err ? err : name_number(story, charge->name, &name);
	if (err)
		return err;
	story->negative_cnt += amount < 0;
	if (amount > 0 && __builtin_add_overflow(story->clock, (uint64_t)amount, &story->clock)) {
		story->clock = UINT64_MAX;
		story->sum_cnt++;
	}
	text_append(&story->text, "GasCharge { name: ");
	append_quoted(&story->text, charge->name);
	text_append_format(&story->text, ", compute_milli: %" PRId64 ", other_milli: %" PRId64 " }",
			   charge->compute, charge->other);
	err = tell_event(story);
	call = innermost(story);
	if (!err && call)
		err = charge_span(story, call, name, amount);
	if (call && charge->has_elapsed) {
		call->has_elapsed = true;
		call->elapsed_ns += charge->elapsed_ns;
	}
	for (size_t i = 0; !err && i < story->label_cnt; i++)
		err = charge_span(story, story->labels[i], name, amount);
	return err;
}

/* ---- calls ---- */

int fvm_story_call(struct fvm_story *story, const struct fvm_call *call)
{
	struct fvm_span *span, *parent;
	struct text *text = &story->text;
	int err = begin(story);

	if (err)
		return err;
	text_append(text, "Call { from: ");
	append_or(text, call->from, "0");
	text_append(text, ", to: Address(");
	append_quoted(text, call->to);
	text_append_format(text, "), method: %" PRIu64 ", params: ", call->method);
	append_or(text, call->params, "None");
	text_append(text, ", value: TokenAmount(");
	append_or(text, call->value, "0.0");
	text_append_format(text, "), gas_limit: %" PRIu64 ", read_only: %s }", call->gas_limit,
			   call->is_read_only ? "true" : "false");
	err = tell_event(story);
	if (!err && story->call_cnt == FVM_CALL_MAX) {
		story->no_room_cnt++;
		story->deep_cnt++;
		return 0;
	}
	if (err)
		return err;
	parent = innermost(story);
	err = open_span(story, parent ? parent->id : 0, &span);
	if (err)
		return err;
	story->calls[story->call_cnt++] = span;
	text_append(&span->label, FVM_SEND);
	keep(story, &span->from, call->from);
	keep(story, &span->to, call->to);
	keep(story, &span->value, call->value);
	keep(story, &span->params, call->params);
	span->method = call->method;
	span->gas_limit = call->gas_limit;
	span->has_gas_limit = call->has_gas_limit;
	span->has_read_only = call->has_read_only;
	span->is_read_only = call->is_read_only;
	return span->label.err ? span->label.err : span->from.err ? span->from.err : span->to.err;
}

static int close_call(struct fvm_story *story, const struct fvm_end *end, bool is_unfinished)
{
	struct fvm_span *span = story->calls[--story->call_cnt], *parent = innermost(story);
	bool is_root = !story->is_json && story->call_cnt == 0;
	int err = tell_sums(story, span);

	if (!err && !is_root)
		err = tell_call(story, span, end);
	err = err ? err : tell_span(story, span, is_unfinished);
	if (parent) /* its own are there */
		add(story, &parent->total, span->total);
	free_span(span);
	return err;
}

int fvm_story_end_call(struct fvm_story *story, const struct fvm_end *end)
{
	struct text *text = &story->text;
	int err = begin(story);

	if (err)
		return err;
	if (end->error.length > 0) {
		text_append(text, "CallError { reason: ");
		append_quoted(text, end->error);
		text_append(text, ", errno: ");
		append_or(text, end->returned, "Unknown");
		text_append(text, " }");
	} else {
		text_append(text, "CallReturn { return_value: ");
		append_or(text, end->returned, "None");
		text_append_format(text, ", exit_code: ExitCode { value: %" PRId64 " } }", end->exit_code);
	}
	if (story->deep_cnt > 0) {
		story->deep_cnt--;
		return tell_event(story);
	}
	if (story->call_cnt <= !story->is_json) {
		story->stray_return_cnt++;
		text_clear(text);
		return 0;
	}
	err = tell_event(story);
	return err ? err : close_call(story, end, false);
}

/* ---- label spans ---- */

static struct txtrace_string trimmed(const char *bytes, size_t length)
{
	while (length > 0 && (bytes[0] == ' ' || (bytes[0] >= '\t' && bytes[0] <= '\r')))
		bytes++, length--;
	while (length > 0 &&
	       (bytes[length - 1] == ' ' || (bytes[length - 1] >= '\t' && bytes[length - 1] <= '\r')))
		length--;
	return (struct txtrace_string){ bytes, length > TEXT_MAX ? TEXT_MAX : length };
}

static int close_label(struct fvm_story *story, size_t at, bool is_unfinished)
{
	struct fvm_span *span = story->labels[at];
	int err;

	memmove(story->labels + at, story->labels + at + 1,
		(--story->label_cnt - at) * sizeof(*story->labels));
	if (is_unfinished)
		span->total = 0; /* as the workbench has it */
	err = tell_sums(story, span);
	err = err ? err : tell_span(story, span, is_unfinished);
	free_span(span);
	return err;
}

static int begin_label(struct fvm_story *story, struct txtrace_string label)
{
	const struct fvm_span *call = innermost(story);
	struct fvm_span *span;
	int err = 0;

	if (story->label_cnt == FVM_LABEL_MAX) {
		story->no_room_cnt++;
		err = close_label(story, 0, true);
	}
	err = err ? err : open_span(story, call ? call->id : 0, &span);
	if (err)
		return err;
	story->labels[story->label_cnt++] = span;
	span->is_label = true;
	text_append_bytes(&span->label, label.bytes, label.length);
	return span->label.err;
}

static int end_label(struct fvm_story *story, struct txtrace_string label)
{
	for (size_t i = story->label_cnt; i-- > 0;) {
		const struct text *text = &story->labels[i]->label;

		if (text->length == label.length && memcmp(text_string(text), label.bytes, label.length) == 0)
			return close_label(story, i, false);
	}
	story->stray_end_cnt++;
	return 0;
}

int fvm_story_log(struct fvm_story *story, struct txtrace_string message)
{
	static const char start[] = "SpanStart:", stop[] = "SpanEnd:";
	const char *found, *end = message.bytes + message.length;
	int err = begin(story);

	text_append(&story->text, "Log { msg: ");
	append_quoted(&story->text, message);
	text_append(&story->text, " }");
	err = err ? err : tell_event(story);
	if (err || story->is_json)
		return err;
	found = memmem(message.bytes, message.length, start, strlen(start));
	if (found) {
		found += strlen(start);
		return begin_label(story, trimmed(found, (size_t)(end - found)));
	}
	found = memmem(message.bytes, message.length, stop, strlen(stop));
	if (!found)
		return 0;
	found += strlen(stop);
	return end_label(story, trimmed(found, (size_t)(end - found)));
}

/* ---- others ---- */

int fvm_story_actor(struct fvm_story *story, struct txtrace_string code)
{
	struct fvm_span *call;
	int err = begin(story);

	text_append(&story->text, "InvokeActor { cid: Cid(");
	append_or(&story->text, code, "");
	text_append(&story->text, ") }");
	err = err ? err : tell_event(story);
	call = innermost(story);
	if (!err && call && call->code.length == 0)
		keep(story, &call->code, code);
	return err;
}

int fvm_story_block(struct fvm_story *story, struct txtrace_string op, struct txtrace_string cid,
		    uint64_t size)
{
	int err = begin(story);

	text_append(&story->text, "Ipld { op: ");
	append_or(&story->text, op, "");
	text_append(&story->text, ", cid: Cid(");
	append_or(&story->text, cid, "");
	text_append_format(&story->text, "), size: %" PRIu64 " }", size);
	return err ? err : tell_event(story);
}

/* ---- spans with a clock of their own ---- */

int fvm_story_begin_timed(struct fvm_story *story, const struct fvm_timed *span)
{
	struct timed *timed;
	int err = begin(story);

	if (!err && story->timed_cnt++ == 0)
		err = tell_thread(story, FVM_SPANS_PID, "spans");
	if (err)
		return err;
	if (story->timed->cnt >= FVM_TIMED_MAX) {
		story->no_room_cnt++;
		return 0;
	}
	timed = calloc(1, sizeof(*timed));
	if (!timed || id_map_put(story->timed, 0, story->timed_cnt, timed)) {
		free(timed);
		return -ENOMEM;
	}
	keep(story, &timed->label, span->label);
	keep(story, &timed->tag, span->tag);
	keep(story, &timed->code, span->code);
	timed->number = story->timed_cnt;
	timed->parent = span->parent;
	timed->method = span->method;
	timed->begin = story->clock;
	timed->begin_ns = span->timestamp_ns;
	story->timed_parent_cnt += span->parent >= story->timed_cnt;
	return 0;
}

static int tell_timed_number(struct fvm_story *story, const struct timed *timed, const char *name,
			     uint64_t value)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	record.attribute = (struct txtrace_attribute){ .time_ns = story->clock,
						       .span = timed->number,
						       .pid = FVM_SPANS_PID,
						       .tid = FVM_TID,
						       .type = TXTRACE_ATTRIBUTE_UINT,
						       .value = value,
						       .name = text_of(name) };
	return import_add(story->import, &record);
}

static int tell_timed_code(struct fvm_story *story, const struct timed *timed)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	if (timed->code.length == 0)
		return 0;
	record.attribute = (struct txtrace_attribute){ .time_ns = story->clock,
						       .span = timed->number,
						       .pid = FVM_SPANS_PID,
						       .tid = FVM_TID,
						       .type = TXTRACE_ATTRIBUTE_STRING,
						       .name = text_of("code"),
						       .string = string_of(&timed->code) };
	return import_add(story->import, &record);
}

/* A log has one clock, and that is gas: what the span's own clock says is attributes. */
static int close_timed(struct fvm_story *story, struct timed *timed, uint64_t end_ns, bool is_unfinished)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;
	bool has_parent = timed->parent > 0 && timed->parent < timed->number;
	int err = tell_timed_number(story, timed, FVM_METHOD, timed->method);

	err = err ? err : tell_timed_code(story, timed);
	err = err ? err : tell_timed_number(story, timed, FVM_BEGIN_NS, timed->begin_ns);
	if (!err && !is_unfinished)
		err = tell_timed_number(story, timed, FVM_END_NS, end_ns);
	if (!err && timed->parent > 0 && !has_parent)
		err = tell_timed_number(story, timed, "parent", timed->parent);
	*span = (struct txtrace_span){ .id = timed->number,
				       .parent = has_parent ? timed->parent : 0,
				       .pid = FVM_SPANS_PID,
				       .tid = FVM_TID,
				       .end_tid = is_unfinished ? 0 : FVM_TID,
				       .begin_ns = timed->begin,
				       .end_ns = story->clock,
				       .label = string_of(&timed->label),
				       .tag = string_of(&timed->tag) };
	span->work_ns = span->ledger.unknown_ns = span->end_ns - span->begin_ns;
	span->flags = timed->parent == 0 ? TXTRACE_SPAN_ROOT : has_parent ? 0 : TXTRACE_SPAN_PARENT_LOST;
	if (is_unfinished)
		span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	err = err ? err : import_add(story->import, &record);
	free_timed(timed);
	return err;
}

int fvm_story_end_timed(struct fvm_story *story, uint64_t number, uint64_t timestamp_ns)
{
	struct timed *timed = id_map_remove(story->timed, 0, number);

	if (timed)
		return close_timed(story, timed, timestamp_ns, false);
	story->timed_twice_cnt += number > 0 && number <= story->timed_cnt;
	story->timed_stray_cnt += number == 0 || number > story->timed_cnt;
	return 0;
}

static int compare_timed(const void *a, const void *b)
{
	const struct timed *first = *(struct timed *const *)a, *second = *(struct timed *const *)b;

	return first->number < second->number ? -1 : first->number > second->number;
}

static int finish_timed(struct fvm_story *story)
{
	size_t cnt = 0, left = story->timed->cnt;
	struct timed **open = left > 0 ? calloc(left, sizeof(struct timed *)) : NULL, *timed;
	int err = 0;

	if (!open)
		return left > 0 ? -ENOMEM : 0;
	for (size_t i = 0; (timed = id_map_next(story->timed, &i));)
		open[cnt++] = timed;
	qsort(open, cnt, sizeof(struct timed *), compare_timed);
	for (size_t i = 0; i < cnt; i++) {
		id_map_remove(story->timed, 0, open[i]->number);
		story->timed_open_end_cnt++;
		if (err)
			free_timed(open[i]);
		else
			err = close_timed(story, open[i], 0, true);
	}
	free(open);
	return err;
}

int fvm_story_finish(struct fvm_story *story)
{
	int err = begin(story);

	while (!err && story->label_cnt > 0) {
		story->open_label_cnt++;
		err = close_label(story, 0, true);
	}
	while (!err && story->call_cnt > !story->is_json) {
		story->open_call_cnt++;
		err = close_call(story, NULL, true);
	}
	if (!err && story->call_cnt > 0)
		err = close_call(story, NULL, false);
	return err ? err : finish_timed(story);
}
