/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/fvm_text.h"

#include <errno.h>
#include <string.h>

typedef struct txtrace_string string;

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static string trim(const char *bytes, const char *end)
{
	while (bytes < end && (*bytes == ' ' || *bytes == '\t'))
		bytes++;
	while (end > bytes && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return (string){ bytes, (size_t)(end - bytes) };
}

static bool is(string text, const char *what)
{
	return text.length == strlen(what) && memcmp(text.bytes, what, text.length) == 0;
}

/* Behind a value: the comma after it, or the end; NULL: brackets or quotes are not closed. */
static const char *pass_value(const char *at, const char *end)
{
	uint64_t depth = 0;

	for (; at < end; at++) {
		if (*at == '"') {
			for (at++; at < end && *at != '"'; at++)
				at += *at == '\\';
			if (at >= end)
				return NULL;
		} else if (*at == '(' || *at == '{' || *at == '[') {
			depth++;
		} else if (*at == ')' || *at == '}' || *at == ']') {
			if (depth-- == 0)
				return NULL;
		} else if (*at == ',' && depth == 0) {
			return at;
		}
	}
	return depth == 0 ? at : NULL;
}

/* NAME(CONTENTS) or NAME { CONTENTS }. false: it is neither. */
static bool split(string value, string *name, string *contents)
{
	const char *at = value.bytes, *end = at + value.length;

	while (at < end && is_word(*at))
		at++;
	*name = (string){ value.bytes, (size_t)(at - value.bytes) };
	*contents = trim(at, end);
	if (contents->length < 2)
		return false;
	at = contents->bytes;
	end = at + contents->length - 1;
	if (!(*at == '(' && *end == ')') && !(*at == '{' && *end == '}'))
		return false;
	*contents = trim(at + 1, end);
	return true;
}

/* What is in NAME(...) or NAME { ... } of this name. */
static bool inside(string value, const char *wanted, string *contents)
{
	string name;

	return split(value, &name, contents) && is(name, wanted);
}

/* The value of a key, or with NULL the one at this place. */
static bool find(string contents, const char *key, unsigned int place, string *value)
{
	const char *at = contents.bytes, *end = at + contents.length, *stop;

	for (; at < end; at = stop + 1) {
		string part;
		size_t length = key ? strlen(key) : 0;

		stop = pass_value(at, end);
		if (!stop)
			return false;
		part = trim(at, stop);
		if (!key && place-- == 0) {
			*value = part;
			return true;
		}
		if (key && part.length > length && memcmp(part.bytes, key, length) == 0 &&
		    part.bytes[length] == ':') {
			*value = trim(part.bytes + length + 1, part.bytes + part.length);
			return true;
		}
	}
	return false;
}

static bool number(string text, uint64_t *value)
{
	*value = 0;
	for (size_t i = 0; i < text.length; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9' ||
		    __builtin_mul_overflow(*value, 10u, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(text.bytes[i] - '0'), value))
			return false;
	}
	return text.length > 0;
}

static bool signed_number(string text, int64_t *value)
{
	bool is_negative = text.length > 0 && text.bytes[0] == '-';
	uint64_t amount;

	text.bytes += is_negative;
	text.length -= is_negative;
	if (!number(text, &amount) || amount > INT64_MAX)
		return false;
	*value = is_negative ? -(int64_t)amount : (int64_t)amount;
	return true;
}

/* A number with up to three decimals, in thousandths. */
static bool thousandths(string text, int64_t *value)
{
	const char *point = memchr(text.bytes, '.', text.length);
	size_t decimals = point ? (size_t)(text.bytes + text.length - point - 1) : 0;
	char digits[32];
	size_t length = 0;

	if (decimals > 3 || text.length >= sizeof(digits) - 3 || (point && decimals == 0))
		return false;
	for (size_t i = 0; i < text.length; i++) {
		if (text.bytes + i != point)
			digits[length++] = text.bytes[i];
	}
	for (; decimals < 3; decimals++)
		digits[length++] = '0';
	return signed_number((string){ digits, length }, value);
}

