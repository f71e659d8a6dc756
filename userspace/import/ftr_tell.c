/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "import/ftr_story.h"
#include "log/format/log_format.h"

#define NAME_MAX_BYTES 65000u /* of a name, with what may stand around it */
#define NS_PER_S 1000000000ull
#define EXACT_MAX (1ull << 50) /* up to here a double holds the quotient so that it can be written back */

static struct txtrace_string text_of(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static struct txtrace_string cut_to(struct ftr_story *story, struct txtrace_string text, size_t max)
{
	if (text.length > max) {
		story->cut_cnt++;
		text.length = max;
	}
	return text;
}

static struct txtrace_string cut(struct ftr_story *story, struct txtrace_string name)
{
	return cut_to(story, name, NAME_MAX_BYTES);
}

static bool ends_with(struct txtrace_string text, const char *end)
{
	size_t length = strlen(end);

	return text.length > length && memcmp(text.bytes + text.length - length, end, length) == 0;
}

static bool is_text(struct txtrace_string string, const char *text)
{
	return string.length == strlen(text) && memcmp(string.bytes, text, string.length) == 0;
}

static uint64_t span_id(uint64_t id)
{
	return id ? id : FTR_ID_OF_ZERO;
}

/* ---- marks ---- */

static int tell_instant(struct ftr_story *story, uint64_t time_ns, uint64_t span, uint32_t tid,
			struct txtrace_string name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_INSTANT };

	record.instant = (struct txtrace_instant){
		.time_ns = time_ns, .span = span, .pid = FTR_PID, .tid = tid, .name = name
	};
	return import_add(story->import, &record);
}

/* Takes over the text; `end` is put behind it. */
static int tell_mark(struct ftr_story *story, uint64_t time_ns, struct text *text, struct txtrace_string end)
{
	int err;

	end = cut(story, end);
	text_append_bytes(text, end.bytes, end.length);
	err = text->err ? text->err
			: tell_instant(story, time_ns, 0, FTR_TID,
				       (struct txtrace_string){ text->bytes, text->length });
	text_release(text);
	return err;
}

static int tell_info(struct ftr_story *story)
{
	struct text text = { 0 };

	if (!story->has_info)
		return 0;
	text_append_format(&text, FTR_INFO "%" PRId64, story->exponent);
	if (story->has_creation)
		text_append_format(&text, " %" PRIu64, story->creation_s);
	return tell_mark(story, 0, &text, (struct txtrace_string){ 0 });
}

static int tell_thread(struct ftr_story *story, uint32_t tid, struct txtrace_string name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD };

	record.thread = (struct txtrace_thread){
		.tid = tid, .pid = FTR_PID, .is_seed = true, .comm = cut(story, name)
	};
	return import_add(story->import, &record);
}

static int tell_stream(struct ftr_story *story, struct ftr_stream *stream)
{
	struct text text = { 0 }, name = { 0 };
	struct txtrace_string kind = ftr_story_text(story, stream->kind);
	int err;

	stream->text = ftr_story_text(story, stream->name);
	stream->is_losses = stream->is_declared && is_text(stream->text, FTR_LOSSES);
	stream->is_thread = !stream->is_declared || is_text(kind, FTR_KIND_THREAD) || stream->is_losses;
	if (stream->is_declared) {
		err = tell_thread(story, stream->tid, stream->text);
		text_append_format(&text, FTR_STREAM "%" PRIu32 " %" PRIu64 " ", stream->tid, stream->id);
		return err ? err : tell_mark(story, 0, &text, kind);
	}
	story->no_stream_cnt++;
	text_append_format(&name, "stream %" PRIu64, stream->id);
	err = name.err ? name.err : tell_thread(story, stream->tid, text_of(name.bytes));
	text_release(&name);
	return err;
}

