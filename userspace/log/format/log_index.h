/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the writer remembers for the index: where the batches are, and how many
 * spans each label has. Fixed size: when it is full, two neighbouring batches
 * become one entry, and labels beyond the first LOG_INDEX_LABEL_MAX are only
 * counted.
 */
#ifndef LOG_INDEX_H
#define LOG_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/intern.h"

#define LOG_INDEX_ENTRY_MAX 4096u
#define LOG_INDEX_LABEL_MAX 1024u
#define LOG_INDEX_LABEL_BYTES (64u << 10)

struct log_index_entry {
	uint64_t offset;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t record_cnt;
	uint32_t batch_cnt;
};

struct log_index {
	struct log_index_entry *entries;
	uint32_t entry_cnt;
	uint32_t batches_per_entry;
	struct intern_strings labels;
	uint64_t *span_cnts; /* by label */
	uint64_t other_span_cnt;
};

int log_index_init(struct log_index *index); /* 0 or -ENOMEM; to be released in any case */
void log_index_release(struct log_index *index);
void log_index_clear(struct log_index *index);

void log_index_add_batch(struct log_index *index, const struct log_index_entry *entry);
void log_index_add_spans(struct log_index *index, const char *label, size_t length, uint64_t span_cnt);

/* The payload of the index block: buffer has room for LOG_INDEX_BYTES_MAX. Returns its length. */
#define LOG_INDEX_BYTES_MAX \
	(LOG_INDEX_ENTRY_MAX * 45u + LOG_INDEX_LABEL_MAX * 20u + LOG_INDEX_LABEL_BYTES + 64u)
uint32_t log_index_encode(const struct log_index *index, uint8_t *buffer);

/*
 * The entries of such a payload, one by one. Nothing in it is trusted: offsets
 * ascend, and no number has wrapped around; whether the entries are right, only
 * the blocks can tell. What follows the entries is not looked at.
 */
struct log_index_reader {
	const uint8_t *at;
	const uint8_t *end;
	uint64_t left; /* entries */
	uint64_t offset;
	uint64_t time_ns;
	bool is_wrong; /* after a false: it was not the end */
};

/* False: this is no index. */
bool log_index_read(struct log_index_reader *reader, const uint8_t *payload, size_t length);
bool log_index_next(struct log_index_reader *reader, struct log_index_entry *entry);

#endif
