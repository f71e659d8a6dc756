/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What no program should do to its tracer, again and again until it is told to stop (SIGTERM), or for so many
 * rounds: --what names one kind, or all. The probes are called as the macros call them, with arguments that
 * no macro would let through. It may spoil its own spans, and nobody else's.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "truth.h"

#define LABEL_CNT 1000000
#define LABEL_BYTES 16
#define HUGE_BYTES (4u << 20)
#define PAUSE_NS NS_PER_MS /* between two bursts: rings that overflow are another story */
#define BURST 200
#define ID_CNT 20000 /* the macros' ids begin there, too, in every process */

struct crime {
	char *endless; /* the bytes before a page that cannot be read */
	char *huge;
	char *labels;
	uint64_t label_cnt;
	uint64_t round;
};

static uint64_t at(const void *pointer)
{
	return (uintptr_t)pointer;
}

static uint64_t wild(uint64_t number)
{
	static const uint64_t places[] = { 1,
					   16,
					   4096,
					   UINT64_MAX,
					   UINT64_C(1) << 63,
					   (UINT64_C(1) << 47) - 1,
					   UINT64_C(1) << 47,
					   0xffffffffff600000,
					   0xffff888000000000,
					   0xdeadbeefdeadbeef };

	return places[number % (sizeof(places) / sizeof(places[0]))];
}

/* Every argument that is an address leads nowhere. */
static void pass_wild_pointers(struct crime *crime)
{
	for (uint64_t i = 0; i < 16; i++) {
		uint64_t id = 1 + (crime->round * 16 + i) % ID_CNT, bad = wild(crime->round + i);
		const char *text = (const char *)(uintptr_t)bad;

		txtrace_site_begin(id, text, bad);
		txtrace_site_tag(id, text);
		txtrace_site_attr(id, text, (uint32_t)i, bad);
		txtrace_site_event(id, text);
		txtrace_site_counter(text, INT64_MIN);
		txtrace_site_link(id, bad, text);
		txtrace_site_key_begin(text, text, bad);
		txtrace_site_key_enter(text, UINT64_MAX);
		txtrace_site_key_event(text, 64, text);
		txtrace_site_key_exit(text, 0);
		txtrace_site_key_end(text, bad);
		txtrace_site_end(id);
	}
}

/* Labels, names, tags and keys of megabytes, and some without an end before a page that cannot be read. */
static void pass_endless_strings(struct crime *crime)
{
	for (uint64_t i = 1; i <= 8; i++) {
		const char *text = i % 2 ? crime->endless - i * 37 : crime->huge + i;

		txtrace_site_begin(i, text, 0);
		txtrace_site_tag(i, text);
		txtrace_site_attr(i, text, 4, at(text));
		txtrace_site_event(i, text);
		txtrace_site_key_begin(text, text, HUGE_BYTES);
		txtrace_site_key_end(text, HUGE_BYTES);
		txtrace_site_end(i);
	}
}

static void pass_control_characters(struct crime *crime)
{
	static const char *const texts[] = {
		"\033]0;owned\a\033[2J\033[31m",
		"a\nspans   0\r\b\b\177\t",
		"\302\233[31m \302\205 \342\200\256 txt.exe",
		"\377\376\300\200",
	};

	for (uint64_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		uint64_t id = 1 + (crime->round * 4 + i) % ID_CNT;

		txtrace_site_begin(id, texts[i], 0);
		txtrace_site_tag(id, texts[i]);
		txtrace_site_attr(id, texts[i], 4, at(texts[i]));
		txtrace_site_event(id, texts[i]);
		txtrace_site_counter(texts[i], (int64_t)crime->round);
		txtrace_site_key_begin(texts[i], texts[i], strlen(texts[i]));
		txtrace_site_key_end(texts[i], strlen(texts[i]));
		txtrace_site_end(id);
		prctl(PR_SET_NAME, texts[i]);
	}
}

