/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a CTF 1.8 trace: `metadata`, and one for each stream, made of
 * packets. Events of a stream come in the order of time. All is aligned to
 * bytes, all integers are little-endian.
 */
#ifndef CTF_STREAM_H
#define CTF_STREAM_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "txtrace/log.h"

#define CTF_CPU_MAX 1024u /* streams of CPUs: 0 … 1023 */
#define CTF_STREAM_SPANS CTF_CPU_MAX
#define CTF_STREAM_CNT (CTF_CPU_MAX + 1)
#define CTF_COMM_BYTES 16

/* What a trace has. ctf_stream.c says which fields each has, and in which stream it is. */
enum ctf_event {
	/* streams of CPUs, with LTTng's names */
	CTF_SCHED_SWITCH = 0,
	CTF_SCHED_WAKING = 1,
	/* the stream of spans; each begins with a context: pid, tid, name of the thread */
	CTF_SPAN_BEGIN = 2,
	CTF_SPAN_END = 3,
	CTF_OPEN_SPAN = 4,
	CTF_ENTER = 5,
	CTF_EXIT = 6,
	CTF_ATTRIBUTE_BOOL = 7,
	CTF_ATTRIBUTE_INT = 8,
	CTF_ATTRIBUTE_UINT = 9,
	CTF_ATTRIBUTE_DOUBLE = 10,
	CTF_ATTRIBUTE_STRING = 11,
	CTF_ATTRIBUTE_POINTER = 12,
	CTF_INSTANT = 13,
	CTF_COUNTER = 14,
	CTF_LINK = 15,
	CTF_RUN = 16,
	CTF_WAKE = 17,
	CTF_OBJECT = 18,
	CTF_THREAD = 19,
	CTF_PROCESS = 20,
	CTF_LOSS = 21,
	CTF_DROPPED = 22,
	CTF_DAMAGE = 23,
	CTF_END = 24,
	CTF_EVENT_CNT = 25,
};

/* ---- the bytes of an event ---- */

static inline void ctf_put_u8(struct text *bytes, uint8_t value)
{
	text_append_few(bytes, &value, sizeof(value));
}

static inline void ctf_put_u32(struct text *bytes, uint32_t value)
{
	value = htole32(value);
	text_append_few(bytes, &value, sizeof(value));
}

static inline void ctf_put_u64(struct text *bytes, uint64_t value)
{
	value = htole64(value);
	text_append_few(bytes, &value, sizeof(value));
}


#define CTF_NO_STRING "-" /* what an empty one is written as */

void ctf_put_string(struct text *bytes, struct txtrace_string string); /* made valid text */
void ctf_put_text(struct text *bytes, const char *text);
/* CTF_COMM_BYTES, as the kernel has names of threads: cut off between two characters */
void ctf_put_comm(struct text *bytes, struct txtrace_string comm);

/* ---- the trace ---- */

struct ctf_trace;

/*
 * Writes the metadata. *has_wall_clock: the log tells it. directory stays the
 * caller's. 0 or a negative errno; *trace is to be freed in any case, NULL if
 * there is no memory.
 */
int ctf_trace_new(struct ctf_trace **trace, int directory, const struct txtrace_log_info *info,
		  bool *has_wall_clock);
void ctf_trace_free(struct ctf_trace *trace); /* NULL is allowed */

/* Times in a stream must not go back. 0 or a negative errno. */
int ctf_trace_event(struct ctf_trace *trace, uint32_t stream, enum ctf_event event, uint64_t time_ns,
		    const void *bytes, size_t length);

/* Ends the stream's packet here: what is lost from here on will not be told of what is before. */
int ctf_trace_cut(struct ctf_trace *trace, uint32_t stream, uint64_t time_ns);

/* So many events of the stream were lost since its last cut, or event. */
int ctf_trace_lose(struct ctf_trace *trace, uint32_t stream, uint64_t time_ns, uint64_t cnt);

/* Writes what is left. */
int ctf_trace_finish(struct ctf_trace *trace);

#endif
