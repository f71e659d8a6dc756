/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For a listing of probes: which presets are for their providers, or for the
 * functions of the files that have them. All zero: nothing has been seen yet.
 */
#ifndef PRESET_OFFER_H
#define PRESET_OFFER_H

#include <stddef.h>

#include "base/text.h"

#define PRESET_OFFER_MAX 64 /* more are passed over: a file may claim any number */

struct preset_offer {
	char *providers[PRESET_OFFER_MAX];
	char *files[PRESET_OFFER_MAX];
	size_t provider_cnt;
	size_t file_cnt;
};

/* Probes of this provider are there. */
void preset_offer_see(struct preset_offer *offer, const char *provider);

/* A file with functions is there. */
void preset_offer_see_file(struct preset_offer *offer, const char *path);

/* A line for each preset that has a span of one of them. Presets that cannot be read are passed over. */
void preset_offer_append(const struct preset_offer *offer, struct text *text);

void preset_offer_release(struct preset_offer *offer);

#endif