static void append_code_point(struct text *text, uint32_t code)
{
	char bytes[4] = { (char)code };
	size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = length; length > 1 && i-- > 0; code >>= 6)
		bytes[i] = (char)(i > 0 ? 0x80 | (code & 0x3f) : (0xf00 >> length & 0xff) | code);
	text_append_bytes(text, bytes, length);
}

/* A quoted text, as it was. */
static bool unquote(string value, struct text *text)
{
	const char *at = value.bytes + 1, *end = value.bytes + value.length - 1;
	static const char letters[] = "nrt0", meant[] = "\n\r\t\0";

	text_clear(text);
	text_append(text, "");
	if (value.length < 2 || value.bytes[0] != '"' || *end != '"')
		return false;
	while (at < end) {
		const char *slash = memchr(at, '\\', (size_t)(end - at)), *letter;

		text_append_bytes(text, at, (size_t)((slash ? slash : end) - at));
		if (!slash)
			break;
		at = slash + 1;
		if (at >= end)
			return false;
		letter = strchr(letters, *at);
		if (*at == 'u') {
			uint32_t code = 0;

			if (++at >= end || *at != '{')
				return false;
			for (at++; at < end && *at != '}' && code < 0x110000; at++)
				code = code * 16 +
				       (uint32_t)(*at <= '9' ? *at - '0' : (*at | 0x20) - 'a' + 10);
			append_code_point(text, code);
		} else if (letter && *at) {
			text_append_bytes(text, &meant[letter - letters], 1);
		} else {
			text_append_bytes(text, at, 1);
		}
		at++;
	}
	return !text->err;
}

static string string_of(const struct text *text)
{
	return (string){ text_string(text), text->length };
}

/* ---- events: each is 1, -EBADMSG, or what the story failed with ---- */

struct scratch {
	struct text first, second;
};

static int told(int err)
{
	return err ? err : 1;
}

static bool gas_of(string contents, const char *milli_key, const char *gas_key, int64_t *milligas)
{
	string value;

	if (find(contents, milli_key, 0, &value))
		return signed_number(value, milligas);
	return find(contents, gas_key, 0, &value) && inside(value, "Gas", &value) &&
	       thousandths(value, milligas);
}

/* Some(1.234µs); false: None, or what is no time. */
static bool elapsed(string value, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "\xc2\xb5s", 1e3 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	double amount = 0, scale = 1;
	size_t i = 0;

	if (!inside(value, "GasDuration", &value) || !inside(value, "Some", &value))
		return false;
	for (;
	     i < value.length && ((value.bytes[i] >= '0' && value.bytes[i] <= '9') || value.bytes[i] == '.');
	     i++) {
		if (value.bytes[i] == '.')
			scale = 0.1;
		else if (scale == 1)
			amount = amount * 10 + (value.bytes[i] - '0');
		else
			amount += (value.bytes[i] - '0') * scale, scale /= 10;
	}
	value.bytes += i;
	value.length -= i;
	for (size_t unit = 0; unit < sizeof(units) / sizeof(*units); unit++) {
		if (is(value, units[unit].name) && amount * units[unit].ns < 1e18) {
			*ns = (uint64_t)(amount * units[unit].ns + 0.5);
			return true;
		}
	}
	return false;
}

static int read_charge(struct fvm_story *story, string contents, struct scratch *scratch)
{
	struct fvm_charge charge = { 0 };
	string value;

	if (!find(contents, "name", 0, &value) || !unquote(value, &scratch->first) ||
	    !gas_of(contents, "compute_milli", "compute_gas", &charge.compute) ||
	    (!gas_of(contents, "other_milli", "other_gas", &charge.other) &&
	     !gas_of(contents, "other_milli", "storage_gas", &charge.other)))
		return -EBADMSG;
	charge.name = string_of(&scratch->first);
	charge.has_elapsed = find(contents, "elapsed", 0, &value) && elapsed(value, &charge.elapsed_ns);
	return told(fvm_story_charge(story, &charge));
}

