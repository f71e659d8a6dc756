/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/fvm_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 1100 /* the machine itself allows 1,024 calls in each other */
#define MILLI 1000

/* What is known of a call before it is told. */
struct frame {
	struct text from, to, value, params, code, error, returned;
	uint64_t method, gas_limit;
	bool has_gas_limit, has_read_only, is_read_only, has_exit_code, is_told, is_actor_told;
	int64_t exit_code;
};

static int read_value(struct fvm_json *reader, bool is_subcall, unsigned int depth);

static void release(struct frame *frame)
{
	text_release(&frame->from);
	text_release(&frame->to);
	text_release(&frame->value);
	text_release(&frame->params);
	text_release(&frame->code);
	text_release(&frame->error);
	text_release(&frame->returned);
}

static struct txtrace_string string_of(const struct text *text)
{
	return (struct txtrace_string){ text_string(text), text->length };
}

/* ---- tokens ---- */

static int next(struct fvm_json *reader)
{
	int result = json_next(reader->json);

	return result == 1 ? 0 : result < 0 ? result : -ENODATA;
}

/* The next key of an object, whose value is the next token: 1; 0: the object ends. */
static int next_key(struct fvm_json *reader, struct text *key)
{
	int err = next(reader);

	if (err)
		return err;
	if (reader->json->token == JSON_OBJECT_END)
		return 0;
	if (reader->json->token != JSON_STRING)
		return -EBADMSG;
	text_clear(key);
	text_append_bytes(key, reader->json->text.bytes, reader->json->text.length);
	err = key->err ? key->err : next(reader);
	return err ? err : 1;
}

static bool is_key(const struct text *key, const char *name)
{
	return strcmp(text_string(key), name) == 0;
}

static void take_text(const struct json_source *json, struct text *text)
{
	text_clear(text);
	if (json->token == JSON_STRING || json->token == JSON_NUMBER)
		text_append_bytes(text, json->text.bytes, json->text.length);
}

static bool take_i64(const struct json_source *json, int64_t *value)
{
	char *end;

	if (json->token != JSON_NUMBER)
		return false;
	errno = 0;
	*value = strtoll(text_string(&json->text), &end, 10);
	return *end == '\0' && errno == 0;
}

static bool take_u64(const struct json_source *json, uint64_t *value)
{
	char *end;

	if (json->token != JSON_NUMBER || json->text.bytes[0] == '-')
		return false;
	errno = 0;
	*value = strtoull(text_string(&json->text), &end, 10);
	return *end == '\0' && errno == 0;
}

/* ---- parts of a call ---- */

/* {"/": cid} */
static int read_cid(struct fvm_json *reader, struct text *cid)
{
	struct text key = { 0 };
	int more = 0, err = 0;

	if (reader->json->token != JSON_OBJECT) {
		take_text(reader->json, cid);
		return json_pass(reader->json);
	}
	while (!err && (more = next_key(reader, &key)) == 1) {
		if (is_key(&key, "/"))
			take_text(reader->json, cid);
		err = json_pass(reader->json);
	}
	text_release(&key);
	return err ? err : more;
}

static int read_message(struct fvm_json *reader, struct frame *frame)
{
	struct json_source *json = reader->json;
	struct text key = { 0 };
	int more = 0, err = 0;

	if (json->token != JSON_OBJECT)
		return json_pass(json);
	while (!err && (more = next_key(reader, &key)) == 1) {
		if (is_key(&key, "From"))
			take_text(json, &frame->from);
		else if (is_key(&key, "To"))
			take_text(json, &frame->to);
		else if (is_key(&key, "Value"))
			take_text(json, &frame->value);
		else if (is_key(&key, "Params"))
			take_text(json, &frame->params);
		else if (is_key(&key, "Method"))
			take_u64(json, &frame->method);
		else if (is_key(&key, "GasLimit"))
			frame->has_gas_limit = take_u64(json, &frame->gas_limit);
		else if (is_key(&key, "ReadOnly")) {
			frame->has_read_only = json->token == JSON_TRUE || json->token == JSON_FALSE;
			frame->is_read_only = json->token == JSON_TRUE;
		} else if (is_key(&key, "CodeCid")) {
			err = read_cid(reader, &frame->code);
			continue;
		}
		err = json_pass(json);
	}
	text_release(&key);
	return err ? err : more;
}

