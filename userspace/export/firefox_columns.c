/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/firefox_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/temporary_file.h"

#define NS_PER_MS 1000000u

struct column {
	FILE *file;
	uint64_t cnt;
};

struct firefox_columns {
	FILE *out;
	struct column columns[COLUMN_CNT];
	struct json json; /* of one value */
	uint64_t thread_cnt;
	int err; /* the first one of a column's file */
};

static const struct {
	const char *name;
	enum firefox_column column;
} marker_columns[] = {
	{ "name", COLUMN_NAME },   { "startTime", COLUMN_START },     { "endTime", COLUMN_END },
	{ "phase", COLUMN_PHASE }, { "category", COLUMN_CATEGORY }, { "data", COLUMN_DATA },
}, sample_columns[] = {
	{ "stack", COLUMN_STACK }, { "time", COLUMN_TIME }, { "weight", COLUMN_WEIGHT },
};

int columns_new(struct firefox_columns **columns, FILE *out)
{
	struct firefox_columns *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	*columns = new;
	new->out = out;
	json_init_memory(&new->json);
	for (int i = 0; i < COLUMN_CNT; i++) {
		int fd = temporary_file_open(NULL);

		if (fd < 0)
			return fd;
		new->columns[i].file = fdopen(fd, "w+");
		if (!new->columns[i].file) {
			close(fd);
			return -ENOMEM;
		}
	}
	return 0;
}

void columns_free(struct firefox_columns *columns)
{
	if (!columns)
		return;
	for (int i = 0; i < COLUMN_CNT; i++)
		if (columns->columns[i].file)
			fclose(columns->columns[i].file);
	json_release(&columns->json);
	free(columns);
}

/* ---- values ---- */

/* Right behind what was written: errno is still of that. */
static int error_of(FILE *file)
{
	return !ferror(file) ? 0 : errno ? -errno : -EIO;
}

static void value_written(struct firefox_columns *columns, enum firefox_column column)
{
	if (!columns->err)
		columns->err = error_of(columns->columns[column].file);
}

static FILE *next_value(struct firefox_columns *columns, enum firefox_column column)
{
	struct column *to = &columns->columns[column];

	if (to->cnt++ > 0)
		putc_unlocked(',', to->file);
	return to->file;
}

void column_u64(struct firefox_columns *columns, enum firefox_column column, uint64_t value)
{
	fprintf(next_value(columns, column), "%" PRIu64, value);
	value_written(columns, column);
}

static void put_ms(FILE *file, uint64_t ns)
{
	fprintf(file, "%" PRIu64 ".%06" PRIu64, ns / NS_PER_MS, ns % NS_PER_MS);
}

void column_ms(struct firefox_columns *columns, enum firefox_column column, uint64_t ns)
{
	put_ms(next_value(columns, column), ns);
	value_written(columns, column);
}

void column_null(struct firefox_columns *columns, enum firefox_column column)
{
	fputs("null", next_value(columns, column));
	value_written(columns, column);
}

static void put_member_ms(struct json *json, const char *name, uint64_t ns)
{
	json_name(json, name);
	json_u64_scaled(json, ns, 6);
}

void column_data(struct firefox_columns *columns, const struct thread_slice *slice)
{
	static const char *const types[] = {
		[SLICE_SPAN] = "Span",
		[SLICE_STATE] = "State",
		[SLICE_INSTANT] = "Instant",
		[SLICE_LOSS] = "Loss",
	};
	struct json *json = &columns->json;
	FILE *file = next_value(columns, COLUMN_DATA);

	json_reset(json);
	json_object_begin(json);
	json_member_text(json, "type", types[slice->kind]);
	if (slice->kind == SLICE_SPAN) {
		if (slice->tag.length > 0)
			json_member_string(json, "tag", slice->tag.bytes, slice->tag.length);
		json_name(json, "id");
		json_u64_string(json, slice->id);
		put_member_ms(json, "onCpu", slice->on_cpu_ns);
		put_member_ms(json, "runnable", slice->runnable_ns);
		put_member_ms(json, "blocked", slice->blocked_ns);
		put_member_ms(json, "detached", slice->detached_ns);
		put_member_ms(json, "unknown", slice->unknown_ns);
		if (slice->flags & TXTRACE_SPAN_UNFINISHED)
			json_member_text(json, "account", "unfinished, a lower bound");
		else if (slice->flags & TXTRACE_SPAN_LOWER_BOUND)
			json_member_text(json, "account", "a lower bound");
	}
	json_object_end(json);
	fwrite(json->bytes, 1, json->length, file);
	value_written(columns, COLUMN_DATA);
	if (json->err && !columns->err)
		columns->err = json->err;
}

