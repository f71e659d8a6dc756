/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The events of a trace of the Filecoin virtual machine, as records of a log:
 * which call or label span is open, and what was charged to it. What does not
 * match is counted and passed over. Up to 4,096 calls and 1,024 label spans are
 * open at a time, and 4,096 names of charges are told apart.
 */
#ifndef FVM_STORY_H
#define FVM_STORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id_map.h"
#include "base/string_pool.h"
#include "base/text.h"
#include "import/import.h"
#include "log/format/fvm_marks.h"

#define FVM_CALL_MAX 4096u
#define FVM_LABEL_MAX 1024u
#define FVM_NAME_MAX 4096u
#define FVM_TIMED_MAX 65536u /* spans of SpanBegin that are open */

struct fvm_charge {
	struct txtrace_string name;
	int64_t compute, other; /* in milligas */
	bool has_elapsed;
	uint64_t elapsed_ns;
};

struct fvm_call {
	struct txtrace_string from, to, value, params;
	uint64_t method, gas_limit;
	bool has_gas_limit, has_read_only, is_read_only;
};

struct fvm_end {
	bool has_exit_code;
	int64_t exit_code;
	struct txtrace_string returned; /* empty: not known */
	struct txtrace_string error;
};

struct fvm_timed { /* a span of SpanBegin */
	struct txtrace_string label, tag, code;
	uint64_t parent, method, timestamp_ns;
};

struct fvm_span;

struct fvm_story {
	struct import *import;
	bool is_json;
	bool has_begun;
	uint64_t clock; /* milligas so far */
	uint64_t span_cnt;
	struct fvm_span **calls; /* the innermost last */
	size_t call_cnt;
	uint64_t deep_cnt;	  /* open calls beyond them */
	struct fvm_span **labels; /* in the order of their opening */
	size_t label_cnt;
	struct string_pool *names; /* of charges */
	struct id_map *timed;	   /* (0, number) */
	uint64_t timed_cnt, timed_open_cnt;
	struct text text;

	/* what is said in the end */
	uint64_t stray_end_cnt, stray_return_cnt, open_call_cnt, open_label_cnt, negative_cnt, sum_cnt;
	uint64_t timed_twice_cnt, timed_stray_cnt, timed_open_end_cnt, timed_parent_cnt, no_room_cnt, cut_cnt;
};

int fvm_story_init(struct fvm_story *story, struct import *import, bool is_json);
void fvm_story_release(struct fvm_story *story);

/* Each: 0 or a negative errno. */
int fvm_story_charge(struct fvm_story *story, const struct fvm_charge *charge);
int fvm_story_call(struct fvm_story *story, const struct fvm_call *call);
int fvm_story_end_call(struct fvm_story *story, const struct fvm_end *end);
/* A line of the log; it may begin or end a label span, unless it is only known that the call wrote it. */
int fvm_story_log(struct fvm_story *story, struct txtrace_string message);
/* The actor that the innermost call runs. */
int fvm_story_actor(struct fvm_story *story, struct txtrace_string code);
int fvm_story_block(struct fvm_story *story, struct txtrace_string op, struct txtrace_string cid,
		    uint64_t size);
int fvm_story_begin_timed(struct fvm_story *story, const struct fvm_timed *span);
int fvm_story_end_timed(struct fvm_story *story, uint64_t number, uint64_t timestamp_ns);

/* What is open ends, unfinished. */
int fvm_story_finish(struct fvm_story *story);

#endif
