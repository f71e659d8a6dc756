/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program knows about its own spans: the oracle that a recording is held
 * against.
 *
 *	struct witness witness;                       a thread's instruments
 *	struct truth truth = { .label = "sleep", .blocked = "sleep" };
 *	WITNESSED(&truth, &witness, "sleep", nanosleep(&time, NULL));
 *	truth_print(&truth);
 *
 * A stay is the time that one thread worked for a span, read four times: before
 * and after it enters, before and after it leaves. The span's real edges lie
 * between the readings. So everything is known as a pair, no less than the
 * first and no more than the second, and a recording that is right lies within,
 * however loaded the machine. truth_print() writes one line of JSON for a span:
 *
 *	{"type":"span","label":"sleep","id":"17","pid":7,"parent":"0","blocked":"sleep","asked_ns":5000000,
 *	 "until_ns":0,"starved_ns":0,
 *	 "begin_ns":[a,b],"end_ns":[a,b],"wall_ns":[a,b],"work_ns":[a,b],"detached_ns":[a,b],
 *	 "cpu_ns":[a,b],"run_delay_ns":[a,b],"stolen_ns":[a,b],"nvcsw":[a,b],"nivcsw":[a,b],
 *	 "stays":[{"tid":7,"begin_ns":…,"end_ns":…,"around_ns":[a,b],"nvcsw":1,"nivcsw":0}]}
 *
 * "blocked": the one reason for which it blocked, or null. "asked_ns": how long
 * the program asked to be blocked. "until_ns": to which moment, or 0: for a
 * time. "starved_ns": how long it made sure that it waited for a CPU. "id":
 * null if the program does not know it (scoped spans; keyed ones, which have
 * "key_text"). A stay's switches are exact between its two times, which lie
 * inside the span; "around_ns" are the two that lie around it.
 *
 * Sources: CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID, getrusage(RUSAGE_THREAD),
 * /proc/thread-self/schedstat (run_delay).
 */
#ifndef TRUTH_H
#define TRUTH_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "probe_count.h"
#include "program_options.h"
#include "recorders_ready.h"
#include "txtrace.h"

#define NS_PER_MS 1000000ull
#define TRUTH_STAY_MAX 8
/* from the last probe to a recorder that records: it takes milliseconds on an idle machine */
#define SETTLE_NS 500000000
#define READY_LIMIT_S 300

struct reading {
	uint64_t mono_ns;
	uint64_t cpu_ns;
	uint64_t run_delay_ns;
	uint64_t stolen_ns;
	uint64_t nvcsw;
	uint64_t nivcsw;
};

struct witness {
	int schedstat_fd;
	uint32_t tid;
	uint64_t stolen_ns; /* that a hypervisor took while we spun: not on the thread's CPU clock */
};

struct stay {
	uint32_t tid;
	struct reading entering;
	struct reading entered;
	struct reading leaving;
	struct reading left;
};

/* A pair: no less than the first, no more than the second. */
struct bounds {
	uint64_t least;
	uint64_t most;
};

/* Starts zeroed. */
struct truth {
	const char *label;
	const char *blocked; /* NULL: it did not block on purpose */
	uint64_t asked_ns;   /* how long it asked to be blocked */
	uint64_t until_ns;   /* 0, or the moment to which it asked to be blocked */
	uint64_t starved_ns; /* how long it saw itself runnable without a CPU */
	txtrace_span_t id;
	txtrace_span_t parent;
	const char *key;        /* of a keyed span, whose id the program does not know; else NULL */
	bool is_scoped;         /* the id is not known */
	struct bounds begin_ns; /* if it began outside of any stay: detached; else left at 0 */
	struct bounds end_ns;   /* likewise */
	unsigned stay_cnt;
	struct stay stays[TRUTH_STAY_MAX];
};

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

static inline void sleep_ns(uint64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / 1000000000ull),
				 .tv_nsec = (long)(ns % 1000000000ull) };

	while (nanosleep(&time, &time) && errno == EINTR)
		;
}

/*
 * Says what failed and ends the program: a test program that cannot do its work
 * must not look as if it had.
 */
static inline void must(bool is_fine, const char *what)
{
	if (is_fine)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void start_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
	errno = pthread_create(thread, NULL, run, argument);
	must(!errno, "cannot start a thread");
}

/* ---- waiting for others ---- */

/* Another thread counts its steps; until it has made so many. */
static inline void wait_until_count(const atomic_uint_least64_t *steps, uint64_t step_cnt)
{
	while (atomic_load(steps) < step_cnt)
		usleep(200);
}

