/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of one label in one unit, as they come: sums, percentiles, and a
 * sample of whole ledgers that tells what makes the slow ones slow.
 */
#ifndef LABEL_SAMPLE_H
#define LABEL_SAMPLE_H

#include "analyze/compare/run_set.h"
#include "analyze/quantile.h"
#include "base/seeded_random.h"

#define TAIL_SAMPLE_MAX 1024 /* spans whose ledger is kept */
#define TAIL_PERCENTILE 0.99

struct sampled_span {
	uint64_t value_ns[COMPARE_VALUE_COUNT];
};

struct label_sample {
	uint64_t cnt;
	uint64_t lower_bound_cnt;
	double sums[COMPARE_VALUE_COUNT];
	struct quantile *quantiles; /* [value]; NULL: none is wanted */
	struct sampled_span *sample; /* NULL: there was no room */
	uint32_t sample_cnt, sample_size;
};

struct sample_memory {
	size_t used_bytes;
	size_t max_bytes;
};

/* All zero is empty. 0 or -ENOMEM. */
int label_sample_add(struct label_sample *sample, const struct run_set *set, const struct sampled_span *span,
		     struct sample_memory *memory, struct seeded_random *random);
void label_sample_release(struct label_sample *sample);

/* What it comes to. 0 or -ENOMEM. *is_coarse: set if percentiles lost precision. */
int label_sample_finish(const struct label_sample *sample, const struct run_set *set, struct label_unit *unit,
			bool *is_coarse);

#endif