static int tell_generator(struct ftr_story *story, const struct ftr_generator *generator, uint64_t time_ns)
{
	const struct ftr_stream *stream = id_map_get(&story->stream_of, 0, generator->stream);
	struct text text = { 0 };

	if (!stream) {
		story->generator_lost_cnt++;
		return 0;
	}
	text_append_format(&text, FTR_GENERATOR "%" PRIu32 " %" PRIu64 " ", stream->tid, generator->id);
	return tell_mark(story, time_ns, &text, generator->text);
}

/* Two of one name in one stream: a label does not tell which it was. */
static int find_twins(struct ftr_story *story)
{
	struct id_map names; /* (stream, number of the name) -> the first one */
	int err = 0;

	id_map_init(&names);
	for (size_t i = 0; !err && i < story->generator_cnt; i++) {
		struct ftr_generator *generator = story->generators[i], *twin;
		uint32_t number;

		generator->text = ftr_story_text(story, generator->name);
		generator->is_of_events = ends_with(generator->text, FTR_EVENTS);
		number = string_pool_find(story->strings, generator->text.bytes, generator->text.length);
		twin = id_map_get(&names, generator->stream, number);
		if (twin)
			twin->has_twin = generator->has_twin = true;
		else
			err = id_map_put(&names, generator->stream, number, generator);
	}
	id_map_release(&names);
	return err;
}

static int tell_directory(struct ftr_story *story)
{
	int err = tell_thread(story, FTR_TID, text_of(FTR_THREAD));

	err = err ? err : tell_info(story);
	for (size_t i = 0; !err && i < story->stream_cnt; i++)
		err = tell_stream(story, story->streams[i]);
	err = err ? err : find_twins(story);
	for (size_t i = 0; !err && i < story->generator_cnt; i++)
		err = tell_generator(story, story->generators[i], 0);
	return err;
}

/* ---- relations ---- */

static int compare_from(const void *a, const void *b, void *context)
{
	const struct ftr_relation *relations = context;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	if (relations[first].from != relations[second].from)
		return relations[first].from < relations[second].from ? -1 : 1;
	return first < second ? -1 : first > second;
}

static int compare_to(const void *a, const void *b, void *context)
{
	const struct ftr_relation *relations = context;
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	if (relations[first].to != relations[second].to)
		return relations[first].to < relations[second].to ? -1 : 1;
	return first < second ? -1 : first > second;
}

static int sort_relations(struct ftr_story *story)
{
	size_t cnt = story->relation_cnt;

	if (cnt == 0)
		return 0;
	story->by_from = calloc(cnt, sizeof(*story->by_from));
	story->by_to = calloc(cnt, sizeof(*story->by_to));
	if (!story->by_from || !story->by_to)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		story->by_from[i] = story->by_to[i] = i;
	qsort_r(story->by_from, cnt, sizeof(*story->by_from), compare_from, story->relations);
	qsort_r(story->by_to, cnt, sizeof(*story->by_to), compare_to, story->relations);
	return 0;
}

static uint64_t end_of(const struct ftr_story *story, const uint32_t *order, size_t at)
{
	const struct ftr_relation *relation = &story->relations[order[at]];

	return order == story->by_from ? relation->from : relation->to;
}