/* The state letter in a stat file of /proc; 0 if there is none. */
static inline char task_state(const char *stat_path)
{
	char text[512];
	int fd = open(stat_path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
	char *end_of_name = strrchr(text, ')');
	return end_of_name && end_of_name[1] == ' ' ? end_of_name[2] : 0;
}

/* Until that task is in one of these states ("SD": asleep, "T": stopped). */
static inline void wait_until_state(pid_t pid, uint32_t tid, const char *states)
{
	char path[64];
	char state;

	snprintf(path, sizeof(path), "/proc/%d/task/%u/stat", pid, tid);
	while (!(state = task_state(path)) || !strchr(states, state))
		usleep(200);
}

/* ---- reading ---- */

static inline void witness_init(struct witness *witness)
{
	witness->tid = (uint32_t)syscall(SYS_gettid);
	witness->stolen_ns = 0;
	witness->schedstat_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	must(witness->schedstat_fd >= 0, "cannot open /proc/thread-self/schedstat");
}

static inline void witness_release(struct witness *witness)
{
	close(witness->schedstat_fd);
}

static inline uint64_t witness_run_delay_ns(const struct witness *witness)
{
	char text[96];
	ssize_t length = pread(witness->schedstat_fd, text, sizeof(text) - 1, 0);
	char *rest;

	must(length > 0, "cannot read /proc/thread-self/schedstat");
	text[length] = 0;
	strtoull(text, &rest, 10);
	return strtoull(rest, NULL, 10);
}

/* All of one moment: read again if the thread was switched meanwhile. */
static inline struct reading witness_read(const struct witness *witness)
{
	struct rusage before, after;
	struct reading reading;

	do {
		getrusage(RUSAGE_THREAD, &before);
		reading.run_delay_ns = witness_run_delay_ns(witness);
		reading.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		reading.mono_ns = clock_ns(CLOCK_MONOTONIC);
		getrusage(RUSAGE_THREAD, &after);
	} while (before.ru_nvcsw != after.ru_nvcsw || before.ru_nivcsw != after.ru_nivcsw);
	reading.stolen_ns = witness->stolen_ns;
	reading.nvcsw = (uint64_t)after.ru_nvcsw;
	reading.nivcsw = (uint64_t)after.ru_nivcsw;
	return reading;
}

/* ---- work ---- */

struct spin_clocks {
	uint64_t mono_ns;
	uint64_t cpu_ns;
	uint64_t apart_ns; /* at most */
};

/* Both clocks of one moment, as near as can be: an emulated machine takes longer to read them. */
static inline struct spin_clocks spin_clocks_read(void)
{
	struct spin_clocks clocks;
	uint64_t before_ns, limit_ns = 1000;

	do {
		limit_ns *= 2;
		before_ns = clock_ns(CLOCK_MONOTONIC);
		clocks.cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		clocks.mono_ns = clock_ns(CLOCK_MONOTONIC);
		clocks.apart_ns = clocks.mono_ns - before_ns;
	} while (clocks.apart_ns > limit_ns);
	return clocks;
}

static inline uint64_t switch_cnt(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/*
 * Until this thread has been on a CPU for so long, by the kernel's own account.
 * Where the wall clock ran ahead of the thread's and the thread was not
 * switched, a hypervisor had taken the CPU.
 */
static inline void spin_cpu_ns(struct witness *witness, uint64_t ns)
{
	struct spin_clocks before = spin_clocks_read(), now = before;
	uint64_t end_ns = before.cpu_ns + ns, switches = switch_cnt();

	for (; now.cpu_ns < end_ns; before = now) {
		now = spin_clocks_read();
		uint64_t ahead_ns = now.mono_ns - before.mono_ns - (now.cpu_ns - before.cpu_ns);
		uint64_t apart_ns = before.apart_ns > now.apart_ns ? before.apart_ns : now.apart_ns;
		if ((int64_t)ahead_ns < 3000 || ahead_ns < apart_ns * 3 / 2)
			continue;
		if (switches == switch_cnt())
			witness->stolen_ns += ahead_ns;
		switches = switch_cnt();
	}
}

static inline struct stay *truth_add_stay(struct truth *truth, const struct witness *witness)
{
	must(truth->stay_cnt < TRUTH_STAY_MAX, "too many stays in one span");
	struct stay *stay = &truth->stays[truth->stay_cnt++];
	stay->tid = witness->tid;
	return stay;
}

/*
 * A thread that exits leaves its spans there: after its last reading,
 * `leaving`, and before somebody has seen it end, now. What it did in between
 * it could not say any more: the way out takes a switch or two.
 */
static inline void stay_ended_with_thread(struct stay *stay)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), passed_ns = now_ns - stay->leaving.mono_ns;

	stay->left = stay->leaving;
	stay->left.mono_ns = now_ns;
	stay->left.cpu_ns += passed_ns;
	stay->left.run_delay_ns += passed_ns;
	stay->left.nvcsw += 4;
	stay->left.nivcsw += 4;
}

