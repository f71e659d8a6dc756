/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a tracer under ptrace and stops it just before one of its steps that concern a process that it traces,
 * its victim. While it stands there, the victim is killed, or becomes another program, or exits. Then the
 * tracer goes on to its end.
 *
 *	stepper --victims kill,exit --at 'open maps#2' --mortal PATH --becomes PATH --directory DIR --
 *	txtrace-bpf -p VICTIMS …
 *
 * It starts the victims itself (tests/programs/mortal), one for each word of --victims, and puts their pids
 * where VICTIMS stands. The words:
 *
 *	kill, zombie   SIGKILL, and reaped at once or only at the end
 *	exit           by itself, and reaped
 *	marked, plain  it becomes a program with marks (--becomes with .0, .1, … for the first, second, …,
 *	               whose truth goes to DIR/PID.truth), or /bin/sleep
 *	thread         as marked, by another thread than its first
 *	again          it becomes itself
 *	fork           it forks and exits, the child goes on
 *	reuse          SIGKILL, and its pid is another's at once
 *	none           nothing: a dry run, which lists the steps
 *
 * A step is a system call before it is done: one that names the victim by its pid, a path of /proc or an fd,
 * or one that changes the kernel's side for all. It is named by what it does and how often that was done for
 * this victim: "open maps#2" is the second time. stepper_call.h has the calls.
 *
 * Prints JSON, one line each:
 *
 *	--victims none, the steps in their order:
 *	{"step":"open maps#1"}
 *	how a victim ended, "status 0" or "signal 9":
 *	{"victim":0,"event":"kill","pid":7,"is_reached":true,"ended":"signal 9"}
 *	how the tracer did, the BPF programs that it held, and those that are left afterwards:
 *	{"tracer":"status 0","programs":30,"programs_left":0}
 */
#include <dirent.h>
#include <linux/bpf.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "stepper_call.h"
#include "stepper_victim.h"

#define LIMIT_S 900 /* stands for never */
#define UNREACHED_NS (4000 * NS_PER_MS) /* of waiting: then a step that has not been met is not met */
#define IDLE_CNT 3 /* so often it waits with nothing to do: it has attached what there is */
#define DRY_NS (1000 * NS_PER_MS)

/* ---- BPF programs ---- */

static long bpf_of_id(int command, uint32_t id)
{
	union bpf_attr attr = { .prog_id = id };

	return syscall(SYS_bpf, command, &attr, sizeof(attr));
}

static void note_program(struct stepper *stepper, uint32_t id)
{
	for (unsigned i = 0; i < stepper->program_cnt; i++)
		if (stepper->programs[i] == id)
			return;
	must(stepper->program_cnt < PROGRAM_MAX, "too many programs");
	stepper->programs[stepper->program_cnt++] = id;
}

/* What the tracer holds now. */
static void note_programs(struct stepper *stepper)
{
	char path[64], line[128];
	struct dirent *entry;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", stepper->tracer);
	fds = opendir(path);
	while (fds && (entry = readdir(fds))) {
		FILE *info;
		int fd = openat(dirfd(fds), entry->d_name, O_RDONLY | O_CLOEXEC);
		unsigned id;

		info = fd < 0 ? NULL : fdopen(fd, "r");
		while (info && fgets(line, sizeof(line), info))
			if (sscanf(line, "prog_id:%u", &id) == 1)
				note_program(stepper, id);
		if (info)
			fclose(info);
	}
	if (fds)
		closedir(fds);
}

/* The kernel takes its time: they go after a grace period. */
static unsigned count_programs_left(const struct stepper *stepper)
{
	unsigned left_cnt = 0;

	for (int tries = 0; tries < 400; tries++) {
		left_cnt = 0;
		for (unsigned i = 0; i < stepper->program_cnt; i++) {
			long fd = bpf_of_id(BPF_PROG_GET_FD_BY_ID, stepper->programs[i]);

			left_cnt += fd >= 0;
			if (fd >= 0)
				close((int)fd);
		}
		if (!left_cnt)
			break;
		usleep(50000);
	}
	return left_cnt;
}

/* ---- stepping ---- */

