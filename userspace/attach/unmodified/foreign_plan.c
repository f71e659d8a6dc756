/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/unmodified/foreign_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/unmodified/foreign_functions.h"
#include "attach/unmodified/foreign_sites.h"
#include "attach/unmodified/foreign_steps.h"

static const struct {
	const char *name;
	bool is_return;
	const char *old_name; /* before 5.13; NULL: the same */
} programs[FOREIGN_PROGRAM_CNT] = {
	[FOREIGN_PROGRAM_END] = { "on_foreign_end", false, NULL },
	[FOREIGN_PROGRAM_END_RETURN] = { "on_foreign_end", true, NULL },
	[FOREIGN_PROGRAM_LEAVE] = { "on_function_leave", false, NULL },
	[FOREIGN_PROGRAM_RETURN] = { "on_function_return", true, NULL },
	[FOREIGN_PROGRAM_ENTER] = { "on_function_enter", false, "on_function_enter_before_5_13" },
	[FOREIGN_PROGRAM_CALL] = { "on_function_call", false, "on_function_call_before_5_13" },
	[FOREIGN_PROGRAM_BEGIN] = { "on_foreign_begin", false, "on_foreign_begin_before_5_13" },
	[FOREIGN_PROGRAM_BEGIN_RETURN] = { "on_foreign_begin", true, "on_foreign_begin_before_5_13" },
};

const char *foreign_program_name(enum foreign_program program, const struct kernel_features *features)
{
	return features->has_task_storage || !programs[program].old_name ? programs[program].name
									 : programs[program].old_name;
}

bool foreign_program_is_return(enum foreign_program program)
{
	return programs[program].is_return;
}

const char *foreign_plan_next_warning(struct foreign_plan *plan)
{
	return plan->told_cnt < plan->warning_cnt ? plan->warnings[plan->told_cnt++].text : NULL;
}

bool foreign_plan_label(const struct foreign_plan *plan, uint64_t address, struct event_text *label)
{
	uint64_t idx = address - FOREIGN_LABEL_BASE;

	if (address < FOREIGN_LABEL_BASE || idx >= plan->label_cnt)
		return false;
	*label = (struct event_text){ .bytes = plan->labels[idx],
				      .length = (uint32_t)strlen(plan->labels[idx]) };
	return true;
}

/* ---- what was asked for ---- */

static int parse_all(struct foreign_plan *plan, const struct foreign_plan_options *options,
		     struct error *error)
{
	int err = 0;

	for (; !err && plan->span_cnt < options->span_cnt; plan->span_cnt += !err)
		err = span_spec_parse(&plan->spans[plan->span_cnt], options->spans[plan->span_cnt], error);
	for (; !err && plan->func_cnt < options->func_cnt; plan->func_cnt += !err)
		err = func_spec_parse(&plan->funcs[plan->func_cnt], options->funcs[plan->func_cnt], error);
	return err;
}

static const struct span_spec *span_of_label(const struct foreign_plan *plan, const char *label)
{
	for (size_t i = 0; i < plan->span_cnt; i++)
		if (strcmp(plan->spans[i].label, label) == 0)
			return &plan->spans[i];
	return NULL;
}

/* A parent is found by its key: by the thread, or by the span's own, unless another one is given. */
static int check_parent(const struct foreign_plan *plan, struct span_spec *span, struct error *error)
{
	const struct span_spec *parent;

	if (span->parent != FOREIGN_PARENT_SPAN)
		return 0;
	parent = span_of_label(plan, span->parent_label);
	if (!parent || parent == span) {
		error_set(error,
			  "the parent '%s' of the span '%s' is no other --span; --span gives labels, and "
			  "thread means whatever the thread began last",
			  span->parent_label, span->label);
		return -EINVAL;
	}
	if (!span->parent_key.cnt && parent->key.cnt)
		span->parent_key = span->key;
	if (span->parent_key.cnt != parent->key.cnt || (parent->key.cnt && parent->key.terms[0].is_string)) {
		error_set(error,
			  "the span '%s' cannot find its parent '%s', which has another key; say which: "
			  "parent=%s(KEY)",
			  span->label, span->parent_label, span->parent_label);
		return -EINVAL;
	}
	return 0;
}

static int check_all(const struct foreign_plan *plan, struct error *error)
{
	int err = 0;

	for (size_t i = 0; !err && i < plan->span_cnt; i++) {
		if (span_of_label(plan, plan->spans[i].label) != &plan->spans[i]) {
			error_set(error,
				  "there are two spans '%s'; a span may have several begins and ends, "
				  "BEGIN|BEGIN..END|END",
				  plan->spans[i].label);
			return -EINVAL;
		}
		err = check_parent(plan, &plan->spans[i], error);
	}
	return err;
}

