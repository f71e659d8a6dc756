/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span_key.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"

static const char what_it_is[] = "label, thread, process, container, pod, track, trace, reason, key, "
				 "key:BYTES or tag:NAME";

static const struct {
	const char *name;
	struct span_key key;
} plain_keys[] = {
	{ "label",
	  { .kind = SPAN_KEY_LABEL,
	    .singular = "label",
	    .plural = "labels",
	    .nameless = "(unknown label)" } },
	{ "thread", { .kind = SPAN_KEY_THREAD, .singular = "thread", .plural = "threads", .nameless = "" } },
	{ "process",
	  { .kind = SPAN_KEY_PROCESS, .singular = "process", .plural = "processes", .nameless = "" } },
	{ "track", { .kind = SPAN_KEY_TRACK, .singular = "track", .plural = "tracks", .nameless = "" } },
	{ "key",
	  { .kind = SPAN_KEY_KEY,
	    .singular = "key",
	    .plural = "keys",
	    .nameless = "(no key)",
	    .is_bytes = true } },
	{ "trace", { .kind = SPAN_KEY_TRACE, .singular = "trace", .plural = "traces", .nameless = "" } },
	{ "container",
	  { .kind = SPAN_KEY_CONTAINER,
	    .singular = "container",
	    .plural = "containers",
	    .nameless = "(no container)",
	    .shown_bytes = 12 } },
	{ "pod", { .kind = SPAN_KEY_POD, .singular = "pod", .plural = "pods", .nameless = "(no pod)" } },
};

static int parse_prefix(struct span_key *key, const char *text)
{
	uint64_t bytes;

	if (units_parse_u64(text, &bytes) || bytes == 0 || bytes > 64)
		return -EINVAL;
	*key = plain_keys[SPAN_KEY_KEY].key;
	key->prefix_bytes = (size_t)bytes;
	return 0;
}

int span_key_parse(struct span_key *key, const char *text, const char **complaint)
{
	*complaint = what_it_is;
	for (size_t i = 0; i < sizeof(plain_keys) / sizeof(plain_keys[0]); i++) {
		if (strcmp(plain_keys[i].name, text) == 0) {
			*key = plain_keys[i].key;
			return 0;
		}
	}
	if (strncmp(text, "key:", 4) == 0) {
		*complaint = "key:BYTES with 1 to 64 bytes";
		return parse_prefix(key, text + 4);
	}
	if (strncmp(text, "tag:", 4) == 0 && text[4] && !strpbrk(text + 4, ",=")) {
		*key = (struct span_key){
			.kind = SPAN_KEY_TAG, .tag = text + 4, .singular = "value", .plural = "values"
		};
		return 0;
	}
	return -EINVAL;
}

static void name_task(const struct thread_names *names, uint32_t pid, uint32_t tid, struct text *buffer)
{
	struct txtrace_string comm = thread_names_get(names, pid, tid);

	text_clear(buffer);
	text_append_bytes(buffer, comm.bytes, comm.length);
	text_append_format(buffer, "%s%" PRIu32, comm.length ? " " : "", tid);
}

static void name_trace(struct trace_ids *traces, const struct txtrace_span *span, struct text *buffer)
{
	char digits[TRACE_ID_DIGITS + 1];
	struct trace_place place;

	trace_ids_place(traces, span, &place);
	trace_id_format(digits, place.own.trace_id);
	text_clear(buffer);
	text_append(buffer, digits);
}

/* Tags are "name=value,name=value". */
static struct txtrace_string value_of(const struct txtrace_string *tag, const char *name)
{
	struct txtrace_string value = { NULL, 0 };
	size_t name_length = strlen(name), at = 0;

	while (at < tag->length) {
		const char *piece = tag->bytes + at, *comma = memchr(piece, ',', tag->length - at);
		size_t length = comma ? (size_t)(comma - piece) : tag->length - at;

		if (length > name_length && piece[name_length] == '=' &&
		    memcmp(piece, name, name_length) == 0)
			value = (struct txtrace_string){ piece + name_length + 1, length - name_length - 1 };
		at += length + 1;
	}
	return value;
}

void span_key_name(const struct span_key *key, const struct txtrace_span *span,
		   const struct span_names *names, struct text *buffer, struct txtrace_string *name)
{
	switch (key->kind) {
	case SPAN_KEY_LABEL:
		*name = span->label;
		return;
	case SPAN_KEY_KEY:
		*name = span->key;
		if (key->prefix_bytes && name->length > key->prefix_bytes)
			name->length = key->prefix_bytes;
		return;
	case SPAN_KEY_TAG:
		*name = value_of(&span->tag, key->tag);
		return;
	case SPAN_KEY_CONTAINER:
		*name = container_names_container(names->containers, span->pid);
		return;
	case SPAN_KEY_POD:
		*name = container_names_pod(names->containers, span->pid);
		return;
	case SPAN_KEY_TRACK:
		if (names->tracks && track_names_take(names->tracks, span, name))
			return;
		name_task(names->threads, span->pid, span->tid, buffer);
		break;
	case SPAN_KEY_TRACE:
		name_trace(names->traces, span, buffer);
		break;
	case SPAN_KEY_THREAD:
		name_task(names->threads, span->pid, span->tid, buffer);
		break;
	case SPAN_KEY_PROCESS:
		name_task(names->threads, span->pid, span->pid, buffer);
		break;
	}
	*name = (struct txtrace_string){ text_string(buffer), buffer->length };
}
