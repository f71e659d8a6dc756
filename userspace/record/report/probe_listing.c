/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/report/probe_listing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/elf/elf_reader.h"
#include "attach/probes/probe_argument.h"
#include "attach/probes/probe_sites.h"
#include "attach/process/proc_maps.h"
#include "attach/process/target.h"
#include "base/glob.h"
#include "base/text.h"
#include "base/units.h"
#include "record/sandbox/confinement.h"
#include "record/report/function_listing.h"
#include "record/options/preset_offer.h"

/* One listing: its text is written when all went well. */
struct listing {
	struct text text;
	const char *executable; /* the first object's */
	char *begin;		/* two of its probes, for an example; "provider:name" */
	char *end;
	struct preset_offer offer;
	struct caller *caller;
	size_t own_cnt;	     /* probes of txtrace in all objects */
	size_t pid;	     /* 0: a file */
	const char *pattern; /* only what matches; NULL: everything, and how many functions there are */
	size_t match_cnt;
	const struct proc_maps *maps;
	struct elf_reader *reader;
};

static void append_escaped(struct text *text, const char *string)
{
	text_append_escaped(text, string, strlen(string));
}

static void append_arguments(struct text *text, const char *args)
{
	struct probe_argument arguments[PROBE_ARGUMENT_MAX];
	size_t cnt = probe_arguments_parse(args, arguments);

	text_append(text, "(");
	for (size_t i = 0; i < cnt; i++) {
		text_append_format(text, "%sarg%zu %s in ", i ? ", " : "", i, arguments[i].type);
		text_append_escaped(text, arguments[i].operand, arguments[i].operand_length);
	}
	text_append(text, ")");
}

static bool is_own(const struct elf_note *note)
{
	return strcmp(note->provider, PROBE_PROVIDER) == 0;
}

static int compare_notes(const void *a, const void *b)
{
	const struct elf_note *left = a, *right = b;
	int order = strcmp(left->provider, right->provider);

	if (!order)
		order = strcmp(left->name, right->name);
	if (!order)
		order = left->offset < right->offset ? -1 : left->offset > right->offset;
	return order;
}

static bool is_same_probe(const struct elf_note *a, const struct elf_note *b)
{
	return !strcmp(a->provider, b->provider) && !strcmp(a->name, b->name);
}

/*
 * The word at the end of a probe's name: "start" of "buffer__read__start"; the name up to it is *prefix
 * bytes.
 */
static bool has_last_word(const char *name, const char *const *words, size_t *prefix)
{
	for (; *words; words++) {
		size_t length = strlen(name), word = strlen(*words);

		if (length < word || strcmp(name + length - word, *words) != 0)
			continue;
		*prefix = length - word;
		return true;
	}
	return false;
}

static void set_example(struct listing *listing, const struct elf_note *begin, const struct elf_note *end)
{
	if (asprintf(&listing->begin, "%s:%s", begin->provider, begin->name) < 0)
		listing->begin = NULL;
	if (asprintf(&listing->end, "%s:%s", end->provider, end->name) < 0)
		listing->end = NULL;
}

/* For an example: a begin and an end whose names differ in their last words. */
static void pick_example(struct listing *listing, const struct elf_notes *notes)
{
	static const char *const begins[] = { "start", "begin", "entry", NULL };
	static const char *const ends[] = { "commit", "done", "end", "return", "stop", NULL };
	size_t prefix, end_prefix;

	for (size_t i = 0; i < notes->cnt && !listing->begin; i++) {
		const struct elf_note *begin = &notes->notes[i];

		if (is_own(begin) || !has_last_word(begin->name, begins, &prefix))
			continue;
		for (size_t k = 0; k < notes->cnt && !listing->begin; k++) {
			const struct elf_note *end = &notes->notes[k];

			if (!strcmp(begin->provider, end->provider) &&
			    has_last_word(end->name, ends, &end_prefix) && prefix == end_prefix &&
			    !strncmp(begin->name, end->name, prefix))
				set_example(listing, begin, end);
		}
	}
}

static bool is_listed(struct listing *listing, const struct elf_note *note)
{
	char *full;
	bool is_match;

	if (!listing->pattern || glob_matches(listing->pattern, note->name, strlen(note->name)))
		return true;
	if (asprintf(&full, "%s:%s", note->provider, note->name) < 0)
		return false;
	is_match = glob_matches(listing->pattern, full, strlen(full));
	free(full);
	return is_match;
}

/*
 * The notes are sorted: sites of one probe follow each other, and may find their arguments in different
 * places.
 */
