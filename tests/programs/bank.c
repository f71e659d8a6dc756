/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bank: a small transaction server that shows what txtrace is for.
 *
 *	clients ──> tellers' queue ─────> N tellers ──> accounts (mutexes), journal (pwrite, fsync), clearing
 *	house (socket)
 *	        └─> back office's queue ─> 1 clerk          └──> receipts (pipe) ──> postman
 *
 * Each kind of transaction is slow for a reason of its own, which no profiler and no latency histogram would
 * tell:
 *
 *	deposit    waits for the disk: its journal entry must be durable
 *	transfer   waits for a lock: payrolls come in batches from one account, which is held during a round
 *	           trip to the clearing house
 *	withdraw   is quick, but now and then the rate limit makes it sleep: look at its p99
 *	audit      computes
 *	statement  waits in a queue: they come in batches, and the back office has one clerk
 *
 * It runs until SIGTERM or SIGINT, or as long as its options say, finishes what was submitted, and prints one
 * summary line. Exit status: 0, 1 if money was made or lost, 2 for a bad option.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bank_config.h"
#include "bank_latencies.h"
#include "bank_queue.h"
#include "program_options.h"
#include "txtrace.h"

#define NS_PER_S 1000000000ull
#define STEPS_PER_US 500 /* of churn(), on a CPU of 2020 or so */
#define ACCOUNT_CNT 1000
#define PAYROLL_ACCOUNT 0
#define OPENING_BALANCE 1000000
#define CLIENT_CNT 2
#define REFERENCE_SIZE 24

struct account {
	pthread_mutex_t lock;
	int64_t cents;
};

struct bank {
	struct config config;
	struct account accounts[ACCOUNT_CNT];
	struct queue tellers_queue;
	struct queue back_office_queue;
	int journal_fd;
	int receipts[2];                     /* pipe to the postman */
	int clearing_sockets[TELLER_MAX][2]; /* [0]: the teller's end, [1]: the clearing house's */
	atomic_uint_least64_t journal_length;
	atomic_uint_least64_t submitted_cnt;
	atomic_uint_least64_t done_cnt[KIND_CNT];
	atomic_uint_least64_t traced_cnt[KIND_CNT]; /* begun while somebody traced */
	atomic_int_least64_t paid_in_cents;         /* deposits less withdrawals */
	atomic_uint clients_left;
	atomic_bool is_stopping;
	FILE *latencies;
};

struct worker {
	struct bank *bank;
	struct queue *queue;
	unsigned idx;
	uint64_t random;
	uint64_t checksum;
	pthread_t thread;
};

static const char *const kind_names[KIND_CNT] = { "deposit", "transfer", "withdraw", "audit", "statement" };

/* What clients order: some kinds come in batches. */
static const struct order {
	enum kind kind;
	unsigned weight;
	unsigned batch_size;
} orders[] = {
	{ DEPOSIT, 10, 1 }, { WITHDRAW, 8, 1 }, { TRANSFER, 2, 6 }, { AUDIT, 1, 1 }, { STATEMENT, 1, 8 },
};
#define ORDER_CNT (sizeof(orders) / sizeof(orders[0]))

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state * 0x2545f4914f6cdd1dull;
}

static double random_unit(uint64_t *state) /* (0, 1] */
{
	return (double)((random_next(state) >> 11) + 1) / (double)(1ull << 53);
}

/* Small seeds that differ by one give streams that have nothing to do with each other. */
static uint64_t random_seed(uint64_t seed, uint64_t stream)
{
	uint64_t state = (seed * 1009 + stream + 1) * 0x9e3779b97f4a7c15ull;

	return state ? state : 1;
}

static void sleep_us(uint64_t us)
{
	struct timespec time = { .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000 };

	nanosleep(&time, NULL);
}

/* CPU work of a known size: always the same number of dependent steps. */
static void churn(struct worker *worker, uint64_t us)
{
	uint64_t step_cnt = us * STEPS_PER_US * worker->bank->config.cpu_percent / 100;
	uint64_t sum = worker->checksum | 1;

	for (uint64_t i = 0; i < step_cnt; i++)
		sum = (sum ^ (sum >> 29)) * 0x9e3779b97f4a7c15ull;
	worker->checksum = sum;
}

/* ---- the steps of a transaction: each a child span ---- */

static void validate(struct worker *worker, txtrace_span_t span)
{
	txtrace_span_t child = TXTRACE_BEGIN_CHILD("validate", span);

	churn(worker, 40);
	TXTRACE_END(child);
}

