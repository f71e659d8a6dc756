/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/query_input.h"

#include <errno.h>
#include <stdlib.h>

struct query_reader {
	struct sql_reader reader; /* first */
	struct query_input *query;
	struct log_input input;
	bool is_telling;
};

static int open_reader(void *context, uint64_t from_ns, uint64_t to_ns, struct sql_reader **made)
{
	struct query_input *query = context;
	struct query_reader *reader = calloc(1, sizeof(*reader));
	int status;

	if (!reader)
		return -ENOMEM;
	reader->query = query;
	status = log_input_open(&reader->input, query->cli, query->paths, query->path_cnt,
				query->wants_progress && !query->is_telling);
	if (status == CLI_OK && (from_ns > 0 || to_ns > 0))
		status = log_input_seek_range(&reader->input, from_ns, to_ns);
	if (status != CLI_OK) {
		if (reader->input.log)
			log_input_close(&reader->input);
		free(reader);
		query->status = CLI_FAILED;
		return -EIO;
	}
	reader->is_telling = !query->is_telling && !query->has_told;
	reader->input.is_quiet = !reader->is_telling;
	query->is_telling |= reader->is_telling;
	reader->reader.log = reader->input.log;
	reader->reader.info = txtrace_log_info(reader->input.log);
	*made = &reader->reader;
	return 0;
}

static bool read_next(struct sql_reader *made)
{
	struct query_reader *reader = (struct query_reader *)made;
	bool has_next = log_input_next(&reader->input, &made->record);

	made->has_begun_capture = reader->input.has_begun_capture;
	made->info = txtrace_log_info(reader->input.log);
	return has_next;
}

static void close_reader(struct sql_reader *made)
{
	struct query_reader *reader = (struct query_reader *)made;
	struct query_input *query;
	int status;

	if (!reader)
		return;
	query = reader->query;
	if (reader->is_telling) {
		query->is_telling = false;
		query->has_told = reader->input.is_at_end;
	}
	status = log_input_close(&reader->input);
	query->status = status > query->status ? status : query->status;
	free(reader);
}

int query_input_init(struct query_input *input, struct cli *cli, char *const *paths, int path_cnt,
		     bool wants_progress)
{
	struct log_input first;
	int status;

	*input = (struct query_input){
		.cli = cli, .paths = paths, .path_cnt = path_cnt, .wants_progress = wants_progress
	};
	status = log_input_open(&first, cli, paths, path_cnt, false);
	if (status)
		return status;
	input->source = (struct sql_source){
		.context = input,
		.total_bytes = log_input_total_bytes(&first),
		.is_one_capture = txtrace_log_capture_cnt(first.log) <= 1,
		.open = open_reader,
		.next = read_next,
		.close = close_reader,
	};
	first.is_quiet = true;
	log_input_close(&first);
	return CLI_OK;
}
