/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far the verdict of `txtrace diff` can be trusted, on recorded runs (docs/ci.md, "How often it is
 * wrong").
 *
 *	trust sample NAME BASE.txtrace... -- NEW.txtrace...    the figures of each run, as text: a set of runs
 *	                                                       in turn, small enough to be kept
 *	trust judge [EACH [N]] < TEXT                          compares runs of each set with each other, many
 *	                                                       times
 *
 * Of the set `same`, all are runs of one program: whatever is said to have changed is a false alarm. Of the
 * others NEW has a known change (`changes` below); it is found if the verdict is "worse: the code", and named
 * rightly if the figure that changed is told as worse (of a lock: both where it is held for longer, and where
 * that is waited for, with who holds it). It is named alone if no figure of the code's is told besides, worse
 * or better, that had nothing to do with it.
 *
 * What judge compares is what was recorded, in the order in which it was. "in turn": each series of 2 n
 * successive runs, n pairs, beginning at each run. "drawn": n of the neighbouring pairs at random; of the
 * same program, either of a pair is the base. "apart": n runs and the n that follow. EACH limits how many
 * comparisons there are of each kind (default 300); N is how many runs a side has (otherwise 8, 10 and 16,
 * one after the other). A line of JSON for each kind.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "analyze/compare/figure_list.h"
#include "analyze/compare/gate.h"
#include "analyze/compare/run_sampler.h"

#define NAIVE_LIMIT 1.05
#define LINE_MAX_BYTES 65536
#define RUNS_MAX 4096
#define NAMES_MAX 4096
#define PAIRS_MAX 64

static void must(bool is_fine, const char *what)
{
	if (is_fine)
		return;
	fprintf(stderr, "trust: %s\n", what);
	exit(2);
}

/* ---- logs to text ---- */

static void print_hex(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		printf("%02x", (unsigned char)bytes[i]);
}

static void print_unit(const struct run_set *set, uint32_t label, const struct label_unit *unit)
{
	printf("unit %u %llu %llu", label, (unsigned long long)unit->cnt,
	       (unsigned long long)unit->lower_bound_cnt);
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT && unit->cnt; value++) {
		if (unit->mean[value] > 0)
			printf(" m%u:%.0f", value, unit->mean[value]);
	}
	for (size_t i = 0; i < COMPARE_VALUE_COUNT * set->percentile_cnt; i++) {
		if (!isnan(unit->percentiles[i]))
			printf(" p%zu:%.0f", i, unit->percentiles[i]);
	}
	for (size_t i = 0; i < unit->extra_cnt; i++)
		printf(" e%u:%.4g", unit->extras[i].key, unit->extras[i].per_span);
	putchar('\n');
}

static void sample_log(struct run_set *set, enum compare_side side, const char *path)
{
	const struct run_windows windows = { .cnt = 1 };
	struct log_census census = { 0 };
	struct txtrace_record record;
	struct run_sampler *sampler;
	struct txtrace_log *log;
	int err = txtrace_log_open(&log, path);

	must(!err, path);
	sampler = run_sampler_new(set, side, path, &windows, txtrace_log_info(log)->kernel, 0);
	while ((err = txtrace_log_next(log, &record)) > 0) {
		log_census_add(&census, &record);
		must(!run_sampler_add(sampler, &record), path);
	}
	must(!err && census.has_summary && !run_sampler_finish(sampler, txtrace_log_info(log), &census),
	     path);
	run_sampler_free(sampler);
	txtrace_log_close(log);
}

static void print_run(const struct run_set *set, enum compare_side side, uint32_t run)
{
	const struct compare_run *of = &set->runs[side][run];

	printf("run %d %llu %llu\n", side, (unsigned long long)of->info.start_monotonic_ns,
	       (unsigned long long)log_census_lost_cnt(&of->census));
	for (uint32_t label = 0; label < set->label_cnt; label++) {
		for (size_t i = 0; i < set->by_label[label]->unit_cnt[side]; i++) {
			if (set->by_label[label]->units[side][i].unit == run)
				print_unit(set, label, &set->by_label[label]->units[side][i]);
		}
	}
}

