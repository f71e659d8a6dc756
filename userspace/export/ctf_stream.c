/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet is kept in memory until it is full, and then appended to its stream's file, which is open only
 * meanwhile: a machine may have more CPUs than a process may have files. Each packet begins where the one
 * before has ended, so that readers know between which times events were lost: `events_discarded` counts from
 * the stream's beginning, and a reader tells the difference between two packets.
 */
#include "export/ctf_stream.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/saturating.h"

#define MAGIC 0xc1fc1fc1u
#define PACKET_BYTES 32768u /* after which an event ends its packet */
#define BITS 8u
#define SECOND_NS UINT64_C(1000000000)
/* A reader adds this to times below 2^62, in 63 bits. */
#define OFFSET_MAX_NS (UINT64_C(1) << 62)

enum stream_class {
	CLASS_CPU = 0,
	CLASS_SPANS = 1,
};

struct stream {
	struct text events; /* of the packet that is under way */
	uint64_t begin_ns, end_ns; /* its times; begin: where the one before ended */
	uint64_t lost_cnt;
	uint64_t packet_cnt;
	bool has_begun;
};

struct ctf_trace {
	int directory;
	uint8_t uuid[16];
	struct text packet;
	struct stream streams[CTF_STREAM_CNT];
};

/* ---- the metadata ---- */

struct event_class {
	const char *name;
	enum stream_class stream_class;
	const char *fields;
};

#define LEDGER_FIELDS                                                                                     \
	"u64 on_cpu_ns; u64 runnable_ns; u64 lock_ns; u64 disk_ns; u64 network_ns; u64 sleep_ns; "        \
	"u64 page_fault_ns; u64 pipe_ns; u64 wait_ns; u64 stopped_ns; u64 other_ns; u64 throttled_ns; "   \
	"u64 poll_ns; u64 detached_ns; u64 unknown_ns; u64 interrupt_ns; u64 stolen_ns; "
#define ATTRIBUTE_FIELDS "u64 span; string name; "
#define WAKE_FIELDS                                                                               \
	"comm_t comm; s32 tid; s32 prio; s32 target_cpu; u32 pid; u32 waker_pid; u32 waker_tid; " \
	"string waker_comm; u32 flags; u64 span; u64 waker_span; "

static const struct event_class classes[CTF_EVENT_CNT] = {
	[CTF_SCHED_SWITCH] = { "sched_switch", CLASS_CPU,
			       "comm_t prev_comm; s32 prev_tid; s32 prev_prio; s64 prev_state; "
			       "comm_t next_comm; s32 next_tid; s32 next_prio; " },
	[CTF_SCHED_WAKING] = { "sched_waking", CLASS_CPU, WAKE_FIELDS },
	[CTF_SPAN_BEGIN] = { "txtrace:span_begin", CLASS_SPANS,
			     "u64 span; u64 parent; string label; string key; " },
	[CTF_SPAN_END] = { "txtrace:span_end", CLASS_SPANS,
			   "u64 span; string label; string tag; u8 lower_bound; u8 unfinished; u8 loss; "
			   "u8 moved; u64 begin_ns; u64 work_ns; " LEDGER_FIELDS },
	[CTF_OPEN_SPAN] = { "txtrace:open_span", CLASS_SPANS,
			    "u64 span; u64 parent; string label; string key; u64 begin_ns; " },
	[CTF_ENTER] = { "txtrace:enter", CLASS_SPANS, "u64 span; u32 span_pid; " },
	[CTF_EXIT] = { "txtrace:exit", CLASS_SPANS, "u64 span; u32 span_pid; " },
	[CTF_ATTRIBUTE_BOOL] = { "txtrace:attribute_bool", CLASS_SPANS, ATTRIBUTE_FIELDS "u8 value; " },
	[CTF_ATTRIBUTE_INT] = { "txtrace:attribute_int", CLASS_SPANS, ATTRIBUTE_FIELDS "s64 value; " },
	[CTF_ATTRIBUTE_UINT] = { "txtrace:attribute_uint", CLASS_SPANS, ATTRIBUTE_FIELDS "u64 value; " },
	[CTF_ATTRIBUTE_DOUBLE] = { "txtrace:attribute_double", CLASS_SPANS, ATTRIBUTE_FIELDS "f64 value; " },
	[CTF_ATTRIBUTE_STRING] = { "txtrace:attribute_string", CLASS_SPANS,
				   ATTRIBUTE_FIELDS "string value; u8 truncated; " },
	[CTF_ATTRIBUTE_POINTER] = { "txtrace:attribute_pointer", CLASS_SPANS,
				    ATTRIBUTE_FIELDS "x64 value; " },
	[CTF_INSTANT] = { "txtrace:instant", CLASS_SPANS, "u64 span; string name; " },
	[CTF_COUNTER] = { "txtrace:counter", CLASS_SPANS, "string name; s64 value; " },
	[CTF_LINK] = { "txtrace:link", CLASS_SPANS, "u64 from; u64 to; string name; " },
	[CTF_RUN] = { "txtrace:run", CLASS_SPANS,
		      "s32 cpu; u64 begin_ns; u64 blocked_ns; u64 runnable_ns; u64 idle_ns; "
		      "u64 stolen_ns; u64 idle_stolen_ns; string left_as; "
		      "string reason; s32 syscall_nr; x64 object; string wait_reason; x64 wait_object; " },
	[CTF_WAKE] = { "txtrace:wake", CLASS_SPANS, WAKE_FIELDS },
	[CTF_OBJECT] = { "txtrace:object", CLASS_SPANS, "string reason; x64 object; string name; " },
	[CTF_THREAD] = { "txtrace:thread", CLASS_SPANS, "string comm; u8 seed; u8 exit; " },
	[CTF_PROCESS] = { "txtrace:process", CLASS_SPANS,
			  "u32 parent_pid; u32 inner_pid; u64 start_ns; u8 seed; u8 exit; string comm; "
			  "string exe; string command; " },
	[CTF_LOSS] = { "txtrace:loss", CLASS_SPANS,
		       "u64 first_ns; u64 last_ns; s32 cpu; u64 span_event_cnt; u64 sched_event_cnt; " },
	[CTF_DROPPED] = { "txtrace:dropped", CLASS_SPANS,
			  "u64 first_ns; u64 last_ns; u64 batch_cnt; u64 record_cnt; " },
	[CTF_DAMAGE] = { "txtrace:damage", CLASS_SPANS,
			 "u64 offset_bytes; u64 length_bytes; u64 record_cnt; string reason; " },
	[CTF_END] = { "txtrace:end", CLASS_SPANS, "u8 complete; " },
};

