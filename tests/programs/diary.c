/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that keeps a diary of its spans in a file that it shares by mmap: whoever kills its tracer reads
 * there what must be in the log. Each worker marks one span after the other, of five kinds; before and after
 * each mark it reads the clock, so both ends of a span are known as pairs.
 *
 *	compute   steps of arithmetic            keyed    the same, in a span that is named by
 *	                                                  "diary-THREAD-NUMBER"
 *	nap       sleeps for 1 ms                detached opened, entered by nobody for 1 ms, then steps of
 *	                                         arithmetic
 *	long      open for up to --long-ms, while the worker makes the others; the next one begins before it
 *	          ends
 *
 * A sentinel sleeps in steps of 10 ms and notes how much too long it slept: how badly the machine starves who
 * wants to run.
 *
 * The file: struct diary_header; then for each worker --capacity entries, of which the first entry_cnt are
 * filled in; then as many naps of the sentinel. Runs until SIGTERM and prints a line of JSON: for each worker
 * how many entries it made, its steps, and the result of its arithmetic, which is known from the steps. So
 * whoever reads it can tell that no tracer has disturbed it.
 */
#include <sys/mman.h>

#include "truth.h"

#define WORKER_MAX 16
#define KEY_SIZE 48
#define STEP_FACTOR 6364136223846793005ull
#define STEP_TERM 1442695040888963407ull
#define SENTINEL_NS (10 * NS_PER_MS)

enum kind { COMPUTE, NAP, KEYED, DETACHED, LONG };

struct entry {
	uint64_t id; /* 0: nobody traced; of KEYED always */
	uint64_t begin_ns[2]; /* before and after the mark */
	_Atomic uint64_t end_ns[2]; /* 0: not yet */
	uint32_t kind;
	uint32_t tid;
	uint64_t reserved[2];
};

struct nap {
	uint64_t end_ns;
	uint64_t late_ns;
};

struct diary_header {
	uint64_t worker_cnt;
	uint64_t capacity;
	_Atomic uint64_t nap_cnt;
	uint64_t reserved[5];
	struct {
		_Atomic uint64_t cnt;
		uint64_t reserved[7];
	} entries[WORKER_MAX];
};

_Static_assert(sizeof(struct entry) == 64 && sizeof(struct diary_header) == 64 * (WORKER_MAX + 1),
	       "known to tests/e2e/kill_check.py");

struct config {
	uint64_t worker_cnt;
	uint64_t capacity;
	uint64_t steps;
	uint64_t pause_us;
	uint64_t long_ms;
};

struct worker {
	pthread_t thread;
	const struct config *config;
	struct diary_header *header;
	struct entry *entries;
	unsigned idx;
	uint64_t entry_cnt;
	uint64_t step_cnt;
	uint64_t state;
};

static atomic_bool is_stopping;

static void do_steps(struct worker *worker)
{
	for (uint64_t i = 0; i < worker->config->steps; i++)
		worker->state = worker->state * STEP_FACTOR + STEP_TERM;
	worker->step_cnt += worker->config->steps;
}

/* Between open_entry() and begun() the span begins, between ending() and ended() it ends. */
static struct entry *open_entry(struct worker *worker, enum kind kind)
{
	struct entry *entry = &worker->entries[worker->entry_cnt];

	*entry = (struct entry){ .kind = kind, .tid = (uint32_t)gettid() };
	entry->begin_ns[0] = clock_ns(CLOCK_MONOTONIC);
	return entry;
}

static void begun(struct worker *worker, struct entry *entry, txtrace_span_t id)
{
	entry->begin_ns[1] = clock_ns(CLOCK_MONOTONIC);
	entry->id = id;
	atomic_store_explicit(&worker->header->entries[worker->idx].cnt, ++worker->entry_cnt,
			      memory_order_release);
}

static void ending(struct entry *entry)
{
	atomic_store(&entry->end_ns[0], clock_ns(CLOCK_MONOTONIC));
}

static void ended(struct entry *entry)
{
	atomic_store(&entry->end_ns[1], clock_ns(CLOCK_MONOTONIC));
}

static void compute(struct worker *worker)
{
	struct entry *entry = open_entry(worker, COMPUTE);
	txtrace_span_t span = TXTRACE_BEGIN("compute");

	begun(worker, entry, span);
	do_steps(worker);
	ending(entry);
	TXTRACE_END(span);
	ended(entry);
}

static void nap(struct worker *worker)
{
	struct entry *entry = open_entry(worker, NAP);
	txtrace_span_t span = TXTRACE_BEGIN("nap");

	begun(worker, entry, span);
	sleep_ns(NS_PER_MS);
	ending(entry);
	TXTRACE_END(span);
	ended(entry);
}

static void keyed(struct worker *worker)
{
	char key[KEY_SIZE] = "";
	size_t length = (size_t)snprintf(key, sizeof(key), "diary-%u-%llu", worker->idx,
					 (unsigned long long)worker->entry_cnt);
	struct entry *entry = open_entry(worker, KEYED);

	TXTRACE_KEY_BEGIN("keyed", key, length);
	begun(worker, entry, 0);
	do_steps(worker);
	ending(entry);
	TXTRACE_KEY_END(key, length);
	ended(entry);
}