static int sample(int argc, char **argv)
{
	enum compare_side side = SIDE_BASE;
	struct run_set set;
	size_t key_cnt;

	must(argc > 2, "usage: trust sample NAME BASE... -- NEW...");
	must(!run_set_init(&set) && !figure_list_want(&set), "no memory");
	run_set_divide(&set, (const size_t[]){ 3, 3 });
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			side = SIDE_NEW;
		else
			sample_log(&set, side, argv[i]);
	}
	printf("set %s\n", argv[0]);
	for (uint32_t i = 0; i < set.label_cnt; i++) {
		printf("label ");
		print_hex(set.by_label[i]->name.bytes, set.by_label[i]->name.length);
		putchar('\n');
	}
	key_cnt = string_pool_count(set.keys);
	for (uint32_t i = 0; i < key_cnt; i++) {
		size_t length;
		const char *text = string_pool_get(set.keys, i, &length);

		printf("key ");
		print_hex(text, length);
		putchar('\n');
	}
	for (side = SIDE_BASE; side <= SIDE_NEW; side++) {
		for (uint32_t run = 0; run < set.run_cnt[side]; run++)
			print_run(&set, side, run);
	}
	run_set_release(&set);
	return 0;
}

/* ---- text to runs ---- */

struct kept_unit {
	uint32_t label;
	struct label_unit unit; /* its keys are numbers of the text */
};

struct kept_run {
	enum compare_side side;
	uint64_t start_ns;
	struct kept_unit *units;
	size_t unit_cnt;
};

struct kept_set {
	char name[64];
	char *labels[NAMES_MAX], *keys[NAMES_MAX];
	size_t label_lengths[NAMES_MAX], key_lengths[NAMES_MAX];
	size_t label_cnt, key_cnt, percentile_cnt;
	struct kept_run runs[RUNS_MAX];
	size_t run_cnt;
};

static void take_name(const char *hex, char **names, size_t *lengths, size_t *cnt)
{
	size_t length = strlen(hex) / 2;

	must(*cnt < NAMES_MAX, "too many names");
	names[*cnt] = calloc(1, length + 1);
	must(names[*cnt], "no memory");
	for (size_t i = 0; i < length; i++) {
		unsigned int byte;

		must(sscanf(hex + 2 * i, "%2x", &byte) == 1, "a name is no hexadecimal number");
		names[*cnt][i] = (char)byte;
	}
	lengths[(*cnt)++] = length;
}

static void take_unit(struct kept_set *set, char *line)
{
	struct kept_run *run = set->run_cnt ? &set->runs[set->run_cnt - 1] : NULL;
	size_t percentile_cnt = COMPARE_VALUE_COUNT * set->percentile_cnt, room = strlen(line) / 4 + 1;
	struct kept_unit *unit;
	char *word = strtok(line, " "), *rest;

	must(run, "a unit of no run");
	run->units = reallocarray(run->units, run->unit_cnt + 1, sizeof(*run->units));
	must(run->units, "no memory");
	unit = &run->units[run->unit_cnt++];
	*unit = (struct kept_unit){ .label = (uint32_t)strtoul(word, NULL, 10) };
	unit->unit.cnt = strtoull(strtok(NULL, " "), NULL, 10);
	unit->unit.lower_bound_cnt = strtoull(strtok(NULL, " "), NULL, 10);
	unit->unit.percentiles = malloc((percentile_cnt + 1) * sizeof(double));
	unit->unit.extras = calloc(room, sizeof(*unit->unit.extras));
	must(unit->unit.percentiles && unit->unit.extras && unit->label < set->label_cnt,
	     "no memory, or an unknown label");
	for (size_t i = 0; i < percentile_cnt; i++)
		unit->unit.percentiles[i] = NAN;
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++) {
		unit->unit.tail[value] = NAN;
		unit->unit.mean[value] = unit->unit.cnt ? 0 : NAN;
	}
	while ((word = strtok(NULL, " ")) != NULL) {
		unsigned long number = strtoul(word + 1, &rest, 10);
		double value = strtod(rest + (*rest == ':'), NULL);

		if (*word == 'm' && number < COMPARE_VALUE_COUNT)
			unit->unit.mean[number] = value;
		else if (*word == 'p' && number < percentile_cnt)
			unit->unit.percentiles[number] = value;
		else if (*word == 'e' && number < set->key_cnt)
			unit->unit.extras[unit->unit.extra_cnt++] = (struct label_extra){ (uint32_t)number,
											  value };
		else
			must(false, "an unknown figure");
	}
}

static void take_run(struct kept_set *set, const char *line)
{
	unsigned long long start_ns;
	int side;

	must(set->run_cnt < RUNS_MAX && sscanf(line, "%d %llu", &side, &start_ns) == 2 &&
		     (side == 0 || side == 1),
	     "an unreadable run");
	set->runs[set->run_cnt++] = (struct kept_run){ .side = (enum compare_side)side,
						       .start_ns = start_ns };
}