#define INTEGER(size, sign, more) "integer { size = " #size "; align = 8; signed = " #sign "; " more "}"

static const char types[] =
	"typealias " INTEGER(8, false, "") " := u8;\n"
	"typealias " INTEGER(32, false, "") " := u32;\n"
	"typealias " INTEGER(64, false, "") " := u64;\n"
	"typealias " INTEGER(32, true, "") " := s32;\n"
	"typealias " INTEGER(64, true, "") " := s64;\n"
	"typealias " INTEGER(64, false, "base = 16; ") " := x64;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; byte_order = le; align = 8; } := f64;\n"
	"typealias " INTEGER(8, false, "encoding = UTF8; ") " := char_t;\n"
	"typealias " INTEGER(64, false, "map = clock.monotonic.value; ") " := ts_t;\n";

#define PACKET_FIELDS                                                                     \
	"ts_t timestamp_begin; ts_t timestamp_end; u64 content_size; u64 packet_size; "   \
	"u64 events_discarded; u64 packet_seq_num; "

static const char streams[] =
	"stream {\n"
	"  id = 0;\n"
	"  packet.context := struct { " PACKET_FIELDS "u32 cpu_id; };\n"
	"  event.header := struct { u8 id; ts_t timestamp; };\n"
	"};\n"
	"stream {\n"
	"  id = 1;\n"
	"  packet.context := struct { " PACKET_FIELDS "};\n"
	"  event.header := struct { u8 id; ts_t timestamp; };\n"
	"  event.context := struct { u32 vpid; u32 vtid; string procname; };\n"
	"};\n";