static struct thread *thread_get(struct stepper *stepper, pid_t tid)
{
	for (unsigned i = 0; i < stepper->thread_cnt; i++)
		if (stepper->threads[i].tid == tid)
			return &stepper->threads[i];
	must(stepper->thread_cnt < THREAD_MAX, "too many threads");
	stepper->threads[stepper->thread_cnt] = (struct thread){ .tid = tid, .victim = NOBODY };
	return &stepper->threads[stepper->thread_cnt++];
}

/* How often it was met, with this time. */
static unsigned count_step(struct victim *victim, const char *kind)
{
	for (unsigned i = 0; i < KIND_MAX; i++) {
		if (!*victim->kinds[i].name)
			strcpy(victim->kinds[i].name, kind);
		if (!strcmp(victim->kinds[i].name, kind))
			return ++victim->kinds[i].cnt;
	}
	must(false, "too many kinds of steps");
	return 0;
}

/*
 * What has become another program is held until it is traced, so that all of its spans are to be in the log;
 * the innocent, until all has happened.
 */
static void release_held(struct stepper *stepper)
{
	bool are_all_over = true;

	for (int i = 0; i < stepper->victim_cnt; i++) {
		struct victim *victim = &stepper->victims[i];

		if (victim->is_held)
			kill(victim->pid, SIGCONT);
		victim->is_held = false;
		are_all_over &= victim->is_reached || stepper->has_given_up;
	}
	if (are_all_over && stepper->innocent)
		kill((pid_t)stepper->innocent, SIGCONT);
}

static void meet(struct stepper *stepper, struct victim *victim, const char *kind)
{
	unsigned cnt = count_step(victim, kind);
	char step[KIND_SIZE + 16];

	snprintf(step, sizeof(step), "%s#%u", kind, cnt);
	if (stepper->is_dry && victim == stepper->victims)
		printf("{\"step\":\"%s\"}\n", step);
	if (!stepper->is_dry && !victim->is_reached && !stepper->has_given_up && victim->pid &&
	    !strcmp(step, stepper->at)) {
		note_programs(stepper);
		strike(stepper, victim);
		stepper->idle_cnt = 0;
	}
}

/* Whoever has not met his step by now never will: he ends, so that all ends. */
static void give_up(struct stepper *stepper)
{
	stepper->has_given_up = true;
	stepper->idle_cnt = 0;
	for (int i = 0; i < stepper->victim_cnt; i++)
		if (!stepper->victims[i].is_reached && stepper->victims[i].pid)
			kill(stepper->victims[i].pid, SIGTERM);
}

/* A tracer of whoever comes does not end by itself: it is told to once nobody is left. */
static void end_open_tracer(struct stepper *stepper)
{
	for (int i = 0; i < stepper->victim_cnt; i++)
		if ((!stepper->victims[i].is_reached && !stepper->has_given_up) ||
		    (!stepper->victims[i].stranger && !is_gone(stepper->victims[i].pid)))
			return;
	if (!stepper->is_open || stepper->is_interrupted ||
	    (stepper->innocent && !is_gone((pid_t)stepper->innocent)))
		return;
	stepper->is_interrupted = true;
	kill(stepper->tracer, SIGINT);
}

static void tracer_waits(struct stepper *stepper)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!stepper->waits_since_ns) {
		stepper->waits_since_ns = now_ns;
		note_programs(stepper);
		for (int i = 0; stepper->is_late && i < stepper->victim_cnt; i++)
			start_victim(stepper, &stepper->victims[i]);
	}
	if (++stepper->idle_cnt == IDLE_CNT)
		release_held(stepper);
	if (!stepper->has_given_up &&
	    now_ns - stepper->waits_since_ns > (stepper->is_dry ? DRY_NS : UNREACHED_NS))
		give_up(stepper);
	end_open_tracer(stepper);
}

/* Before a system call. */
static void look(struct stepper *stepper, struct thread *thread, const struct __ptrace_syscall_info *info)
{
	struct call call = { .stepper = stepper,
			     .thread = thread,
			     .nr = info->entry.nr,
			     .args = info->entry.args,
			     .victim = NOBODY };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (call.nr == (uint64_t)steps[i].nr)
			steps[i].look(&call);
	if (!*call.kind || call.victim == NOBODY)
		return;
	if (call.victim == ALL) {
		for (int i = 0; i < stepper->victim_cnt; i++)
			meet(stepper, &stepper->victims[i], call.kind);
	} else {
		thread->victim = call.victim;
		meet(stepper, &stepper->victims[call.victim], call.kind);
	}
	if (!strcmp(call.kind, "wait"))
		tracer_waits(stepper);
	else
		stepper->idle_cnt = 0;
}