static int read_receipt(struct fvm_json *reader, struct frame *frame)
{
	struct json_source *json = reader->json;
	struct text key = { 0 };
	int more = 0, err = 0;

	if (json->token != JSON_OBJECT)
		return json_pass(json);
	while (!err && (more = next_key(reader, &key)) == 1) {
		if (is_key(&key, "ExitCode"))
			frame->has_exit_code = take_i64(json, &frame->exit_code);
		else if (is_key(&key, "Return"))
			take_text(json, &frame->returned);
		err = json_pass(json);
	}
	text_release(&key);
	return err ? err : more;
}

/* InvokedActor {State {Code}} */
static int read_actor(struct fvm_json *reader, struct frame *frame)
{
	struct text key = { 0 };
	int more = 0, err = 0;

	if (reader->json->token != JSON_OBJECT)
		return json_pass(reader->json);
	while (!err && (more = next_key(reader, &key)) == 1) {
		if (is_key(&key, "State"))
			err = read_actor(reader, frame);
		else if (is_key(&key, "Code"))
			err = read_cid(reader, &frame->code);
		else
			err = json_pass(reader->json);
	}
	text_release(&key);
	return err ? err : more;
}

/* lotus names it behind the calls that it made. */
static int tell_actor(struct fvm_json *reader, struct frame *frame)
{
	if (frame->is_actor_told || frame->code.length == 0)
		return 0;
	frame->is_actor_told = true;
	return fvm_story_actor(reader->story, string_of(&frame->code));
}

static int tell_call(struct fvm_json *reader, struct frame *frame)
{
	struct fvm_call call = { .from = string_of(&frame->from),
				 .to = string_of(&frame->to),
				 .value = string_of(&frame->value),
				 .params = string_of(&frame->params),
				 .method = frame->method,
				 .gas_limit = frame->gas_limit,
				 .has_gas_limit = frame->has_gas_limit,
				 .has_read_only = frame->has_read_only,
				 .is_read_only = frame->is_read_only };
	int err;

	if (frame->is_told)
		return 0;
	frame->is_told = true;
	err = fvm_story_call(reader->story, &call);
	return err ? err : tell_actor(reader, frame);
}

/* ---- lists ---- */

/* tg is what counts: cg is its part for computing, and the rest of tg is the other part. */
static int read_charge(struct fvm_json *reader)
{
	struct json_source *json = reader->json;
	int64_t total = 0, compute = 0, other = 0, elapsed = 0;
	struct fvm_charge charge = { 0 };
	struct text key = { 0 }, name = { 0 };
	bool has_total = false;
	int more = 0, err = 0;

	while (!err && (more = next_key(reader, &key)) == 1) {
		if (is_key(&key, "Name"))
			take_text(json, &name);
		else if (is_key(&key, "tg"))
			has_total = take_i64(json, &total);
		else if (is_key(&key, "cg"))
			take_i64(json, &compute);
		else if (is_key(&key, "sg"))
			take_i64(json, &other);
		else if (is_key(&key, "tt"))
			charge.has_elapsed = take_i64(json, &elapsed) && elapsed > 0;
		err = json_pass(json);
	}
	charge.name = string_of(&name);
	charge.elapsed_ns = (uint64_t)elapsed;
	if (!has_total || __builtin_sub_overflow(total, compute, &charge.other) ||
	    __builtin_mul_overflow(charge.other, MILLI, &charge.other) ||
	    __builtin_mul_overflow(compute, MILLI, &charge.compute))
		reader->wrong_cnt++;
	else if (!err && !more) {
		reader->unlike_cnt += charge.other / MILLI != other;
		err = fvm_story_charge(reader->story, &charge);
	}
	text_release(&key);
	text_release(&name);
	return err ? err : more;
}

static int read_block(struct fvm_json *reader)
{
	struct text key = { 0 }, op = { 0 }, cid = { 0 };
	uint64_t size = 0;
	int more = 0, err = 0;

	while (!err && (more = next_key(reader, &key)) == 1) {
		if (is_key(&key, "Op"))
			take_text(reader->json, &op);
		else if (is_key(&key, "Size"))
			take_u64(reader->json, &size);
		err = is_key(&key, "Cid") ? read_cid(reader, &cid) : json_pass(reader->json);
	}
	if (!err && !more)
		err = fvm_story_block(reader->story, string_of(&op), string_of(&cid), size);
	text_release(&key);
	text_release(&op);
	text_release(&cid);
	return err ? err : more;
}