/* Address("f07"), Address { payload: ID(7) }, with or without the network. */
static bool address(string value, struct text *text)
{
	string contents, payload, network;
	char prefix = 'f';

	if (!inside(value, "Address", &contents))
		return false;
	if (contents.length > 0 && contents.bytes[0] == '"')
		return unquote(contents, text);
	if (find(contents, "network", 0, &network) && is(network, "Testnet"))
		prefix = 't';
	if (!find(contents, "payload", 0, &payload))
		return false;
	text_clear(text);
	if (inside(payload, "ID", &contents))
		text_append_format(text, "%c0%.*s", prefix, (int)contents.length, contents.bytes);
	else
		text_append_bytes(text, payload.bytes, payload.length);
	return !text->err;
}

static int read_call(struct fvm_story *story, string contents, struct scratch *scratch)
{
	struct fvm_call call = { 0 };
	string value;

	if (!find(contents, "from", 0, &call.from) || !find(contents, "to", 0, &value) ||
	    !address(value, &scratch->first) || !find(contents, "method", 0, &value) ||
	    !number(value, &call.method))
		return -EBADMSG;
	call.to = string_of(&scratch->first);
	if (!find(contents, "params", 0, &call.params) || is(call.params, "None"))
		call.params.length = 0;
	if (find(contents, "value", 0, &value))
		inside(value, "TokenAmount", &call.value);
	call.has_gas_limit = find(contents, "gas_limit", 0, &value) && number(value, &call.gas_limit);
	call.has_read_only = find(contents, "read_only", 0, &value);
	call.is_read_only = call.has_read_only && is(value, "true");
	return told(fvm_story_call(story, &call));
}

static int read_return(struct fvm_story *story, string contents, struct scratch *scratch)
{
	struct fvm_end end = { .has_exit_code = true };
	string value;
	(void)scratch;

	if (find(contents, "exit_code", 0, &value)) {
		if (!find(contents, "return_value", 0, &end.returned))
			end.returned.length = 0;
	} else if (!find(contents, NULL, 0, &value)) {
		return -EBADMSG;
	} else if (!find(contents, NULL, 1, &end.returned)) {
		end.returned.length = 0;
	}
	if (is(end.returned, "None"))
		end.returned.length = 0;
	if (!inside(value, "ExitCode", &value) || !find(value, "value", 0, &value) ||
	    !signed_number(value, &end.exit_code))
		return -EBADMSG;
	return told(fvm_story_end_call(story, &end));
}

static int read_error(struct fvm_story *story, string contents, struct scratch *scratch)
{
	struct fvm_end end = { 0 };
	string reason, number_, nested;

	if (inside(contents, "SyscallError", &nested))
		contents = nested;
	if (!find(contents, "reason", 0, &reason) && !find(contents, NULL, 0, &reason))
		return -EBADMSG;
	if (!unquote(reason, &scratch->first))
		return -EBADMSG;
	if (find(contents, "errno", 0, &number_) || find(contents, NULL, 1, &number_))
		end.returned = number_; /* the kind of the error */
	end.error = scratch->first.length > 0 ? string_of(&scratch->first) : (string){ "unknown", 7 };
	return told(fvm_story_end_call(story, &end));
}

static int read_actor(struct fvm_story *story, string contents, struct scratch *scratch)
{
	string value = contents, state;
	(void)scratch;

	if (find(contents, "state", 0, &value) && inside(value, "ActorState", &state) &&
	    !find(state, "code", 0, &value))
		return -EBADMSG;
	if (!find(contents, "state", 0, &state))
		find(contents, "cid", 0, &value);
	if (inside(value, "Cid", &state))
		value = state;
	return told(fvm_story_actor(story, value));
}