static void list_probes(struct listing *listing, const struct elf_notes *notes, bool wants_own)
{
	for (size_t i = 0, next; i < notes->cnt; i = next) {
		const struct elf_note *note = &notes->notes[i];

		for (next = i + 1; next < notes->cnt && is_same_probe(note, &notes->notes[next]);)
			next++;
		if (is_own(note) != wants_own || !is_listed(listing, note))
			continue;
		listing->match_cnt++;
		listing->own_cnt += wants_own;
		preset_offer_see(&listing->offer, note->provider);
		text_append(&listing->text, "    ");
		append_escaped(&listing->text, note->provider);
		text_append(&listing->text, ":");
		append_escaped(&listing->text, note->name);
		if (!wants_own)
			append_arguments(&listing->text, note->args);
		if (next - i > 1)
			text_append_format(&listing->text, "  at %zu places", next - i);
		text_append(&listing->text, "\n");
	}
}

static size_t count_probes(const struct elf_notes *notes, bool wants_own)
{
	size_t cnt = 0;

	for (size_t i = 0; i < notes->cnt; i++)
		if (is_own(&notes->notes[i]) == wants_own &&
		    (!i || !is_same_probe(&notes->notes[i], &notes->notes[i - 1])))
			cnt++;
	return cnt;
}

/* An object without probes of any kind is left out, unless it is the first. */
static int list_object(struct listing *listing, const char *path, int fd, bool is_first)
{
	struct function_count functions;
	struct elf_notes notes;
	size_t own, others;
	char cnt[UNITS_SIZE];
	int err = elf_reader_notes(listing->reader, &notes, fd);

	if (err)
		return err;
	qsort(notes.notes, notes.cnt, sizeof(*notes.notes), compare_notes);
	own = count_probes(&notes, true);
	others = count_probes(&notes, false);
	if (is_first || own || others) {
		append_escaped(&listing->text, path);
		text_append_format(&listing->text, "\n  %zu txtrace probes%s\n", own,
				   own ? ": traced as they are" : "");
		list_probes(listing, &notes, true);
		text_append_format(&listing->text, "  %zu other USDT probes\n", others);
		list_probes(listing, &notes, false);
		if (!elf_reader_count(listing->reader, &functions, fd)) {
			preset_offer_see_file(&listing->offer, path);
			text_append_format(&listing->text, "  %s functions with a name%s\n",
					   units_format_count(cnt, functions.cnt),
					   functions.is_exported_only
						   ? " (it is stripped: those that it exports)"
						   : "");
		}
	}
	if (!listing->begin)
		pick_example(listing, &notes);
	elf_notes_release(&notes);
	return 0;
}

/* What matches, of an object that has any of it. */
static int search_object(struct listing *listing, const char *path, int fd)
{
	struct text others = listing->text; /* of the objects before */
	size_t cnt = listing->match_cnt;
	struct elf_notes notes;
	int err = elf_reader_notes(listing->reader, &notes, fd);

	if (err)
		return err;
	qsort(notes.notes, notes.cnt, sizeof(*notes.notes), compare_notes);
	listing->text = (struct text){ 0 };
	list_probes(listing, &notes, true);
	list_probes(listing, &notes, false);
	elf_notes_release(&notes);
	err = function_listing_append(&listing->text, listing->reader, path, fd, listing->pattern,
				      &listing->match_cnt);
	if (listing->match_cnt > cnt) {
		append_escaped(&others, path);
		text_append(&others, "\n");
		text_append(&others, text_string(&listing->text));
	}
	text_release(&listing->text);
	listing->text = others;
	return err;
}

/* The process that read it failed: some of it may be missing. */
static void append_unread(struct listing *listing, const char *path)
{
	struct elf_reader_news news;

	if (!elf_reader_take_news(listing->reader, &news))
		return;
	append_escaped(&listing->text, path);
	text_append_format(&listing->text, "\n  cannot be read: %s\n", news.why);
}

/* What cannot be opened or is no ELF file is passed over: another object may have what is looked for. */
static int list_mapping(void *context, const struct proc_mapping *mapping)
{
	struct listing *listing = context;
	int fd = proc_mapping_open(mapping, listing->maps->pid);

	if (fd < 0) {
		append_escaped(&listing->text, mapping->path);
		text_append_format(&listing->text, "\n  cannot be opened: %s\n", strerror(-fd));
		return 0;
	}
	if (listing->pattern)
		search_object(listing, mapping->path, fd);
	else
		list_object(listing, mapping->path, fd, !listing->executable);
	append_unread(listing, mapping->path);
	if (!listing->executable)
		listing->executable = mapping->path;
	close(fd);
	return 0;
}

