/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pprof's profile.proto, packed by gzip. A message may come in pieces, which readers join: so each sample,
 * function and string is written as a profile of its own that has nothing else, when it is first needed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/string_pool.h"
#include "base/text.h"
#include "export/formats.h"
#include "export/path_profile.h"
#include "pprof.pb-c.h"

#define OUT_BYTES 65536u
#define GZIP_WINDOW (15 + 16) /* of deflateInit2(): with a header of gzip */

struct pprof {
	struct path_profile *profile; /* first: path_profile.h */
	FILE *out;
	int64_t start_ns; /* of the wall clock */
	struct string_pool *strings;
	struct string_pool *functions; /* by number; its id is the number + 1, and that of its location */
	struct text text;
	z_stream stream;
	bool has_stream;
	uint8_t *packed;
	size_t packed_size;
	uint64_t *locations;
	size_t location_size;
	int err; /* the first one */
};

/* ---- writing ---- */

static void deflate_bytes(struct pprof *pprof, const uint8_t *bytes, size_t length, int flush)
{
	uint8_t out[OUT_BYTES];
	z_stream *stream = &pprof->stream;

	stream->next_in = (uint8_t *)bytes; /* only read */
	stream->avail_in = (unsigned int)length;
	do {
		size_t filled;

		stream->next_out = out;
		stream->avail_out = sizeof(out);
		deflate(stream, flush);
		filled = sizeof(out) - stream->avail_out;
		if (fwrite(out, 1, filled, pprof->out) != filled && !pprof->err)
			pprof->err = errno ? -errno : -EIO;
	} while (stream->avail_out == 0 && !pprof->err);
}

static void write_piece(struct pprof *pprof, const Pprof__Profile *piece)
{
	size_t length;

	if (pprof->err)
		return;
	length = pprof__profile__get_packed_size(piece);
	if (length > pprof->packed_size) {
		uint8_t *grown = realloc(pprof->packed, length * 2);

		if (!grown) {
			pprof->err = -ENOMEM;
			return;
		}
		pprof->packed = grown;
		pprof->packed_size = length * 2;
	}
	pprof__profile__pack(piece, pprof->packed);
	deflate_bytes(pprof, pprof->packed, length, Z_NO_FLUSH);
}

/* The place of a string in the table, as valid text; written when it is new. */
static int64_t put_string(struct pprof *pprof, const char *bytes, size_t length)
{
	uint32_t cnt = string_pool_count(pprof->strings), number = 0;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	char *text;

	text_clear(&pprof->text);
	text_append_visible(&pprof->text, bytes, length);
	if (!pprof->err)
		pprof->err = pprof->text.err;
	if (!pprof->err)
		pprof->err = string_pool_add(pprof->strings, text_string(&pprof->text), pprof->text.length,
					     &number);
	if (pprof->err || number < cnt)
		return number;
	text = (char *)text_string(&pprof->text); /* only read */
	piece.n_string_table = 1;
	piece.string_table = &text;
	write_piece(pprof, &piece);
	return number;
}

static int64_t put_text(struct pprof *pprof, const char *text)
{
	return put_string(pprof, text, strlen(text));
}

/* The id of the location of a function. */
static uint64_t put_function(struct pprof *pprof, struct txtrace_string name)
{
	uint32_t cnt = string_pool_count(pprof->functions), number = 0;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;
	Pprof__Line line = PPROF__LINE__INIT, *lines = &line;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;

	if (!pprof->err)
		pprof->err = string_pool_add(pprof->functions, name.bytes, name.length, &number);
	if (pprof->err || number < cnt)
		return (uint64_t)number + 1;
	function.has_id = function.has_name = function.has_system_name = true;
	function.id = (uint64_t)number + 1;
	function.name = function.system_name = put_string(pprof, name.bytes, name.length);
	line.has_function_id = true;
	line.function_id = function.id;
	location.has_id = true;
	location.id = function.id;
	location.n_line = 1;
	location.line = &lines;
	piece.n_function = piece.n_location = 1;
	piece.function = &functions;
	piece.location = &locations;
	write_piece(pprof, &piece);
	return function.id;
}

/* ---- samples ---- */

