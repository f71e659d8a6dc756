/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/unmodified/foreign_sites.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "attach/probes/usdt_argument.h"

/* Where one site's values are looked for. */
struct place {
	struct foreign_search *search;
	const struct span_spec *span;
	const struct span_point *point;
	const char *arguments; /* NULL: of a function */
	uint16_t machine;
};

static const char *why_not(int err)
{
	return err == -ENOENT	 ? "the probe has fewer arguments"
	       : err == -ENOTSUP ? "it is in a place that cannot be read"
				 : "its description is damaged";
}

static int find_argument(const struct place *place, int idx, struct foreign_value *value)
{
	if (idx < 0)
		return -ENOENT;
	if (place->arguments)
		return usdt_argument_find(value, place->arguments, (size_t)idx, place->machine);
	return usdt_argument_of_function(value, (size_t)idx, place->machine);
}

static int find_value(const struct place *place, const struct span_term *term, struct foreign_value *value)
{
	*value = (struct foreign_value){ .is_string = term->is_string };
	if (term->kind == SPAN_TERM_TID) {
		value->source = FOREIGN_TID;
		value->size_bytes = 4;
		return 0;
	}
	if (term->kind == SPAN_TERM_RETVAL) {
		usdt_return_value(value, place->machine);
		return 0;
	}
	return find_argument(place, span_term_argument(term, place->point), value);
}

static void warn_of(const struct place *place, const char *what, const struct span_term *term, int err)
{
	foreign_warn(place->search->plan, "span '%s': the %s '%s' of '%s:%s' (\"%s\") cannot be had: %s",
		     place->span->label, what, term->name, place->point->object, place->point->name,
		     place->arguments ? place->arguments : "a function", why_not(err));
}

/* Without its key a probe is of no use. */
static int find_keys(const struct place *place, const struct span_terms *terms, const char *what,
		     struct foreign_value *values)
{
	for (size_t i = 0; i < terms->cnt && i < FOREIGN_KEY_MAX; i++) {
		int err = find_value(place, &terms->terms[i], &values[i]);

		if (err) {
			warn_of(place, what, &terms->terms[i], err);
			return err;
		}
	}
	return 0;
}

/* A tag that cannot be had is left out. */
static int find_tags(const struct place *place, const struct span_terms *terms, struct foreign_site *site)
{
	for (size_t i = 0; i < terms->cnt; i++) {
		struct foreign_value *value = &site->tags[site->tag_cnt],
				     *length = &site->lengths[site->tag_cnt];
		int err = find_value(place, &terms->terms[i], value);

		if (!err && terms->terms[i].has_length)
			err = find_argument(place, span_term_length_argument(&terms->terms[i], place->point),
					    length);
		if (err) {
			warn_of(place, "tag", &terms->terms[i], err);
			*value = *length = (struct foreign_value){ 0 };
			continue;
		}
		value->name = foreign_label_address(place->search->plan, terms->terms[i].name);
		if (!value->name)
			return -ENOMEM;
		site->tag_cnt++;
	}
	return 0;
}

static uint32_t span_idx_of(const struct foreign_plan *plan, const char *label)
{
	size_t idx = 0;

	while (idx + 1 < plan->span_cnt && strcmp(plan->spans[idx].label, label) != 0)
		idx++;
	return (uint32_t)idx;
}

static int fill_site(const struct place *place, size_t span_idx, bool is_end, struct foreign_site *site)
{
	const struct span_spec *span = place->span;
	const struct span_terms *key = is_end ? &span->end_key : &span->key;
	int err;

	site->span_idx = (uint32_t)span_idx;
	site->key_cnt = (uint32_t)key->cnt;
	site->is_key_string = key->cnt && key->terms[0].is_string;
	site->counts_again = span->counts_again;
	site->told_reason = span->told_reason;
	site->label = foreign_label_address(place->search->plan, span->label);
	if (!site->label)
		return -ENOMEM;
	err = find_keys(place, key, "key", site->keys);
	if (!err && !is_end && span->parent) {
		site->parent = span->parent;
		site->parent_span_idx = span->parent == FOREIGN_PARENT_SPAN
						? span_idx_of(place->search->plan, span->parent_label)
						: 0;
		site->parent_key_cnt = (uint32_t)span->parent_key.cnt;
		err = find_keys(place, &span->parent_key, "parent", site->parent_keys);
	}
	return err ? err : find_tags(place, is_end ? &span->end_tags : &span->tags, site);
}

/* Sites that are alike share one entry. */
static int put_site(struct foreign_plan *plan, const struct foreign_site *site)
{
	uint32_t idx = 0;

	while (idx < plan->site_cnt && memcmp(&plan->sites[idx], site, sizeof(*site)) != 0)
		idx++;
	if (idx < plan->site_cnt)
		return (int)idx;
	if (idx == FOREIGN_SITE_MAX) {
		foreign_warn(plan, "there is room for %d distinct probe sites; the rest is not traced",
			     FOREIGN_SITE_MAX);
		return -ENOSPC;
	}
	if (plan->sites_fd >= 0 && bpf_map_update_elem(plan->sites_fd, &idx, site, BPF_ANY))
		return -errno;
	plan->sites[plan->site_cnt++] = *site;
	return (int)idx;
}

int foreign_site_make(struct foreign_search *search, size_t span_idx, bool is_end,
		      const struct span_point *point, const char *arguments)
{
	struct place place = {
		.search = search,
		.span = &search->plan->spans[span_idx],
		.point = point,
		.arguments = arguments,
		.machine = search->object->notes->machine,
	};
	struct foreign_site site;
	int err;

	memset(&site, 0, sizeof(site));
	err = fill_site(&place, span_idx, is_end, &site);
	return err ? err : put_site(search->plan, &site);
}