/* The place of the first one with this end, from the one that was found before on: ids mostly rise. */
static size_t find_relation(const struct ftr_story *story, const uint32_t *order, size_t at, uint64_t id)
{
	size_t low = 0, high = story->relation_cnt;

	if (at > 0 && end_of(story, order, at - 1) >= id)
		high = at - 1;
	else if (at == high || end_of(story, order, at) >= id)
		return at;
	else
		low = at + 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (end_of(story, order, middle) < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int tell_link(struct ftr_story *story, uint64_t time_ns, uint32_t tid, uint64_t from, uint64_t to,
		     struct txtrace_string name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_LINK };

	record.link = (struct txtrace_link){ .time_ns = time_ns,
					     .from = span_id(from),
					     .to = span_id(to),
					     .pid = FTR_PID,
					     .tid = tid,
					     .name = cut(story, name) };
	return import_add(story->import, &record);
}

static int tell_relation(struct ftr_story *story, struct ftr_relation *relation, uint64_t time_ns,
			 uint32_t tid)
{
	if (relation->is_told)
		return 0;
	relation->is_told = true;
	return tell_link(story, time_ns, tid, relation->from, relation->to,
			 ftr_story_text(story, relation->name));
}

static bool is_parental(struct ftr_story *story, const struct ftr_relation *relation)
{
	return is_text(ftr_story_text(story, relation->name), FTR_PARENT);
}

/* The relation to its parent; NULL: there is none. That is told by the span itself. */
static struct ftr_relation *find_parent(struct ftr_story *story, uint64_t id)
{
	story->to_at = find_relation(story, story->by_to, story->to_at, id);
	for (size_t i = story->to_at; i < story->relation_cnt && end_of(story, story->by_to, i) == id; i++) {
		struct ftr_relation *relation = &story->relations[story->by_to[i]];

		if (!relation->is_told && relation->from != id && is_parental(story, relation)) {
			relation->is_told = true;
			return relation;
		}
	}
	return NULL;
}

/* When the first of the two transactions ends; what tells of a parent waits for the child. */
static int tell_relations(struct ftr_story *story, uint64_t id, uint64_t time_ns, uint32_t tid)
{
	int err = 0;

	for (size_t i = story->to_at; !err && i < story->relation_cnt && end_of(story, story->by_to, i) == id;
	     i++)
		err = tell_relation(story, &story->relations[story->by_to[i]], time_ns, tid);
	if (err || story->relation_cnt == 0)
		return err;
	story->from_at = find_relation(story, story->by_from, story->from_at, id);
	for (size_t i = story->from_at;
	     !err && i < story->relation_cnt && end_of(story, story->by_from, i) == id; i++) {
		struct ftr_relation *relation = &story->relations[story->by_from[i]];

		if (!is_parental(story, relation))
			err = tell_relation(story, relation, time_ns, tid);
	}
	return err;
}

/* ---- attributes ---- */

static const uint8_t types[FTR_TYPE_CNT] = {
	[FTR_BOOLEAN] = TXTRACE_ATTRIBUTE_BOOL,
	[FTR_ENUMERATION] = TXTRACE_ATTRIBUTE_STRING,
	[FTR_INTEGER] = TXTRACE_ATTRIBUTE_INT,
	[FTR_UNSIGNED] = TXTRACE_ATTRIBUTE_UINT,
	[FTR_FLOATING_POINT_NUMBER] = TXTRACE_ATTRIBUTE_DOUBLE,
	[FTR_BIT_VECTOR] = TXTRACE_ATTRIBUTE_STRING,
	[FTR_LOGIC_VECTOR] = TXTRACE_ATTRIBUTE_STRING,
	[FTR_FIXED_POINT_INTEGER] = TXTRACE_ATTRIBUTE_DOUBLE,
	[FTR_UNSIGNED_FIXED_POINT_INTEGER] = TXTRACE_ATTRIBUTE_DOUBLE,
	[FTR_POINTER] = TXTRACE_ATTRIBUTE_POINTER,
	[FTR_STRING] = TXTRACE_ATTRIBUTE_STRING,
	[FTR_TIME] = TXTRACE_ATTRIBUTE_UINT,
};

static uint64_t power_of_ten(uint64_t exponent)
{
	uint64_t power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* In ns: whole ones, or a double where that can be written back. */
static void set_time(struct ftr_story *story, struct txtrace_attribute *attribute, uint64_t value)
{
	int64_t exponent = story->exponent;
	double real = 0;
	uint64_t unit;

	if (exponent >= -9 && exponent <= 9 &&
	    !__builtin_mul_overflow(value, power_of_ten((uint64_t)(exponent + 9)), &attribute->value))
		return;
	if (exponent < -9 && exponent >= -27) {
		unit = power_of_ten((uint64_t)(-9 - exponent));
		attribute->value = value / unit;
		if (value % unit == 0)
			return;
		story->time_cnt += value >= EXACT_MAX;
		if (value >= EXACT_MAX)
			return;
		real = (double)value / (double)unit;
	} else {
		story->time_cnt++;
		real = (double)value * pow(10, (double)exponent + 9);
	}
	attribute->type = TXTRACE_ATTRIBUTE_DOUBLE;
	memcpy(&attribute->value, &real, sizeof(real));
}

/* What the class and the type of this name are from here on. */
static int declare(struct ftr_story *story, const struct ftr_attribute *attribute, struct txtrace_string name,
		   uint64_t time_ns)
{
	uint8_t wanted = (uint8_t)(1 + attribute->type * FTR_CLASS_CNT + attribute->class);
	uint32_t number = string_pool_find(story->strings, name.bytes, name.length);
	struct text text = { 0 };

	if (number != STRING_POOL_NONE) {
		if (story->declared[number] == wanted)
			return 0;
		story->declared[number] = wanted;
	}
	text_append_format(&text, FTR_ATTRIBUTE "%u %u ", attribute->class, attribute->type);
	return tell_mark(story, time_ns, &text, name);
}

/* The next attribute is this one's value in all its digits, as our own export writes it. */
static bool take_exact(struct ftr_story *story, const struct ftr_attribute *attribute,
		       struct txtrace_string name, uint64_t *value)
{
	const struct ftr_attribute *next = attribute + 1;
	struct txtrace_string next_name = ftr_story_text(story, next->name), text;
	char digits[40], *end;
	double rounded, exact;

	if (next->type != FTR_STRING || next->class != attribute->class || !ends_with(next_name, FTR_EXACT) ||
	    next_name.length != name.length + strlen(FTR_EXACT) ||
	    memcmp(next_name.bytes, name.bytes, name.length) != 0)
		return false;
	text = ftr_story_text(story, next->value);
	if (text.length == 0 || text.length >= sizeof(digits))
		return false;
	memcpy(digits, text.bytes, text.length);
	digits[text.length] = '\0';
	exact = strtod(digits, &end);
	memcpy(&rounded, &attribute->value, sizeof(rounded));
	if (*end || ftr_single(exact) != ftr_single(rounded))
		return false;
	memcpy(value, &exact, sizeof(exact));
	return true;
}

static int tell_attribute(struct ftr_story *story, const struct ftr_transaction *transaction, size_t *at,
			  struct txtrace_attribute *attribute)
{
	const struct ftr_attribute *found = &transaction->attributes[*at];
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };
	struct txtrace_string name = ftr_story_text(story, found->name);
	int err = declare(story, found, name, attribute->time_ns);

	attribute->type = types[found->type];
	attribute->value = found->value;
	attribute->string = (struct txtrace_string){ 0 };
	attribute->is_truncated = false;
	attribute->name = cut(story, name);
	if (attribute->type == TXTRACE_ATTRIBUTE_STRING) {
		attribute->value = 0;
		attribute->string = ftr_story_text(story, found->value);
		attribute->is_truncated = attribute->string.length > LOG_STRING_MAX_BYTES;
		attribute->string = cut_to(story, attribute->string, LOG_STRING_MAX_BYTES);
	} else if (found->type == FTR_TIME) {
		set_time(story, attribute, found->value);
	} else if (attribute->type == TXTRACE_ATTRIBUTE_DOUBLE && *at + 1 < transaction->attribute_cnt) {
		*at += take_exact(story, found, name, &attribute->value);
	}
	record.attribute = *attribute;
	return err ? err : import_add(story->import, &record);
}

static int tell_own_attribute(struct ftr_story *story, const struct txtrace_attribute *of, const char *name,
			      struct txtrace_string string, uint64_t value)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE };

	record.attribute = *of;
	record.attribute.name = text_of(name);
	record.attribute.type = string.length ? TXTRACE_ATTRIBUTE_STRING : TXTRACE_ATTRIBUTE_UINT;
	record.attribute.string = string;
	record.attribute.value = value;
	return import_add(story->import, &record);
}

