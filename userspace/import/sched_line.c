/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/sched_line.h"

#include <string.h>

#define NS_DIGITS 9

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct txtrace_string trim(struct txtrace_string string)
{
	while (string.length > 0 && is_blank(string.bytes[0]))
		string.bytes++, string.length--;
	while (string.length > 0 && is_blank(string.bytes[string.length - 1]))
		string.length--;
	return string;
}

static struct txtrace_string skip(struct txtrace_string string, size_t cnt)
{
	return (struct txtrace_string){ string.bytes + cnt, string.length - cnt };
}

bool sched_string_is(struct txtrace_string string, const char *text)
{
	return string.length == strlen(text) && memcmp(string.bytes, text, string.length) == 0;
}

static bool begins_with(struct txtrace_string string, const char *text)
{
	return string.length >= strlen(text) && memcmp(string.bytes, text, strlen(text)) == 0;
}

/* Position of the text; the length if it is not there. */
static size_t find(struct txtrace_string string, const char *text)
{
	const char *at = string.length ? memmem(string.bytes, string.length, text, strlen(text)) : NULL;

	return at ? (size_t)(at - string.bytes) : string.length;
}

/* Digits at its beginning, of which it goes behind; false: there are none, or too many. */
static bool take_number(struct txtrace_string *string, uint64_t max, uint64_t *number)
{
	size_t length = 0;

	for (*number = 0; length < string->length && is_digit(string->bytes[length]); length++) {
		*number = *number * 10 + (uint64_t)(string->bytes[length] - '0');
		if (*number > max)
			return false;
	}
	*string = skip(*string, length);
	return length > 0;
}

/* A whole word. */
static bool is_number(struct txtrace_string string, uint32_t *number)
{
	uint64_t value;

	if (!take_number(&string, INT32_MAX, &value) || string.length > 0)
		return false;
	*number = (uint32_t)value;
	return true;
}

static struct txtrace_string take_word(struct txtrace_string *string)
{
	struct txtrace_string word;

	*string = trim(*string);
	word = *string;
	for (word.length = 0; word.length < string->length && !is_blank(string->bytes[word.length]);)
		word.length++;
	*string = skip(*string, word.length);
	return word;
}

/* ---- words of events ---- */

/* What follows "NAME=" up to " NEXT="; next NULL: up to a blank or the end. false: it is not there. */
static bool sched_words_text(struct txtrace_string words, const char *name, const char *next,
			     struct txtrace_string *text)
{
	const char *end = words.bytes + words.length, *equals = words.bytes;
	size_t length = strlen(name), at;

	if (words.length == 0)
		return false;
	/* the name is at the beginning, or behind a blank */
	for (;; equals++) {
		equals = memchr(equals, '=', (size_t)(end - equals));
		if (!equals)
			return false;
		at = (size_t)(equals - words.bytes);
		if (at >= length && memcmp(equals - length, name, length) == 0 &&
		    (at == length || is_blank(equals[-1 - (ptrdiff_t)length])))
			break;
	}
	*text = skip(words, at + 1);
	if (!next) {
		*text = take_word(text);
		return true;
	}
	at = find(*text, next);
	if (at == text->length)
		return false;
	*text = trim((struct txtrace_string){ text->bytes, at });
	return true;
}

bool sched_words_number(struct txtrace_string words, const char *name, uint32_t *number)
{
	struct txtrace_string text;

	return sched_words_text(words, name, NULL, &text) && is_number(text, number);
}

/* COMM:TID [PRIO], as trace-cmd prints it. */
static bool parse_task(struct txtrace_string text, struct txtrace_string *comm, uint32_t *tid)
{
	size_t end = text.length, at;

	text = trim(text);
	while (end > 0 && text.bytes[end - 1] != '[') /* of the priority */
		end--;
	if (end > 0)
		text.length = end - 1;
	text = trim(text);
	for (at = text.length; at > 0 && text.bytes[at - 1] != ':';)
		at--;
	if (at == 0)
		return false;
	*comm = (struct txtrace_string){ text.bytes, at - 1 };
	return is_number(skip(text, at), tid);
}