static int read_log(struct fvm_story *story, string contents, struct scratch *scratch)
{
	string value = contents;

	find(contents, "msg", 0, &value);
	if (!unquote(value, &scratch->first))
		return -EBADMSG;
	return told(fvm_story_log(story, string_of(&scratch->first)));
}

static int read_block(struct fvm_story *story, string contents, struct scratch *scratch)
{
	string op, cid, value;
	uint64_t size;
	(void)scratch;

	if (!find(contents, "op", 0, &op) || !find(contents, "cid", 0, &value) ||
	    !inside(value, "Cid", &cid) || !find(contents, "size", 0, &value) || !number(value, &size))
		return -EBADMSG;
	return told(fvm_story_block(story, op, cid, size));
}

static int read_span_begin(struct fvm_story *story, string contents, struct scratch *scratch)
{
	struct fvm_timed span = { 0 };
	string value;

	if (!find(contents, "label", 0, &value) || !unquote(value, &scratch->first) ||
	    !find(contents, "timestamp", 0, &value) || !number(value, &span.timestamp_ns))
		return -EBADMSG;
	span.label = string_of(&scratch->first);
	if (find(contents, "tag", 0, &value) && unquote(value, &scratch->second))
		span.tag = string_of(&scratch->second);
	if (find(contents, "code", 0, &value))
		inside(value, "Cid", &span.code);
	if (find(contents, "parent", 0, &value))
		number(value, &span.parent);
	if (find(contents, "method", 0, &value))
		number(value, &span.method);
	return told(fvm_story_begin_timed(story, &span));
}

static int read_span_end(struct fvm_story *story, string contents, struct scratch *scratch)
{
	uint64_t id, timestamp_ns;
	string value;
	(void)scratch;

	if (!find(contents, "id", 0, &value) || !number(value, &id) ||
	    !find(contents, "timestamp", 0, &value) || !number(value, &timestamp_ns))
		return -EBADMSG;
	return told(fvm_story_end_timed(story, id, timestamp_ns));
}

static const struct event {
	const char *name;
	int (*read)(struct fvm_story *story, string contents, struct scratch *scratch);
} events[] = {
	{ "GasCharge", read_charge },  { "Call", read_call },
	{ "CallReturn", read_return }, { "CallError", read_error },
	{ "InvokeActor", read_actor }, { "Log", read_log },
	{ "Ipld", read_block },	       { "SpanBegin", read_span_begin },
	{ "SpanEnd", read_span_end },
};

static const struct event *find_event(string line, string *name)
{
	const char *at = line.bytes, *end = at + line.length;

	while (at < end && is_word(*at))
		at++;
	*name = (string){ line.bytes, (size_t)(at - line.bytes) };
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		if (is(*name, events[i].name))
			return &events[i];
	}
	return NULL;
}

bool fvm_text_is_event(const char *line, size_t length)
{
	string text = trim(line, line + length), name;
	const char *end = text.bytes + text.length, *at;

	if (!find_event(text, &name))
		return false;
	at = name.bytes + name.length;
	while (at < end && *at == ' ')
		at++;
	return at < end && (*at == '(' || *at == '{');
}

int fvm_text_line(struct fvm_story *story, const char *line, size_t length, struct error *error)
{
	string text = trim(line, line + length), name, contents, nested;
	const struct event *event = find_event(text, &name);
	struct scratch scratch = { 0 };
	int result = -EBADMSG;

	if (!event)
		return text.length == 0 ? 1 : 0;
	if (split(text, &name, &contents)) {
		if (inside(contents, event->name, &nested)) /* GasCharge(GasCharge { ... }) */
			contents = nested;
		result = event->read(story, contents, &scratch);
	}
	if (result == -EBADMSG)
		error_set(error, "the event %s can't be read, and is left out", event->name);
	text_release(&scratch.first);
	text_release(&scratch.second);
	return result;
}
