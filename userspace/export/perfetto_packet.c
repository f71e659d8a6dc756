/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/perfetto_packet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/string_pool.h"
#include "base/text.h"

#define EVENT_SEQUENCE 1
#define TRACK_SEQUENCE 2 /* a viewer takes a sequence that names a thread for that thread's own */
#define INTERNED_NAME_MAX 1024 /* bytes; a longer one is sent in full each time */
#define INTERNED_CNT_MAX 65536 /* of a kind; then numbering starts anew */
#define INTERNED_PER_PACKET_MAX 256

/* One kind of interned strings. Numbers are never used again. */
struct interning {
	struct string_pool *pool;
	uint64_t base; /* number of the first string in the pool */
	/*
	 * Those that are new in this packet. EventCategory, EventName, DebugAnnotationName and InternedString
	 * are the same message by different names.
	 */
	Perfetto__EventName entries[INTERNED_PER_PACKET_MAX];
	Perfetto__EventName *pointers[INTERNED_PER_PACKET_MAX];
	size_t entry_cnt;
};

_Static_assert(sizeof(Perfetto__EventName) == sizeof(Perfetto__EventCategory),
	       "interned entries have one layout");
_Static_assert(sizeof(Perfetto__EventName) == sizeof(Perfetto__DebugAnnotationName),
	       "interned entries have one layout");
_Static_assert(sizeof(Perfetto__EventName) == sizeof(Perfetto__InternedString),
	       "interned entries have one layout");

static const ProtobufCMessageDescriptor *const intern_descriptors[INTERN_KIND_COUNT] = {
	[INTERN_CATEGORY] = &perfetto__event_category__descriptor,
	[INTERN_EVENT_NAME] = &perfetto__event_name__descriptor,
	[INTERN_ARG_NAME] = &perfetto__debug_annotation_name__descriptor,
	[INTERN_KERNEL_SYMBOL] = &perfetto__interned_string__descriptor,
};

struct packet_writer {
	FILE *out;
	int err;
	bool has_begun; /* a packet was written */
	struct interning interning[INTERN_KIND_COUNT];

	/* the packet that is being filled */
	Perfetto__TracePacket packet;
	Perfetto__TrackEvent event;
	Perfetto__TrackDescriptor track;
	Perfetto__InternedData interned;
	uint64_t category;
	Perfetto__DebugAnnotation *args;
	Perfetto__DebugAnnotation **arg_pointers; /* of all; a group's are those behind it */
	Perfetto__DebugAnnotation **top_args;     /* of those in no group */
	size_t arg_size;
	char **texts;
	size_t text_cnt;
	size_t text_size;
	uint8_t *bytes;
	size_t byte_size;
};

static char no_text[] = "";

/* ---- beginning and end ---- */

struct packet_writer *packet_writer_new(FILE *out)
{
	struct packet_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->out = out;
	for (int kind = 0; kind < INTERN_KIND_COUNT; kind++) {
		writer->interning[kind].base = 1; /* 0 is no number */
		writer->interning[kind].pool = string_pool_new();
		if (!writer->interning[kind].pool) {
			packet_writer_free(writer);
			return NULL;
		}
	}
	return writer;
}

static void free_texts(struct packet_writer *writer)
{
	for (size_t i = 0; i < writer->text_cnt; i++)
		free(writer->texts[i]);
	writer->text_cnt = 0;
}

void packet_writer_free(struct packet_writer *writer)
{
	if (!writer)
		return;
	free_texts(writer);
	for (int kind = 0; kind < INTERN_KIND_COUNT; kind++)
		string_pool_free(writer->interning[kind].pool);
	free(writer->args);
	free(writer->arg_pointers);
	free(writer->top_args);
	free(writer->texts);
	free(writer->bytes);
	free(writer);
}

/* A viewer keeps its numbers until a packet says that they start anew. */
static bool renew_interning(struct packet_writer *writer)
{
	bool is_full = false;

	for (int kind = 0; kind < INTERN_KIND_COUNT; kind++) {
		writer->interning[kind].entry_cnt = 0;
		is_full |= string_pool_count(writer->interning[kind].pool) >= INTERNED_CNT_MAX;
	}
	for (int kind = 0; kind < INTERN_KIND_COUNT && is_full; kind++) {
		struct interning *interning = &writer->interning[kind];
		struct string_pool *pool = string_pool_new();

		if (!pool) {
			writer->err = -ENOMEM;
			return false;
		}
		interning->base += string_pool_count(interning->pool);
		string_pool_free(interning->pool);
		interning->pool = pool;
	}
	return is_full;
}

