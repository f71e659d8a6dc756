/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/path_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree/flame_rows.h"

const char *const path_value_names[PATH_VALUE_CNT] = {
	[PATH_ON_CPU] = "on_cpu",     [PATH_RUNNABLE] = "runnable", [PATH_BLOCKED] = "blocked",
	[PATH_DETACHED] = "detached", [PATH_UNKNOWN] = "unknown",   [PATH_INTERRUPT] = "interrupt",
	[PATH_STOLEN] = "stolen",     [PATH_SPANS] = "spans",
};

enum lost {
	LOST_LOWER_BOUND,
	LOST_MEMORY,
	LOST_CNT,
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_LOWER_BOUND] = "lower bounds, left out",
	[LOST_MEMORY] = "parents that memory was too small for, whose children have an unknown parent",
};

struct path_profile {
	struct span_tree *tree;
	struct flame_stacks off_cpu, on_cpu;
	uint64_t lost_cnt[LOST_CNT];
	uint64_t missing_cnt; /* records of losses and damage */

	bool is_finished;

	/* of the walk */
	struct txtrace_string frames[FLAME_DEPTH_MAX + 1];
	int (*sample)(void *context, const struct path_sample *sample);
	void *context;
};

struct path_profile *path_profile_new(void)
{
	struct path_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	flame_stacks_init(&profile->off_cpu, TXTRACE_STACK_OFF_CPU, SPAN_TREE_MEMORY_BYTES);
	flame_stacks_init(&profile->on_cpu, TXTRACE_STACK_ON_CPU, SPAN_TREE_MEMORY_BYTES);
	profile->tree = span_tree_new(0);
	if (!profile->tree) {
		path_profile_free(profile);
		return NULL;
	}
	return profile;
}

void path_profile_free(struct path_profile *profile)
{
	if (!profile)
		return;
	span_tree_free(profile->tree);
	flame_stacks_release(&profile->off_cpu);
	flame_stacks_release(&profile->on_cpu);
	free(profile);
}

/* ---- records ---- */

static struct path_profile *profile_of(void *state)
{
	return *(struct path_profile **)state;
}

int path_profile_span(void *state, const struct txtrace_span *span)
{
	struct path_profile *profile = profile_of(state);
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_SPAN;
	record.span = *span;
	profile->lost_cnt[LOST_LOWER_BOUND] += (span->flags & TXTRACE_SPAN_LOWER_BOUND) != 0;
	return span_tree_add(profile->tree, &record);
}

int path_profile_stay(void *state, const struct txtrace_stay *stay)
{
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_STAY;
	record.stay = *stay;
	return span_tree_add(profile_of(state)->tree, &record);
}

int path_profile_overlap(void *state, const struct txtrace_overlap *overlap)
{
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_OVERLAP;
	record.overlap = *overlap;
	return span_tree_add(profile_of(state)->tree, &record);
}

int path_profile_stack(void *state, const struct txtrace_stack *stack)
{
	struct path_profile *profile = profile_of(state);
	struct flame_stacks *stacks = stack->what == TXTRACE_STACK_OFF_CPU  ? &profile->off_cpu
				      : stack->what == TXTRACE_STACK_ON_CPU ? &profile->on_cpu
									    : NULL;
	uint32_t number;
	int err;

	if (!stacks || !stack->span)
		return 0;
	err = flame_stacks_number(stacks, stack->stack, &number);
	if (err == -ENOSPC)
		return 0; /* of these, the time has no stack */
	return err ? err : span_tree_add_stack(profile->tree, stack, number);
}

int path_profile_frames(void *state, const struct txtrace_frames *frames)
{
	struct path_profile *profile = profile_of(state);
	int err = flame_stacks_add(&profile->off_cpu, frames);

	return err ? err : flame_stacks_add(&profile->on_cpu, frames);
}

static int count_missing(void *state)
{
	profile_of(state)->missing_cnt++;
	return 0;
}

int path_profile_loss(void *state, const struct txtrace_loss *loss)
{
	(void)loss;
	return count_missing(state);
}

int path_profile_dropped(void *state, const struct txtrace_dropped *dropped)
{
	(void)dropped;
	return count_missing(state);
}

int path_profile_damage(void *state, const struct txtrace_damage *damage)
{
	(void)damage;
	return count_missing(state);
}

void path_profile_tell(const void *state, export_say *say, void *context)
{
	const struct path_profile *profile = *(struct path_profile *const *)state;
	uint64_t counts[LOST_CNT];

	memcpy(counts, profile->lost_cnt, sizeof(counts));
	counts[LOST_MEMORY] = span_tree_given_up_count(profile->tree);
	export_tell_counts(lost_names, counts, LOST_CNT, say, context);
	if (span_tree_has_rest(profile->tree))
		say(context, "memory was too small for all labels: some stand below (all other labels)");
}

