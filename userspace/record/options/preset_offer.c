/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/preset_offer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "attach/unmodified/span_spec.h"
#include "record/options/preset.h"

static bool has_seen(const struct preset_offer *offer, const char *provider)
{
	for (size_t i = 0; i < offer->cnt; i++)
		if (strcmp(offer->providers[i], provider) == 0)
			return true;
	return false;
}

void preset_offer_see(struct preset_offer *offer, const char *provider)
{
	if (offer->cnt == PRESET_OFFER_PROVIDER_MAX || has_seen(offer, provider))
		return;
	offer->providers[offer->cnt] = strdup(provider);
	offer->cnt += offer->providers[offer->cnt] != NULL;
}

static bool is_of_provider(const struct preset_offer *offer, const char *line)
{
	struct span_spec span;
	struct error error;
	bool is_it;

	if (span_spec_parse(&span, line, &error))
		return false;
	is_it = span.begins[0].kind == SPAN_POINT_USDT && has_seen(offer, span.begins[0].object);
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
		is_it = is_of_provider(offer, preset.spans[i]);
	preset_release(&preset);
	return is_it;
}

void preset_offer_append(const struct preset_offer *offer, struct text *text)
{
	struct preset_names names;

	if (!offer->cnt)
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
	while (offer->cnt)
		free(offer->providers[--offer->cnt]);
}