/* ---- a thread ---- */

static int copy_column(struct firefox_columns *columns, const char *name, enum firefox_column column)
{
	struct column *from = &columns->columns[column];
	char bytes[16384];
	size_t got;
	int err;

	fprintf(columns->out, "\"%s\":[", name);
	err = error_of(columns->out);
	err = err ? err : columns->err;
	if (err)
		return err;
	errno = 0;
	if (fflush(from->file) || fseeko(from->file, 0, SEEK_SET))
		return errno ? -errno : -EIO;
	while (!err && (got = fread(bytes, 1, sizeof(bytes), from->file)) > 0) {
		fwrite(bytes, 1, got, columns->out);
		err = error_of(columns->out);
	}
	err = err ? err : error_of(from->file);
	if (err)
		return err;
	fputs("],", columns->out);
	err = error_of(columns->out);
	if (!err && (ftruncate(fileno(from->file), 0) || fseeko(from->file, 0, SEEK_SET)))
		err = errno ? -errno : -EIO;
	from->cnt = 0;
	return err;
}

/* A string of any bytes, of which the first NUL is the end. */
static int put_text(struct firefox_columns *columns, const char *text, size_t size)
{
	struct json *json = &columns->json;

	json_reset(json);
	json_string(json, text, strnlen(text, size));
	fwrite(json->bytes, 1, json->length, columns->out);
	return json->err;
}

static int put_identity(struct firefox_columns *columns, const struct sliced_thread *thread,
			const struct txtrace_log_info *info)
{
	static const char missing[] = "what is missing";
	FILE *out = columns->out;
	char number[16];
	const char *name = thread->tid == 0 ? missing : thread->comm;
	int err;

	snprintf(number, sizeof(number), "%" PRIu32, thread->tid);
	fputs(columns->thread_cnt++ > 0 ? ",\n{" : "\n{", out);
	fprintf(out, "\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32 ",\"isMainThread\":%s,", thread->pid,
		thread->tid, thread->tid == thread->pid ? "true" : "false");
	fputs("\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
	      "\"showMarkersInTimeline\":true,\"name\":",
	      out);
	err = put_text(columns, *name ? name : number, SIZE_MAX >> 1);
	if (!err && thread->pid == info->pid && info->command[0]) {
		fputs(",\"processName\":", out);
		err = put_text(columns, info->command, sizeof(info->command));
	}
	return err;
}

int columns_write_thread(struct firefox_columns *columns, const struct sliced_thread *thread,
			 const struct txtrace_log_info *info)
{
	FILE *out = columns->out;
	uint64_t marker_cnt = columns->columns[COLUMN_NAME].cnt;
	uint64_t sample_cnt = columns->columns[COLUMN_STACK].cnt;
	int err = put_identity(columns, thread, info);

	fputs(",\n\"samples\":{\"weightType\":\"tracing-ms\",", out);
	for (size_t i = 0; i < sizeof(sample_columns) / sizeof(sample_columns[0]) && !err; i++)
		err = copy_column(columns, sample_columns[i].name, sample_columns[i].column);
	if (err)
		return err;
	fprintf(out, "\"length\":%" PRIu64 "},\n\"markers\":{", sample_cnt);
	for (size_t i = 0; i < sizeof(marker_columns) / sizeof(marker_columns[0]) && !err; i++)
		err = copy_column(columns, marker_columns[i].name, marker_columns[i].column);
	if (err)
		return err;
	fprintf(out, "\"length\":%" PRIu64 "}}", marker_cnt);
	return error_of(out);
}

/* ---- the beginning ---- */

static const struct {
	const char *name;
	const char *color;
} categories[] = {
	{ "Other", "grey" },	   { "Span", "blue" },	    { "Running", "green" }, { "Runnable", "yellow" },
	{ "Blocked", "lightred" }, { "Instant", "purple" }, { "Loss", "red" },
};