int foreign_plan_new(struct foreign_plan **result, const struct foreign_plan_options *options,
		     struct error *error)
{
	struct foreign_plan *plan = calloc(1, sizeof(*plan));
	int err;

	if (options->span_cnt > FOREIGN_SPAN_MAX) {
		error_set(error, "%zu spans are asked for; at most %d can be recorded at once",
			  options->span_cnt, FOREIGN_SPAN_MAX);
		free(plan);
		return -EINVAL;
	}
	if (!plan)
		return -ENOMEM;
	plan->sites_fd = -1;
	plan->returns = options->returns;
	plan->function_limit = options->function_limit ? options->function_limit : FOREIGN_FUNCTION_LIMIT;
	plan->spans = calloc(options->span_cnt + 1, sizeof(*plan->spans));
	plan->funcs = calloc(options->func_cnt + 1, sizeof(*plan->funcs));
	plan->point_hits = calloc(options->span_cnt + 1, sizeof(*plan->point_hits));
	plan->has_provider = calloc(options->span_cnt + 1, sizeof(*plan->has_provider));
	plan->func_hits = calloc(options->func_cnt + 1, sizeof(*plan->func_hits));
	plan->func_is_refused = calloc(options->func_cnt + 1, sizeof(*plan->func_is_refused));
	plan->point_guesses = calloc(options->span_cnt + 1, sizeof(*plan->point_guesses));
	plan->func_guesses = calloc(options->func_cnt + 1, sizeof(*plan->func_guesses));
	plan->func_binaries = calloc(options->func_cnt + 1, sizeof(*plan->func_binaries));
	plan->function_labels = calloc(FOREIGN_LABEL_MAX, sizeof(*plan->function_labels));
	plan->labels = calloc(FOREIGN_LABEL_MAX, sizeof(*plan->labels));
	plan->is_stepped_label = calloc(FOREIGN_LABEL_MAX, sizeof(*plan->is_stepped_label));
	err = plan->spans && plan->funcs && plan->point_hits && plan->has_provider && plan->func_hits &&
			      plan->func_is_refused && plan->point_guesses && plan->func_guesses &&
			      plan->func_binaries && plan->labels && plan->function_labels &&
			      plan->is_stepped_label
		      ? 0
		      : -ENOMEM;
	if (!err)
		err = parse_all(plan, options, error);
	if (!err)
		err = check_all(plan, error);
	if (err) {
		foreign_plan_free(plan);
		return err;
	}
	*result = plan;
	return 0;
}

static void release_guesses(struct foreign_plan *plan)
{
	for (size_t i = 0; plan->point_guesses && i < plan->span_cnt; i++) {
		for (size_t n = 0; n < SPAN_POINT_MAX; n++) {
			name_guess_release(&plan->point_guesses[i][false][n]);
			name_guess_release(&plan->point_guesses[i][true][n]);
		}
	}
	for (size_t i = 0; plan->func_guesses && i < plan->func_cnt; i++) {
		for (size_t n = 0; n < SPAN_POINT_MAX; n++)
			name_guess_release(&plan->func_guesses[i][n]);
	}
	for (size_t i = 0; plan->func_binaries && i < plan->func_cnt; i++)
		name_guess_release(&plan->func_binaries[i].guess);
	free(plan->func_binaries);
	free(plan->point_guesses);
	free(plan->func_guesses);
}

void foreign_plan_free(struct foreign_plan *plan)
{
	if (!plan)
		return;
	release_guesses(plan);
	for (size_t i = 0; plan->spans && i < plan->span_cnt; i++)
		span_spec_release(&plan->spans[i]);
	for (size_t i = 0; plan->funcs && i < plan->func_cnt; i++)
		func_spec_release(&plan->funcs[i]);
	for (size_t i = 0; plan->labels && i < plan->label_cnt; i++)
		free(plan->labels[i]);
	free(plan->spans);
	free(plan->funcs);
	free(plan->point_hits);
	free(plan->has_provider);
	free(plan->func_hits);
	free(plan->func_is_refused);
	free(plan->function_labels);
	free(plan->is_stepped_label);
	free(plan->labels);
	free(plan);
}

void foreign_plan_connect(struct foreign_plan *plan, int sites_fd, const struct probe_spot_program *loaded)
{
	plan->sites_fd = sites_fd;
	memcpy(plan->programs, loaded, sizeof(plan->programs));
}

/* ---- objects ---- */