Perfetto__TracePacket *packet_begin(struct packet_writer *writer, uint64_t time_ns)
{
	Perfetto__TracePacket *packet = &writer->packet;
	bool is_anew = renew_interning(writer) || !writer->has_begun;

	free_texts(writer);
	perfetto__trace_packet__init(packet);
	packet->has_timestamp = true;
	packet->timestamp = time_ns < INT64_MAX ? time_ns : INT64_MAX; /* a viewer's times are signed */
	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = EVENT_SEQUENCE;
	packet->has_sequence_flags = true;
	packet->sequence_flags = PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
	if (is_anew)
		packet->sequence_flags |=
			PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
	packet->has_first_packet_on_sequence = !writer->has_begun;
	packet->first_packet_on_sequence = !writer->has_begun;
	writer->has_begun = true;
	return packet;
}

Perfetto__TrackDescriptor *packet_track(struct packet_writer *writer)
{
	Perfetto__TracePacket *packet = &writer->packet;

	free_texts(writer);
	perfetto__trace_packet__init(packet);
	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = TRACK_SEQUENCE;
	perfetto__track_descriptor__init(&writer->track);
	packet->track_descriptor = &writer->track;
	return &writer->track;
}

Perfetto__TrackEvent *packet_event(struct packet_writer *writer, Perfetto__TrackEvent__Type type,
				   uint64_t track)
{
	Perfetto__TrackEvent *event = &writer->event;

	perfetto__track_event__init(event);
	event->has_type = true;
	event->type = type;
	event->has_track_uuid = true;
	event->track_uuid = track;
	writer->packet.track_event = event;
	return event;
}

/* ---- strings ---- */

/* Malloced. */
static char *text_of(struct txtrace_string string, bool is_truncated)
{
	struct text text = { 0 };

	text_append_visible(&text, string.bytes, string.length);
	text_append(&text, is_truncated ? "\xe2\x80\xa6" : "");
	if (!text.err && text.bytes)
		return text.bytes;
	text_release(&text);
	return text.err ? NULL : strdup("");
}

char *packet_text(struct packet_writer *writer, struct txtrace_string string, bool is_truncated)
{
	char *text;
	char **texts;

	if (writer->err)
		return no_text;
	texts = array_grow(writer->texts, &writer->text_size, writer->text_cnt, sizeof(*texts));
	if (!texts) {
		writer->err = -ENOMEM;
		return no_text;
	}
	writer->texts = texts;
	text = text_of(string, is_truncated);
	if (!text) {
		writer->err = -ENOMEM;
		return no_text;
	}
	writer->texts[writer->text_cnt++] = text;
	return text;
}

/* The string's number, or 0: it has to be sent in full. */
static uint64_t intern(struct packet_writer *writer, enum intern_kind kind, struct txtrace_string string)
{
	struct interning *interning = &writer->interning[kind];
	uint32_t cnt = string_pool_count(interning->pool), number;
	Perfetto__EventName *entry;

	if (writer->err || string.length > INTERNED_NAME_MAX ||
	    interning->entry_cnt == INTERNED_PER_PACKET_MAX)
		return 0;
	if (string_pool_add(interning->pool, string.bytes, string.length, &number)) {
		writer->err = -ENOMEM;
		return 0;
	}
	if (number == cnt) {
		entry = &interning->entries[interning->entry_cnt];
		protobuf_c_message_init(intern_descriptors[kind], entry);
		entry->has_iid = true;
		entry->iid = interning->base + number;
		entry->name = packet_text(writer, string, false);
		interning->pointers[interning->entry_cnt++] = entry;
	}
	return interning->base + number;
}

static struct txtrace_string literal(const char *text)
{
	return (struct txtrace_string){ .bytes = text, .length = strlen(text) };
}

void packet_category(struct packet_writer *writer, const char *category)
{
	writer->category = intern(writer, INTERN_CATEGORY, literal(category));
	writer->event.category_iids = &writer->category;
	writer->event.n_category_iids = writer->category != 0;
}

void packet_name(struct packet_writer *writer, struct txtrace_string name)
{
	writer->event.name_iid = intern(writer, INTERN_EVENT_NAME, name);
	writer->event.has_name_iid = writer->event.name_iid != 0;
	if (!writer->event.has_name_iid)
		writer->event.name = packet_text(writer, name, false);
}

uint64_t packet_kernel_symbol(struct packet_writer *writer, const char *name)
{
	return intern(writer, INTERN_KERNEL_SYMBOL, literal(name));
}

/* ---- args ---- */

static bool make_room(struct packet_writer *writer, size_t cnt)
{
	if (writer->err)
		return false;
	if (cnt <= writer->arg_size)
		return true;
	free(writer->args);
	free(writer->arg_pointers);
	free(writer->top_args);
	writer->args = calloc(cnt, sizeof(*writer->args));
	writer->arg_pointers = calloc(cnt, sizeof(*writer->arg_pointers));
	writer->top_args = calloc(cnt, sizeof(*writer->top_args));
	writer->arg_size = writer->args && writer->arg_pointers && writer->top_args ? cnt : 0;
	if (writer->arg_size == 0)
		writer->err = -ENOMEM;
	return writer->arg_size > 0;
}

