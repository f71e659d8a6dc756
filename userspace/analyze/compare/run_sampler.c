/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/run_sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/child_counts.h"
#include "analyze/compare/label_sample.h"
#include "analyze/compare/run_waits.h"
#include "analyze/compare/wait_counts.h"
#include "base/id_map.h"

#define EXTRAS_MAX 400000 /* of all labels and windows */
#define NAME_BYTES_MAX 256

/* How many of a key the spans of a label had in a window. */
struct extra_sum {
	uint32_t slot;
	uint32_t key;
	double sum;
};

struct run_sampler {
	struct run_set *set;
	enum compare_side side;
	struct run_windows windows;
	uint32_t run; /* its index in the set */
	/* samples of a label: its windows, and where there are several, the whole run */
	uint32_t width;
	struct label_sample *samples; /* [label * width + window] */
	uint32_t slot_cnt;
	struct id_map extras; /* by slot and key */
	struct child_counts *children;
	struct wait_counts ended_waits;
	struct wait_sums *waits;
	struct lock_holds *holds;
	struct syscall_table syscalls;
	struct sample_memory memory;
	struct seeded_random random;
	uint64_t unlabelled_cnt, uncounted_cnt;
};

static int add_key(struct run_sampler *sampler, enum extra_kind kind, const char *name, uint32_t *key)
{
	return run_set_add_key(sampler->set, kind, (struct txtrace_string){ name, strlen(name) }, key);
}

static int add_ended_wait(struct run_sampler *sampler, const struct txtrace_wake *wake,
			  const struct ended_wait *wait)
{
	const struct syscall_row *call = wait->syscall_nr >= 0
						 ? syscall_table_get(&sampler->syscalls, wait->syscall_nr)
						 : NULL;
	uint32_t keys[2];
	size_t cnt = 0;
	int err = 0;

	if (!wake->span)
		return 0;
	err = add_key(sampler, EXTRA_REASON, txtrace_block_reason_name(wait->reason), &keys[cnt++]);
	if (!err && call)
		err = add_key(sampler, EXTRA_SYSCALL, call->name, &keys[cnt++]);
	return err ? err
		   : child_counts_add(sampler->children, wake->flags & TXTRACE_WAKE_SPAN_KEYED, wake->pid,
				      wake->span, keys, cnt);
}

static int init(struct run_sampler *sampler, const char *path, const char *kernel, uint64_t memory_max_bytes)
{
	struct wait_sums_options options = {
		.max_bytes = memory_max_bytes / 8 * 3, .is_by_object = true, .kernel = kernel,
	};
	struct compare_run *run;
	int err = run_set_add_run(sampler->set, sampler->side, path, sampler->windows.cnt, &run);

	id_map_init(&sampler->extras);
	wait_counts_init(&sampler->ended_waits);
	sampler->run = (uint32_t)sampler->set->run_cnt[sampler->side] - 1;
	sampler->memory.max_bytes = memory_max_bytes / 2;
	syscall_table_init(&sampler->syscalls, kernel);
	seeded_random_init(&sampler->random, 1 + sampler->run);
	sampler->children = child_counts_new();
	sampler->waits = wait_sums_new(&options);
	sampler->holds = lock_holds_new(memory_max_bytes / 8);
	return !err && sampler->children && sampler->waits && sampler->holds ? 0 : -ENOMEM;
}

struct run_sampler *run_sampler_new(struct run_set *set, enum compare_side side, const char *path,
				    const struct run_windows *windows, const char *kernel,
				    uint64_t memory_max_bytes)
{
	struct run_sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	sampler->set = set;
	sampler->side = side;
	sampler->windows = *windows;
	sampler->width = set->is_windowed ? windows->cnt + 1 : 1;
	if (init(sampler, path, kernel, memory_max_bytes ? memory_max_bytes : RUN_SAMPLER_MEMORY_BYTES)) {
		run_sampler_free(sampler);
		return NULL;
	}
	return sampler;
}

void run_sampler_free(struct run_sampler *sampler)
{
	struct extra_sum *extra;

	if (!sampler)
		return;
	for (uint32_t i = 0; i < sampler->slot_cnt; i++)
		label_sample_release(&sampler->samples[i]);
	free(sampler->samples);
	for (size_t i = 0; (extra = id_map_next(&sampler->extras, &i));)
		free(extra);
	id_map_release(&sampler->extras);
	child_counts_free(sampler->children);
	wait_sums_free(sampler->waits);
	lock_holds_free(sampler->holds);
	wait_counts_release(&sampler->ended_waits);
	free(sampler);
}

/* ---- spans ---- */