/*
 * Until the thread, which is about to fall asleep for long, has left the CPU by
 * itself since it read itself; the reading gets the switches that it has had
 * then.
 */
static inline void wait_until_switched_out(struct stay *stay)
{
	unsigned long long nvcsw = 0, nivcsw = 0;
	char path[64], text[4096], state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%u/status", stay->tid);
	while (nvcsw <= stay->leaving.nvcsw || state != 'S') {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

		must(length > 0, "cannot read the status of a thread");
		close(fd);
		text[length] = 0;
		must(strstr(text, "State:") && strstr(text, "\nvoluntary_") && strstr(text, "nonvoluntary_"),
		     "a thread's status lacks its switches");
		sscanf(strstr(text, "State:"), "State: %c", &state);
		sscanf(strstr(text, "\nvoluntary_"), "\nvoluntary_ctxt_switches: %llu", &nvcsw);
		sscanf(strstr(text, "nonvoluntary_"), "nonvoluntary_ctxt_switches: %llu", &nivcsw);
		usleep(100);
	}
	stay->leaving.nvcsw = nvcsw;
	stay->leaving.nivcsw = nivcsw;
}

/* What stands between two readings: an edge of a span that no thread is in. */
#define TRUTH_EDGE(bounds, body)                                                        \
	do {                                                                            \
		(bounds).least = clock_ns(CLOCK_MONOTONIC);                             \
		body;                                                                   \
		(bounds).most = clock_ns(CLOCK_MONOTONIC);                              \
	} while (0)

/*
 * A stay of this thread in a span: `enter` and `leave` are the macros that make
 * it, `body` is what is done in between.
 */
#define TRUTH_STAY(truth, witness, enter, body, leave)                                  \
	do {                                                                            \
		struct stay *stay_ = truth_add_stay((truth), (witness));                \
		stay_->entering = witness_read(witness);                                \
		enter;                                                                  \
		stay_->entered = witness_read(witness);                                 \
		body;                                                                   \
		stay_->leaving = witness_read(witness);                                 \
		leave;                                                                  \
		stay_->left = witness_read(witness);                                    \
	} while (0)

/* A whole span on this thread. */
#define WITNESSED_CHILD(truth, witness, literal, parent_id, body)                       \
	do {                                                                            \
		(truth)->label = literal;                                               \
		(truth)->parent = (parent_id);                                          \
		TRUTH_STAY(truth, witness, (truth)->id = TXTRACE_BEGIN_CHILD(literal, (truth)->parent), \
			   body, TXTRACE_END((truth)->id));                             \
	} while (0)

#define WITNESSED(truth, witness, literal, body) WITNESSED_CHILD(truth, witness, literal, 0, body)

/* ---- what the readings say ---- */

static inline struct bounds bounds_difference(struct bounds a, struct bounds b)
{
	return (struct bounds){ a.least > b.most ? a.least - b.most : 0,
				a.most > b.least ? a.most - b.least : 0 };
}

/* Of one of the reading's fields, over all stays. */
#define TRUTH_SUM(truth, field)                                                                             \
	({                                                                                                  \
		struct bounds sum_ = { 0, 0 };                                                              \
		for (unsigned i_ = 0; i_ < (truth)->stay_cnt; i_++) {                                       \
			sum_.least += (truth)->stays[i_].leaving.field - (truth)->stays[i_].entered.field;  \
			sum_.most += (truth)->stays[i_].left.field - (truth)->stays[i_].entering.field;     \
		}                                                                                           \
		sum_;                                                                                       \
	})

/* How much of the time the intervals cover together. Sorts them. */
static inline uint64_t covered_ns(struct bounds *intervals, unsigned interval_cnt)
{
	uint64_t sum_ns = 0, end_ns = 0;

	for (unsigned i = 1; i < interval_cnt; i++)
		for (unsigned k = i; k > 0 && intervals[k].least < intervals[k - 1].least; k--) {
			struct bounds swap = intervals[k];
			intervals[k] = intervals[k - 1];
			intervals[k - 1] = swap;
		}
	for (unsigned i = 0; i < interval_cnt; i++) {
		uint64_t begin_ns = intervals[i].least > end_ns ? intervals[i].least : end_ns;
		if (intervals[i].most > begin_ns) {
			sum_ns += intervals[i].most - begin_ns;
			end_ns = intervals[i].most;
		}
	}
	return sum_ns;
}