static void append_uuid(struct text *text, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		text_append_format(text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* A string of the language of the metadata, whose readers differ in what they make of anything but ASCII. */
static void append_env(struct text *text, const char *name, const char *value, size_t size)
{
	text_append_format(text, "  %s = \"", name);
	for (size_t i = 0; i < size && value[i]; i++) {
		char letter = value[i] >= 0x20 && value[i] < 0x7f ? value[i] : '?';

		if (letter == '"' || letter == '\\')
			text_append(text, "\\");
		text_append_bytes(text, &letter, 1);
	}
	text_append(text, "\";\n");
}

static void append_head(struct text *text, const struct ctf_trace *trace)
{
	text_append(text, "/* CTF 1.8 */\n\n");
	text_append(text, types);
	text_append(text, "\ntrace {\n  major = 1;\n  minor = 8;\n  uuid = \"");
	append_uuid(text, trace->uuid);
	text_append(text, "\";\n  byte_order = le;\n"
			  "  packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; };\n};\n");
}

/* Trace Compass takes a trace with these names for one of the kernel, and shows its sched events. */
static void append_machine(struct text *text, const struct txtrace_log_info *info)
{
	text_append(text, "env {\n  domain = \"kernel\";\n  sysname = \"Linux\";\n"
			  "  tracer_name = \"lttng-modules\";\n  tracer_major = 2;\n  tracer_minor = 13;\n"
			  "  tracer_patchlevel = 0;\n");
	append_env(text, "hostname", info->host, sizeof(info->host));
	append_env(text, "kernel_release", info->kernel, sizeof(info->kernel));
	append_env(text, "txtrace_recorder", info->recorder, sizeof(info->recorder));
	append_env(text, "txtrace_command", info->command, sizeof(info->command));
	text_append_format(text, "  txtrace_cpu_cnt = %" PRIu32 ";\n};\n", info->cpu_cnt);
}

static void append_clock(struct text *text, uint64_t offset_ns)
{
	text_append(text, "clock {\n  name = monotonic;\n  description = \"CLOCK_MONOTONIC\";\n"
			  "  freq = 1000000000;\n  precision = 1;\n");
	text_append_format(text, "  offset_s = %" PRIu64 ";\n  offset = %" PRIu64 ";\n};\n",
			   offset_ns / SECOND_NS, offset_ns % SECOND_NS);
}

static void append_event(struct text *text, unsigned int id)
{
	const char *at = classes[id].fields, *comm;

	text_append_format(text, "event {\n  id = %u;\n  stream_id = %d;\n  name = \"%s\";\n", id,
			   classes[id].stream_class, classes[id].name);
	text_append(text, "  fields := struct { ");
	/* The language has arrays, but no name for the type of one. */
	while ((comm = strstr(at, "comm_t "))) {
		const char *end = strchr(comm, ';');

		text_append_bytes(text, at, (size_t)(comm - at));
		text_append(text, "char_t ");
		comm += strlen("comm_t ");
		text_append_bytes(text, comm, (size_t)(end - comm));
		text_append_format(text, "[%d]", CTF_COMM_BYTES);
		at = end;
	}
	text_append(text, at);
	text_append(text, "};\n};\n");
}

/* ---- files ---- */

static int write_fd(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

static int append_file(const struct ctf_trace *trace, const char *name, const struct text *text)
{
	int fd, err;

	if (text->err)
		return text->err;
	fd = openat(trace->directory, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	err = write_fd(fd, text->bytes, text->length);
	if (close(fd) != 0 && !err)
		err = -errno;
	return err;
}

int ctf_trace_new(struct ctf_trace **made, int directory, const struct txtrace_log_info *info,
		  bool *has_wall_clock)
{
	struct ctf_trace *trace = *made = calloc(1, sizeof(*trace));
	struct text metadata = { 0 };
	uint64_t offset_ns;
	int err;

	if (!trace)
		return -ENOMEM;
	trace->directory = directory;
	memcpy(trace->uuid, info->capture_id, sizeof(trace->uuid));
	offset_ns = info->start_realtime_ns - info->start_monotonic_ns;
	*has_wall_clock = info->start_realtime_ns > info->start_monotonic_ns && offset_ns < OFFSET_MAX_NS;
	append_head(&metadata, trace);
	append_machine(&metadata, info);
	append_clock(&metadata, *has_wall_clock ? offset_ns : 0);
	text_append(&metadata, streams);
	for (unsigned int id = 0; id < CTF_EVENT_CNT; id++)
		append_event(&metadata, id);
	err = append_file(trace, "metadata", &metadata);
	text_release(&metadata);
	return err;
}

void ctf_trace_free(struct ctf_trace *trace)
{
	if (!trace)
		return;
	for (uint32_t i = 0; i < CTF_STREAM_CNT; i++)
		text_release(&trace->streams[i].events);
	text_release(&trace->packet);
	free(trace);
}

/* ---- packets ---- */

/* babeltrace2 2.0 shows an empty string as the one that the field held before. */
static void append_string(struct text *bytes, struct txtrace_string string)
{
	if (string.length == 0)
		text_append(bytes, CTF_NO_STRING);
	text_append_visible(bytes, string.bytes, string.length);
}

void ctf_put_string(struct text *bytes, struct txtrace_string string)
{
	append_string(bytes, string);
	ctf_put_u8(bytes, 0);
}

void ctf_put_text(struct text *bytes, const char *text)
{
	ctf_put_string(bytes, (struct txtrace_string){ text, strlen(text) });
}

void ctf_put_comm(struct text *bytes, struct txtrace_string comm)
{
	size_t begin = bytes->length, end;

	append_string(bytes, comm);
	if (bytes->err)
		return;
	end = bytes->length;
	if (end - begin > CTF_COMM_BYTES - 1) {
		end = begin + CTF_COMM_BYTES - 1;
		while (end > begin && (bytes->bytes[end] & 0xc0) == 0x80)
			end--;
	}
	bytes->length = end;
	while (!bytes->err && bytes->length < begin + CTF_COMM_BYTES)
		ctf_put_u8(bytes, 0);
}

static void file_name(char name[16], uint32_t stream)
{
	if (stream == CTF_STREAM_SPANS)
		strcpy(name, "spans");
	else
		snprintf(name, 16, "cpu_%" PRIu32, stream);
}

static int write_packet(struct ctf_trace *trace, uint32_t number)
{
	const size_t head_bytes = 4 + 16 + 4 + 6 * 8 + (number == CTF_STREAM_SPANS ? 0 : 4);
	struct stream *stream = &trace->streams[number];
	struct text *packet = &trace->packet;
	char name[16];
	int err;

	if (stream->events.err)
		return stream->events.err;
	text_clear(packet);
	ctf_put_u32(packet, MAGIC);
	text_append_bytes(packet, (const char *)trace->uuid, sizeof(trace->uuid));
	ctf_put_u32(packet, number == CTF_STREAM_SPANS ? CLASS_SPANS : CLASS_CPU);
	ctf_put_u64(packet, stream->begin_ns);
	ctf_put_u64(packet, stream->end_ns);
	for (int i = 0; i < 2; i++) /* of the content, and of the packet: there is no padding */
		ctf_put_u64(packet, (head_bytes + stream->events.length) * BITS);
	ctf_put_u64(packet, stream->lost_cnt);
	ctf_put_u64(packet, stream->packet_cnt);
	if (number != CTF_STREAM_SPANS)
		ctf_put_u32(packet, number);
	text_append_bytes(packet, text_string(&stream->events), stream->events.length);
	file_name(name, number);
	err = append_file(trace, name, packet);
	stream->packet_cnt++;
	stream->begin_ns = stream->end_ns;
	text_clear(&stream->events);
	return err;
}

/* Streams begin with what comes first. */
static struct stream *stream_at(struct ctf_trace *trace, uint32_t number, uint64_t time_ns)
{
	struct stream *stream = &trace->streams[number];

	if (!stream->has_begun)
		stream->begin_ns = time_ns;
	stream->has_begun = true;
	stream->end_ns = time_ns;
	return stream;
}

int ctf_trace_event(struct ctf_trace *trace, uint32_t number, enum ctf_event event, uint64_t time_ns,
		    const void *bytes, size_t length)
{
	struct stream *stream = stream_at(trace, number, time_ns);

	ctf_put_u8(&stream->events, (uint8_t)event);
	ctf_put_u64(&stream->events, time_ns);
	text_append_bytes(&stream->events, bytes, length);
	return stream->events.err || stream->events.length >= PACKET_BYTES ? write_packet(trace, number) : 0;
}

int ctf_trace_cut(struct ctf_trace *trace, uint32_t number, uint64_t time_ns)
{
	struct stream *stream = stream_at(trace, number, time_ns);

	/* A reader can't tell what was lost in a stream's first packet. */
	return stream->events.length > 0 || stream->packet_cnt == 0 || stream->begin_ns < time_ns
		       ? write_packet(trace, number)
		       : 0;
}

int ctf_trace_lose(struct ctf_trace *trace, uint32_t number, uint64_t time_ns, uint64_t cnt)
{
	struct stream *stream = stream_at(trace, number, time_ns);

	increase(&stream->lost_cnt, cnt);
	if (stream->lost_cnt > INT64_MAX)
		stream->lost_cnt = INT64_MAX; /* babeltrace2 ends itself at the largest number */
	return write_packet(trace, number);
}

int ctf_trace_finish(struct ctf_trace *trace)
{
	int err = 0;

	for (uint32_t i = 0; i < CTF_STREAM_CNT && !err; i++)
		if (trace->streams[i].events.length > 0)
			err = write_packet(trace, i);
	return err;
}