/* Both or one (to == from), lower number first, so that no two tellers wait for each other. */
static void lock_accounts(struct bank *bank, const struct transaction *t)
{
	txtrace_span_t child = TXTRACE_BEGIN_CHILD("lock accounts", t->span);
	unsigned low = t->from < t->to ? t->from : t->to;
	unsigned high = t->from < t->to ? t->to : t->from;

	pthread_mutex_lock(&bank->accounts[low].lock);
	if (high != low)
		pthread_mutex_lock(&bank->accounts[high].lock);
	TXTRACE_END(child);
}

static void unlock_accounts(struct bank *bank, const struct transaction *t)
{
	pthread_mutex_unlock(&bank->accounts[t->from].lock);
	if (t->to != t->from)
		pthread_mutex_unlock(&bank->accounts[t->to].lock);
}

static void journal(struct bank *bank, const struct transaction *t, bool is_durable)
{
	txtrace_span_t child = TXTRACE_BEGIN_CHILD("journal", t->span);
	char line[128];
	int length = snprintf(line, sizeof(line), "%llu %s %u %u %lld\n", (unsigned long long)t->number,
			      kind_names[t->kind], t->from, t->to, (long long)t->cents);
	uint64_t offset = atomic_fetch_add(&bank->journal_length, (uint64_t)length) % (1 << 20);

	TXTRACE_ATTR(child, "durable", is_durable);
	if (pwrite(bank->journal_fd, line, (size_t)length, (off_t)offset) != length)
		perror("bank: cannot write the journal");
	for (uint64_t i = 0; is_durable && i < bank->config.fsyncs; i++)
		fsync(bank->journal_fd);
	TXTRACE_END(child);
}

/* A round trip to another thread that takes its time. */
static void clear(struct worker *worker, const struct transaction *t)
{
	txtrace_span_t child = TXTRACE_BEGIN_CHILD("clear", t->span);
	int fd = worker->bank->clearing_sockets[worker->idx][0];
	uint64_t number = t->number;

	if (send(fd, &number, sizeof(number), 0) != sizeof(number) ||
	    recv(fd, &number, sizeof(number), 0) != sizeof(number))
		TXTRACE_EVENT(child, "clearing failed");
	TXTRACE_END(child);
}

/*
 * The receipt is a span of its own, named by its reference: who gets hold of that string can add to it. The
 * postman ends it.
 */
static void notify(struct bank *bank, const struct transaction *t)
{
	txtrace_span_t child = TXTRACE_BEGIN_CHILD("notify", t->span);
	char reference[REFERENCE_SIZE] = "";

	snprintf(reference, sizeof(reference), "receipt-%llu", (unsigned long long)t->number);
	TXTRACE_KEY_BEGIN("receipt", reference, strlen(reference));
	TXTRACE_KEY_EVENT(reference, strlen(reference), "posted");
	TXTRACE_KEY_EXIT(reference, strlen(reference)); /* before the postman can have it */
	if (write(bank->receipts[1], reference, sizeof(reference)) != sizeof(reference))
		TXTRACE_EVENT(child, "post failed");
	TXTRACE_END(child);
}

static void rate_limit(struct worker *worker, const struct transaction *t)
{
	if (random_next(&worker->random) % 16)
		return;
	txtrace_span_t child = TXTRACE_BEGIN_CHILD("rate limit", t->span);
	TXTRACE_EVENT(t->span, "rate limited");
	sleep_us(4000);
	TXTRACE_END(child);
}

/* ---- the transactions ---- */

static void run_deposit(struct worker *worker, const struct transaction *t)
{
	struct bank *bank = worker->bank;

	validate(worker, t->span);
	lock_accounts(bank, t);
	bank->accounts[t->to].cents += t->cents;
	unlock_accounts(bank, t);
	atomic_fetch_add(&bank->paid_in_cents, t->cents);
	journal(bank, t, true);
	notify(bank, t);
}

static void run_withdraw(struct worker *worker, const struct transaction *t)
{
	struct bank *bank = worker->bank;

	validate(worker, t->span);
	rate_limit(worker, t);
	lock_accounts(bank, t);
	bool is_covered = bank->accounts[t->from].cents >= t->cents;
	if (is_covered)
		bank->accounts[t->from].cents -= t->cents;
	unlock_accounts(bank, t);
	TXTRACE_ATTR(t->span, "covered", is_covered);
	if (is_covered)
		atomic_fetch_sub(&bank->paid_in_cents, t->cents);
	journal(bank, t, false);
	notify(bank, t);
}