static int add_note(struct foreign_search *search, size_t span_idx, bool is_end, size_t point_idx,
		    const struct elf_note *note)
{
	const struct span_spec *span = &search->plan->spans[span_idx];
	const struct span_point *point = is_end ? &span->ends[point_idx] : &span->begins[point_idx];
	struct probe_spot spot = {
		.offset = note->offset,
		.semaphore_offset = note->semaphore_offset,
		.program = is_end ? FOREIGN_PROGRAM_END : FOREIGN_PROGRAM_BEGIN,
	};
	int site = foreign_site_make(search, span_idx, is_end, point, note->args);

	if (site < 0)
		return site == -ENOMEM ? site : 0;
	search->plan->point_hits[span_idx][is_end][point_idx]++;
	spot.cookie = (uint64_t)site;
	return foreign_add_spot(search, &spot);
}

static int add_usdt_points(struct foreign_search *search, size_t span_idx, bool is_end)
{
	const struct span_spec *span = &search->plan->spans[span_idx];
	const struct elf_notes *notes = search->object->notes;
	int err = 0;

	for (size_t i = 0; i < (is_end ? span->end_cnt : span->begin_cnt); i++) {
		const struct span_point *point = is_end ? &span->ends[i] : &span->begins[i];

		for (size_t n = 0; point->kind == SPAN_POINT_USDT && !err && n < notes->cnt; n++) {
			if (strcmp(notes->notes[n].provider, point->object) != 0)
				continue;
			if (strcmp(notes->notes[n].name, point->name) == 0)
				err = add_note(search, span_idx, is_end, i, &notes->notes[n]);
			else
				name_guess_see(&search->plan->point_guesses[span_idx][is_end][i], point->name,
					       notes->notes[n].name);
		}
	}
	return err;
}

static void look_for_provider(struct foreign_search *search, size_t span_idx)
{
	const struct elf_notes *notes = search->object->notes;

	for (size_t n = 0; !search->plan->has_provider[span_idx] && n < notes->cnt; n++)
		search->plan->has_provider[span_idx] =
			strcmp(notes->notes[n].provider, search->plan->spans[span_idx].begins[0].object) == 0;
}

static int collect(struct foreign_search *search)
{
	int err = 0;

	for (size_t i = 0; !err && i < search->plan->span_cnt; i++) {
		look_for_provider(search, i);
		err = add_usdt_points(search, i, true);
		if (!err)
			err = add_usdt_points(search, i, false);
	}
	return err ? err : foreign_add_functions(search);
}

int foreign_plan_attach(struct foreign_plan *plan, const struct foreign_object *object,
			struct probe_links **links, struct error *error)
{
	struct foreign_search search = { .plan = plan, .object = object, .may_unwind = -1 };
	struct probe_links_options options = { .features = object->features,
					       .pid = object->pid,
					       .opener = object->opener };
	int result = collect(&search);

	if (result)
		error_set(error, "cannot look for the probes of \"%s\": %s", object->path, strerror(-result));
	if (!result)
		foreign_steps_mark(&search);
	if (!result && search.spot_cnt)
		result = probe_links_add(links, &options, plan->programs, FOREIGN_PROGRAM_CNT, object->fd,
					 search.spots, search.spot_cnt, error);
	if (!result)
		result = (int)search.spot_cnt;
	foreign_search_release(&search);
	return result;
}

/* ---- what was found ---- */

const char *foreign_plan_asked(const struct foreign_plan *plan, bool is_span, size_t idx)
{
	size_t hit_cnt = 0;

	if (!is_span)
		return idx < plan->function_label_cnt ? plan->labels[plan->function_labels[idx]] : NULL;
	if (idx >= plan->span_cnt)
		return NULL;
	for (size_t i = 0; i < plan->spans[idx].begin_cnt; i++)
		hit_cnt += plan->point_hits[idx][false][i];
	return hit_cnt ? plan->spans[idx].label : "";
}

static const char *point_prefix(const struct span_point *point)
{
	return point->kind == SPAN_POINT_USDT	 ? ""
	       : point->kind == SPAN_POINT_ENTRY ? "uprobe:"
						 : "uretprobe:";
}

/* ", did you mean …?", or that the file is stripped, or nothing. */
static const char *hint(const struct name_guess *guess, const char *object, struct error *words)
{
	if (guess->best)
		error_set(words, ", did you mean '%s:%s'?", object, guess->best);
	else if (guess->is_stripped)
		error_set(words,
			  "; the file is stripped, and of its functions the %zu that it exports are all that "
			  "have names: install its debug symbols",
			  guess->exported_cnt);
	else
		return "";
	return words->text;
}