static int tell_attributes(struct ftr_story *story, const struct ftr_transaction *transaction,
			   const struct ftr_stream *stream, uint64_t end_ns)
{
	struct txtrace_attribute attribute = {
		.time_ns = end_ns, .span = span_id(transaction->id), .pid = FTR_PID, .tid = stream->tid
	};
	uint64_t ps = transaction->begin_ps % FTR_PS_PER_NS * FTR_PS_PER_NS +
		      transaction->end_ps % FTR_PS_PER_NS;
	int err = 0;

	if (ps > 0)
		err = tell_own_attribute(story, &attribute, FTR_PS, (struct txtrace_string){ 0 }, ps);
	if (!err && !stream->is_thread && stream->text.length > 0)
		err = tell_own_attribute(story, &attribute, "track", cut(story, stream->text), 0);
	for (size_t i = 0; !err && i < transaction->attribute_cnt; i++)
		err = tell_attribute(story, transaction, &i, &attribute);
	return err;
}

/* ---- transactions ---- */

/* Only what an event has: a name, which it was given at its begin, and a parent. */
static bool is_event(struct ftr_story *story, const struct ftr_transaction *transaction)
{
	const struct ftr_attribute *attribute = transaction->attributes;

	return transaction->begin_ps == transaction->end_ps && transaction->attribute_cnt == 1 &&
	       attribute->class == FTR_BEGIN && attribute->type == FTR_STRING &&
	       is_text(ftr_story_text(story, attribute->name), FTR_EVENT_NAME);
}