/* The process that measures what a probe takes is not to be disturbed, and does nothing else. */
static bool is_trial(const struct __ptrace_syscall_info *info, pid_t tid)
{
	struct call call = { .thread = &(struct thread){ .tid = tid } };
	char name[16] = "";

	return info->entry.nr == SYS_prctl && info->entry.args[0] == 15 /* PR_SET_NAME */ &&
	       read_memory(&call, name, info->entry.args[1], 14) && !strcmp(name, "txtrace-trial");
}

static void at_system_call(struct stepper *stepper, pid_t tid)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 &&
	    info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		if (is_trial(&info, tid)) {
			ptrace(PTRACE_DETACH, tid, 0, 0);
			return;
		}
		look(stepper, thread_get(stepper, tid), &info);
	}
	ptrace(PTRACE_SYSCALL, tid, 0, 0);
}

/* A command that the tracer starts is its own, also to hold it by ptrace. */
static void at_fork(struct stepper *stepper, pid_t tid)
{
	struct victim *victim = &stepper->victims[0];
	unsigned long child;
	int status;

	if (!stepper->is_launched || victim->pid || ptrace(PTRACE_GETEVENTMSG, tid, 0, &child))
		return;
	victim->pid = (pid_t)child;
	waitpid(victim->pid, &status, __WALL);
	ptrace(PTRACE_DETACH, victim->pid, 0, 0);
}

static void at_stop(struct stepper *stepper, pid_t tid, int status)
{
	int event = status >> 16, signal_nr = WSTOPSIG(status);

	if (signal_nr == (SIGTRAP | 0x80)) {
		at_system_call(stepper, tid);
	} else if (event == PTRACE_EVENT_STOP && signal_nr != SIGTRAP) {
		ptrace(PTRACE_LISTEN, tid, 0, 0);
	} else {
		if (event == PTRACE_EVENT_FORK)
			at_fork(stepper, tid);
		ptrace(PTRACE_SYSCALL, tid, 0, event ? 0 : signal_nr);
	}
}

/* The tracer and whom it starts are a process group of their own: so nobody else's end is met here. */
static void step_through(struct stepper *stepper)
{
	for (;;) {
		int status;
		pid_t tid = waitpid(-stepper->tracer, &status, __WALL);

		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return;
		if (WIFSTOPPED(status))
			at_stop(stepper, tid, status);
		else if (tid == stepper->tracer)
			stepper->tracer_status = status;
	}
}

/* VICTIMS in an argument is the list of their pids. */
static char *fill_in(const struct stepper *stepper, char *argument)
{
	char *place = strstr(argument, "VICTIMS"), *filled;
	size_t room = strlen(argument) + VICTIM_MAX * 12, length;

	if (!place)
		return argument;
	filled = malloc(room);
	must(filled, "no memory");
	length = (size_t)snprintf(filled, room, "%.*s", (int)(place - argument), argument);
	for (int i = 0; i < stepper->victim_cnt; i++)
		length += (size_t)snprintf(filled + length, room - length, "%s%d", i ? "," : "",
					   stepper->victims[i].pid);
	snprintf(filled + length, room - length, "%s", place + strlen("VICTIMS"));
	return filled;
}

static void start_tracer(struct stepper *stepper, char **arguments)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			     PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
	int status;

	for (char **argument = arguments; *argument; argument++)
		*argument = fill_in(stepper, *argument);
	stepper->tracer = fork();
	must(stepper->tracer >= 0, "cannot fork");
	if (!stepper->tracer) {
		setpgid(0, 0);
		raise(SIGSTOP);
		execv(arguments[0], arguments);
		must(false, "cannot run the tracer");
	}
	must(waitpid(stepper->tracer, &status, WUNTRACED) == stepper->tracer && WIFSTOPPED(status),
	     "the tracer does not start");
	must(!ptrace(PTRACE_SEIZE, stepper->tracer, 0, options), "cannot trace the tracer");
	kill(stepper->tracer, SIGCONT);
}

/* ---- the end ---- */

static void print_end(const char *name, int status)
{
	if (WIFSIGNALED(status))
		printf("\"%s\":\"signal %d\"", name, WTERMSIG(status));
	else
		printf("\"%s\":\"status %d\"", name, WEXITSTATUS(status));
}