static int64_t signed_value(uint64_t value)
{
	return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

static bool reserve_locations(struct pprof *pprof, size_t cnt)
{
	uint64_t *grown;

	if (cnt <= pprof->location_size)
		return true;
	grown = reallocarray(pprof->locations, cnt, sizeof(*grown));
	if (!grown)
		return false;
	pprof->locations = grown;
	pprof->location_size = cnt;
	return true;
}

static Pprof__Label label_of(struct pprof *pprof, const char *key, struct txtrace_string value)
{
	Pprof__Label label = PPROF__LABEL__INIT;

	label.has_key = label.has_str = true;
	label.key = put_text(pprof, key);
	label.str = put_string(pprof, value.bytes, value.length);
	return label;
}

static int put_sample(void *context, const struct path_sample *sample)
{
	struct pprof *pprof = context;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Sample message = PPROF__SAMPLE__INIT, *messages = &message;
	Pprof__Label labels[2], *label_pointers[2] = { &labels[0], &labels[1] };
	int64_t values[PATH_VALUE_CNT];

	if (!reserve_locations(pprof, sample->frame_cnt))
		return -ENOMEM;
	for (size_t i = 0; i < sample->frame_cnt; i++)
		pprof->locations[sample->frame_cnt - 1 - i] = put_function(pprof, sample->frames[i]);
	for (size_t i = 0; i < PATH_VALUE_CNT; i++)
		values[i] = signed_value(sample->values[i]);
	labels[0] = label_of(pprof, "span_label", sample->frames[sample->span_cnt - 1]);
	message.n_label = 1;
	if (sample->reason)
		labels[message.n_label++] = label_of(
			pprof, "reason", (struct txtrace_string){ sample->reason, strlen(sample->reason) });
	message.label = label_pointers;
	message.n_location_id = sample->frame_cnt;
	message.location_id = pprof->locations;
	message.n_value = PATH_VALUE_CNT;
	message.value = values;
	piece.n_sample = 1;
	piece.sample = &messages;
	write_piece(pprof, &piece);
	return pprof->err;
}

/* ---- begin and end ---- */

static void put_types(struct pprof *pprof)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__ValueType types[PATH_VALUE_CNT], *pointers[PATH_VALUE_CNT];

	put_text(pprof, ""); /* the format wants it first */
	for (size_t i = 0; i < PATH_VALUE_CNT; i++) {
		pprof__value_type__init(&types[i]);
		types[i].has_type = types[i].has_unit = true;
		types[i].type = put_text(pprof, path_value_names[i]);
		types[i].unit = put_text(pprof, i == PATH_SPANS ? "count" : "nanoseconds");
		pointers[i] = &types[i];
	}
	piece.n_sample_type = PATH_VALUE_CNT;
	piece.sample_type = pointers;
	write_piece(pprof, &piece);
}

static void put_comment(struct pprof *pprof, const char *what, uint64_t cnt)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	char sentence[96];
	int64_t string;

	if (cnt == 0)
		return;
	snprintf(sentence, sizeof(sentence), "%s: %" PRIu64, what, cnt);
	string = put_text(pprof, sentence);
	piece.n_comment = 1;
	piece.comment = &string;
	write_piece(pprof, &piece);
}

static int pprof_finish(void *state, const struct export_totals *totals)
{
	const struct log_census *census = &totals->census;
	struct pprof *pprof = state;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int err;

	put_types(pprof);
	err = path_profile_walk(pprof->profile, put_sample, pprof);
	if (err)
		return err;
	put_comment(pprof, "lost events", log_census_lost_cnt(census));
	put_comment(pprof, "records that were not written", census->dropped_record_cnt);
	put_comment(pprof, "lower bounds, left out", census->lower_bound_cnt);
	put_comment(pprof, "bytes of the log that can't be read", census->damaged_bytes);
	put_comment(pprof, "logs that are incomplete", !totals->is_complete);
	piece.has_time_nanos = pprof->start_ns > 0;
	piece.time_nanos = pprof->start_ns;
	piece.has_duration_nanos = census->has_time;
	piece.duration_nanos = signed_value(census->last_ns - census->first_ns);
	piece.has_default_sample_type = true;
	piece.default_sample_type = put_text(pprof, path_value_names[PATH_ON_CPU]);
	write_piece(pprof, &piece);
	if (!pprof->err)
		deflate_bytes(pprof, NULL, 0, Z_FINISH);
	return pprof->err;
}

static int pprof_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct pprof *pprof = calloc(1, sizeof(*pprof));

	if (!pprof)
		return -ENOMEM;
	*state = pprof;
	pprof->out = out;
	pprof->start_ns = signed_value(info->start_realtime_ns);
	pprof->profile = path_profile_new();
	pprof->strings = string_pool_new();
	pprof->functions = string_pool_new();
	pprof->has_stream = deflateInit2(&pprof->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
					 Z_DEFAULT_STRATEGY) == Z_OK;
	return pprof->profile && pprof->strings && pprof->functions && pprof->has_stream ? 0 : -ENOMEM;
}

static void pprof_free(void *state)
{
	struct pprof *pprof = state;

	path_profile_free(pprof->profile);
	string_pool_free(pprof->strings);
	string_pool_free(pprof->functions);
	text_release(&pprof->text);
	if (pprof->has_stream)
		deflateEnd(&pprof->stream);
	free(pprof->packed);
	free(pprof->locations);
	free(pprof);
}

const struct export_format format_pprof = {
	.name = "pprof",
	.help = "a profile by span path and code for pprof: on-CPU, runnable, blocked, detached",
	.suffix = ".pb.gz",
	.is_binary = true,
	.open = pprof_open,
	.span = path_profile_span,
	.loss = path_profile_loss,
	.stay = path_profile_stay,
	.overlap = path_profile_overlap,
	.stack = path_profile_stack,
	.frames = path_profile_frames,
	.dropped = path_profile_dropped,
	.damage = path_profile_damage,
	.finish = pprof_finish,
	.tell = path_profile_tell,
	.free = pprof_free,
};
