/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A storm of context switches: two threads, pinned to one CPU, hand a word to each other: with futexes, or,
 * if --by says so, a byte through pipes or sockets, for which they wait in read, poll or epoll_wait. Each
 * hand-over is one switch. Each thread is in one long span, "ping" or "pong". Prints windows (windows.h); its
 * count is hand-overs. With --context each publishes a context of OpenTelemetry (otel_context.h): the same
 * always, or a new one for each hand-over; in a variable of its own, or of a library.
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "otel_context.h"
#include "windows.h"

enum wait_kind {
	WAIT_READ,
	WAIT_POLL,
	WAIT_EPOLL,
};

struct way {
	const char *name;
	bool is_socket;
	enum wait_kind wait;
};

static const struct way ways[] = {
	{ "pipe", false, WAIT_READ },	     { "pipe-poll", false, WAIT_POLL },
	{ "pipe-epoll", false, WAIT_EPOLL }, { "socket", true, WAIT_READ },
	{ "socket-poll", true, WAIT_POLL },  { "socket-epoll", true, WAIT_EPOLL },
};

static __thread struct otel_record *otel_thread_ctx_v1;

static struct otel_record **own_variable(void)
{
	return &otel_thread_ctx_v1;
}

static struct otel_record **(*find_variable)(void) = own_variable;

struct otel_record **otel_variable(void)
{
	return find_variable();
}

enum context_kind {
	CONTEXT_NONE,
	CONTEXT_SAME,
	CONTEXT_NEW,
};

struct ball {
	_Atomic uint32_t turn; /* whose turn it is: 0 or 1; 2: the game is over */
	uint64_t cpu;
	const struct way *way; /* NULL: by futexes */
	enum context_kind context;
	int read_fds[2];  /* by side */
	int write_fds[2]; /* to that side */
	int epoll_fds[2];
};

struct player {
	struct ball *ball;
	uint32_t side;
};

static __thread struct otel_record record;

static void publish(const struct player *player, uint64_t count)
{
	enum context_kind context = player->ball->context;

	if (context == CONTEXT_NEW || (context == CONTEXT_SAME && !count))
		otel_set(&record, 1, count * 2 + player->side + 1);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void play_by_futex(struct window_worker *worker, const struct player *player)
{
	_Atomic uint32_t *turn = &player->ball->turn;
	uint32_t other = 1 - player->side, seen;
	uint64_t count = 0;

	while (window_worker_goes_on(worker, count++)) {
		publish(player, count - 1);
		while ((seen = atomic_load(turn)) == other)
			futex_wait(turn, other);
		if (seen != player->side)
			return;
		atomic_store(turn, other);
		futex_wake(turn);
	}
	atomic_store(turn, 2);
	futex_wake(turn);
}

/* Whether a byte came: not if the other one has ended. */
static bool take_byte(const struct ball *ball, uint32_t side)
{
	struct pollfd polled = { .fd = ball->read_fds[side], .events = POLLIN };
	struct epoll_event event;
	char byte;

	if (ball->way->wait == WAIT_POLL)
		poll(&polled, 1, -1);
	else if (ball->way->wait == WAIT_EPOLL)
		epoll_wait(ball->epoll_fds[side], &event, 1, -1);
	return read(ball->read_fds[side], &byte, 1) == 1;
}

static void play_by_file(struct window_worker *worker, const struct player *player)
{
	const struct ball *ball = player->ball;
	uint64_t count = 0;

	while (window_worker_goes_on(worker, count++))
		if (!take_byte(ball, player->side) || write(ball->write_fds[1 - player->side], "", 1) != 1)
			break;
	close(ball->write_fds[1 - player->side]);
}

static void play_on(struct window_worker *worker, const struct player *player)
{
	if (player->ball->way)
		play_by_file(worker, player);
	else
		play_by_futex(worker, player);
}

/* Two channels, one to each side; the first byte is on its way to side 0. */
static void open_files(struct ball *ball)
{
	for (int side = 0; side < 2; side++) {
		struct epoll_event event = { .events = EPOLLIN };
		int fds[2];

		must(!(ball->way->is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, fds) : pipe(fds)),
		     "cannot open a pipe or socket");
		ball->read_fds[side] = fds[0];
		ball->write_fds[side] = fds[1];
		ball->epoll_fds[side] = epoll_create1(0);
		must(ball->epoll_fds[side] >= 0 &&
			     !epoll_ctl(ball->epoll_fds[side], EPOLL_CTL_ADD, fds[0], &event),
		     "cannot watch it by epoll");
	}
	must(write(ball->write_fds[0], "", 1) == 1, "cannot write");
}

static const struct way *find_way(const char *name)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(name, ways[i].name) == 0)
			return &ways[i];
	if (strcmp(name, "futex") != 0) {
		fprintf(stderr,
			"--by takes futex, pipe, pipe-poll, pipe-epoll, socket, socket-poll, socket-epoll, "
			"not \"%s\"\n",
			name);
		exit(2);
	}
	return NULL;
}

static enum context_kind find_context(const char *name)
{
	static const char *const names[] = { "none", "same", "new" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return (enum context_kind)i;
	must(false, "--context takes none, same or new");
	return CONTEXT_NONE;
}

static void load_variable(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void *found = library ? dlsym(library, "otel_variable") : NULL;

	must(found, "--context-library: there is no such library, or it has no variable");
	*(void **)&find_variable = found;
}

static void *play(void *argument)
{
	struct window_worker *worker = argument;
	const struct player *player = worker->context;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(player->ball->cpu, &cpus);
	must(!sched_setaffinity(0, sizeof(cpus), &cpus), "cannot pin to that CPU");
	if (player->side) {
		TXTRACE_SPAN("pong");
		play_on(worker, player);
	} else {
		TXTRACE_SPAN("ping");
		play_on(worker, player);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct window_options options = { .count = 0 };
	struct truth_options common = TRUTH_OPTIONS_DEFAULT;
	const char *by = "futex", *context = "none", *library = NULL;
	struct ball ball = { .cpu = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) - 1 };
	const struct option_spec table[] = {
		WINDOW_OPTION_SPECS(&options, "switches", "end after so many; 0: no limit"),
		TRUTH_WAIT_SPEC(&common),
		{ .name = "cpu", .help = "where both run", .count = &ball.cpu, .max = CPU_SETSIZE - 1 },
		{ .name = "by",
		  .help = "how they wait: futex (the default), or pipe or socket, with -poll or -epoll "
			  "behind it",
		  .text = &by },
		{ .name = "context",
		  .help = "that they publish, with futexes: none, same, new",
		  .text = &context },
		{ .name = "context-library", .help = "that has the variable", .text = &library },
	};
	common.wait_traced_s = 0;
	options_parse(table, sizeof(table) / sizeof(table[0]), "pingpong: a storm of context switches", argc,
		      argv);
	options.count = (options.count + 1) / 2; /* of each player */
	ball.way = find_way(by);
	ball.context = find_context(context);
	if (library)
		load_variable(library);
	if (ball.way)
		open_files(&ball);

	struct player players[2] = { { &ball, 0 }, { &ball, 1 } };
	struct window_worker workers[2] = { { .run = play, .context = &players[0] },
					    { .run = play, .context = &players[1] } };
	truth_start(&common);
	windows_run(workers, 2, &options);
	return 0;
}