static const struct {
	const char *key;
	const char *label;
	const char *format;
} span_fields[] = {
	{ "tag", "Tag", "string" },	      { "id", "Id", "string" },
	{ "onCpu", "On-CPU", "duration" },    { "runnable", "Runnable", "duration" },
	{ "blocked", "Blocked", "duration" }, { "detached", "Detached", "duration" },
	{ "unknown", "Unknown", "duration" }, { "account", "Account", "string" },
};

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static void put_categories(struct json *json)
{
	json_name(json, "categories");
	json_array_begin(json);
	for (size_t i = 0; i < LENGTH_OF(categories); i++) {
		json_object_begin(json);
		json_member_text(json, "name", categories[i].name);
		json_member_text(json, "color", categories[i].color);
		json_name(json, "subcategories");
		json_array_begin(json);
		json_text(json, "Other");
		json_array_end(json);
		json_object_end(json);
	}
	json_array_end(json);
}

/* How markers of this type are shown. */
static void put_schema(struct json *json, const char *type, bool has_fields)
{
	static const char *const places[] = { "marker-chart", "marker-table", "timeline-overview" };

	json_line_break(json);
	json_object_begin(json);
	json_member_text(json, "name", type);
	json_name(json, "display");
	json_array_begin(json);
	for (size_t i = 0; i < LENGTH_OF(places); i++)
		json_text(json, places[i]);
	json_array_end(json);
	json_member_text(json, "tooltipLabel", "{marker.name}");
	json_member_text(json, "chartLabel", "{marker.name}");
	json_member_text(json, "tableLabel",
			 has_fields ? "{marker.name} {marker.data.tag}" : "{marker.name}");
	json_name(json, "fields");
	json_array_begin(json);
	for (size_t i = 0; i < LENGTH_OF(span_fields) && has_fields; i++) {
		json_object_begin(json);
		json_member_text(json, "key", span_fields[i].key);
		json_member_text(json, "label", span_fields[i].label);
		json_member_text(json, "format", span_fields[i].format);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static void put_meta(struct json *json, const struct txtrace_log_info *info, uint64_t base_ns)
{
	uint64_t offset_ns = base_ns - info->start_monotonic_ns; /* may wrap */
	uint64_t start_ns = info->start_realtime_ns ? info->start_realtime_ns + offset_ns : 0;

	json_object_begin(json);
	json_member_u64(json, "version", 31); /* of the format of Firefox itself, which is not used here */
	json_member_u64(json, "preprocessedProfileVersion", 60);
	json_name(json, "startTime");
	json_u64_scaled(json, start_ns, 6);
	json_member_u64(json, "interval", 1);
	json_member_u64(json, "processType", 0);
	json_member_u64(json, "stackwalk", 0);
	json_member_bool(json, "debug", false);
	json_member_bool(json, "symbolicated", true);
	json_member_bool(json, "usesOnlyOneStackType", true);
	json_member_bool(json, "sourceCodeIsNotOnSearchfox", true);
	if (info->command[0])
		json_member_string(json, "product", info->command,
				   strnlen(info->command, sizeof(info->command)));
	else
		json_member_string(json, "product", "txtrace", strlen("txtrace"));
	json_member_string(json, "importedFrom", info->recorder,
			   strnlen(info->recorder, sizeof(info->recorder)));
	json_member_string(json, "oscpu", info->kernel, strnlen(info->kernel, sizeof(info->kernel)));
	json_member_u64(json, "logicalCPUs", info->cpu_cnt);
	put_categories(json);
	json_name(json, "markerSchema");
	json_array_begin(json);
	put_schema(json, "Span", true);
	put_schema(json, "State", false);
	put_schema(json, "Instant", false);
	put_schema(json, "Loss", false);
	json_array_end(json);
	json_object_end(json);
}

int columns_write_meta(FILE *out, const struct txtrace_log_info *info, uint64_t base_ns)
{
	struct json json;
	int err;

	fputs("{\"meta\":", out);
	json_init_file(&json, out);
	put_meta(&json, info, base_ns);
	err = json_release(&json);
	if (err)
		return err;
	fputs(",\n\"libs\":[],\n\"threads\":[", out);
	return error_of(out);
}