/* A name that stands for several functions: what is traced is at most an older version. */
static void warn_of_choice(struct foreign_plan *plan, const char *object, const char *name)
{
	foreign_warn(plan,
		     "'%s:%s' is several functions, of which each program chooses one when it starts (an "
		     "IFUNC): name that one, or the callers; --list FILE '*%s*' shows those that have names",
		     object, name, name);
}

static bool judge_points(struct foreign_plan *plan, size_t span_idx, bool is_end)
{
	const struct span_spec *span = &plan->spans[span_idx];
	struct error words;
	bool has_any = false;

	for (size_t i = 0; i < (is_end ? span->end_cnt : span->begin_cnt); i++) {
		const struct span_point *point = is_end ? &span->ends[i] : &span->begins[i];

		if (plan->point_hits[span_idx][is_end][i])
			has_any = true;
		if (plan->point_guesses[span_idx][is_end][i].is_chosen)
			warn_of_choice(plan, point->object, point->name);
		else if (!plan->point_hits[span_idx][is_end][i])
			foreign_warn(plan, "span '%s': nothing that is mapped has the %s '%s%s:%s'%s",
				     span->label, is_end ? "end" : "begin", point_prefix(point),
				     point->object, point->name,
				     hint(&plan->point_guesses[span_idx][is_end][i], point->object, &words));
	}
	return has_any;
}

/* All of its probes are of one provider, of which nothing has any: that is said once for all such spans. */
static bool misses_provider(const struct foreign_plan *plan, size_t span_idx, const char *provider)
{
	const struct span_spec *span = &plan->spans[span_idx];

	if (plan->has_provider[span_idx])
		return false;
	for (size_t i = 0; i < span->begin_cnt; i++)
		if (span->begins[i].kind != SPAN_POINT_USDT || strcmp(span->begins[i].object, provider) != 0)
			return false;
	for (size_t i = 0; i < span->end_cnt; i++)
		if (span->ends[i].kind != SPAN_POINT_USDT || strcmp(span->ends[i].object, provider) != 0)
			return false;
	return true;
}

/* false: its provider is there, or is not the only one. */
static bool judge_provider(struct foreign_plan *plan, size_t span_idx)
{
	const char *provider = plan->spans[span_idx].begins[0].object;
	size_t cnt = 0;

	if (!misses_provider(plan, span_idx, provider))
		return false;
	for (size_t i = 0; i < plan->span_cnt; i++)
		cnt += misses_provider(plan, i, provider);
	foreign_warn(plan,
		     "nothing that is mapped has probes of the provider '%s', which %zu span%s asked for: is "
		     "this the program that was meant?",
		     provider, cnt, cnt == 1 ? " is" : "s are");
	return true;
}

size_t foreign_plan_stepped(const struct foreign_plan *plan, const char **example)
{
	*example = plan->stepped_example;
	return plan->stepped_cnt;
}

/* How many of them are there. */
static size_t judge_functions(struct foreign_plan *plan, size_t func_idx)
{
	const struct func_binary *binary = &plan->func_binaries[func_idx];
	const struct func_spec *func = &plan->funcs[func_idx];
	struct error words;
	size_t cnt = 0;

	if (!binary->is_mapped) {
		foreign_warn(plan, "functions of '%s': no mapped file has this name%s%s%s", func->binary,
			     binary->guess.best ? ", did you mean '" : "",
			     binary->guess.best ? binary->guess.best : "", binary->guess.best ? "'?" : "");
		return 0;
	}
	for (size_t symbol = 0; symbol < func->symbol_cnt; symbol++) {
		if (plan->func_guesses[func_idx][symbol].is_chosen)
			warn_of_choice(plan, func->binary, func->symbols[symbol]);
		else if (!plan->func_hits[func_idx][symbol] && !plan->func_is_refused[func_idx][symbol])
			foreign_warn(plan, "function '%s:%s': nothing that is mapped has it%s", func->binary,
				     func->symbols[symbol],
				     hint(&plan->func_guesses[func_idx][symbol], func->binary, &words));
		cnt += plan->func_hits[func_idx][symbol] > 0;
	}
	return cnt;
}

size_t foreign_plan_judge(struct foreign_plan *plan)
{
	size_t cnt = 0;

	for (size_t i = 0; i < plan->span_cnt; i++) {
		bool is_missing = judge_provider(plan, i);
		bool has_begin = !is_missing && judge_points(plan, i, false),
		     has_end = !is_missing && judge_points(plan, i, true);

		cnt += has_begin && has_end;
	}
	for (size_t i = 0; i < plan->func_cnt; i++)
		cnt += judge_functions(plan, i);
	return cnt;
}