static void end_victims(struct stepper *stepper)
{
	release_held(stepper);
	for (int i = 0; i < stepper->victim_cnt; i++) {
		struct victim *victim = &stepper->victims[i];

		if (stepper->is_launched)
			victim->is_reaped = true;
		else if (!victim->is_reached && victim->pid)
			kill(victim->pid, SIGTERM);
		if (victim->pid)
			reap(victim);
		if (victim->stranger)
			kill(victim->stranger, SIGTERM);
		printf("{\"victim\":%d,\"event\":\"%s\",\"pid\":%d,\"is_reached\":%s,\"stranger\":%d,", i,
		       victim->event, victim->pid, victim->is_reached ? "true" : "false", victim->stranger);
		print_end("ended", victim->wait_status);
		printf("}\n");
	}
	fflush(stdout);
	while (waitpid(-1, NULL, 0) > 0) /* strangers and orphans */
		;
}

static void read_events(struct stepper *stepper)
{
	char *copy = strdup(stepper->events), *rest = copy, *word;

	stepper->is_dry = !strcmp(stepper->events, "none");
	while ((word = strsep(&rest, ","))) {
		size_t known = 0;

		while (known < sizeof(events) / sizeof(events[0]) && strcmp(events[known].name, word))
			known++;
		errno = EINVAL;
		must(stepper->victim_cnt < VICTIM_MAX &&
			     (stepper->is_dry || known < sizeof(events) / sizeof(events[0])),
		     word);
		stepper->victims[stepper->victim_cnt++].event = stepper->is_dry ? "none" : events[known].name;
	}
	free(copy);
}

static int parse(struct stepper *stepper, int argc, char **argv)
{
	const struct option_spec table[] = {
		{ .name = "victims",
		  .help = "what happens to them: kill, zombie, exit, marked, …; or none",
		  .text = &stepper->events },
		{ .name = "at", .help = "the step before which it happens, KIND#CNT", .text = &stepper->at },
		{ .name = "mortal",
		  .help = "the program that they run, with .0, .1, … behind",
		  .text = &stepper->mortal },
		{ .name = "becomes",
		  .help = "the program that some become, likewise",
		  .text = &stepper->becomes },
		{ .name = "directory", .help = "where the truths of those go", .text = &stepper->directory },
		{ .name = "cgroup",
		  .help = "the directory of the cgroup that they are in",
		  .text = &stepper->cgroup },
		{ .name = "innocent",
		  .help = "a stopped process that goes on once all has happened",
		  .count = &stepper->innocent,
		  .max = 1 << 30 },
		{ .name = "late",
		  .help = "1: they start when the tracer records",
		  .count = &stepper->is_late,
		  .max = 1 },
		{ .name = "open",
		  .help = "1: the tracer traces whoever comes, and is interrupted when all have gone",
		  .count = &stepper->is_open,
		  .max = 1 },
		{ .name = "launched",
		  .help = "1: the tracer starts the only one",
		  .count = &stepper->is_launched,
		  .max = 1 },
	};
	int own_cnt = 1;

	while (own_cnt < argc && strcmp(argv[own_cnt], "--"))
		own_cnt++;
	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "stepper: runs a tracer and ends its targets at a step of its", own_cnt, argv);
	errno = EINVAL;
	must(own_cnt + 1 < argc && stepper->events && stepper->at && stepper->mortal && stepper->becomes &&
		     stepper->directory,
	     "an option is missing");
	return own_cnt + 1;
}

int main(int argc, char **argv)
{
	static struct stepper stepper = { .at = "none" };
	int first;

	first = parse(&stepper, argc, argv);
	end_with_parent(SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	alarm(LIMIT_S);
	read_events(&stepper);
	for (int i = 0; !stepper.is_late && !stepper.is_launched && i < stepper.victim_cnt; i++)
		start_victim(&stepper, &stepper.victims[i]);
	start_tracer(&stepper, argv + first);
	step_through(&stepper);
	end_victims(&stepper);
	printf("{");
	print_end("tracer", stepper.tracer_status);
	printf(",\"programs\":%u,\"programs_left\":%u}\n", stepper.program_cnt,
	       count_programs_left(&stepper));
	return 0;
}