static void set_value(struct packet_writer *writer, Perfetto__DebugAnnotation *to,
		      const struct picture_arg *arg)
{
	switch (arg->type) {
	case ARG_BOOL:
		to->has_bool_value = true;
		to->bool_value = arg->value != 0;
		break;
	case ARG_INT:
		to->has_int_value = true;
		to->int_value = (int64_t)arg->value;
		break;
	case ARG_UINT:
	case ARG_ID:
		to->has_uint_value = true;
		to->uint_value = arg->value;
		break;
	case ARG_DOUBLE:
		to->has_double_value = true;
		memcpy(&to->double_value, &arg->value, sizeof(to->double_value));
		break;
	case ARG_POINTER:
		to->has_pointer_value = true;
		to->pointer_value = arg->value;
		break;
	case ARG_STRING:
	case ARG_BYTES:
		to->string_value = packet_text(writer, arg->string, arg->is_truncated);
		break;
	case ARG_GROUP:
		to->n_dict_entries = arg->value;
		break;
	}
}

void packet_args(struct packet_writer *writer, const struct picture_arg *args, size_t cnt)
{
	size_t in_group = 0;

	if (cnt == 0 || !make_room(writer, cnt))
		return;
	for (size_t i = 0; i < cnt; i++) {
		Perfetto__DebugAnnotation *to = &writer->args[i];

		perfetto__debug_annotation__init(to);
		to->name_iid = intern(writer, INTERN_ARG_NAME, args[i].name);
		to->has_name_iid = to->name_iid != 0;
		if (!to->has_name_iid)
			to->name = packet_text(writer, args[i].name, false);
		set_value(writer, to, &args[i]);
		writer->arg_pointers[i] = to;
		if (in_group > 0)
			in_group--;
		else
			writer->top_args[writer->event.n_debug_annotations++] = to;
		if (to->n_dict_entries) {
			to->dict_entries = &writer->arg_pointers[i + 1];
			in_group = to->n_dict_entries;
		}
	}
	writer->event.debug_annotations = writer->top_args;
}

/* ---- writing ---- */

static void add_interned(struct packet_writer *writer)
{
	Perfetto__InternedData *data = &writer->interned;
	struct interning *categories = &writer->interning[INTERN_CATEGORY];
	struct interning *names = &writer->interning[INTERN_EVENT_NAME];
	struct interning *arg_names = &writer->interning[INTERN_ARG_NAME];
	struct interning *symbols = &writer->interning[INTERN_KERNEL_SYMBOL];

	if (categories->entry_cnt + names->entry_cnt + arg_names->entry_cnt + symbols->entry_cnt == 0 ||
	    (!writer->packet.track_event && !writer->packet.ftrace_events))
		return;
	perfetto__interned_data__init(data);
	data->n_event_categories = categories->entry_cnt;
	data->event_categories = (Perfetto__EventCategory **)categories->pointers;
	data->n_event_names = names->entry_cnt;
	data->event_names = names->pointers;
	data->n_debug_annotation_names = arg_names->entry_cnt;
	data->debug_annotation_names = (Perfetto__DebugAnnotationName **)arg_names->pointers;
	data->n_kernel_symbols = symbols->entry_cnt;
	data->kernel_symbols = (Perfetto__InternedString **)symbols->pointers;
	writer->packet.interned_data = data;
}

/* Tag and length of field 1 of the message Trace, before the packet; returns how many bytes. */
static size_t put_packet_header(uint8_t *to, size_t length)
{
	size_t at = 0;

	to[at++] = 1 << 3 | 2;
	while (length >= 0x80) {
		to[at++] = (uint8_t)(length | 0x80);
		length >>= 7;
	}
	to[at++] = (uint8_t)length;
	return at;
}

int packet_write(struct packet_writer *writer)
{
	uint8_t header[16];
	size_t size, header_size;

	if (writer->err)
		return writer->err;
	add_interned(writer);
	size = perfetto__trace_packet__get_packed_size(&writer->packet);
	if (size > writer->byte_size) {
		uint8_t *bytes = realloc(writer->bytes, size);

		if (!bytes)
			return writer->err = -ENOMEM;
		writer->bytes = bytes;
		writer->byte_size = size;
	}
	perfetto__trace_packet__pack(&writer->packet, writer->bytes);
	header_size = put_packet_header(header, size);
	errno = 0;
	if (fwrite(header, 1, header_size, writer->out) != header_size ||
	    fwrite(writer->bytes, 1, size, writer->out) != size)
		writer->err = errno ? -errno : -EIO;
	return writer->err;
}