static void release_set(struct kept_set *set)
{
	for (size_t i = 0; i < set->label_cnt; i++)
		free(set->labels[i]);
	for (size_t i = 0; i < set->key_cnt; i++)
		free(set->keys[i]);
	for (size_t i = 0; i < set->run_cnt; i++) {
		for (size_t k = 0; k < set->runs[i].unit_cnt; k++) {
			free(set->runs[i].units[k].unit.percentiles);
			free(set->runs[i].units[k].unit.extras);
		}
		free(set->runs[i].units);
	}
	*set = (struct kept_set){ .percentile_cnt = set->percentile_cnt };
}

static int compare_start(const void *a, const void *b)
{
	const struct kept_run *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* ---- runs to a comparison ---- */

static int compare_extras(const void *a, const void *b)
{
	const struct label_extra *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

static void add_unit(struct run_set *to, const struct kept_set *from, const struct kept_unit *kept,
		     enum compare_side side, uint32_t run)
{
	size_t percentile_cnt = COMPARE_VALUE_COUNT * from->percentile_cnt;
	struct txtrace_string name = { from->labels[kept->label], from->label_lengths[kept->label] };
	struct label_unit *unit;
	uint32_t label;

	must(!run_set_label(to, name, &label), "no memory");
	unit = run_set_add_unit(to, label, (int)side, run);
	must(unit, "no memory");
	*unit = kept->unit;
	unit->unit = run;
	unit->percentiles = malloc((percentile_cnt + 1) * sizeof(double));
	unit->extras = malloc((kept->unit.extra_cnt + 1) * sizeof(*unit->extras));
	must(unit->percentiles && unit->extras, "no memory");
	memcpy(unit->percentiles, kept->unit.percentiles, percentile_cnt * sizeof(double));
	for (size_t i = 0; i < unit->extra_cnt; i++) {
		uint32_t key = kept->unit.extras[i].key;
		struct txtrace_string extra = { from->keys[key] + 1, from->key_lengths[key] - 1 };

		unit->extras[i].per_span = kept->unit.extras[i].per_span;
		must(!run_set_add_key(to, (enum extra_kind)from->keys[key][0], extra, &unit->extras[i].key),
		     "no memory");
	}
	qsort(unit->extras, unit->extra_cnt, sizeof(*unit->extras), compare_extras);
}

/* pairs[i]: the runs 2 i and 2 i + 1 of a comparison; sides: which of them is the base's. */
static void fill(struct run_set *to, const struct kept_set *from, const size_t *runs,
		 const enum compare_side *sides, size_t cnt)
{
	const size_t run_cnt[2] = { cnt / 2, cnt / 2 };

	must(!run_set_init(to) && !figure_list_want(to), "no memory");
	run_set_divide(to, run_cnt);
	for (size_t i = 0; i < cnt; i++) {
		const struct kept_run *kept = &from->runs[runs[i]];
		struct compare_run *run;

		must(!run_set_add_run(to, sides[i], "run", 1, &run), "no memory");
		run->info.start_monotonic_ns = kept->start_ns;
		run->census.has_summary = true;
		for (size_t k = 0; k < kept->unit_cnt; k++)
			add_unit(to, from, &kept->units[k], sides[i], (uint32_t)(to->run_cnt[sides[i]] - 1));
	}
	must(!run_set_pair(to, false), "no memory");
	comparison_part_few_pairs(to, 0.01);
}

/* ---- what it says, and what a rule says that looks at medians of wall time ---- */

struct change {
	const char *set;
	/* the change may show in the code's figures of these; the first is where it was made */
	const char *labels[4];
	bool (*is_it)(const struct run_set *set, const struct compared_figure *figure);
	/* of a lock: told, too */
	bool (*is_waited_for)(const struct run_set *set, const struct compared_figure *figure);
	const char *rule; /* a gate that looks for it */
};

static bool is_label(const struct run_set *set, uint32_t label, const char *name)
{
	struct txtrace_string is = set->by_label[label]->name;

	return is.length == strlen(name) && memcmp(is.bytes, name, is.length) == 0;
}

static bool is_more_cpu(const struct run_set *set, const struct compared_figure *figure)
{
	return is_label(set, figure->label, "checksum") && figure->metric.kind == METRIC_VALUE &&
	       (figure->metric.value == SPAN_VALUE_ON_CPU ||
		figure->metric.value == COMPARE_VALUE_SELF_ON_CPU);
}

static bool is_more_fsyncs(const struct run_set *set, const struct compared_figure *figure)
{
	struct txtrace_string name;

	if (!is_label(set, figure->label, "journal") || figure->metric.kind != METRIC_BLOCKS)
		return false;
	run_set_key(set, figure->metric.key, &name);
	return name.length == 5 && memcmp(name.bytes, "fsync", 5) == 0;
}

static bool is_longer_section(const struct run_set *set, const struct compared_figure *figure)
{
	return is_label(set, figure->label, "transfer") && figure->metric.kind == METRIC_VALUE &&
	       (figure->metric.value == SPAN_VALUE_ON_CPU ||
		figure->metric.value == COMPARE_VALUE_SELF_ON_CPU);
}

static bool is_held_by_transfer(const struct run_set *set, const struct compared_figure *figure)
{
	struct txtrace_string name;

	if (figure->metric.kind != METRIC_HELD)
		return false;
	/* a byte each for the reason and the kind of party before it */
	run_set_key(set, figure->metric.key, &name);
	return name.length == 10 && name.bytes[1] == PARTY_SPAN && memcmp(name.bytes + 2, "transfer", 8) == 0;
}

/* Who waits for the lock is told whose work it waits for. */
static bool is_longer_hold(const struct run_set *set, const struct compared_figure *figure)
{
	return is_label(set, figure->label, "lock accounts") && is_held_by_transfer(set, figure);
}

static const struct change changes[] = {
	{ "cpu", { "checksum", "audit" }, is_more_cpu, NULL, "checksum.on_cpu.p50 < +2%" },
	{ "fsync", { "journal", "deposit" }, is_more_fsyncs, NULL, "journal.blocks.fsync < +0.1" },
	/* The clearing house is asked within the section. */
	{ "lock-100",
	  { "transfer", "lock accounts", "clear", "clearing house" },
	  is_longer_section,
	  is_longer_hold,
	  "\"lock accounts\".held_by.transfer < +20%" },
	{ "lock-300",
	  { "transfer", "lock accounts", "clear", "clearing house" },
	  is_longer_section,
	  is_longer_hold,
	  "\"lock accounts\".held_by.transfer < +20%" },
};
#define CHANGE_CNT (sizeof(changes) / sizeof(changes[0]))

/* The kinds of transactions of the bank. */
static const char *const kinds[] = { "deposit", "transfer", "withdraw", "audit", "statement" };
#define KIND_CNT (sizeof(kinds) / sizeof(kinds[0]))

struct tally {
	size_t cnt, figure_sum;
	size_t worse_cnt;   /* exit status 1 */
	size_t changed_cnt; /* a figure is said to be better or worse, whoever's */
	size_t named_cnt, alone_cnt;
	size_t gate_cnt; /* a gate found it regressed */
	size_t cant_tell_cnt;
	size_t naive_cnt;      /* the p50 of any kind of transaction went up by more than 5 % */
	size_t naive_one_cnt;  /* of kinds and comparisons */
	size_t naive_moved_cnt; /* either way, of any kind */
};

static void count_naive(struct tally *tally, const struct run_set *set)
{
	const struct metric p50 = { .kind = METRIC_VALUE, .value = SPAN_VALUE_WALL, .percentile = 0.5 };
	bool is_up = false, has_moved = false;

	for (size_t i = 0; i < KIND_CNT; i++) {
		const struct compare_label *label = run_set_find_label(set,
								       (struct txtrace_string){
									       kinds[i], strlen(kinds[i]) });
		double sum[2] = { 0, 0 };

		for (int side = 0; label && side < 2; side++) {
			for (size_t k = 0; k < label->unit_cnt[side]; k++)
				sum[side] += metric_of(set, &p50, &label->units[side][k]);
		}
		tally->naive_one_cnt += sum[1] > NAIVE_LIMIT * sum[0];
		is_up |= sum[1] > NAIVE_LIMIT * sum[0];
		has_moved |= sum[1] > NAIVE_LIMIT * sum[0] || sum[0] > NAIVE_LIMIT * sum[1];
	}
	tally->naive_cnt += is_up;
	tally->naive_moved_cnt += has_moved;
}

/* The rule that looks for the change; where there is none, all of these rules. */
static bool is_regressed(const struct run_set *set, const struct change *change,
			 const struct comparison_options *options)
{
	struct gate_rules rules = { 0 };
	struct error error = { "" };
	struct gate gate;
	bool is_regressed;
	int err = 0;

	for (size_t i = 0; i < CHANGE_CNT && !err; i++) {
		if (!change || change == &changes[i])
			err = gate_rules_parse(&rules, changes[i].rule, "rules", &error);
	}
	must(!err && !gate_init(&gate, &rules, set, options, true) && gate.result != GATE_ERROR,
	     "a rule matches nothing");
	is_regressed = gate.result == GATE_REGRESSED;
	gate_release(&gate);
	gate_rules_release(&rules);
	return is_regressed;
}

static bool may_show(const struct change *change, const struct run_set *set,
		     const struct compared_figure *figure)
{
	for (size_t i = 0; i < 4 && change->labels[i]; i++) {
		if (is_label(set, figure->label, change->labels[i]))
			return true;
	}
	/* also of audits, which take the accounts' locks */
	return change->is_waited_for && is_held_by_transfer(set, figure);
}

static void judge_one(struct tally *tally, const struct kept_set *from, const struct change *change,
		      const size_t *runs, const enum compare_side *sides, size_t cnt)
{
	struct comparison_options options = COMPARISON_DEFAULTS;
	struct comparison comparison;
	struct run_set set;
	bool is_named = false, is_waited_for = false, is_astray = false;

	fill(&set, from, runs, sides, cnt);
	must(!comparison_init(&comparison, &set, &options), "no memory");
	for (size_t i = 0; change && i < comparison.figure_cnt; i++) {
		const struct compared_figure *figure = &comparison.figures[i];

		is_named |= figure->verdict == VERDICT_WORSE && change->is_it(&set, figure);
		is_waited_for |= figure->verdict == VERDICT_WORSE && change->is_waited_for &&
				 change->is_waited_for(&set, figure);
		if (figure->owner == OWNER_CODE &&
		    (figure->verdict == VERDICT_WORSE || figure->verdict == VERDICT_BETTER))
			is_astray |= !may_show(change, &set, figure);
	}
	tally->cnt++;
	tally->figure_sum += comparison.tested_cnt;
	tally->worse_cnt += comparison.code == VERDICT_WORSE;
	tally->cant_tell_cnt += comparison.code == VERDICT_CANT_TELL;
	tally->changed_cnt += comparison.verdict_cnt[VERDICT_WORSE] + comparison.verdict_cnt[VERDICT_BETTER] >
			      0;
	is_named &= comparison.code == VERDICT_WORSE && (is_waited_for || !change->is_waited_for);
	tally->named_cnt += is_named;
	tally->alone_cnt += is_named && !is_astray;
	tally->gate_cnt += is_regressed(&set, change, &options);
	count_naive(tally, &set);
	comparison_release(&comparison);
	run_set_release(&set);
}

static void print_tally(const struct tally *tally, const struct kept_set *set, const char *how, size_t pairs)
{
	printf("{\"set\":\"%s\",\"how\":\"%s\",\"runs_a_side\":%zu,\"runs\":%zu,\"comparisons\":%zu,",
	       set->name, how, pairs, set->run_cnt, tally->cnt);
	printf("\"figures\":%zu,\"worse\":%zu,", tally->figure_sum / (tally->cnt ? tally->cnt : 1),
	       tally->worse_cnt);
	printf("\"cant_tell\":%zu,\"any_change\":%zu,", tally->cant_tell_cnt, tally->changed_cnt);
	printf("\"named\":%zu,\"alone\":%zu,\"gate\":%zu,", tally->named_cnt, tally->alone_cnt,
	       tally->gate_cnt);
	printf("\"naive\":%zu,\"naive_moved\":%zu,\"naive_of_one_kind\":%.1f}\n", tally->naive_cnt,
	       tally->naive_moved_cnt, (double)tally->naive_one_cnt / KIND_CNT);
	fflush(stdout);
}

/*
 * Successive runs of one program, from the first, the second, … on; apart: the first half of them against the
 * second.
 */
static void judge_in_order(const struct kept_set *set, const char *how, size_t pairs, size_t each)
{
	bool is_apart = strcmp(how, "apart") == 0;
	size_t all = set->run_cnt >= 2 * pairs ? set->run_cnt - 2 * pairs + 1 : 0;
	enum compare_side sides[2 * PAIRS_MAX];
	struct tally tally = { 0 };
	size_t runs[2 * PAIRS_MAX];

	for (size_t k = 0; k < all && k < each; k++) {
		size_t first = all <= each ? k : k * all / each; /* fewer than there are: spread evenly */

		for (size_t i = 0; i < 2 * pairs; i++) {
			runs[i] = first + i;
			sides[i] = (enum compare_side)(is_apart ? i >= pairs : i % 2);
		}
		judge_one(&tally, set, NULL, runs, sides, 2 * pairs);
	}
	print_tally(&tally, set, how, pairs);
}

/* Neighbours, as they were recorded, but not all of them. */
static void judge_drawn(const struct kept_set *set, const struct change *change, size_t pairs, size_t each)
{
	size_t pair_cnt = set->run_cnt / 2, runs[2 * PAIRS_MAX];
	enum compare_side sides[2 * PAIRS_MAX];
	struct seeded_random random;
	struct tally tally = { 0 };
	unsigned is_exchanged;

	seeded_random_init(&random, 1);
	for (size_t k = 0; k < each && pair_cnt >= pairs; k++) {
		size_t wanted = pairs, at = 0;

		for (size_t pair = 0; pair < pair_cnt; pair++) {
			if (seeded_random_below(&random, (uint32_t)(pair_cnt - pair)) >= wanted)
				continue;
			wanted--;
			is_exchanged = !change && seeded_random_next(&random) >> 63;
			for (size_t i = 0; i < 2; i++, at++) {
				runs[at] = 2 * pair + i;
				sides[at] = (enum compare_side)(set->runs[2 * pair + i].side ^ is_exchanged);
			}
		}
		judge_one(&tally, set, change, runs, sides, 2 * pairs);
	}
	print_tally(&tally, set, "drawn", pairs);
}

static void judge_set(struct kept_set *set, size_t each, size_t only)
{
	static const size_t sizes[] = { 8, 10, 16 };
	const struct change *change = NULL;

	if (set->run_cnt == 0)
		return;
	qsort(set->runs, set->run_cnt, sizeof(set->runs[0]), compare_start);
	for (size_t i = 0; i < CHANGE_CNT; i++) {
		if (strcmp(changes[i].set, set->name) == 0)
			change = &changes[i];
	}
	for (size_t i = 0; i < (only ? 1 : sizeof(sizes) / sizeof(sizes[0])); i++) {
		if (!change)
			judge_in_order(set, "in turn", only ? only : sizes[i], each);
		judge_drawn(set, change, only ? only : sizes[i], each);
	}
	if (!change && !only)
		judge_in_order(set, "apart", 10, each);
}

static int judge(size_t each, size_t only)
{
	static struct kept_set set;
	static char line[LINE_MAX_BYTES];
	struct run_set wanted;

	must(!run_set_init(&wanted) && !figure_list_want(&wanted), "no memory");
	set.percentile_cnt = wanted.percentile_cnt;
	run_set_release(&wanted);
	while (fgets(line, sizeof(line), stdin)) {
		char *space = strchr(line, ' ');

		must(space && strchr(line, '\n'), "an unreadable line");
		line[strcspn(line, "\n")] = '\0';
		*space++ = '\0';
		if (strcmp(line, "set") == 0) {
			judge_set(&set, each, only);
			release_set(&set);
			snprintf(set.name, sizeof(set.name), "%s", space);
		} else if (strcmp(line, "label") == 0) {
			take_name(space, set.labels, set.label_lengths, &set.label_cnt);
		} else if (strcmp(line, "key") == 0) {
			take_name(space, set.keys, set.key_lengths, &set.key_cnt);
		} else if (strcmp(line, "run") == 0) {
			take_run(&set, space);
		} else {
			must(strcmp(line, "unit") == 0, "an unknown line");
			take_unit(&set, space);
		}
	}
	judge_set(&set, each, only);
	release_set(&set);
	return 0;
}

int main(int argc, char **argv)
{
	size_t each, only;

	if (argc > 2 && strcmp(argv[1], "sample") == 0)
		return sample(argc - 2, argv + 2);
	must(argc > 1 && argc < 5 && strcmp(argv[1], "judge") == 0,
	     "usage: trust sample NAME BASE... -- NEW... | trust judge [EACH [N]]");
	each = argc > 2 ? strtoul(argv[2], NULL, 10) : 300;
	only = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	must(each > 0 && only <= PAIRS_MAX, "at least one comparison, of at most 64 runs a side");
	return judge(each, only);
}