static void run_transfer(struct worker *worker, const struct transaction *t)
{
	struct bank *bank = worker->bank;

	validate(worker, t->span);
	lock_accounts(bank, t);
	clear(worker, t); /* the mistake to find: a round trip under two locks */
	bank->accounts[t->from].cents -= t->cents;
	bank->accounts[t->to].cents += t->cents;
	churn(worker, bank->config.hold_us);
	unlock_accounts(bank, t);
	journal(bank, t, false);
}

static void run_audit(struct worker *worker, const struct transaction *t)
{
	double mean_cents = 0;

	for (unsigned chapter = 0; chapter < 3; chapter++) {
		txtrace_span_t child = TXTRACE_BEGIN_CHILD("checksum", t->span);
		churn(worker, worker->bank->config.checksum_us);
		TXTRACE_ATTR(child, "chapter", chapter);
		TXTRACE_END(child);
	}
	for (unsigned i = 1; i < ACCOUNT_CNT; i += 10) {
		pthread_mutex_lock(&worker->bank->accounts[i].lock);
		mean_cents += (double)worker->bank->accounts[i].cents / (ACCOUNT_CNT / 10);
		pthread_mutex_unlock(&worker->bank->accounts[i].lock);
	}
	TXTRACE_ATTR(t->span, "mean balance", mean_cents / 100);
}

static void run_statement(struct worker *worker, const struct transaction *t)
{
	txtrace_span_t child = TXTRACE_BEGIN_CHILD("print", t->span);

	churn(worker, 500);
	TXTRACE_END(child);
	journal(worker->bank, t, false);
}

static void (*const run_kind[KIND_CNT])(struct worker *worker, const struct transaction *t) = {
	[DEPOSIT] = run_deposit, [TRANSFER] = run_transfer,   [WITHDRAW] = run_withdraw,
	[AUDIT] = run_audit,	 [STATEMENT] = run_statement,
};

/* A teller, or the clerk of the back office. */
static void *work(void *argument)
{
	struct worker *worker = argument;
	struct transaction t;

	while (queue_take(worker->queue, &t)) {
		TXTRACE_ENTER(t.span);
		run_kind[t.kind](worker, &t);
		TXTRACE_EXIT(t.span);
		TXTRACE_END(t.span);
		latencies_add(worker->bank->latencies, t.submitted_ns);
		atomic_fetch_add(&worker->bank->done_cnt[t.kind], 1);
		if (t.span)
			atomic_fetch_add(&worker->bank->traced_cnt[t.kind], 1);
	}
	return NULL;
}

/* ---- the other side ---- */

/* Answers one teller after the other, each after a while; ends when the tellers' ends are closed. */
static void *run_clearing_house(void *argument)
{
	struct bank *bank = argument;
	struct pollfd fds[TELLER_MAX];
	unsigned teller_cnt = (unsigned)bank->config.threads;
	unsigned open_cnt = teller_cnt;

	for (unsigned i = 0; i < teller_cnt; i++)
		fds[i] = (struct pollfd){ .fd = bank->clearing_sockets[i][1], .events = POLLIN };
	while (open_cnt && poll(fds, teller_cnt, -1) > 0) {
		for (unsigned i = 0; i < teller_cnt; i++) {
			uint64_t number;
			if (!fds[i].revents)
				continue;
			if (recv(fds[i].fd, &number, sizeof(number), 0) != sizeof(number)) {
				fds[i].fd = -1;
				open_cnt--;
				continue;
			}
			TXTRACE_SPAN("clearing house");
			sleep_us(bank->config.clearing_us);
			send(fds[i].fd, &number, sizeof(number), MSG_NOSIGNAL);
		}
	}
	return NULL;
}

static void *run_postman(void *argument)
{
	struct worker *worker = argument;
	char reference[REFERENCE_SIZE];

	while (read(worker->bank->receipts[0], reference, sizeof(reference)) == sizeof(reference)) {
		size_t length = strnlen(reference, sizeof(reference));
		TXTRACE_KEY_ENTER(reference, length);
		churn(worker, 20);
		TXTRACE_KEY_EXIT(reference, length);
		TXTRACE_KEY_END(reference, length);
	}
	return NULL;
}

/* ---- clients ---- */

/* A label is a literal, hence the switch. */
static txtrace_span_t begin_transaction(enum kind kind)
{
	switch (kind) {
	case DEPOSIT:
		return TXTRACE_BEGIN_DETACHED("deposit", 0);
	case TRANSFER:
		return TXTRACE_BEGIN_DETACHED("transfer", 0);
	case WITHDRAW:
		return TXTRACE_BEGIN_DETACHED("withdraw", 0);
	case AUDIT:
		return TXTRACE_BEGIN_DETACHED("audit", 0);
	default:
		return TXTRACE_BEGIN_DETACHED("statement", 0);
	}
}