static uint32_t window_at(const struct run_windows *windows, uint64_t time_ns)
{
	uint64_t length_ns = windows->last_ns > windows->first_ns ? windows->last_ns - windows->first_ns : 0;
	uint64_t from_ns = time_ns > windows->first_ns ? time_ns - windows->first_ns : 0;
	uint64_t window = from_ns < length_ns ? (uint64_t)((double)from_ns / (double)length_ns * windows->cnt)
					      : windows->cnt - 1;

	return window < windows->cnt ? (uint32_t)window : windows->cnt - 1;
}

static int grow_to(struct run_sampler *sampler, uint32_t label)
{
	uint32_t cnt = (label + 1) * sampler->width;
	struct label_sample *grown;

	if (cnt <= sampler->slot_cnt)
		return 0;
	cnt = cnt < 2 * sampler->slot_cnt ? 2 * sampler->slot_cnt : cnt;
	grown = reallocarray(sampler->samples, cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + sampler->slot_cnt, 0, (cnt - sampler->slot_cnt) * sizeof(*grown));
	sampler->samples = grown;
	sampler->slot_cnt = cnt;
	return 0;
}

static int add_extra(struct run_sampler *sampler, uint32_t slot, uint32_t key, double by)
{
	struct extra_sum *extra = id_map_get(&sampler->extras, slot, key);
	int err = 0;

	if (!extra && sampler->extras.cnt >= EXTRAS_MAX) {
		sampler->uncounted_cnt++;
		return 0;
	}
	if (!extra) {
		extra = malloc(sizeof(*extra));
		if (!extra)
			return -ENOMEM;
		*extra = (struct extra_sum){ slot, key, 0 };
		err = id_map_put(&sampler->extras, slot, key, extra);
		if (err)
			free(extra);
	}
	if (!err)
		extra->sum += by;
	return err;
}

static uint64_t less(uint64_t ns, uint64_t by_ns)
{
	return ns > by_ns ? ns - by_ns : 0;
}

static struct sampled_span values_of(const struct txtrace_span *span, const struct child_sum *below)
{
	struct sampled_span values;

	for (unsigned int value = 0; value < SPAN_VALUE_COUNT; value++)
		values.value_ns[value] = span_value_ns(span, value);
	values.value_ns[COMPARE_VALUE_SELF] = less(less(span->work_ns, span->ledger.detached_ns),
						   below->work_ns);
	values.value_ns[COMPARE_VALUE_SELF_ON_CPU] = less(span->ledger.on_cpu_ns, below->on_cpu_ns);
	return values;
}

static int add_exact(struct run_sampler *sampler, const struct txtrace_span *span, uint32_t slot,
		     const struct child_sum *below)
{
	struct sampled_span values = values_of(span, below);
	int err = label_sample_add(&sampler->samples[slot], sampler->set, &values, &sampler->memory,
				   &sampler->random);

	for (size_t i = 0; i < below->entry_cnt && !err; i++)
		err = add_extra(sampler, slot, below->entries[i].key, below->entries[i].cnt);
	return err;
}

static int add_to_slot(struct run_sampler *sampler, const struct txtrace_span *span, uint32_t slot,
		       const struct child_sum *below)
{
	if (!(span->flags & TXTRACE_SPAN_LOWER_BOUND))
		return add_exact(sampler, span, slot, below);
	sampler->samples[slot].lower_bound_cnt++;
	return 0;
}

static int add_span(struct run_sampler *sampler, const struct txtrace_span *span)
{
	struct txtrace_string name = { span->label.bytes, span->label.length < NAME_BYTES_MAX
								  ? span->label.length
								  : NAME_BYTES_MAX };
	struct child_sum below;
	const struct compare_label *of;
	uint32_t label, slot;
	int err = run_set_label(sampler->set, name, &label);

	if (!err && label == LABELS_MAX) {
		sampler->unlabelled_cnt++;
		return 0;
	}
	if (err)
		return err;
	of = sampler->set->by_label[label];
	err = child_counts_end(sampler->children, span, of->call_key, of->child_key, &below);
	err = err ? err : grow_to(sampler, label);
	if (err)
		return err;
	slot = label * sampler->width + window_at(&sampler->windows, span->end_ns);
	err = add_to_slot(sampler, span, slot, &below);
	return err || sampler->width == 1
		       ? err
		       : add_to_slot(sampler, span, label * sampler->width + sampler->windows.cnt, &below);
}

int run_sampler_add(struct run_sampler *sampler, const struct txtrace_record *record)
{
	struct ended_wait wait;
	int err = wait_counts_add(&sampler->ended_waits, record, &wait);

	if (err > 0)
		err = add_ended_wait(sampler, &record->wake, &wait);
	err = err ? err : wait_sums_add(sampler->waits, record);
	err = err ? err : lock_holds_add(sampler->holds, record);
	return err || record->kind != TXTRACE_RECORD_SPAN ? err : add_span(sampler, &record->span);
}

