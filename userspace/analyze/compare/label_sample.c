/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/label_sample.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define TAIL_SPANS_MIN 5

static int add_percentiles(struct label_sample *sample, const struct run_set *set,
			   const struct sampled_span *span, struct sample_memory *memory)
{
	int err = 0;

	if (set->percentile_cnt == 0)
		return 0;
	if (!sample->quantiles) {
		sample->quantiles = calloc(COMPARE_VALUE_COUNT, sizeof(*sample->quantiles));
		if (!sample->quantiles)
			return -ENOMEM;
		memory->used_bytes += COMPARE_VALUE_COUNT * sizeof(*sample->quantiles);
	}
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT && !err; value++) {
		if (set->has_percentiles[value])
			err = quantile_add(&sample->quantiles[value], span->value_ns[value],
					   memory->used_bytes < memory->max_bytes, &memory->used_bytes);
	}
	return err;
}

static bool has_room(struct label_sample *sample, struct sample_memory *memory)
{
	uint32_t size = sample->sample_size ? sample->sample_size * 2 : 16;
	struct sampled_span *grown;

	if (sample->sample_cnt < sample->sample_size)
		return true;
	if (sample->sample_size == TAIL_SAMPLE_MAX || memory->used_bytes >= memory->max_bytes)
		return false;
	grown = reallocarray(sample->sample, size, sizeof(*grown));
	if (!grown)
		return false;
	memory->used_bytes += (size - sample->sample_size) * sizeof(*grown);
	sample->sample = grown;
	sample->sample_size = size;
	return true;
}

/* Each span is as likely in it as any other (Vitter's algorithm R). */
static void keep_some(struct label_sample *sample, const struct sampled_span *span,
		      struct sample_memory *memory, struct seeded_random *random)
{
	uint64_t place;

	if (has_room(sample, memory)) {
		sample->sample[sample->sample_cnt++] = *span;
		return;
	}
	place = seeded_random_next(random) % sample->cnt;
	if (place < sample->sample_cnt)
		sample->sample[place] = *span;
}

int label_sample_add(struct label_sample *sample, const struct run_set *set, const struct sampled_span *span,
		     struct sample_memory *memory, struct seeded_random *random)
{
	sample->cnt++;
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++)
		sample->sums[value] += (double)span->value_ns[value];
	keep_some(sample, span, memory, random);
	return add_percentiles(sample, set, span, memory);
}

void label_sample_release(struct label_sample *sample)
{
	for (unsigned int value = 0; sample->quantiles && value < COMPARE_VALUE_COUNT; value++)
		quantile_release(&sample->quantiles[value]);
	free(sample->quantiles);
	free(sample->sample);
}

static int compare_wall(const void *a, const void *b)
{
	uint64_t x = ((const struct sampled_span *)a)->value_ns[SPAN_VALUE_WALL],
		 y = ((const struct sampled_span *)b)->value_ns[SPAN_VALUE_WALL];

	return (x < y) - (x > y);
}

static void describe_tail(const struct label_sample *sample, struct label_unit *unit)
{
	uint32_t cnt = (uint32_t)ceil(sample->sample_cnt * (1 - TAIL_PERCENTILE) - 1e-9);

	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++)
		unit->tail[value] = NAN;
	if (cnt < TAIL_SPANS_MIN)
		return;
	qsort(sample->sample, sample->sample_cnt, sizeof(*sample->sample), compare_wall);
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++) {
		double sum = 0;

		for (uint32_t i = 0; i < cnt; i++)
			sum += (double)sample->sample[i].value_ns[value];
		unit->tail[value] = sum / cnt;
	}
}

static int find_percentiles(const struct label_sample *sample, const struct run_set *set,
			    struct label_unit *unit, bool *is_coarse)
{
	size_t cnt = set->percentile_cnt;

	unit->percentiles = malloc((COMPARE_VALUE_COUNT * cnt + 1) * sizeof(*unit->percentiles));
	if (!unit->percentiles)
		return -ENOMEM;
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++) {
		const struct quantile *quantile = sample->quantiles ? &sample->quantiles[value] : NULL;

		for (size_t i = 0; i < cnt; i++) {
			bool is_known = quantile && set->has_percentiles[value] &&
					quantile->cnt >= spans_needed(set->percentiles[i]);

			unit->percentiles[value * cnt + i] =
				is_known ? (double)quantile_at(quantile, set->percentiles[i]) : NAN;
		}
		*is_coarse |= quantile && quantile->is_coarse;
	}
	return 0;
}

int label_sample_finish(const struct label_sample *sample, const struct run_set *set, struct label_unit *unit,
			bool *is_coarse)
{
	unit->cnt = sample->cnt;
	unit->lower_bound_cnt = sample->lower_bound_cnt;
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++)
		unit->mean[value] = sample->cnt ? sample->sums[value] / (double)sample->cnt : NAN;
	describe_tail(sample, unit);
	return find_percentiles(sample, set, unit, is_coarse);
}