static void describe(const struct transaction *t)
{
	char tag[64];

	if (!TXTRACE_ENABLED())
		return;
	snprintf(tag, sizeof(tag), "account=%u,kind=%s", t->from, kind_names[t->kind]);
	TXTRACE_TAG(t->span, tag);
	TXTRACE_ATTR(t->span, "number", t->number);
	TXTRACE_ATTR(t->span, "cents", t->cents);
	TXTRACE_ATTR(t->span, "branch", t->from % 2 ? "harbour" : "old town");
}

/* False: enough have been submitted. */
static bool submit(struct worker *client, enum kind kind, txtrace_span_t accept)
{
	struct bank *bank = client->bank;
	unsigned account = 1 + (unsigned)(random_next(&client->random) % (ACCOUNT_CNT - 1));
	struct transaction t = { .kind = kind,
				 .from = kind == TRANSFER ? PAYROLL_ACCOUNT : account,
				 .to = account };

	t.number = atomic_fetch_add(&bank->submitted_cnt, 1);
	if (bank->config.transactions && t.number >= bank->config.transactions)
		return false;
	t.cents = 100 + (int64_t)(random_next(&client->random) % 10000);
	t.submitted_ns = latencies_now_ns(bank->latencies);
	t.span = begin_transaction(kind);
	describe(&t);
	TXTRACE_LINK(accept, t.span, "submits");
	queue_put(kind == STATEMENT ? &bank->back_office_queue : &bank->tellers_queue, &t);
	return true;
}

static const struct order *choose_order(uint64_t *random)
{
	unsigned total = 0;

	for (unsigned i = 0; i < ORDER_CNT; i++)
		total += orders[i].weight;
	unsigned pick = (unsigned)(random_next(random) % total);
	for (unsigned i = 0; i < ORDER_CNT; i++) {
		if (pick < orders[i].weight)
			return &orders[i];
		pick -= orders[i].weight;
	}
	return &orders[0];
}

static double transactions_per_order(void)
{
	unsigned weight_sum = 0, transaction_sum = 0;

	for (unsigned i = 0; i < ORDER_CNT; i++) {
		weight_sum += orders[i].weight;
		transaction_sum += orders[i].weight * orders[i].batch_size;
	}
	return (double)transaction_sum / weight_sum;
}

/*
 * Orders arrive when they please, not when the bank is ready: exponential gaps on a clock that does not wait.
 */
static void *run_client(void *argument)
{
	struct worker *client = argument;
	struct bank *bank = client->bank;
	double gap_ns = bank->config.rate > 0
				? 1e9 * CLIENT_CNT * transactions_per_order() / bank->config.rate
				: 0;
	bool is_more = true;
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	while (is_more && !atomic_load(&bank->is_stopping)) {
		uint64_t wait_ns = (uint64_t)(-log(random_unit(&client->random)) * gap_ns) +
				   (uint64_t)time.tv_nsec;
		time.tv_sec += (time_t)(wait_ns / NS_PER_S);
		time.tv_nsec = (long)(wait_ns % NS_PER_S);
		if (gap_ns > 0)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);

		const struct order *order = choose_order(&client->random);
		txtrace_span_t accept = TXTRACE_BEGIN("accept");
		churn(client, 5);
		for (unsigned i = 0; i < order->batch_size && is_more; i++)
			is_more = submit(client, order->kind, accept);
		TXTRACE_END(accept);
	}
	if (atomic_fetch_sub(&bank->clients_left, 1) == 1)
		kill(getpid(), SIGALRM); /* main waits for it, or for the signal that made us stop */
	return NULL;
}

/* ---- the whole ---- */

static int bank_open(struct bank *bank)
{
	char path[4096];

	for (unsigned i = 0; i < ACCOUNT_CNT; i++) {
		pthread_mutex_init(&bank->accounts[i].lock, NULL);
		bank->accounts[i].cents = OPENING_BALANCE;
	}
	queue_init(&bank->tellers_queue, false);
	queue_init(&bank->back_office_queue, true);
	for (unsigned i = 0; i < bank->config.threads; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bank->clearing_sockets[i]))
			return -errno;
	if (pipe2(bank->receipts, O_CLOEXEC))
		return -errno;
	snprintf(path, sizeof(path), "%s/bank-journal-XXXXXX", bank->config.directory);
	bank->journal_fd = mkostemp(path, O_CLOEXEC);
	if (bank->journal_fd < 0)
		return -errno;
	unlink(path);
	return bank->config.latencies && !(bank->latencies = fopen(bank->config.latencies, "we")) ? -errno
												  : 0;
}

