/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace of the Filecoin virtual machine, as text of the workbench. An import
 * comes back event by event (log/format/fvm_marks.h). Of any other log, spans are
 * label spans, or calls if their label is "Send", and what they kept for
 * themselves of their ledgers are charges, 1 ns as 1 milligas. Begins and ends
 * are sorted by time, in 64 MiB of memory; what is more goes to an unnamed file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/id_map.h"
#include "base/spill_sort.h"
#include "base/text.h"
#include "export/formats.h"
#include "log/format/fvm_marks.h"

#define SORT_BYTES (64u << 20)
#define PARENT_MAX 500000u /* spans whose children have ended, and they have not: 100 MB */

enum lost {
	LOST_TAG,
	LOST_LABEL,
	LOST_KEY,
	LOST_TIMED,
	LOST_ROOM,
	LOST_MARK,
	LOST_LOSS,
	LOST_CNT,
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_TAG] = "tags, attributes and threads of spans, left out",
	[LOST_LABEL] = "labels with characters of control, replaced, or without a label, called 'unknown'",
	[LOST_KEY] = "keys of spans, left out",
	[LOST_TIMED] = "spans with a clock of their own, left out",
	[LOST_ROOM] = "spans that are charged with their children's time, too, as more are open than can be "
		      "followed",
	[LOST_MARK] = "instants, links, counters, runs, wakeups, stacks and other records without a place, "
		      "left out",
	[LOST_LOSS] = "records of losses and damage, left out: readers of the file can't know of them",
};

struct fvm {
	FILE *out;
	bool is_import;
	struct id_map children; /* (pid, span) -> struct txtrace_ledger: of its children */
	int directory;
	struct spill_sort *sort;
	uint64_t item_cnt;
	struct text begin, end;
	uint64_t lost_cnt[LOST_CNT];
};

static int count(void *state, enum lost lost)
{
	((struct fvm *)state)->lost_cnt[lost]++;
	return 0;
}

/* ---- ledgers ---- */

static void take(uint64_t *from, uint64_t amount)
{
	*from = *from > amount ? *from - amount : 0;
}

static void add(uint64_t *to, uint64_t amount)
{
	if (__builtin_add_overflow(*to, amount, to))
		*to = UINT64_MAX;
}

static void combine(struct txtrace_ledger *ledger, const struct txtrace_ledger *other,
		    void (*part)(uint64_t *to, uint64_t amount))
{
	part(&ledger->on_cpu_ns, other->on_cpu_ns);
	part(&ledger->runnable_ns, other->runnable_ns);
	for (size_t i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		part(&ledger->blocked_ns[i], other->blocked_ns[i]);
	part(&ledger->detached_ns, other->detached_ns);
	part(&ledger->unknown_ns, other->unknown_ns);
	part(&ledger->interrupt_ns, other->interrupt_ns);
	part(&ledger->stolen_ns, other->stolen_ns);
}

/* What the span kept for itself; its parent has a child more. */
static int own_ledger(struct fvm *fvm, const struct txtrace_span *span, struct txtrace_ledger *ledger)
{
	struct txtrace_ledger *children = id_map_remove(&fvm->children, span->pid, span->id);
	int err;

	*ledger = span->ledger;
	if (children)
		combine(ledger, children, take);
	free(children);
	if (span->parent == 0 || span->flags & TXTRACE_SPAN_PARENT_KEYED)
		return 0;
	children = id_map_get(&fvm->children, span->pid, span->parent);
	if (!children) {
		if (fvm->children.cnt >= PARENT_MAX)
			return count(fvm, LOST_ROOM);
		children = calloc(1, sizeof(*children));
		err = children ? id_map_put(&fvm->children, span->pid, span->parent, children) : -ENOMEM;
		if (err) {
			free(children);
			return err;
		}
	}
	combine(children, &span->ledger, add);
	return 0;
}

static void append_charge(struct text *text, const char *name, uint64_t ns)
{
	if (ns > 0)
		text_append_format(text,
				   "GasCharge { name: \"%s\", compute_milli: %" PRIu64 ", other_milli: 0 }\n",
				   name, ns);
}

static void append_charges(struct text *text, const struct txtrace_ledger *ledger)
{
	char name[64];

	append_charge(text, "on_cpu", ledger->on_cpu_ns);
	append_charge(text, "runnable", ledger->runnable_ns);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++) {
		snprintf(name, sizeof(name), "blocked_%s", txtrace_block_reason_name(i));
		append_charge(text, name, ledger->blocked_ns[i]);
	}
	append_charge(text, "detached", ledger->detached_ns);
	append_charge(text, "unknown", ledger->unknown_ns);
	append_charge(text, "interrupt", ledger->interrupt_ns);
	append_charge(text, "stolen", ledger->stolen_ns);
}