int run_sampler_begin_capture(struct run_sampler *sampler)
{
	struct child_counts *children = child_counts_new();
	int err;

	if (!children)
		return -ENOMEM;
	sampler->uncounted_cnt += child_counts_left_out(sampler->children);
	child_counts_free(sampler->children);
	sampler->children = children;
	wait_counts_release(&sampler->ended_waits);
	wait_counts_init(&sampler->ended_waits);
	err = wait_sums_begin_capture(sampler->waits);
	return err ? err : lock_holds_begin_capture(sampler->holds);
}

/* ---- to units ---- */

static int compare_sums(const void *a, const void *b)
{
	const struct extra_sum *x = *(struct extra_sum *const *)a, *y = *(struct extra_sum *const *)b;

	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int take_extras(struct label_unit *unit, struct extra_sum *const *sums, size_t cnt)
{
	unit->extras = malloc((cnt + 1) * sizeof(*unit->extras));
	if (!unit->extras)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		unit->extras[i] = (struct label_extra){ sums[i]->key, sums[i]->sum / (double)unit->cnt };
	unit->extra_cnt = cnt;
	return 0;
}

static int finish_slot(struct run_sampler *sampler, uint32_t slot, struct extra_sum **sums, size_t cnt)
{
	struct compare_run *run = &sampler->set->runs[sampler->side][sampler->run];
	const struct label_sample *sample = &sampler->samples[slot];
	uint32_t window = slot % sampler->width;
	struct label_unit *unit;
	bool is_whole;
	int err;

	if (sample->cnt == 0 && sample->lower_bound_cnt == 0)
		return 0;
	is_whole = window == sampler->windows.cnt; /* where runs are not divided, none is */
	unit = run_set_add_unit(sampler->set, slot / sampler->width,
				is_whole ? side_of_runs(sampler->set, sampler->side) : (int)sampler->side,
				is_whole ? sampler->run : run->first_unit + window);
	if (!unit)
		return -ENOMEM;
	err = label_sample_finish(sample, sampler->set, unit, &sampler->set->is_coarse);
	if (err || unit->cnt == 0)
		return err;
	return take_extras(unit, sums, cnt);
}

static int finish_slots(struct run_sampler *sampler)
{
	struct extra_sum **sums = malloc((sampler->extras.cnt + 1) * sizeof(struct extra_sum *)), *extra;
	size_t cnt = 0, at = 0;
	int err = sums ? 0 : -ENOMEM;

	for (size_t i = 0; !err && (extra = id_map_next(&sampler->extras, &i));)
		sums[cnt++] = extra;
	if (!err)
		qsort(sums, cnt, sizeof(struct extra_sum *), compare_sums);
	for (uint32_t slot = 0; !err && slot < sampler->slot_cnt; slot++) {
		size_t begin = at;

		while (at < cnt && sums[at]->slot == slot)
			at++;
		err = finish_slot(sampler, slot, sums + begin, at - begin);
	}
	free(sums);
	return err;
}

/* Lower bounds among them: their waits are in the sums, too. */
static uint64_t spans_of(void *context, uint32_t label)
{
	struct run_sampler *sampler = context;
	uint32_t whole = label * sampler->width + sampler->width - 1;

	return whole < sampler->slot_cnt
		       ? sampler->samples[whole].cnt + sampler->samples[whole].lower_bound_cnt
		       : 0;
}

/* Waits are summed up over the run: each window of it gets the run's figure. */
static int add_waits_on(void *context, uint32_t label, uint32_t key, double ns)
{
	struct run_sampler *sampler = context;
	double cnt = (double)spans_of(context, label);
	int err = 0;

	for (uint32_t window = 0; !err && cnt > 0 && window < sampler->width; window++) {
		uint32_t slot = label * sampler->width + window;

		err = add_extra(sampler, slot, key, ns / cnt * (double)sampler->samples[slot].cnt);
	}
	return err;
}

int run_sampler_finish(struct run_sampler *sampler, const struct txtrace_log_info *info,
		       const struct log_census *census)
{
	struct compare_run *run = &sampler->set->runs[sampler->side][sampler->run];
	struct run_waits waits = {
		.set = sampler->set,
		.sums = sampler->waits,
		.holds = sampler->holds,
		.wants_objects = sampler->side == SIDE_NEW,
		.add = add_waits_on,
		.span_cnt = spans_of,
		.context = sampler,
	};
	int err = wait_sums_finish(sampler->waits);

	err = err ? err : lock_holds_finish(sampler->holds);
	err = err ? err : run_waits_tell(&waits);
	err = err ? err : finish_slots(sampler);
	run->info = *info;
	run->census = *census;
	sampler->set->unlabelled_cnt += sampler->unlabelled_cnt;
	sampler->set->uncounted_cnt += sampler->uncounted_cnt + child_counts_left_out(sampler->children) +
				       lock_holds_left_out(sampler->holds);
	return err;
}
