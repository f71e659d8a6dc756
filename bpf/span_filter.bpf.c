// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "span_filter.h"
#include "emit.h"
#include "entered.h"

#include <bpf/bpf_core_read.h>

#define EEXIST 17

const volatile uint32_t cfg_sample_rate = 1;
const volatile bool cfg_filters_labels;

struct sampled {
	uint64_t recorded;    /* the parent that its children are recorded with, or WIRE_PARENT_ROOT */
	uint32_t is_recorded; /* itself */
	uint32_t padding;
};

/*
 * The recorder makes them large if they are used. Who is left behind in it (a process that ended) is pushed
 * out in time.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct span_name);
	__type(value, struct sampled);
} open_spans SEC(".maps");

/* Of those that ended last: children may begin, and things be said, after the end. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct span_name);
	__type(value, struct sampled);
} ended_spans SEC(".maps");

struct label_name {
	uint64_t label; /* as on the wire */
	uint32_t tgid;  /* of an address; of a place, which is the same for all: 0 */
	uint32_t padding;
};

struct label_verdict {
	/*
	 * of the program that an address belongs to: after an exec it is another one, or as good as certain
	 */
	uint64_t code_start;
	uint32_t is_wanted;
	uint32_t padding;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct label_name);
	__type(value, struct label_verdict);
} span_labels SEC(".maps");

/* Keyed spans that are open, if labels are filtered: was its begin left out? */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct span_key);
	__type(value, uint32_t);
} open_keys SEC(".maps");

static bool are_keys_missing; /* in open_keys: there was no room */

static __always_inline bool leave_out(uint32_t what)
{
	struct wire_counters *c = &counters[bpf_get_smp_processor_id() & (WIRE_CPU_MAX - 1)];

	__sync_fetch_and_add(&c->left_out[what], 1);
	return false;
}

/* The finalizer of splitmix64: every bit of the input changes half of those of the result. */
static __always_inline uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static __always_inline bool is_chosen(uint64_t hash)
{
	return (uint32_t)(hash >> 32) % cfg_sample_rate == 0;
}

static __always_inline struct span_name name_of(uint64_t id)
{
	return (struct span_name){ .id = id, .tgid = bpf_get_current_pid_tgid() >> 32 };
}

static __always_inline struct sampled *find(const struct span_name *name)
{
	struct sampled *sampled = bpf_map_lookup_elem(&open_spans, name);

	return sampled ? sampled : bpf_map_lookup_elem(&ended_spans, name);
}

/* Of one that is copied the recorder tells no verdict: the address may hold another text each time. */
static __always_inline bool is_label_wanted(uint64_t label)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct label_name name = { .label = label };
	struct label_verdict *verdict;

	if (!cfg_filters_labels)
		return true;
	if (!(label & WIRE_LABEL_IS_PLACE))
		name.tgid = bpf_get_current_pid_tgid() >> 32;
	verdict = bpf_map_lookup_elem(&span_labels, &name);
	return !verdict || verdict->is_wanted ||
	       (!(label & WIRE_LABEL_IS_PLACE) &&
		verdict->code_start != BPF_CORE_READ(task, mm, start_code));
}

#define NOT_LEFT_OUT WIRE_LEFT_OUT_COUNT

/*
 * Of a span that names no parent, by what its thread is in. *within: that span's own, if it is recorded, or
 * what spans in it are recorded with.
 */
static __always_inline uint32_t judge_nested(uint64_t id, uint32_t tgid, uint64_t *parent, uint64_t *within,
					     uint16_t *flags)
{
	bool is_known;
	const struct entered *top = entered_top(&is_known);

	if (!is_known)
		return WIRE_LEFT_OUT_NO_ROOM;
	if (!top) {
		*parent = *within = WIRE_PARENT_ROOT;
		return cfg_sample_rate > 1 && !is_chosen(mix(mix(id) + tgid)) ? WIRE_LEFT_OUT_SAMPLE
									      : NOT_LEFT_OUT;
	}
	if (top->within == WITHIN_LEFT_OUT)
		return WIRE_LEFT_OUT_SAMPLE;
	*within = top->within;
	*parent =
		top->within == top->id
			? 0
			/* itself: the recorder knows, and better, as its stacks have no bound */
			: top->within;
	*flags = WIRE_IS_NESTED;
	return NOT_LEFT_OUT;
}

/* Of one that names its parent, or says that it has none. */
static __always_inline uint32_t judge_named(uint64_t id, uint32_t tgid, uint64_t *parent, uint64_t *within)
{
	struct span_name above = name_of(*parent);
	struct sampled *parent_sampled = *parent != WIRE_PARENT_ROOT ? find(&above) : 0;

	if (cfg_sample_rate > 1 &&
	    (*parent != WIRE_PARENT_ROOT ? !parent_sampled : !is_chosen(mix(mix(id) + tgid))))
		return WIRE_LEFT_OUT_SAMPLE;
	if (parent_sampled)
		*parent = parent_sampled->recorded;
	*within = *parent;
	return NOT_LEFT_OUT;
}

/*
 * The thread is in it. On a full stack it is not remembered: that is all right for one that is judged as its
 * parent is, by what is on top; not for one that is judged by itself, as spans in it would be judged
 * otherwise.
 */
static __always_inline bool is_remembered(uint64_t id, uint64_t within, bool is_nested)
{
	return entered_push(id, within, false) || is_nested;
}