/* ---- spans ---- */

/* One line, without what ends a quoted text. */
static void append_label(struct fvm *fvm, struct text *text, struct txtrace_string label)
{
	size_t at = text->length;

	if (label.length == 0) {
		label = (struct txtrace_string){ "unknown", 7 };
		fvm->lost_cnt[LOST_LABEL]++;
	}
	text_append_visible(text, label.bytes, label.length);
	if (text->err)
		return;
	fvm->lost_cnt[LOST_LABEL] += text->length - at != label.length;
	for (; at < text->length; at++) {
		if (text->bytes[at] != '"' && text->bytes[at] != '\\')
			continue;
		text->bytes[at] = '\'';
		fvm->lost_cnt[LOST_LABEL]++;
	}
}

/* The value of a word NAME=VALUE of a tag. */
static struct txtrace_string word_of(struct txtrace_string tag, const char *name, const char *otherwise)
{
	size_t length = strlen(name);
	const char *at = tag.bytes, *end = at + tag.length;

	while (at < end) {
		const char *stop = memchr(at, ',', (size_t)(end - at));

		stop = stop ? stop : end;
		if ((size_t)(stop - at) > length && memcmp(at, name, length) == 0)
			return (struct txtrace_string){ at + length, (size_t)(stop - at) - length };
		at = stop + 1;
	}
	return (struct txtrace_string){ otherwise, strlen(otherwise) };
}

static bool is_send(const struct txtrace_span *span)
{
	return span->label.length == strlen(FVM_SEND) &&
	       memcmp(span->label.bytes, FVM_SEND, strlen(FVM_SEND)) == 0;
}

static void append_call(struct fvm *fvm, const struct txtrace_span *span)
{
	struct txtrace_string to = word_of(span->tag, "to=", "f00"),
			      method = word_of(span->tag, "method=", "0");
	uint64_t number = 0;

	for (size_t i = 0; i < method.length && i < 19; i++)
		number = number * 10 + (unsigned char)(method.bytes[i] - '0') % 10;
	text_append(&fvm->begin, "Call { from: 0, to: Address(\"");
	append_label(fvm, &fvm->begin, to);
	text_append_format(&fvm->begin,
			   "\"), method: %" PRIu64 ", params: None, value: TokenAmount(0.0), gas_limit: 0, "
			   "read_only: false }\n",
			   number);
	text_append(&fvm->end, "CallReturn { return_value: None, exit_code: ExitCode { value: 0 } }\n");
}

static void append_log(struct fvm *fvm, const struct txtrace_span *span)
{
	text_append(&fvm->begin, "Log { msg: \"SpanStart:");
	append_label(fvm, &fvm->begin, span->label);
	text_append(&fvm->begin, "\" }\n");
	text_append(&fvm->end, "Log { msg: \"SpanEnd:");
	append_label(fvm, &fvm->end, span->label);
	text_append(&fvm->end, "\" }\n");
}

/*
 * At one moment ends stand before begins, the inner ones first, as they come; of begins the one that ends
 * last is the outer one.
 */
static int put(struct fvm *fvm, const struct txtrace_span *span)
{
	uint64_t length = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
	uint64_t place = (1ull << 63) | (INT64_MAX - (length < INT64_MAX ? length : INT64_MAX));
	int err;

	if (fvm->begin.err || fvm->end.err)
		return -ENOMEM;
	if (length == 0) {
		text_append_bytes(&fvm->begin, fvm->end.bytes, fvm->end.length);
		return fvm->begin.err ? fvm->begin.err
				      : spill_sort_add(fvm->sort, span->begin_ns, place, fvm->begin.bytes,
						       (uint32_t)fvm->begin.length);
	}
	err = spill_sort_add(fvm->sort, span->begin_ns, place, fvm->begin.bytes, (uint32_t)fvm->begin.length);
	return err ? err
		   : spill_sort_add(fvm->sort, span->end_ns, fvm->item_cnt++, fvm->end.bytes,
				    (uint32_t)fvm->end.length);
}

static int fvm_span(void *state, const struct txtrace_span *span)
{
	struct fvm *fvm = state;
	struct txtrace_ledger ledger;
	int err;

	if (fvm->is_import) {
		fvm->lost_cnt[LOST_TIMED] += span->pid == FVM_SPANS_PID;
		return 0;
	}
	err = own_ledger(fvm, span, &ledger);
	text_clear(&fvm->begin);
	text_clear(&fvm->end);
	append_charges(&fvm->end, &ledger);
	if (is_send(span))
		append_call(fvm, span);
	else
		append_log(fvm, span);
	fvm->lost_cnt[LOST_TAG] += span->tag.length > 0 && !is_send(span);
	fvm->lost_cnt[LOST_KEY] += span->key.length > 0;
	return err ? err : put(fvm, span);
}