static void detached(struct worker *worker)
{
	struct entry *entry = open_entry(worker, DETACHED);
	txtrace_span_t span = TXTRACE_BEGIN_DETACHED("detached", 0);

	begun(worker, entry, span);
	sleep_ns(NS_PER_MS);
	TXTRACE_ENTER(span);
	do_steps(worker);
	TXTRACE_EXIT(span);
	ending(entry);
	TXTRACE_END(span);
	ended(entry);
}

struct long_span {
	struct entry *entry;
	txtrace_span_t id;
	uint64_t end_ns; /* when it is to end */
};

/* One is always open. */
static void keep_long(struct worker *worker, struct long_span *open)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct long_span last = *open;

	if (now_ns < last.end_ns)
		return;
	open->entry = open_entry(worker, LONG);
	open->id = TXTRACE_BEGIN_DETACHED("long", 0);
	begun(worker, open->entry, open->id);
	open->end_ns = now_ns + NS_PER_MS * worker->config->long_ms * (1 + worker->entry_cnt % 8) / 8;
	if (!last.entry)
		return;
	ending(last.entry);
	TXTRACE_END(last.id);
	ended(last.entry);
}

static void *work(void *argument)
{
	static void (*const kinds[])(struct worker *worker) = { compute, nap, keyed, detached };
	struct worker *worker = argument;
	struct long_span open = { 0 };

	/* Two: a long span takes an entry, too. */
	for (uint64_t i = worker->idx;
	     !atomic_load(&is_stopping) && worker->entry_cnt + 2 < worker->config->capacity; i++) {
		keep_long(worker, &open);
		kinds[i % 4](worker);
		sleep_ns(worker->config->pause_us * 1000);
	}
	return NULL;
}

static void *watch(void *argument)
{
	struct diary_header *header = argument;
	struct nap *naps = (struct nap *)((struct entry *)(header + 1) +
					  header->worker_cnt * header->capacity);
	uint64_t cnt = 0;

	while (!atomic_load(&is_stopping) && cnt < header->capacity) {
		uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), end_ns;

		sleep_ns(SENTINEL_NS);
		end_ns = clock_ns(CLOCK_MONOTONIC);
		naps[cnt] = (struct nap){ .end_ns = end_ns, .late_ns = end_ns - begin_ns - SENTINEL_NS };
		atomic_store_explicit(&header->nap_cnt, ++cnt, memory_order_release);
	}
	return NULL;
}

static struct diary_header *open_diary(const char *path, const struct config *config)
{
	size_t size = sizeof(struct diary_header) +
		      config->capacity * (config->worker_cnt * sizeof(struct entry) + sizeof(struct nap));
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct diary_header *header;

	must(fd >= 0 && !ftruncate(fd, (off_t)size), path);
	header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	must(header != MAP_FAILED, path);
	close(fd);
	header->worker_cnt = config->worker_cnt;
	header->capacity = config->capacity;
	return header;
}

static void print_result(const struct worker *workers, const struct config *config)
{
	printf("{\"workers\":[");
	for (uint64_t i = 0; i < config->worker_cnt; i++)
		printf("%s{\"entries\":%llu,\"steps\":%llu,\"state\":%llu}", i ? "," : "",
		       (unsigned long long)workers[i].entry_cnt, (unsigned long long)workers[i].step_cnt,
		       (unsigned long long)workers[i].state);
	printf("],\"traced\":%s}\n", TXTRACE_ENABLED() ? "true" : "false");
}

static void wait_for_the_end(void)
{
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigwait(&signals, &signal);
	atomic_store(&is_stopping, true);
}

int main(int argc, char **argv)
{
	struct config config = {
		.worker_cnt = 4, .capacity = 1 << 18, .steps = 100000, .pause_us = 10000, .long_ms = 3000
	};
	const char *path = "diary";
	const struct option_spec table[] = {
		{ .name = "diary", .help = "the file to keep", .text = &path },
		{ .name = "workers",
		  .help = "threads that mark spans",
		  .count = &config.worker_cnt,
		  .min = 1,
		  .max = WORKER_MAX },
		{ .name = "capacity",
		  .help = "entries of each worker; then it ends",
		  .count = &config.capacity,
		  .min = 16,
		  .max = 1 << 24 },
		{ .name = "steps", .help = "of arithmetic in a span", .count = &config.steps, .max = 1e9 },
		{ .name = "pause-us",
		  .help = "sleep between two spans",
		  .count = &config.pause_us,
		  .max = 1e6 },
		{ .name = "long-ms",
		  .help = "how long the longest of the long spans are open",
		  .count = &config.long_ms,
		  .min = 1,
		  .max = 1e6 },
	};
	struct worker workers[WORKER_MAX] = { 0 };
	struct diary_header *header;
	pthread_t sentinel;
	sigset_t signals;

	options_parse(table, sizeof(table) / sizeof(table[0]), "diary: spans, and what must be known of them",
		      argc, argv);
	end_with_parent(SIGTERM);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	header = open_diary(path, &config);
	start_thread(&sentinel, watch, header);
	for (unsigned i = 0; i < config.worker_cnt; i++) {
		workers[i].config = &config;
		workers[i].header = header;
		workers[i].entries = (struct entry *)(header + 1) + i * config.capacity;
		workers[i].idx = i;
		start_thread(&workers[i].thread, work, &workers[i]);
	}
	wait_for_the_end();
	for (unsigned i = 0; i < config.worker_cnt; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_join(sentinel, NULL);
	print_result(workers, &config);
	return 0;
}