static int tell_event(struct ftr_story *story, const struct ftr_transaction *transaction,
		      const struct ftr_generator *generator, uint64_t parent, uint32_t tid)
{
	uint64_t time_ns = transaction->end_ps / FTR_PS_PER_NS;
	struct txtrace_string name = ftr_story_text(story, transaction->attributes->value);
	int err = tell_link(story, time_ns, tid, parent, transaction->id, generator->text);

	story->event_ps_cnt += transaction->end_ps % FTR_PS_PER_NS > 0;
	return err ? err : tell_instant(story, time_ns, span_id(parent), tid, cut(story, name));
}

static int tell_span(struct ftr_story *story, const struct ftr_transaction *transaction,
		     const struct ftr_stream *stream, struct txtrace_string label,
		     const struct ftr_relation *parent)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_span *span = &record.span;

	*span = (struct txtrace_span){
		.id = span_id(transaction->id),
		.parent = parent ? span_id(parent->from) : 0,
		.pid = FTR_PID,
		.tid = stream->tid,
		.end_tid = stream->tid,
		.flags = parent ? 0 : TXTRACE_SPAN_ROOT,
		.begin_ns = transaction->begin_ps / FTR_PS_PER_NS,
		.end_ns = transaction->end_ps / FTR_PS_PER_NS,
		.label = cut(story, label),
	};
	span->work_ns = span->ledger.unknown_ns = span->end_ns - span->begin_ns;
	story->zero_length_cnt += transaction->begin_ps == transaction->end_ps;
	return import_add(story->import, &record);
}

static int tell_loss(struct ftr_story *story, uint64_t begin_ps, uint64_t end_ps, struct txtrace_loss loss)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_LOSS };

	loss.first_ns = begin_ps / FTR_PS_PER_NS;
	loss.last_ns = end_ps / FTR_PS_PER_NS;
	record.loss = loss;
	return import_add(story->import, &record);
}

/* An attribute of our own: 0 stays what is not one of these, or not possible. */
static void add_to_loss(struct txtrace_loss *loss, struct txtrace_string name, uint64_t value)
{
	if (is_text(name, FTR_LOSS_SPAN_EVENTS))
		loss->span_event_cnt = value;
	else if (is_text(name, FTR_LOSS_SCHED_EVENTS))
		loss->sched_event_cnt = value;
	else if (is_text(name, FTR_LOSS_CPU) && value < TXTRACE_CPU_UNKNOWN)
		loss->cpu = (uint32_t)value;
	else if (is_text(name, FTR_LOSS_PID) && value <= UINT32_MAX)
		loss->pid = (uint32_t)value;
	else if (is_text(name, FTR_LOSS_TID) && value <= UINT32_MAX)
		loss->tid = (uint32_t)value;
}