/* How long at least one thread was in the span. */
static inline struct bounds truth_occupied_ns(const struct truth *truth)
{
	struct bounds inner[TRUTH_STAY_MAX], outer[TRUTH_STAY_MAX];

	for (unsigned i = 0; i < truth->stay_cnt; i++) {
		inner[i] = (struct bounds){ truth->stays[i].entered.mono_ns,
					    truth->stays[i].leaving.mono_ns };
		outer[i] = (struct bounds){ truth->stays[i].entering.mono_ns, truth->stays[i].left.mono_ns };
	}
	return (struct bounds){ covered_ns(inner, truth->stay_cnt), covered_ns(outer, truth->stay_cnt) };
}

static inline void print_bounds(const char *name, struct bounds bounds)
{
	printf(",\"%s\":[%llu,%llu]", name, (unsigned long long)bounds.least,
	       (unsigned long long)bounds.most);
}

static inline void truth_print_stays(const struct truth *truth)
{
	printf(",\"stays\":[");
	for (unsigned i = 0; i < truth->stay_cnt; i++) {
		const struct stay *stay = &truth->stays[i];
		const struct reading *entered = &stay->entered, *leaving = &stay->leaving;
		printf("%s{\"tid\":%u,\"begin_ns\":%llu,\"end_ns\":%llu,\"around_ns\":[%llu,%llu],\"nvcsw\":%"
		       "llu,\"nivcsw\":%llu}",
		       i ? "," : "", stay->tid, (unsigned long long)entered->mono_ns,
		       (unsigned long long)leaving->mono_ns, (unsigned long long)stay->entering.mono_ns,
		       (unsigned long long)stay->left.mono_ns,
		       (unsigned long long)(leaving->nvcsw - entered->nvcsw),
		       (unsigned long long)(leaving->nivcsw - entered->nivcsw));
	}
	printf("]}\n");
}

/* Where it began, or ended, by its stays or by what the program noted. */
static inline struct bounds truth_begin_ns(const struct truth *truth)
{
	if (truth->begin_ns.most)
		return truth->begin_ns;
	return (struct bounds){ truth->stays[0].entering.mono_ns, truth->stays[0].entered.mono_ns };
}

static inline struct bounds truth_end_ns(const struct truth *truth)
{
	struct bounds end = truth->end_ns;

	for (unsigned i = 0; i < truth->stay_cnt; i++)
		if (truth->stays[i].left.mono_ns > end.most)
			end = (struct bounds){ truth->stays[i].leaving.mono_ns,
					       truth->stays[i].left.mono_ns };
	return end;
}

/*
 * Detached is what of the wall time no thread was in the span; work is all
 * stays together, and the detached time.
 */
static inline void truth_print(const struct truth *truth)
{
	struct bounds begin = truth_begin_ns(truth), end = truth_end_ns(truth);
	struct bounds wall = bounds_difference(end, begin);
	struct bounds detached = bounds_difference(wall, truth_occupied_ns(truth));
	struct bounds stays = TRUTH_SUM(truth, mono_ns);

	printf("{\"type\":\"span\",\"label\":\"%s\",\"pid\":%d,\"parent\":\"%llu\",\"asked_ns\":%llu,\"until_"
	       "ns\":%llu,\"starved_ns\":%llu",
	       truth->label, getpid(), (unsigned long long)truth->parent, (unsigned long long)truth->asked_ns,
	       (unsigned long long)truth->until_ns, (unsigned long long)truth->starved_ns);
	if (truth->key)
		printf(",\"key_text\":\"%s\"", truth->key);
	printf(truth->is_scoped || truth->key ? ",\"id\":null" : ",\"id\":\"%llu\"",
	       (unsigned long long)truth->id);
	printf(truth->blocked ? ",\"blocked\":\"%s\"" : ",\"blocked\":null", truth->blocked);
	print_bounds("begin_ns", begin);
	print_bounds("end_ns", end);
	print_bounds("wall_ns", wall);
	print_bounds("work_ns", (struct bounds){ stays.least + detached.least, stays.most + detached.most });
	print_bounds("detached_ns", detached);
	print_bounds("cpu_ns", TRUTH_SUM(truth, cpu_ns));
	print_bounds("run_delay_ns", TRUTH_SUM(truth, run_delay_ns));
	print_bounds("stolen_ns", TRUTH_SUM(truth, stolen_ns));
	print_bounds("nvcsw", TRUTH_SUM(truth, nvcsw));
	print_bounds("nivcsw", TRUTH_SUM(truth, nivcsw));
	truth_print_stays(truth);
}