void path_profile_tell_missing(const void *state, export_say *say, void *context)
{
	static const char *const names[] = {
		"records of losses and damage, left out: readers of the file can't know of them"
	};
	const struct path_profile *profile = *(struct path_profile *const *)state;

	export_tell_counts(names, &profile->missing_cnt, 1, say, context);
}

/* ---- samples ---- */

static int give(struct path_profile *profile, size_t frame_cnt, size_t span_cnt, const char *reason,
		const uint64_t values[PATH_VALUE_CNT])
{
	struct path_sample sample = { .frames = profile->frames,
				      .frame_cnt = frame_cnt,
				      .span_cnt = span_cnt,
				      .reason = reason };

	memcpy(sample.values, values, sizeof(sample.values));
	return profile->sample(profile->context, &sample);
}

static int give_one(struct path_profile *profile, size_t frame_cnt, size_t span_cnt, const char *reason,
		    enum path_value value, uint64_t ns)
{
	uint64_t values[PATH_VALUE_CNT] = { 0 };

	values[value] = ns;
	return give(profile, frame_cnt, span_cnt, reason, values);
}

static int give_functions(struct path_profile *profile, const struct flame_frame *parent, size_t depth,
			  size_t span_cnt, enum path_value value)
{
	int err = 0;

	for (const struct flame_frame *frame = parent->first_child; frame && !err; frame = frame->next) {
		profile->frames[depth] = frame->name;
		if (frame->self_ns > 0)
			err = give_one(profile, depth + 1, span_cnt, NULL, value, frame->self_ns);
		if (!err)
			err = give_functions(profile, frame, depth + 1, span_cnt, value);
	}
	return err;
}

static int give_code(struct path_profile *profile, const struct flame_stacks *stacks,
		     const struct tree_node *node, size_t depth, enum path_value value, uint64_t ns)
{
	struct flame_frame *root = flame_stacks_divide(stacks, node, ns);
	int err = root ? give_functions(profile, root, depth, depth, value) : -ENOMEM;

	flame_frame_free(root);
	return err;
}

static int give_reasons(struct path_profile *profile, const struct txtrace_ledger *self, size_t depth)
{
	int err = 0;

	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT && !err; reason++) {
		const char *name = txtrace_block_reason_name(reason);
		char frame[48];
		int length = snprintf(frame, sizeof(frame), "[blocked: %s]", name);

		if (self->blocked_ns[reason] == 0)
			continue;
		profile->frames[depth] = (struct txtrace_string){ frame, (size_t)length };
		err = give_one(profile, depth + 1, depth, name, PATH_BLOCKED, self->blocked_ns[reason]);
	}
	return err;
}

/* Of the spans at a node, the first `depth` frames of which stand. */
static int give_node(struct path_profile *profile, const struct tree_node *node, size_t depth)
{
	struct txtrace_ledger self = tree_self(&node->exact);
	uint64_t values[PATH_VALUE_CNT] = {
		[PATH_ON_CPU] = self.on_cpu_ns,	    [PATH_RUNNABLE] = self.runnable_ns,
		[PATH_DETACHED] = self.detached_ns, [PATH_UNKNOWN] = self.unknown_ns,
		[PATH_INTERRUPT] = self.interrupt_ns, [PATH_STOLEN] = self.stolen_ns,
		[PATH_SPANS] = node->exact.cnt,
	};
	uint64_t blocked_ns = txtrace_ledger_blocked_ns(&self);
	bool has_code = self.on_cpu_ns > 0 && flame_stacks_are_at(&profile->on_cpu, node);
	int err;

	if (node->exact.cnt == 0)
		return 0;
	if (has_code)
		values[PATH_ON_CPU] = 0;
	err = give(profile, depth, depth, NULL, values);
	if (!err && has_code)
		err = give_code(profile, &profile->on_cpu, node, depth, PATH_ON_CPU, self.on_cpu_ns);
	if (err || blocked_ns == 0)
		return err;
	return flame_stacks_are_at(&profile->off_cpu, node)
		       ? give_code(profile, &profile->off_cpu, node, depth, PATH_BLOCKED, blocked_ns)
		       : give_reasons(profile, &self, depth);
}

static int walk(struct path_profile *profile, const struct tree_node *parent, size_t depth)
{
	int err = 0;

	for (const struct tree_node *node = parent->first_child; node && !err; node = node->next) {
		if (tree_label_is_stack(node->label) || depth >= TREE_DEPTH_MAX)
			continue; /* no span is so deep */
		profile->frames[depth] = span_tree_name(profile->tree, node);
		err = give_node(profile, node, depth + 1);
		if (!err)
			err = walk(profile, node, depth + 1);
	}
	return err;
}

int path_profile_walk(struct path_profile *profile,
		      int (*sample)(void *context, const struct path_sample *sample), void *context)
{
	int err = profile->is_finished ? 0 : span_tree_finish(profile->tree, NULL);

	profile->is_finished = true;
	profile->sample = sample;
	profile->context = context;
	return err ? err : walk(profile, span_tree_root(profile->tree), 0);
}