/* Of our own stream: 1, or 0: it is none. */
static int tell_own_loss(struct ftr_story *story, const struct ftr_transaction *transaction,
			 struct txtrace_string label)
{
	struct txtrace_loss loss = { .cpu = TXTRACE_CPU_UNKNOWN };
	int err;

	if (!is_text(label, FTR_LOSS))
		return 0;
	for (size_t i = 0; i < transaction->attribute_cnt; i++) {
		const struct ftr_attribute *attribute = &transaction->attributes[i];

		if (attribute->type == FTR_UNSIGNED)
			add_to_loss(&loss, ftr_story_text(story, attribute->name), attribute->value);
	}
	err = tell_loss(story, transaction->begin_ps, transaction->end_ps, loss);
	return err ? err : 1;
}

static int tell_transaction(struct ftr_story *story, const struct ftr_transaction *transaction)
{
	const struct ftr_stream *stream = id_map_get(&story->stream_of, 0, transaction->stream);
	const struct ftr_generator *generator = id_map_get(&story->generator_of, 0, transaction->generator);
	struct txtrace_string label = generator ? generator->text : (struct txtrace_string){ "", 0 };
	uint64_t end_ns = transaction->end_ps / FTR_PS_PER_NS;
	const struct ftr_relation *parent = NULL;
	int err = 0;

	if (stream->is_losses) {
		err = tell_own_loss(story, transaction, label);
		if (err)
			return err < 0 ? err : 0;
	}
	story->no_generator_cnt += !generator;
	if (story->relation_cnt > 0)
		parent = find_parent(story, transaction->id);
	if (generator && generator->has_twin)
		err = tell_generator(story, generator, end_ns);
	err = err ? err : tell_relations(story, transaction->id, end_ns, stream->tid);
	if (err)
		return err;
	if (parent && generator && generator->is_of_events && is_event(story, transaction))
		return tell_event(story, transaction, generator, parent->from, stream->tid);
	err = tell_attributes(story, transaction, stream, end_ns);
	return err ? err : tell_span(story, transaction, stream, label, parent);
}

static int tell_item(struct ftr_story *story, const struct ftr_transaction *item, enum ftr_item_kind kind)
{
	if (kind == FTR_ITEM_LOSS)
		return tell_loss(story, item->begin_ps, item->end_ps,
				 (struct txtrace_loss){ .cpu = TXTRACE_CPU_UNKNOWN,
							.span_event_cnt = item->id });
	if (kind == FTR_ITEM_RELATION)
		return tell_link(story, story->last_ns, FTR_TID, item->id, item->stream,
				 ftr_story_text(story, item->generator));
	story->last_ns = item->end_ps / FTR_PS_PER_NS;
	return tell_transaction(story, item);
}

/* ---- all ---- */

static int begin(struct ftr_story *story)
{
	struct txtrace_log_info info = { .pid = FTR_PID };

	if (story->has_creation)
		info.start_realtime_ns = story->creation_s * NS_PER_S;
	return import_begin(story->import, &info);
}

int ftr_story_tell(struct ftr_story *story)
{
	struct ftr_transaction item;
	enum ftr_item_kind kind;
	int result = 0, err = begin(story);

	err = err ? err : tell_directory(story);
	err = err ? err : sort_relations(story);
	err = err ? err : spill_sort_end(story->sort);
	if (!err) {
		story->declared = calloc(string_pool_count(story->strings) + 1u, 1);
		err = story->declared ? 0 : -ENOMEM;
	}
	while (!err && (result = ftr_story_next(story, &item, &kind)) == 1)
		err = tell_item(story, &item, kind);
	err = err ? err : result < 0 ? result : 0;
	for (size_t i = 0; !err && i < story->relation_cnt; i++) {
		story->late_relation_cnt += !story->relations[i].is_told;
		err = tell_relation(story, &story->relations[i], story->last_ns, FTR_TID);
	}
	return err;
}
