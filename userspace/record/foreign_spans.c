/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/foreign_spans.h"

#include <errno.h>

#include "record/options/preset.h"

struct preset_reading {
	struct preset *presets;
	const char *const *names;
	size_t cnt;
	struct error *error;
};

/* With the caller's rights: it may be any path. */
static int read_presets(void *context)
{
	const struct preset_reading *reading = context;
	int err = 0;

	for (size_t i = 0; !err && i < reading->cnt; i++)
		err = preset_read(&reading->presets[i], reading->names[i], reading->error);
	return err;
}

/* The options' texts, and those of the presets. */
static int collect(const struct record_options *options, struct preset *presets,
		   struct foreign_plan_options *plan, struct error *error)
{
	const struct foreign_options *foreign = &options->foreign;
	struct preset *all = &presets[foreign->preset_cnt];
	struct preset_reading reading = { presets, foreign->presets, foreign->preset_cnt, error };
	int err = foreign->preset_cnt ? caller_do(options->caller, read_presets, &reading) : 0;

	for (size_t i = 0; !err && i < foreign->preset_cnt; i++) {
		for (size_t n = 0; !err && n < presets[i].span_cnt; n++)
			err = preset_add(all, true, presets[i].spans[n]);
		for (size_t n = 0; !err && n < presets[i].func_cnt; n++)
			err = preset_add(all, false, presets[i].funcs[n]);
	}
	for (size_t i = 0; !err && i < foreign->span_cnt; i++)
		err = preset_add(all, true, foreign->spans[i]);
	for (size_t i = 0; !err && i < foreign->func_cnt; i++)
		err = preset_add(all, false, foreign->funcs[i]);
	if (err == -E2BIG)
		error_set(error, "at most %d spans and functions can be asked for at once, presets' included",
			  PRESET_LINE_MAX);
	*plan = (struct foreign_plan_options){
		.spans = all->spans,
		.span_cnt = all->span_cnt,
		.funcs = all->funcs,
		.func_cnt = all->func_cnt,
		.returns = foreign->func_returns,
		.function_limit = foreign->func_limit,
	};
	return err;
}

bool foreign_spans_are_wanted(const struct record_options *options)
{
	return options->foreign.span_cnt || options->foreign.func_cnt || options->foreign.preset_cnt;
}

bool foreign_spans_can_be(const struct kernel_features *features)
{
	return features->has_cookies || features->has_probe_paths;
}

int foreign_spans_open(struct foreign_plan **plan, const struct record_options *options,
		       const struct kernel_features *features, struct error *error)
{
	struct preset presets[FOREIGN_OPTION_MAX + 1] = { 0 };
	struct foreign_plan_options plan_options;
	int err;

	*plan = NULL;
	if (!foreign_spans_are_wanted(options))
		return 0;
	if (!foreign_spans_can_be(features)) {
		error_set(error,
			  "--span, --func and --preset need Linux 5.15 or later, or a kernel that describes "
			  "its uprobes, to know which probe was hit; "
			  "kernel %s does not; marks of txtrace.h work here",
			  features->release);
		return -EOPNOTSUPP;
	}
	err = collect(options, presets, &plan_options, error);
	if (!err)
		err = foreign_plan_new(plan, &plan_options, error);
	for (size_t i = 0; i <= options->foreign.preset_cnt; i++)
		preset_release(&presets[i]);
	if (err == -ENOMEM)
		error_set(error, "not enough memory for the spans that are asked for");
	return err;
}

void foreign_spans_warn(struct foreign_plan *plan, const struct messages *messages)
{
	const char *sentence;

	while (plan && (sentence = foreign_plan_next_warning(plan)))
		messages_say(messages, MESSAGE_WARNING, "probes", "%s", sentence);
}

int foreign_spans_check(struct foreign_plan *plan, int site_cnt, pid_t pid, const char *others,
			const struct messages *messages, struct error *error)
{
	size_t found_cnt = foreign_plan_judge(plan);

	foreign_spans_warn(plan, messages);
	if (found_cnt || site_cnt)
		return 0;
	error_set(error, "process %d has nothing of what --span, --func or --preset ask for; it has %s", pid,
		  *others ? others : "no USDT probes");
	return -ENOENT;
}

void foreign_spans_finish(struct foreign_plan *plan, const struct messages *messages)
{
	if (!plan)
		return;
	foreign_plan_judge(plan);
	foreign_spans_warn(plan, messages);
}
