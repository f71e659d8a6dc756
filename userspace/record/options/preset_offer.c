/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/preset_offer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/unmodified/foreign_functions.h"
#include "attach/unmodified/span_spec.h"
#include "record/options/preset.h"

static bool has_seen(const struct preset_offer *offer, const char *provider)
{
	for (size_t i = 0; i < offer->provider_cnt; i++)
		if (strcmp(offer->providers[i], provider) == 0)
			return true;
	return false;
}

static bool has_seen_file(const struct preset_offer *offer, const char *pattern)
{
	for (size_t i = 0; i < offer->file_cnt; i++)
		if (foreign_is_binary(pattern, offer->files[i]))
			return true;
	return false;
}

static void add(char **list, size_t *cnt, const char *text)
{
	if (*cnt == PRESET_OFFER_MAX)
		return;
	list[*cnt] = strdup(text);
	*cnt += list[*cnt] != NULL;
}

void preset_offer_see(struct preset_offer *offer, const char *provider)
{
	if (!has_seen(offer, provider))
		add(offer->providers, &offer->provider_cnt, provider);
}

void preset_offer_see_file(struct preset_offer *offer, const char *path)
{
	add(offer->files, &offer->file_cnt, path);
}

static bool fits(const struct preset_offer *offer, const char *line)
{
	struct span_spec span;
	struct error error;
	bool is_it;

	if (span_spec_parse(&span, line, &error))
		return false;
	is_it = span.begins[0].kind == SPAN_POINT_USDT ? has_seen(offer, span.begins[0].object)
						       : has_seen_file(offer, span.begins[0].object);
	span_spec_release(&span);
	return is_it;
}

static bool is_for(const struct preset_offer *offer, const char *name)
{
	struct preset preset;
	struct error error;
	bool is_it = false;

	if (preset_read(&preset, name, &error))
		return false;
	for (size_t i = 0; !is_it && i < preset.span_cnt; i++)
		is_it = fits(offer, preset.spans[i]);
	preset_release(&preset);
	return is_it;
}

void preset_offer_append(const struct preset_offer *offer, struct text *text)
{
	struct preset_names names;

	if (!offer->provider_cnt && !offer->file_cnt)
		return;
	preset_names_read(&names);
	for (size_t i = 0; i < names.cnt; i++)
		if (is_for(offer, names.names[i]))
			text_append_format(text, "  spans that are written down already: --preset %s\n",
					   names.names[i]);
	preset_names_release(&names);
}

void preset_offer_release(struct preset_offer *offer)
{
	while (offer->provider_cnt)
		free(offer->providers[--offer->provider_cnt]);
	while (offer->file_cnt)
		free(offer->files[--offer->file_cnt]);
}