/* COMM:TID [PRIO] STATE ==> COMM:TID [PRIO] */
static bool parse_short_switch(struct txtrace_string words, struct sched_switch *result)
{
	size_t arrow = find(words, " ==> "), end = arrow;
	struct txtrace_string left = { words.bytes, arrow }, state;

	if (arrow == words.length)
		return false;
	left = trim(left);
	for (end = left.length; end > 0 && left.bytes[end - 1] != ' ';)
		end--;
	state = skip(left, end);
	if (state.length == 0 || end == 0)
		return false;
	left.length = end - 1;
	result->state = state.bytes[0];
	result->is_preempted = state.bytes[state.length - 1] == '+';
	return parse_task(left, &result->prev_comm, &result->prev_tid) &&
	       parse_task(skip(words, arrow + 5), &result->next_comm, &result->next_tid);
}

bool sched_switch_parse(struct txtrace_string words, struct sched_switch *result)
{
	struct txtrace_string state;

	*result = (struct sched_switch){ 0 };
	if (!begins_with(trim(words), "prev_comm="))
		return parse_short_switch(words, result);
	if (!sched_words_text(words, "prev_comm", " prev_pid=", &result->prev_comm) ||
	    !sched_words_number(words, "prev_pid", &result->prev_tid) ||
	    !sched_words_text(words, "prev_state", NULL, &state) || state.length == 0 ||
	    !sched_words_text(words, "next_comm", " next_pid=", &result->next_comm) ||
	    !sched_words_number(words, "next_pid", &result->next_tid))
		return false;
	result->state = state.bytes[0];
	result->is_preempted = state.bytes[state.length - 1] == '+';
	return true;
}

bool sched_waking_parse(struct txtrace_string words, struct txtrace_string *comm, uint32_t *tid)
{
	size_t at;

	if (begins_with(trim(words), "comm="))
		return sched_words_text(words, "comm", " pid=", comm) &&
		       sched_words_number(words, "pid", tid);
	at = find(words, "]"); /* behind the priority, the CPU */
	return at < words.length && parse_task((struct txtrace_string){ words.bytes, at }, comm, tid);
}

/* ---- the beginning of a line ---- */

/* COMM TID, COMM PID/TID, COMM-TID, COMM-TID (PID) */
static bool parse_who(struct sched_line *line, struct txtrace_string text)
{
	struct txtrace_string last;
	size_t at;
	uint64_t number;

	text = trim(text);
	if (text.length > 0 && text.bytes[text.length - 1] == ')') {
		for (at = text.length; at > 0 && text.bytes[at - 1] != '(';)
			at--;
		if (at == 0)
			return false;
		last = trim((struct txtrace_string){ text.bytes + at, text.length - at - 1 });
		if (!is_number(last, &line->pid))
			line->pid = 0; /* dashes */
		text = trim((struct txtrace_string){ text.bytes, at - 1 });
	}
	for (at = text.length; at > 0 && (is_digit(text.bytes[at - 1]) || text.bytes[at - 1] == '/');)
		at--;
	if (at == 0 || at == text.length || (!is_blank(text.bytes[at - 1]) && text.bytes[at - 1] != '-'))
		return false;
	last = skip(text, at);
	/* perf: a thread that has gone is -1 */
	line->is_tid_unknown = text.bytes[at - 1] == '-' && at > 1 && is_blank(text.bytes[at - 2]);
	if (line->is_tid_unknown)
		return true;
	line->comm = trim((struct txtrace_string){ text.bytes, at - 1 });
	if (!take_number(&last, INT32_MAX, &number))
		return false;
	line->tid = (uint32_t)number;
	if (last.length == 0)
		return true;
	line->pid = line->tid;
	return last.bytes[0] == '/' && is_number(skip(last, 1), &line->tid);
}

