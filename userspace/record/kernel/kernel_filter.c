/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/kernel_filter.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/id_map.h"
#include "record/kernel/fault_ranges.h" /* of which the skeleton has some */
#include "txtrace/event.h"
#include "txtrace/log.h"
#include "txtrace_bpf.skel.h"

#define OPEN_SPANS 262144  /* spans that are open and sampled; about 100 bytes each */
#define ENDED_SPANS 65536
#define LABELS 65536
#define ENTERED_STACKS 16384 /* threads that are in spans, or have been; about 850 bytes each */
#define SHARED_SPANS 65536
#define OPEN_KEYS 65536    /* keyed spans that are open, if labels are filtered; about 130 bytes each */

/* As in bpf/span_filter.bpf.c. */
struct label_name {
	uint64_t label;
	uint32_t tgid;
	uint32_t padding;
};

struct label_verdict {
	uint64_t code_start;
	uint32_t is_wanted;
	uint32_t padding;
};

struct kernel_filter {
	struct txtrace_bpf *bpf;
	const struct span_choices *choices;
	struct id_map programs; /* by tgid: the address of its code */
	/* by tgid and address of a label: the same, as the kernel side was told; a place has no tgid */
	struct id_map told;
};

int kernel_filter_prepare(struct txtrace_bpf *bpf, const struct span_choices *choices)
{
	int err = 0;

	bpf->rodata->cfg_sample_rate = (uint32_t)choices->sample_rate;
	bpf->rodata->cfg_filters_labels = choices->label_cnt > 0;
	if (choices->sample_rate > 1 || choices->label_cnt) {
		err = bpf_map__set_max_entries(bpf->maps.open_spans, OPEN_SPANS);
		if (!err)
			err = bpf_map__set_max_entries(bpf->maps.ended_spans, ENDED_SPANS);
		if (!err)
			err = bpf_map__set_max_entries(bpf->maps.entered_stacks, ENTERED_STACKS);
		if (!err)
			err = bpf_map__set_max_entries(bpf->maps.shared_spans, SHARED_SPANS);
	}
	if (!err && choices->label_cnt)
		err = bpf_map__set_max_entries(bpf->maps.span_labels, LABELS);
	if (!err && choices->label_cnt)
		err = bpf_map__set_max_entries(bpf->maps.open_keys, OPEN_KEYS);
	return err;
}

struct kernel_filter *kernel_filter_new(struct txtrace_bpf *bpf, const struct span_choices *choices)
{
	struct kernel_filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->bpf = bpf;
	filter->choices = choices;
	id_map_init(&filter->programs);
	id_map_init(&filter->told);
	return filter;
}

void kernel_filter_free(struct kernel_filter *filter)
{
	if (!filter)
		return;
	id_map_release(&filter->programs);
	id_map_release(&filter->told);
	free(filter);
}

/* Without memory for it the kernel side is told nothing of this program: spans pass. */
void kernel_filter_see_process(struct kernel_filter *filter, const struct event *event)
{
	bool is_gone = event->process.change == WIRE_PROCESS_EXITED ||
		       event->process.change == WIRE_PROCESS_LEFT;

	if (!filter->choices->label_cnt)
		return;
	if (is_gone || !event->process.code_start ||
	    id_map_put(&filter->programs, 0, event->tgid, (void *)(uintptr_t)event->process.code_start))
		id_map_remove(&filter->programs, 0, event->tgid);
}

static void forget_all(struct id_map *map)
{
	id_map_release(map);
	id_map_init(map);
}

void kernel_filter_see_label(struct kernel_filter *filter, uint32_t tgid, uint64_t label,
			     const struct event_text *text)
{
	bool is_place = label & WIRE_LABEL_IS_PLACE;
	const struct label_name name = { .label = label, .tgid = is_place ? 0 : tgid };
	void *program = is_place ? filter : id_map_get(&filter->programs, 0, tgid);
	struct label_verdict verdict = { .code_start = is_place ? 0 : (uintptr_t)program };

	if (!filter->choices->label_cnt || !program ||
	    id_map_get(&filter->told, name.tgid, label) == program)
		return;
	if (filter->told.cnt >= LABELS)
		forget_all(&filter->told);
	verdict.is_wanted = span_choices_want_label(filter->choices, text);
	if (!id_map_put(&filter->told, name.tgid, label, program))
		bpf_map_update_elem(bpf_map__fd(filter->bpf->maps.span_labels), &name, &verdict, BPF_ANY);
}

void kernel_filter_count(const struct wire_counters *counters, uint32_t cpu_cnt, uint64_t *left_out_cnt)
{
	static const unsigned int kinds[WIRE_LEFT_OUT_COUNT] = {
		[WIRE_LEFT_OUT_SAMPLE] = TXTRACE_LEFT_OUT_SAMPLE,
		[WIRE_LEFT_OUT_LABEL] = TXTRACE_LEFT_OUT_LABEL,
		[WIRE_LEFT_OUT_NO_ROOM] = TXTRACE_LEFT_OUT_NO_ROOM,
		[WIRE_LEFT_OUT_EVENT] = TXTRACE_LEFT_OUT_MARK,
	};

	for (uint32_t cpu = 0; cpu < cpu_cnt && cpu < WIRE_CPU_MAX; cpu++)
		for (unsigned int i = 0; i < WIRE_LEFT_OUT_COUNT; i++)
			left_out_cnt[kinds[i]] += __atomic_load_n(&counters[cpu].left_out[i],
								  __ATOMIC_RELAXED);
}