/* ---- the programs' common options ---- */

struct truth_options {
	double wait_traced_s;
	uint64_t repeat_cnt;
	const char *output; /* path; NULL: stdout */
	const char *go;     /* path; NULL: it does not wait for a file */
};

#define TRUTH_OPTIONS_DEFAULT { .wait_traced_s = 120, .repeat_cnt = 10 }
#define TRUTH_WAIT_SPEC(options)									\
	{ .name = "wait-traced", .help = "seconds to wait for a tracer; 0: do not wait", \
	.real = &(options)->wait_traced_s, .max = 600 }, \
	{ .name = "go", .help = "a file to wait for, too, once it is traced", .text = &(options)->go }, \
	{ .name = "output", .help = "file to print to; default: stdout", .text = &(options)->output }
#define TRUTH_OPTION_SPECS(options)									\
	TRUTH_WAIT_SPEC(options), { .name = "repeat", .help = "how often", .count = &(options)->repeat_cnt, \
		.min = 1, .max = 100000 }

/* For programs that have no options of their own. */
static inline struct truth_options truth_options_parse(const char *what, int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const struct option_spec table[] = { TRUTH_OPTION_SPECS(&options) };

	options_parse(table, sizeof(table) / sizeof(table[0]), what, argc, argv);
	return options;
}

/*
 * So that a test needs no sleep: goes on as soon as somebody traces, and has
 * set all probes. A tracer sets them one after the other, and each one that is
 * set counts the semaphore up. One that was told to set only some never gets to
 * the number that the program has: then it is awaited that the count stays as
 * it is. At last the recorders of the test have to record: with several targets
 * that may be long after the probes of this one were set.
 */
static inline void wait_until_traced(double limit_s)
{
	const unsigned int probe_cnt = own_probe_cnt();
	uint64_t settle_ns = probe_cnt || getenv("TXTRACE_EMULATED") ? 2000000000 : SETTLE_NS;
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), change_ns = start_ns;
	unsigned int set_cnt = 0;

	if (getenv("TXTRACE_EMULATED"))
		limit_s *= 10;
	while (limit_s > 0 && (!set_cnt || clock_ns(CLOCK_MONOTONIC) - change_ns < settle_ns ||
			       !recorders_are_ready())) {
		unsigned int now_set_cnt = __atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED);

		/* the last probe is counted before it is set */
		if (probe_cnt && now_set_cnt >= probe_cnt && !getenv("TXTRACE_EMULATED"))
			settle_ns = SETTLE_NS;
		if (now_set_cnt != set_cnt)
			change_ns = clock_ns(CLOCK_MONOTONIC);
		set_cnt = now_set_cnt;
		if (!set_cnt && clock_ns(CLOCK_MONOTONIC) - start_ns > (uint64_t)(limit_s * 1e9)) {
			fprintf(stderr,
				"nobody traced this program within %g s: run it under txtrace-bpf, or with "
				"--wait-traced 0\n",
				limit_s);
			exit(3);
		}
		must(clock_ns(CLOCK_MONOTONIC) - start_ns < (uint64_t)((limit_s + READY_LIMIT_S) * 1e9),
		     "a recorder of this test does not begin to record");
		usleep(5000);
	}
}

/* What comes before the traced part. */
static inline void truth_start(const struct truth_options *options)
{
	end_with_parent(SIGKILL);
	if (options->output)
		must(freopen(options->output, "w", stdout), "cannot open the output");
	wait_until_traced(options->wait_traced_s);
	while (options->go && access(options->go, F_OK))
		usleep(1000);
}

static inline struct truth *truths_new(uint64_t truth_cnt)
{
	struct truth *truths = calloc(truth_cnt, sizeof(*truths));

	must(truths, "no memory");
	return truths;
}

static inline void truths_print(const struct truth *truths, uint64_t truth_cnt)
{
	for (uint64_t i = 0; i < truth_cnt; i++)
		if (truths[i].stay_cnt)
			truth_print(&truths[i]);
	must(!fflush(stdout), "cannot write");
}

#endif