/* Seconds, and up to nine digits behind the point; goes behind the colon. */
static bool take_time(struct txtrace_string *text, uint64_t *time_ns)
{
	uint64_t seconds, fraction = 0;
	size_t digits = 0;

	if (!take_number(text, INT64_MAX / 1000000000u - 1, &seconds))
		return false;
	if (text->length > 0 && text->bytes[0] == '.') {
		*text = skip(*text, 1);
		for (; digits < text->length && is_digit(text->bytes[digits]); digits++) {
			if (digits < NS_DIGITS)
				fraction = fraction * 10 + (uint64_t)(text->bytes[digits] - '0');
		}
		*text = skip(*text, digits);
		if (digits == 0)
			return false;
	}
	for (; digits < NS_DIGITS; digits++)
		fraction *= 10;
	*time_ns = seconds * 1000000000u + fraction;
	if (text->length == 0 || text->bytes[0] != ':')
		return false;
	*text = skip(*text, 1);
	return true;
}

/* ftrace: irqs-off, need-resched, hardirq or softirq, … */
static void parse_context(struct sched_line *line, struct txtrace_string flags)
{
	char what = flags.length >= 3 ? flags.bytes[2] : '.';

	line->has_context = flags.length >= 3;
	line->is_softirq = what == 's';
	line->is_interrupt = line->is_softirq || what == 'h' || what == 'H' || what == 'z' || what == 'Z';
}

static bool parse_event(struct sched_line *line, struct txtrace_string rest)
{
	struct txtrace_string word = take_word(&rest);
	uint32_t period;
	size_t colon;

	if (is_number(word, &period)) /* how many events this one stands for */
		word = take_word(&rest);
	if (begins_with(word, "PERF_RECORD_")) { /* no colon behind some */
		line->event = line->name = word;
		for (colon = 0; colon < word.length && word.bytes[colon] != '(' && word.bytes[colon] != ':';)
			colon++;
		line->name.length = line->event.length = colon;
		line->words = (struct txtrace_string){ word.bytes + colon,
						       word.length - colon + rest.length };
		return true;
	}
	if (word.length < 2 || word.bytes[word.length - 1] != ':')
		return false;
	word.length--;
	line->event = line->name = word;
	colon = find(word, ":");
	if (colon + 1 < word.length)
		line->name = skip(word, colon + 1);
	line->words = trim(rest);
	return line->name.length > 0;
}

static bool parse_rest(struct sched_line *line, struct txtrace_string rest)
{
	rest = trim(rest);
	if (rest.length > 0 && !is_digit(rest.bytes[0]))
		parse_context(line, take_word(&rest));
	rest = trim(rest);
	return take_time(&rest, &line->time_ns) && parse_event(line, rest);
}

static bool parse_event_line(struct sched_line *line, struct txtrace_string text)
{
	for (size_t at = 0; at < text.length; at++) {
		struct txtrace_string rest = skip(text, at + 1);
		uint64_t cpu;

		if (text.bytes[at] != '[' || !take_number(&rest, INT32_MAX, &cpu) || rest.length == 0 ||
		    rest.bytes[0] != ']')
			continue;
		/* a name may have brackets in it, but no time follows these */
		line->cpu = cpu < SCHED_CPU_MAX ? (uint32_t)cpu : TXTRACE_CPU_UNKNOWN;
		line->pid = line->tid = 0;
		if (parse_who(line, (struct txtrace_string){ text.bytes, at }) &&
		    parse_rest(line, skip(rest, 1)))
			return true;
	}
	return false;
}

/* ---- other lines ---- */