enum list { LIST_CHARGES, LIST_CALLS, LIST_LOGS, LIST_BLOCKS };

static int read_list(struct fvm_json *reader, enum list list, unsigned int depth)
{
	struct json_source *json = reader->json;
	int err;

	if (json->token != JSON_ARRAY)
		return json_pass(json); /* null */
	while (!(err = next(reader)) && json->token != JSON_ARRAY_END) {
		if (list == LIST_LOGS && json->token == JSON_STRING)
			err = fvm_story_log(reader->story, string_of(&json->text));
		else if (json->token != JSON_OBJECT)
			err = json_pass(json);
		else if (list == LIST_CHARGES)
			err = read_charge(reader);
		else if (list == LIST_BLOCKS)
			err = read_block(reader);
		else
			err = read_value(reader, true, depth + 1);
		if (err)
			return err;
	}
	return err;
}

/* ---- calls, and what they stand in ---- */

static int read_member(struct fvm_json *reader, const struct text *key, struct frame *frame, bool *is_trace,
		       unsigned int depth)
{
	static const struct {
		const char *name;
		enum list list;
	} lists[] = { { "GasCharges", LIST_CHARGES },
		      { "Subcalls", LIST_CALLS },
		      { "Logs", LIST_LOGS },
		      { "IpldOps", LIST_BLOCKS } };
	int err;

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (!is_key(key, lists[i].name))
			continue;
		*is_trace = true;
		if (reader->json->token != JSON_ARRAY)
			return json_pass(reader->json);
		err = tell_call(reader, frame);
		return err ? err : read_list(reader, lists[i].list, depth);
	}
	if (is_key(key, "Msg"))
		return read_message(reader, frame);
	if (is_key(key, "MsgRct"))
		return read_receipt(reader, frame);
	if (is_key(key, "InvokedActor"))
		return read_actor(reader, frame);
	if (is_key(key, "Error"))
		take_text(reader->json, &frame->error);
	if (is_key(key, "ExecutionTrace") || is_key(key, "Trace") || is_key(key, "result"))
		return read_value(reader, is_key(key, "ExecutionTrace"), depth + 1);
	return json_pass(reader->json);
}

static int end_call(struct fvm_json *reader, struct frame *frame)
{
	struct fvm_end end = { .has_exit_code = frame->has_exit_code, .exit_code = frame->exit_code };
	int err = tell_call(reader, frame);

	err = err ? err : tell_actor(reader, frame);
	if (frame->error.length > 0 && !(frame->has_exit_code && frame->exit_code == 0))
		end.error = string_of(&frame->error);
	else
		end.returned = string_of(&frame->returned);
	return err ? err : fvm_story_end_call(reader->story, &end);
}

/* The token that was read. is_trace: an object is a call, also if it says nothing. */
static int read_value(struct fvm_json *reader, bool is_trace, unsigned int depth)
{
	struct frame frame = { 0 };
	struct text key = { 0 };
	int more = 0, err = 0;

	if (depth > DEPTH_MAX)
		return -ELOOP;
	if (reader->json->token == JSON_ARRAY) {
		while (!(err = next(reader)) && reader->json->token != JSON_ARRAY_END) {
			err = read_value(reader, false, depth + 1);
			if (err)
				return err;
		}
		return err;
	}
	if (reader->json->token != JSON_OBJECT)
		return 0;
	while (!err && (more = next_key(reader, &key)) == 1)
		err = read_member(reader, &key, &frame, &is_trace, depth);
	err = err ? err : more;
	if (!err && is_trace) {
		reader->trace_cnt += reader->story->call_cnt <= frame.is_told;
		err = end_call(reader, &frame);
	}
	text_release(&key);
	release(&frame);
	return err;
}

int fvm_json_read(struct fvm_json *reader)
{
	int result, err = 0;

	while (!err && (result = json_next(reader->json)) != 0)
		err = result < 0 ? result : read_value(reader, false, 0);
	return err;
}