/* ---- events of an import ---- */

static int fvm_instant(void *state, const struct txtrace_instant *instant)
{
	struct fvm *fvm = state;

	if (!fvm->is_import || instant->pid != FVM_PID || instant->name.length == 0 ||
	    memchr(instant->name.bytes, '\n', instant->name.length))
		return count(fvm, LOST_MARK);
	/* the import escapes as the workbench does, which leaves nothing to replace: other logs may */
	text_clear(&fvm->begin);
	text_append_visible(&fvm->begin, instant->name.bytes, instant->name.length);
	fvm->lost_cnt[LOST_LABEL] += fvm->begin.length != instant->name.length;
	text_append(&fvm->begin, "\n");
	if (fvm->begin.err)
		return fvm->begin.err;
	if (fwrite(fvm->begin.bytes, 1, fvm->begin.length, fvm->out) != fvm->begin.length)
		return errno ? -errno : -EIO;
	return 0;
}

static int fvm_attribute(void *state, const struct txtrace_attribute *attribute)
{
	struct fvm *fvm = state;

	(void)attribute;
	return fvm->is_import ? 0 : count(fvm, LOST_TAG);
}

#define LEFT_OUT(kind, lost)                                                  \
	static int fvm_##kind(void *state, const struct txtrace_##kind *kind) \
	{                                                                     \
		(void)kind;                                                   \
		return count(state, lost);                                    \
	}

LEFT_OUT(run, LOST_MARK)
LEFT_OUT(wake, LOST_MARK)
LEFT_OUT(counter, LOST_MARK)
LEFT_OUT(link, LOST_MARK)
LEFT_OUT(stay, LOST_MARK)
LEFT_OUT(object, LOST_MARK)
LEFT_OUT(stack, LOST_MARK)
LEFT_OUT(other_run, LOST_MARK)
LEFT_OUT(loss, LOST_LOSS)
LEFT_OUT(dropped, LOST_LOSS)
LEFT_OUT(damage, LOST_LOSS)

/* ---- begin and end ---- */

static void fvm_free(void *state)
{
	struct fvm *fvm = state;
	struct txtrace_ledger *ledger;

	for (size_t i = 0; (ledger = id_map_next(&fvm->children, &i));)
		free(ledger);
	id_map_release(&fvm->children);
	spill_sort_free(fvm->sort);
	if (fvm->directory >= 0)
		close(fvm->directory);
	text_release(&fvm->begin);
	text_release(&fvm->end);
	free(fvm);
}

static int fvm_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	const char *folder = secure_getenv("TMPDIR");
	struct fvm *fvm = calloc(1, sizeof(*fvm));

	if (!fvm)
		return -ENOMEM;
	*state = fvm;
	fvm->out = out;
	fvm->is_import = fvm_is_gas(info->options);
	id_map_init(&fvm->children);
	fvm->directory = open(folder && folder[0] ? folder : _PATH_TMP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fvm->sort = spill_sort_new(fvm->directory, SORT_BYTES);
	return fvm->sort ? 0 : -ENOMEM;
}

static int fvm_finish(void *state, const struct export_totals *totals)
{
	struct fvm *fvm = state;
	struct spill_item item;
	int result, err = spill_sort_end(fvm->sort);

	(void)totals;
	while (!err && (result = spill_sort_next(fvm->sort, &item)) != 0) {
		if (result < 0)
			return result;
		if (fwrite(item.bytes, 1, item.length, fvm->out) != item.length)
			err = errno ? -errno : -EIO;
	}
	return err;
}

static void fvm_tell(const void *state, export_say *say, void *context)
{
	const struct fvm *fvm = state;

	if (!fvm->is_import)
		say(context, "the unit of the file is gas: 1 milligas stands for 1 ns");
	export_tell_counts(lost_names, fvm->lost_cnt, LOST_CNT, say, context);
}

const struct export_format format_fvm = {
	.name = "fvm",
	.help = "a trace of the Filecoin virtual machine, as text of its workbench",
	.suffix = ".trace.txt",
	.open = fvm_open,
	.span = fvm_span,
	.run = fvm_run,
	.wake = fvm_wake,
	.attribute = fvm_attribute,
	.instant = fvm_instant,
	.counter = fvm_counter,
	.link = fvm_link,
	.stay = fvm_stay,
	.object = fvm_object,
	.stack = fvm_stack,
	.other_run = fvm_other_run,
	.loss = fvm_loss,
	.dropped = fvm_dropped,
	.damage = fvm_damage,
	.finish = fvm_finish,
	.tell = fvm_tell,
	.free = fvm_free,
};