/* CPU:1 [LOST 39 EVENTS], CPU:1 [39 EVENTS DROPPED], CPU:1 [EVENTS DROPPED] */
static bool parse_lost(struct sched_line *line, struct txtrace_string text)
{
	uint64_t number;

	text = skip(text, 3);
	while (text.length > 0 && (text.bytes[0] == ':' || text.bytes[0] == ' '))
		text = skip(text, 1);
	if (!take_number(&text, INT32_MAX, &number))
		return false;
	line->cpu = number < SCHED_CPU_MAX ? (uint32_t)number : TXTRACE_CPU_UNKNOWN;
	if (find(text, "LOST") == text.length && find(text, "DROPPED") == text.length)
		return false;
	while (text.length > 0 && !is_digit(text.bytes[0]))
		text = skip(text, 1);
	if (!take_number(&text, INT64_MAX / 16, &line->lost_cnt) || line->lost_cnt == 0)
		line->lost_cnt = 1; /* how many is not told */
	return true;
}

/* entries-in-buffer/entries-written: 140080/250280: the others were overwritten. */
static bool parse_entries(struct sched_line *line, struct txtrace_string text)
{
	static const char words[] = "entries-in-buffer/entries-written:";
	size_t at = find(text, words);
	uint64_t there, written;

	if (at == text.length)
		return false;
	text = trim(skip(text, at + strlen(words)));
	if (!take_number(&text, INT64_MAX / 16, &there) || text.length == 0 || text.bytes[0] != '/')
		return false;
	text = skip(text, 1);
	if (!take_number(&text, INT64_MAX / 16, &written) || written <= there)
		return false;
	line->cpu = TXTRACE_CPU_UNKNOWN;
	line->lost_cnt = written - there;
	return true;
}

/* An address and where it is; in front of it are blanks. */
static bool is_stack(struct txtrace_string text)
{
	struct txtrace_string trimmed = trim(text), word = take_word(&trimmed);

	if (text.length == 0 || !is_blank(text.bytes[0]) || trimmed.length == 0)
		return sched_string_is(trim(text), "<stack trace>") || begins_with(trim(text), "=> ");
	if (begins_with(word, "=>"))
		return true;
	for (size_t i = 0; i < word.length; i++) {
		if (!is_digit(word.bytes[i]) && (word.bytes[i] < 'a' || word.bytes[i] > 'f'))
			return false;
	}
	return word.length >= 4;
}

/* PERF_RECORD_LOST lost 17; older ones do not say how many. */
static void look_for_record_lost(struct sched_line *line)
{
	struct txtrace_string words = line->words;

	if (!sched_string_is(line->name, "PERF_RECORD_LOST") &&
	    !sched_string_is(line->name, "PERF_RECORD_LOST_SAMPLES"))
		return;
	line->kind = SCHED_LINE_LOST;
	while (words.length > 0 && !is_digit(words.bytes[0]))
		words = skip(words, 1);
	if (!take_number(&words, INT64_MAX / 16, &line->lost_cnt) || line->lost_cnt == 0)
		line->lost_cnt = 1;
}

void sched_line_parse(struct sched_line *line, const char *text, size_t length)
{
	struct txtrace_string whole = { text, length }, trimmed = trim(whole);

	*line = (struct sched_line){ .cpu = TXTRACE_CPU_UNKNOWN };
	if (trimmed.length == 0) {
		line->kind = SCHED_LINE_NOTHING;
	} else if (trimmed.bytes[0] == '#') {
		line->kind = parse_entries(line, trimmed) ? SCHED_LINE_LOST : SCHED_LINE_NOTHING;
	} else if (begins_with(trimmed, "CPU") && parse_lost(line, trimmed)) {
		line->kind = SCHED_LINE_LOST;
	} else if (parse_event_line(line, whole)) {
		line->kind = SCHED_LINE_EVENT;
		look_for_record_lost(line);
	} else if (begins_with(trimmed, "cpus=") || begins_with(trimmed, "version =")) {
		line->kind = SCHED_LINE_NOTHING; /* trace-cmd */
	} else if (is_stack(whole)) {
		line->kind = SCHED_LINE_STACK;
	}
}
