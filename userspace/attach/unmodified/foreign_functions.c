/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/unmodified/foreign_functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/code/cxx_name.h"
#include "attach/elf/elf_reader.h"
#include "attach/unmodified/foreign_sites.h"
#include "attach/process/proc_maps.h"
#include "attach/process/process_reader.h"
#include "base/glob.h"

#define COSTLY_FUNCTION_CNT 10

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool foreign_is_binary(const char *pattern, const char *path)
{
	const char *name = strchr(pattern, '/') ? path : base_name(path);
	const char *dot = strstr(name, ".so");

	return strcmp(pattern, name) == 0 || glob_matches(pattern, name, strlen(name)) ||
	       (dot && strlen(pattern) == (size_t)(dot - name) &&
		memcmp(pattern, name, (size_t)(dot - name)) == 0);
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[");
}

static bool matches(const char *pattern, const char *name)
{
	return strcmp(pattern, name) == 0 ||
	       (is_pattern(pattern) && glob_matches(pattern, name, strlen(name)));
}

static int read_functions(struct foreign_search *search)
{
	int err;

	if (search->have_functions)
		return 0;
	err = elf_reader_functions(search->object->elf_reader, &search->functions, search->object->fd);
	search->have_functions = !err;
	return err;
}

/* What cannot be read has its mangled name alone. */
static int read_cxx_names(struct foreign_search *search)
{
	const struct elf_functions *functions = &search->functions;
	const char **mangled = calloc(functions->cnt + 1, sizeof(*mangled));

	search->cxx_names = search->cxx_names ? search->cxx_names
					      : calloc(functions->cnt + 1, sizeof(*search->cxx_names));
	if (!mangled || !search->cxx_names) {
		free(mangled);
		return -ENOMEM;
	}
	for (size_t i = 0; i < functions->cnt; i++)
		mangled[i] = functions->functions[i].name;
	cxx_names_read(search->cxx_names, mangled, functions->cnt);
	free(mangled);
	return 0;
}

/* The parts of a function that the compiler has set apart are no functions of their own. */
static bool is_part(const char *name)
{
	return strstr(name, ".cold") || strstr(name, ".part.");
}

static bool is_same_code(const struct elf_function *a, const struct elf_function *b)
{
	return a->address == b->address;
}

struct function_list {
	size_t *idx;
	size_t cnt;
	bool is_refused; /* too many, which has been said */
};

static bool matches_cxx(const char *pattern, const char *name)
{
	char shortened[CXX_NAME_MAX + 1];

	if (matches(pattern, name))
		return true;
	snprintf(shortened, sizeof(shortened), "%s", name);
	cxx_name_shorten(shortened);
	return matches(pattern, shortened);
}

/* One of several names of the same code is enough. */
static void select_functions(const struct foreign_search *search, const char *pattern,
			     struct function_list *list)
{
	const struct elf_function *functions = search->functions.functions;

	list->cnt = 0;
	for (size_t i = 0; i < search->functions.cnt; i++) {
		const char *cxx_name = search->cxx_names ? search->cxx_names[i] : NULL;

		if (is_part(functions[i].name) || functions[i].is_chooser ||
		    (list->cnt && is_same_code(&functions[list->idx[list->cnt - 1]], &functions[i])))
			continue;
		if (matches(pattern, functions[i].name) || (cxx_name && matches_cxx(pattern, cxx_name)))
			list->idx[list->cnt++] = i;
	}
}

/* Older programs may call a function of this name: what is there besides is another version of it. */
static bool is_chosen(const struct foreign_search *search, const char *name)
{
	for (size_t i = 0; i < search->functions.cnt; i++) {
		if (search->functions.functions[i].is_chooser &&
		    strcmp(search->functions.functions[i].name, name) == 0)
			return true;
	}
	return false;
}

static void guess_function(const struct foreign_search *search, const char *pattern, struct name_guess *guess)
{
	guess->is_stripped = search->functions.is_stripped;
	guess->exported_cnt = search->functions.cnt;
	for (size_t i = 0; !is_pattern(pattern) && i < search->functions.cnt; i++)
		name_guess_see(guess, pattern, search->functions.functions[i].name);
}

/* The functions that a pattern means; C++ names are looked at if it is not somebody's plain name. */
static int find_functions(struct foreign_search *search, const char *pattern, struct function_list *list,
			  struct name_guess *guess)
{
	int err = read_functions(search);

	*list = (struct function_list){ 0 };
	if (err)
		return err == -ENOMEM ? err : 0;
	list->idx = calloc(search->functions.cnt + 1, sizeof(*list->idx));
	if (!list->idx)
		return -ENOMEM;
	if (!is_pattern(pattern)) {
		guess->is_chosen |= is_chosen(search, pattern);
		select_functions(search, pattern, list);
	}
	if (!list->cnt && !search->cxx_names)
		err = read_cxx_names(search);
	if (!err && !list->cnt)
		select_functions(search, pattern, list);
	if (!err && !list->cnt)
		guess_function(search, pattern, guess);
	if (!err && list->cnt > search->plan->function_limit) {
		foreign_warn(search->plan,
			     "'%s' means %zu functions of \"%s\", more than %zu: none of them is traced; "
			     "narrow it, or raise --func-limit",
			     pattern, list->cnt, search->object->path, search->plan->function_limit);
		list->cnt = 0;
		list->is_refused = true;
	} else if (!err && list->cnt > COSTLY_FUNCTION_CNT) {
		foreign_warn(
			search->plan,
			"'%s' means %zu functions of \"%s\": each call of one costs the program microseconds",
			pattern, list->cnt, search->object->path);
	}
	return err;
}

/* ---- returns ---- */

/* What a process has mapped, as far as exceptions go. */
struct mapped {
	bool has_unwinder;
	bool has_libc; /* its libraries are there: a program that has just been started has none yet */
};

static int look_at_mapping(void *context, const struct proc_mapping *mapping)
{
	static const char *const unwinders[] = { "libgcc_s", "libstdc++", "libc++", "libunwind" };
	const char *name = base_name(mapping->path);
	struct mapped *mapped = context;

	mapped->has_libc |= strncmp(name, "libc.", 5) == 0 || strncmp(name, "libc-", 5) == 0 ||
			    strncmp(name, "ld-musl", 7) == 0;
	for (size_t i = 0; i < sizeof(unwinders) / sizeof(unwinders[0]); i++)
		mapped->has_unwinder |= strncmp(name, unwinders[i], strlen(unwinders[i])) == 0;
	return 0;
}

/* Whether an exception may pass a function of the object; what is not known may. */
static bool may_unwind(struct foreign_search *search)
{
	struct mapped mapped = { false, false };
	struct proc_maps maps;

	if (search->may_unwind < 0) {
		search->may_unwind = 1;
		if (!search->functions.has_unwinder && search->object->pid &&
		    !process_reader_maps(search->object->reader, &maps, search->object->pid)) {
			proc_maps_each_object(&maps, look_at_mapping, &mapped);
			search->may_unwind = mapped.has_unwinder ||
					     (!mapped.has_libc && search->functions.needs_others);
			proc_maps_release(&maps);
		}
	}
	return search->may_unwind;
}

/* The part of a function that is rarely run; NULL: it has none. */
static const struct elf_function *cold_part(const struct elf_functions *functions,
					    const struct elf_function *function)
{
	size_t length = strlen(function->name);

	for (size_t i = 0; i < functions->cnt; i++)
		if (strncmp(functions->functions[i].name, function->name, length) == 0 &&
		    strcmp(functions->functions[i].name + length, ".cold") == 0)
			return &functions->functions[i];
	return NULL;
}

static int read_exits(const struct foreign_search *search, const struct elf_function *function,
		      const struct elf_function *cold, struct function_exits *exits)
{
	const struct elf_function *parts[] = { function, cold };

	return elf_reader_exits(&search->functions, parts, cold ? 2 : 1, exits);
}

static bool can_be_hooked(struct foreign_search *search)
{
	if (search->functions.is_go || search->plan->returns == FOREIGN_RETURNS_EXITS)
		return false;
	return search->plan->returns == FOREIGN_RETURNS_HOOK || !may_unwind(search);
}

/*
 * Probes on the return address of the function, or on its ways out. 0; -ENOTSUP: neither can be done, which
 * is said; other errors.
 */
static int add_return(struct foreign_search *search, const struct elf_function *function,
		      struct probe_spot spot, enum foreign_program at_exits, enum foreign_program at_return,
		      bool *is_hooked)
{
	struct function_exits exits;
	int err;

	*is_hooked = can_be_hooked(search);
	if (*is_hooked) {
		spot.program = at_return;
		return foreign_add_spot(search, &spot);
	}
	err = read_exits(search, function, cold_part(&search->functions, function), &exits);
	if (err == -ENOTSUP)
		foreign_warn(search->plan,
			     "'%s' of \"%s\" is not traced: its code is not understood, and a hook on its "
			     "return could end the program: %s",
			     function->name, search->object->path,
			     search->functions.is_go
				     ? "Go moves stacks"
				     : "an exception cannot pass it (--func-returns hook if there are none)");
	if (err)
		return err;
	spot.program = at_exits;
	for (size_t i = 0; !err && i < exits.cnt; i++) {
		spot.offset = exits.addresses[i];
		err = foreign_add_spot(search, &spot);
	}
	function_exits_release(&exits);
	return err;
}

/* ---- points of spans ---- */

static int add_point(struct foreign_search *search, size_t span_idx, bool is_end, size_t point_idx,
		     const struct elf_function *function)
{
	const struct span_spec *span = &search->plan->spans[span_idx];
	const struct span_point *point = is_end ? &span->ends[point_idx] : &span->begins[point_idx];
	struct probe_spot spot = { .offset = function->offset,
				   .program = is_end ? FOREIGN_PROGRAM_END : FOREIGN_PROGRAM_BEGIN };
	int site = foreign_site_make(search, span_idx, is_end, point, NULL), err;
	bool is_hooked;

	if (site < 0)
		return site == -ENOMEM ? site : 0;
	spot.cookie = (uint64_t)site;
	if (point->kind == SPAN_POINT_ENTRY)
		err = foreign_add_spot(search, &spot);
	else
		err = add_return(search, function, spot, (enum foreign_program)spot.program,
				 is_end ? FOREIGN_PROGRAM_END_RETURN : FOREIGN_PROGRAM_BEGIN_RETURN,
				 &is_hooked);
	search->plan->point_hits[span_idx][is_end][point_idx] += !err;
	return err == -ENOTSUP ? 0 : err;
}

static int add_points(struct foreign_search *search, size_t span_idx, bool is_end)
{
	const struct span_spec *span = &search->plan->spans[span_idx];
	int err = 0;

	for (size_t i = 0; !err && i < (is_end ? span->end_cnt : span->begin_cnt); i++) {
		const struct span_point *point = is_end ? &span->ends[i] : &span->begins[i];
		struct function_list list;

		if (point->kind == SPAN_POINT_USDT || !foreign_is_binary(point->object, search->object->path))
			continue;
		err = find_functions(search, point->name, &list,
				     &search->plan->point_guesses[span_idx][is_end][i]);
		for (size_t n = 0; !err && n < list.cnt; n++)
			err = add_point(search, span_idx, is_end, i,
					&search->functions.functions[list.idx[n]]);
		free(list.idx);
	}
	return err;
}

/* ---- functions ---- */

/* The label: as people write it, and as the log can take it. */
static uint64_t function_label(struct foreign_search *search, size_t idx)
{
	const char *mangled = search->functions.functions[idx].name;
	char label[CXX_NAME_MAX + 1], *name = NULL;
	bool is_own = false;

	if (search->cxx_names)
		name = search->cxx_names[idx];
	else
		is_own = !cxx_names_read(&name, &mangled, 1);
	snprintf(label, sizeof(label), "%s", name ? name : mangled);
	if (name)
		cxx_name_shorten(label);
	if (is_own)
		free(name);
	label[SPAN_LABEL_BYTES_MAX] = '\0';
	return foreign_label_address(search->plan, label);
}

/* Functions of several files, or processes, may have one label. */
static void note_label(struct foreign_plan *plan, uint32_t label)
{
	for (size_t i = 0; i < plan->function_label_cnt; i++) {
		if (plan->function_labels[i] == label)
			return;
	}
	if (plan->function_label_cnt < FOREIGN_LABEL_MAX)
		plan->function_labels[plan->function_label_cnt++] = label;
}

static int add_function(struct foreign_search *search, size_t idx, size_t *hits)
{
	const struct elf_function *function = &search->functions.functions[idx];
	struct probe_spot spot = { .offset = function->offset };
	uint64_t label = function_label(search, idx);
	bool is_hooked;
	int err;

	if (!label)
		return -ENOMEM;
	spot.cookie = label - FOREIGN_LABEL_BASE;
	err = add_return(search, function, spot, FOREIGN_PROGRAM_LEAVE, FOREIGN_PROGRAM_RETURN, &is_hooked);
	if (err)
		return err == -ENOTSUP ? 0 : err;
	spot.program = is_hooked ? FOREIGN_PROGRAM_CALL : FOREIGN_PROGRAM_ENTER;
	(*hits)++;
	note_label(search->plan, (uint32_t)spot.cookie);
	return foreign_add_spot(search, &spot);
}

/* A library may be meant by what is before ".so", too. */
static void guess_binary(struct name_guess *guess, const char *typed, const char *path)
{
	const char *name = base_name(path), *dot = strstr(name, ".so");
	char *library = dot && dot > name ? strndup(name, (size_t)(dot - name)) : NULL;

	name_guess_see(guess, typed, library ? library : name);
	free(library);
}

static int add_funcs(struct foreign_search *search, size_t func_idx)
{
	const struct func_spec *func = &search->plan->funcs[func_idx];
	int err = 0;

	if (!foreign_is_binary(func->binary, search->object->path)) {
		guess_binary(&search->plan->func_binaries[func_idx].guess, func->binary,
			     search->object->path);
		return 0;
	}
	search->plan->func_binaries[func_idx].is_mapped = true;
	for (size_t i = 0; !err && i < func->symbol_cnt; i++) {
		struct function_list list;

		err = find_functions(search, func->symbols[i], &list,
				     &search->plan->func_guesses[func_idx][i]);
		for (size_t n = 0; !err && n < list.cnt; n++)
			err = add_function(search, list.idx[n], &search->plan->func_hits[func_idx][i]);
		search->plan->func_is_refused[func_idx][i] |= list.is_refused;
		free(list.idx);
	}
	return err;
}

static int compare_spots(const void *a, const void *b)
{
	const struct probe_spot *left = a, *right = b;

	if (left->program != right->program)
		return left->program < right->program ? -1 : 1;
	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return left->cookie < right->cookie ? -1 : left->cookie > right->cookie;
}

/*
 * A function that two patterns mean has one span; of its ways out one is enough, for they do not ask whose
 * they are.
 */
static void drop_doubles(struct foreign_search *search)
{
	size_t cnt = 0;

	if (search->spot_cnt)
		qsort(search->spots, search->spot_cnt, sizeof(*search->spots), compare_spots);
	for (size_t i = 0; i < search->spot_cnt; i++) {
		const struct probe_spot *last = cnt ? &search->spots[cnt - 1] : NULL;
		bool is_of_function = search->spots[i].program >= FOREIGN_PROGRAM_LEAVE &&
				      search->spots[i].program <= FOREIGN_PROGRAM_CALL;

		if (last && last->program == search->spots[i].program &&
		    last->offset == search->spots[i].offset &&
		    (is_of_function || last->cookie == search->spots[i].cookie))
			continue;
		search->spots[cnt++] = search->spots[i];
	}
	search->spot_cnt = cnt;
}

int foreign_add_functions(struct foreign_search *search)
{
	int err = 0;

	for (size_t i = 0; !err && i < search->plan->span_cnt; i++) {
		err = add_points(search, i, true);
		if (!err)
			err = add_points(search, i, false);
	}
	for (size_t i = 0; !err && i < search->plan->func_cnt; i++)
		err = add_funcs(search, i);
	drop_doubles(search);
	return err;
}

void foreign_search_release(struct foreign_search *search)
{
	for (size_t i = 0; search->cxx_names && i < search->functions.cnt; i++)
		free(search->cxx_names[i]);
	free(search->cxx_names);
	if (search->have_functions)
		elf_functions_release(&search->functions);
	free(search->spots);
}
