/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/view/view_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "cli/view/view_json.h"
#include "view_assets.h" /* made of the files of page/ */

#define COMPRESSION 4 /* with 6, a page of 100 MB takes a tenth longer, and is a fourteenth smaller */
#define GZIP_WINDOW (15 + 16)

static int compress_into(struct text *text, const struct json *json)
{
	z_stream stream = { .next_in = (unsigned char *)json->bytes, .avail_in = (unsigned int)json->length };
	unsigned char *bytes;
	size_t room;
	int err = -ENOMEM;

	if (json->length > UINT32_MAX / 2)
		return -E2BIG;
	if (deflateInit2(&stream, COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, json->length);
	bytes = malloc(room);
	if (bytes) {
		stream.next_out = bytes;
		stream.avail_out = (unsigned int)room;
		err = deflate(&stream, Z_FINISH) == Z_STREAM_END ? 0 : -EIO;
		text_append_base64(text, bytes, room - stream.avail_out);
		free(bytes);
	}
	deflateEnd(&stream);
	return err ? err : text->err;
}

/* For the policy of the page: what has this hash is what we have put there. */
static void append_hash(struct text *text, const char *content)
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha256;

	sha256_init(&sha256);
	sha256_update(&sha256, content, strlen(content));
	sha256_final(&sha256, digest);
	text_append(text, "'sha256-");
	text_append_base64(text, digest, sizeof(digest));
	text_append(text, "'");
}

void view_page_append_policy(struct text *text)
{
	append_hash(text, view_script);
}

static void append_head(struct text *text, bool is_beside)
{
	text_append_format(text, "<!DOCTYPE html>\n<html lang=\"en\"%s>\n",
			   is_beside ? " class=\"beside\"" : "");
	text_append(text, "<head>\n<meta charset=\"utf-8\">\n"
			  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
			  "base-uri 'none'; form-action 'none'; script-src ");
	append_hash(text, view_script);
	text_append(text, "; style-src ");
	append_hash(text, view_style);
	text_append(text, "\">\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
			  "<title>txtrace</title>\n<style>");
	text_append(text, view_style);
	text_append(text, "</style>\n</head>\n");
}

static int append_page(struct text *text, const struct view_log *log, bool is_beside)
{
	struct json json;
	int err, json_err;

	json_init_memory(&json);
	err = view_json(&json, log->data, &log->input.info, &log->input.census);
	append_head(text, is_beside);
	text_append(text, view_markup);
	text_append(text, "<script type=\"application/gzip\" id=\"data\">");
	if (!err)
		err = compress_into(text, &json);
	text_append(text, "</script>\n<script type=\"module\">");
	text_append(text, view_script);
	text_append(text, "</script>\n</body>\n</html>\n");
	json_err = json_release(&json);
	err = err ? err : json_err;
	return err ? err : text->err;
}

/* part: of what there is */
static int cut(struct view_longest *longest, double part)
{
	return view_longest_cut(longest, (size_t)((double)longest->cnt * part));
}

static int cut_all(struct view_data *data, double part)
{
	int err = cut(&data->spans, part);

	if (!err)
		err = cut(&data->stays, part);
	return err ? err : cut(&data->threads.segments, part);
}

/* To what there is room for: it is then in order. */
static int settle(struct view_data *data)
{
	int err = view_longest_cut(&data->spans, data->spans.room);

	if (!err)
		err = view_longest_cut(&data->stays, data->stays.room);
	return err ? err : view_longest_cut(&data->threads.segments, data->threads.segments.room);
}

const struct view_page_options view_page_alone = { .max_bytes = 10000000 };

int view_page_write(FILE *file, const struct view_log *log, const struct view_page_options *options)
{
	struct view_data *data = log->data;
	struct text text = { 0 };
	int err = settle(data);

	if (!err)
		err = append_page(&text, log, options->is_beside);
	while (!err && text.length > options->max_bytes) {
		/* what makes a page of that size small enough, and a little less */
		double part = 0.9 * (double)options->max_bytes / (double)text.length;

		if (data->spans.cnt + data->stays.cnt + data->threads.segments.cnt == 0) {
			err = -E2BIG;
			break;
		}
		text_clear(&text);
		err = cut_all(data, part);
		if (!err)
			err = append_page(&text, log, options->is_beside);
	}
	if (!err && fwrite(text_string(&text), 1, text.length, file) != text.length)
		err = -errno;
	text_release(&text);
	return err;
}
