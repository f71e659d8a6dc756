// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "span_filter.h"
#include "emit.h"

#include <bpf/bpf_core_read.h>

#define EEXIST 17

const volatile uint32_t cfg_sample_rate = 1;
const volatile bool cfg_filters_labels;

struct sampled {
	uint64_t recorded;    /* the parent that its children are recorded with; 0: none */
	uint32_t is_recorded; /* itself */
	uint32_t padding;
};

/* The recorder makes them large if they are used. Who is left behind in it (a process that ended) is pushed out in time. */
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
	uint64_t address;
	uint32_t tgid;
	uint32_t padding;
};

struct label_verdict {
	uint64_t code_start; /* of the program that the address belongs to: after an exec it is another one, or as good as certain */
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

static __always_inline bool is_label_wanted(uint64_t label)
{
	struct label_name name = { .address = label, .tgid = bpf_get_current_pid_tgid() >> 32 };
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct label_verdict *verdict;

	if (!cfg_filters_labels)
		return true;
	verdict = bpf_map_lookup_elem(&span_labels, &name);
	return !verdict || verdict->is_wanted || verdict->code_start != BPF_CORE_READ(task, mm, start_code);
}

__hidden bool span_filter_begin(uint64_t id, uint64_t label, uint64_t *parent)
{
	struct span_name name = name_of(id), above = name_of(*parent);
	struct sampled *parent_sampled = *parent ? find(&above) : 0;
	struct sampled sampled = { .recorded = id, .is_recorded = 1 };

	if (cfg_sample_rate > 1 && (*parent ? !parent_sampled : !is_chosen(mix(mix(id) + name.tgid))))
		return leave_out(WIRE_LEFT_OUT_SAMPLE);
	if (parent_sampled)
		*parent = parent_sampled->recorded;
	if (!is_label_wanted(label)) {
		sampled.recorded = *parent;
		sampled.is_recorded = 0;
	}
	if (bpf_map_update_elem(&open_spans, &name, &sampled, BPF_ANY))
		return leave_out(WIRE_LEFT_OUT_NO_ROOM);
	return sampled.is_recorded ? true : leave_out(WIRE_LEFT_OUT_LABEL);
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

	if (!sampled)
		return leave_out(WIRE_LEFT_OUT_EVENT);
	ended = *sampled;
	bpf_map_update_elem(&ended_spans, &name, &ended, BPF_ANY);
	bpf_map_delete_elem(&open_spans, &name);
	return ended.is_recorded ? true : leave_out(WIRE_LEFT_OUT_EVENT);
}

static __always_inline bool is_key_chosen(const struct span_key *key)
{
	uint64_t hash = 0;

	if (cfg_sample_rate <= 1)
		return true;
#pragma unroll
	for (int i = 0; i < WIRE_KEY_MAX / 8; i++)
		hash = mix(hash ^ key->bytes[i]) + i;
	return is_chosen(mix(hash));
}

/* A begin while the key is open passes if the first one did: the recorder knows that span, and what a second begin means for it. */
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

__hidden bool span_filter_has_key(const struct span_key *key, const uint8_t kind, uint64_t label)
{
	if (!is_key_chosen(key))
		return leave_out(kind == WIRE_KEY_BEGIN ? WIRE_LEFT_OUT_SAMPLE : WIRE_LEFT_OUT_EVENT);
	if (!cfg_filters_labels)
		return true;
	if (kind == WIRE_KEY_BEGIN)
		return key_begin_passes(key, label) || leave_out(WIRE_LEFT_OUT_LABEL);
	return key_passes(key, kind) || leave_out(WIRE_LEFT_OUT_EVENT);
}