/* Ids that other programs use, begun twice, ended thrice, entered by who has left, parents of themselves. */
static void pass_colliding_ids(struct crime *crime)
{
	for (uint64_t i = 0; i < 32; i++) {
		uint64_t id = i % 8 ? (crime->round * 32 + i) % ID_CNT : UINT64_MAX - i;

		txtrace_site_begin(id, "mine", id);
		txtrace_site_begin_detached(id, "mine too", id + 1);
		txtrace_site_enter(id);
		txtrace_site_enter(id + 1);
		txtrace_site_exit(id - 1);
		txtrace_site_link(id, id, "myself");
		txtrace_site_end(id);
		txtrace_site_end(id);
		txtrace_site_end(id + 2);
	}
}

/* A million labels, some at a time. */
static void pass_many_labels(struct crime *crime)
{
	for (uint64_t i = 0; i < BURST; i++, crime->label_cnt++) {
		txtrace_site_begin(1, crime->labels + crime->label_cnt % LABEL_CNT * LABEL_BYTES, 0);
		txtrace_site_end(1);
	}
}

/* What a child has of its parent's spans is the same number. */
static void pass_forked_ids(struct crime *crime)
{
	pid_t child;

	for (uint64_t i = 1; i < 8; i++)
		txtrace_site_begin(i, "before the fork", 0);
	child = fork();
	for (uint64_t i = 1; i < 8; i++) {
		txtrace_site_enter(i);
		txtrace_site_begin(i + 4, child ? "of the parent" : "of the child", i);
		txtrace_site_end(i);
	}
	if (child == 0)
		_exit((int)crime->round & 1);
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* Spans that nobody will ever end. */
static void leave_open(struct crime *crime)
{
	for (uint64_t i = 0; i < BURST; i++)
		txtrace_site_begin(ID_CNT + crime->round * BURST + i, "never ended", 0);
}

static const struct {
	const char *name;
	void (*commit)(struct crime *crime);
} kinds[] = {
	{ "pointers", pass_wild_pointers },
	{ "strings", pass_endless_strings },
	{ "controls", pass_control_characters },
	{ "ids", pass_colliding_ids },
	{ "labels", pass_many_labels },
	{ "forks", pass_forked_ids },
	{ "open", leave_open },
};
#define KIND_CNT (sizeof(kinds) / sizeof(kinds[0]))

static void prepare(struct crime *crime)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(pages != MAP_FAILED && !mprotect(pages + page_bytes, page_bytes, PROT_NONE), "cannot map pages");
	memset(pages, 'e', page_bytes);
	crime->endless = pages + page_bytes;
	crime->huge = malloc(HUGE_BYTES);
	crime->labels = malloc((size_t)LABEL_CNT * LABEL_BYTES);
	must(crime->huge && crime->labels, "no memory");
	memset(crime->huge, 'h', HUGE_BYTES - 1);
	crime->huge[HUGE_BYTES - 1] = '\0';
	for (unsigned int i = 0; i < LABEL_CNT; i++)
		snprintf(crime->labels + (size_t)i * LABEL_BYTES, LABEL_BYTES, "label %u", i);
}

int main(int argc, char **argv)
{
	struct truth_options common = TRUTH_OPTIONS_DEFAULT;
	struct crime crime = { .round = 0 };
	const char *what = "all";
	uint64_t round_cnt = 0;
	bool is_known = false;
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&common),
		{ .name = "what",
		  .help = "all, pointers, strings, controls, ids, labels, forks, open",
		  .text = &what },
		{ .name = "rounds", .help = "and then end; 0: never", .count = &round_cnt, .max = 1e9 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "hostile: what no program should do to its tracer", argc, argv);
	for (size_t i = 0; i < KIND_CNT; i++)
		is_known |= !strcmp(what, "all") || !strcmp(what, kinds[i].name);
	must(is_known, "there is no such crime");
	prepare(&crime);
	truth_start(&common);
	for (; !round_cnt || crime.round < round_cnt; crime.round++) {
		for (size_t i = 0; i < KIND_CNT; i++)
			if (!strcmp(what, "all") || !strcmp(what, kinds[i].name))
				kinds[i].commit(&crime);
		sleep_ns(PAUSE_NS);
	}
	return 0;
}