/* Reads all presets that there are, with the caller's rights. */
static int append_offer(void *context)
{
	struct listing *listing = context;

	preset_offer_append(&listing->offer, &listing->text);
	return 0;
}

static void append_hints(struct listing *listing)
{
	struct text *text = &listing->text;
	size_t before_offer;

	text_append(text, "to trace it:\n");
	if (listing->own_cnt && listing->pid)
		text_append_format(text, "  txtrace-bpf -p %zu\n", listing->pid);
	if (listing->own_cnt && listing->executable) {
		text_append(text, "  txtrace-bpf --exe ");
		append_escaped(text, listing->executable);
		text_append(text, "\n");
	}
	before_offer = text->length;
	caller_do(listing->caller, append_offer, listing);
	/* a pair found by its names may not be one: CPython's function__entry is missing for most calls */
	if (text->length == before_offer && listing->begin && listing->end) {
		text_append(text, "  spans from two of its probes: --span 'LABEL=");
		append_escaped(text, listing->begin);
		text_append(text, "..");
		append_escaped(text, listing->end);
		text_append(text, "'\n");
	}
	text_append(text, "  spans of its functions: --func '");
	append_escaped(text, listing->executable ? listing->executable : "BINARY");
	text_append(text, ":SYMBOL'\n");
	if (!listing->own_cnt)
		text_append(text, "  or add the macros of txtrace.h to the program\n");
}

static int list_process(struct listing *listing, pid_t pid, struct error *error)
{
	struct target *target;
	struct proc_maps maps;
	int err = target_open_pid(&target, pid, error);

	if (err)
		return err;
	text_append_format(&listing->text, "process %d (", pid);
	append_escaped(&listing->text, target_comm(target));
	text_append(&listing->text, ")");
	if (target_inner_pid(target) != pid)
		text_append_format(&listing->text, ", which is %d to itself", target_inner_pid(target));
	text_append(&listing->text, ": ");
	target_read_command(target, NULL);
	append_escaped(&listing->text, target_command(target));
	text_append(&listing->text, "\n");
	err = proc_maps_read(&maps, pid);
	if (err) {
		error_set(error, "may not see what process %d has mapped: %s", pid, strerror(-err));
	} else {
		listing->pid = (size_t)pid;
		listing->maps = &maps;
		proc_maps_each_object(&maps, list_mapping, listing);
		if (!listing->pattern)
			append_hints(listing);
		proc_maps_release(&maps);
	}
	target_close(target);
	return err;
}

static int open_to_read(void *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static int list_file(struct listing *listing, const char *path, struct caller *caller, struct error *error)
{
	int fd = caller_do(caller, open_to_read, (void *)(uintptr_t)path), err;
	struct elf_reader_news news = { .why = NULL };

	if (fd < 0) {
		error_set(error, "cannot open '%s': %s", path, caller_explain(caller, fd));
		return fd;
	}
	listing->executable = path;
	err = listing->pattern ? search_object(listing, path, fd) : list_object(listing, path, fd, true);
	close(fd);
	if (err == -ENOEXEC)
		error_set(error,
			  "'%s' is no ELF file for 64-bit x86 or ARM: give a program, a library or a pid",
			  path);
	else if (err)
		error_set(error, "cannot read '%s': %s", path,
			  elf_reader_take_news(listing->reader, &news) ? news.why : strerror(-err));
	else
		append_unread(listing, path);
	if (!err && !listing->pattern)
		append_hints(listing);
	return err;
}

/* Digits alone are a pid; a file of such a name is ./NAME. */
int probe_listing_print(const char *subject, const char *pattern, struct caller *caller, FILE *out,
			struct error *error)
{
	struct listing listing = { .caller = caller, .pattern = pattern };
	char *rest;
	long pid = strtol(subject, &rest, 10);
	bool is_pid = *subject && !*rest && pid > 0 && pid <= INT32_MAX;
	int err = confinement_elf_reader(&listing.reader, false);

	if (err)
		error_set(error, "cannot start the process that reads ELF files: %s", strerror(-err));
	else
		err = is_pid ? list_process(&listing, (pid_t)pid, error)
			     : list_file(&listing, subject, caller, error);
	if (!err && pattern && !listing.match_cnt) {
		error_set(error, "no probe and no function of %s%s matches '%s'", is_pid ? "process " : "",
			  subject, pattern);
		err = -ENOENT;
	}
	if (!err && fputs(text_string(&listing.text), out) < 0)
		err = -EIO;
	text_release(&listing.text);
	preset_offer_release(&listing.offer);
	elf_reader_free(listing.reader);
	free(listing.begin);
	free(listing.end);
	return err;
}