static void start(pthread_t *thread, const char *name, void *(*run)(void *), void *argument)
{
	int err = pthread_create(thread, NULL, run, argument);

	if (err) {
		fprintf(stderr, "bank: cannot start a thread: %s\n", strerror(err));
		exit(1);
	}
	pthread_setname_np(*thread, name);
}

/* True if no money was made or lost. */
static bool bank_summarize(struct bank *bank)
{
	uint64_t done_sum = 0, traced_sum = 0;
	int64_t sum = 0,
		expected = (int64_t)ACCOUNT_CNT * OPENING_BALANCE + atomic_load(&bank->paid_in_cents);

	for (unsigned i = 0; i < ACCOUNT_CNT; i++)
		sum += bank->accounts[i].cents;
	for (unsigned i = 0; i < KIND_CNT; i++) {
		done_sum += atomic_load(&bank->done_cnt[i]);
		traced_sum += atomic_load(&bank->traced_cnt[i]);
	}
	printf("bank: transactions=%llu traced=%llu", (unsigned long long)done_sum,
	       (unsigned long long)traced_sum);
	for (unsigned i = 0; i < KIND_CNT; i++)
		printf(" %s=%llu traced_%s=%llu", kind_names[i],
		       (unsigned long long)atomic_load(&bank->done_cnt[i]), kind_names[i],
		       (unsigned long long)atomic_load(&bank->traced_cnt[i]));
	printf(" balances=%s\n", sum == expected ? "conserved" : "wrong");
	return sum == expected;
}

static void bank_run(struct bank *bank, const sigset_t *signals)
{
	struct worker clients[CLIENT_CNT], workers[TELLER_MAX + 1], postman = { .bank = bank };
	unsigned teller_cnt = (unsigned)bank->config.threads;
	pthread_t clearing_thread;

	start(&postman.thread, "postman", run_postman, &postman);
	start(&clearing_thread, "clearing house", run_clearing_house, bank);
	for (unsigned i = 0; i <= teller_cnt; i++) {
		workers[i] = (struct worker){ .bank = bank,
					      .idx = i,
					      .random = random_seed(bank->config.seed, CLIENT_CNT + i),
					      .queue = i < teller_cnt ? &bank->tellers_queue
								      : &bank->back_office_queue };
		start(&workers[i].thread, i < teller_cnt ? "teller" : "clerk", work, &workers[i]);
	}
	atomic_store(&bank->clients_left, CLIENT_CNT);
	for (unsigned i = 0; i < CLIENT_CNT; i++) {
		clients[i] = (struct worker){ .bank = bank, .random = random_seed(bank->config.seed, i) };
		start(&clients[i].thread, "client", run_client, &clients[i]);
	}

	struct timespec limit = { .tv_sec = (time_t)bank->config.seconds };
	limit.tv_nsec = (long)((bank->config.seconds - (double)limit.tv_sec) * 1e9);
	sigtimedwait(signals, NULL, bank->config.seconds > 0 ? &limit : NULL);

	/* Downstream last: nobody is left waiting for somebody who has gone. */
	atomic_store(&bank->is_stopping, true);
	for (unsigned i = 0; i < CLIENT_CNT; i++)
		pthread_join(clients[i].thread, NULL);
	queue_close(&bank->tellers_queue);
	queue_close(&bank->back_office_queue);
	for (unsigned i = 0; i <= teller_cnt; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned i = 0; i < teller_cnt; i++)
		close(bank->clearing_sockets[i][0]);
	pthread_join(clearing_thread, NULL);
	close(bank->receipts[1]);
	pthread_join(postman.thread, NULL);
}

/* The first probe says that a tracer is here; the others follow within milliseconds. */
static void wait_for_tracer(double limit_s)
{
	for (double waited_s = 0; !TXTRACE_ENABLED() && waited_s < limit_s; waited_s += 0.001)
		usleep(1000);
}

int main(int argc, char **argv)
{
	static struct bank bank; /* 300 kB: too much for a stack */
	struct config *config = &bank.config;
	sigset_t signals;

	config_parse(config, argc, argv);
	end_with_parent(SIGTERM);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	wait_for_tracer(config->wait_traced_s);
	int err = bank_open(&bank);
	if (err) {
		fprintf(stderr, "bank: cannot open its journal in \"%s\", its sockets or latencies: %s\n",
			config->directory, strerror(-err));
		return 1;
	}
	bank_run(&bank, &signals);
	return bank_summarize(&bank) ? 0 : 1;
}