__hidden bool span_filter_begin(const uint8_t kind, uint64_t id, uint64_t label, uint64_t *parent,
				uint16_t *flags)
{
	bool is_detached = kind == WIRE_BEGIN_DETACHED, is_nested = !*parent && !is_detached;
	struct span_name name = name_of(id);
	struct sampled sampled = { .recorded = id, .is_recorded = 1 };
	uint64_t within = WIRE_PARENT_ROOT;
	uint32_t why;

	if (!*parent && is_detached)
		*parent = WIRE_PARENT_ROOT;
	why = is_nested ? judge_nested(id, name.tgid, parent, &within, flags)
			: judge_named(id, name.tgid, parent, &within);
	if (why != NOT_LEFT_OUT) {
		if (!is_detached && why == WIRE_LEFT_OUT_SAMPLE &&
		    !is_remembered(id, WITHIN_LEFT_OUT, is_nested))
			why = WIRE_LEFT_OUT_NO_ROOM;
		return leave_out(why);
	}
	if (!is_label_wanted(label)) {
		sampled.recorded = within;
		sampled.is_recorded = 0;
	}
	if ((!is_detached && !is_remembered(id, sampled.recorded, is_nested)) ||
	    bpf_map_update_elem(&open_spans, &name, &sampled, BPF_ANY))
		return leave_out(WIRE_LEFT_OUT_NO_ROOM);
	return sampled.is_recorded ? true : leave_out(WIRE_LEFT_OUT_LABEL);
}

__hidden bool span_filter_enter(uint64_t id)
{
	struct span_name name = name_of(id);
	struct sampled *sampled = id ? bpf_map_lookup_elem(&open_spans, &name) : 0;

	if (sampled || cfg_sample_rate > 1) {
		entered_share(id, false);
		entered_push(id, sampled ? sampled->recorded : WITHIN_LEFT_OUT, false);
	}
	return span_filter_has(id);
}

__hidden bool span_filter_leave(uint64_t id)
{
	entered_leave(id, false, false);
	return span_filter_has(id);
}

__hidden bool span_filter_has(uint64_t id)
{
	struct span_name name = name_of(id);
	struct sampled *sampled = id ? find(&name) : 0;

	if (!id || (sampled && sampled->is_recorded))
		return true;
	return leave_out(WIRE_LEFT_OUT_EVENT);
}

__hidden bool span_filter_end(uint64_t id)
{
	struct span_name name = name_of(id);
	struct sampled *sampled = bpf_map_lookup_elem(&open_spans, &name);
	struct sampled ended;

	entered_leave(id, false, true);
	if (!sampled)
		return leave_out(WIRE_LEFT_OUT_EVENT);
	ended = *sampled;
	bpf_map_update_elem(&ended_spans, &name, &ended, BPF_ANY);
	bpf_map_delete_elem(&open_spans, &name);
	return ended.is_recorded ? true : leave_out(WIRE_LEFT_OUT_EVENT);
}

static __always_inline uint64_t hash_of_key(const struct span_key *key)
{
	uint64_t hash = 0;

#pragma unroll
	for (int i = 0; i < WIRE_KEY_MAX / 8; i++)
		hash = mix(hash ^ key->bytes[i]) + i;
	return mix(hash);
}

/*
 * A begin while the key is open passes if the first one did: the recorder knows that span, and what a second
 * begin means for it.
 */
static __always_inline bool key_begin_passes(const struct span_key *key, uint64_t label)
{
	uint32_t passed = 0, left_out = 1, *before;

	if (is_label_wanted(label)) {
		if (bpf_map_update_elem(&open_keys, key, &passed, BPF_ANY))
			are_keys_missing = true;
		return true;
	}
	if (!are_keys_missing) {
		long err = bpf_map_update_elem(&open_keys, key, &left_out, BPF_NOEXIST);

		if (!err)
			return false;
		if (err != -EEXIST)
			are_keys_missing = true;
	}
	before = bpf_map_lookup_elem(&open_keys, key);
	return !before || !*before;
}

static __always_inline bool key_passes(const struct span_key *key, const uint8_t kind)
{
	uint32_t *before = bpf_map_lookup_elem(&open_keys, key);
	bool passes = !before || !*before;

	if (before && kind == WIRE_KEY_END)
		bpf_map_delete_elem(&open_keys, key);
	return passes;
}

static __always_inline void follow_key(uint64_t id, const uint8_t kind, uint64_t within)
{
	if (kind == WIRE_KEY_BEGIN)
		entered_renew(id, true);
	if (kind == WIRE_KEY_BEGIN || kind == WIRE_KEY_ENTER) {
		entered_push(id, within, true);
		if (kind == WIRE_KEY_ENTER)
			entered_share(id, true);
	} else if (kind != WIRE_KEY_INSTANT) {
		entered_leave(id, true, kind == WIRE_KEY_END);
	}
}

__hidden bool span_filter_has_key(const struct span_key *key, const uint8_t kind, uint64_t label)
{
	uint64_t hash = hash_of_key(key);
	bool is_begin = kind == WIRE_KEY_BEGIN, passes = true;

	if (cfg_sample_rate > 1 && !is_chosen(hash)) {
		follow_key(hash, kind, WITHIN_LEFT_OUT);
		return leave_out(is_begin ? WIRE_LEFT_OUT_SAMPLE : WIRE_LEFT_OUT_EVENT);
	}
	if (cfg_filters_labels)
		passes = is_begin ? key_begin_passes(key, label) : key_passes(key, kind);
	follow_key(hash, kind, passes ? WITHIN_NESTED : WIRE_PARENT_ROOT);
	return passes || leave_out(is_begin ? WIRE_LEFT_OUT_LABEL : WIRE_LEFT_OUT_EVENT);
}
