/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process with spans, and its parent, which has it by ptrace:
 *
 *	--how syscalls  stopped before and behind each system call, as strace does it: ten of them in each
 *	                span
 *	--how hold      stopped in the middle of each span, and held there for 5 ms
 *	--how steps     stepped through each of its instructions, marks included
 *
 * Of spans that were held, the child prints the truth, with how long it was held by its parent's clock. Of
 * the others it prints nothing: who is stopped at each system call cannot read its clocks in between.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "truth.h"

#define HOLD_NS (5 * NS_PER_MS)

/* What the two tell each other; a child that is held can be told nothing else. */
struct shared {
	_Atomic uint64_t ready_cnt; /* spans that wait to be held, or 1: to be stepped */
	_Atomic uint64_t held_cnt;
	_Atomic uint64_t held_ns; /* the last one */
	_Atomic bool is_over;
};

static struct shared *shared;

/* A stop before and one behind each. */
static void work_with_system_calls(uint64_t cnt)
{
	for (uint64_t i = 0; i < cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("syscalls");

		for (int k = 0; k < 10; k++)
			syscall(SYS_getppid);
		TXTRACE_END(span);
	}
}

static void be_held(uint64_t before_cnt)
{
	atomic_store(&shared->ready_cnt, before_cnt + 1);
	while (atomic_load(&shared->held_cnt) == before_cnt)
		;
}

static void work_held(struct truth *truth, struct witness *witness, uint64_t before_cnt)
{
	WITNESSED(truth, witness, "held", be_held(before_cnt));
	truth->blocked = "stopped";
	truth->asked_ns = atomic_load(&shared->held_ns);
}

static void work_stepped(uint64_t cnt)
{
	atomic_store(&shared->ready_cnt, 1);
	while (!atomic_load(&shared->held_cnt))
		;
	for (uint64_t i = 0; i < cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("stepped");

		TXTRACE_TAG(span, "by=ptrace");
		TXTRACE_END(span);
	}
	atomic_store(&shared->is_over, true);
}

static int be_child(const struct truth_options *options, const char *how)
{
	struct truth *truths = truths_new(options->repeat_cnt);
	struct witness witness;

	witness_init(&witness);
	truth_start(options);
	for (uint64_t i = 0; i < options->repeat_cnt && !strcmp(how, "hold"); i++)
		work_held(&truths[i], &witness, i);
	if (!strcmp(how, "syscalls"))
		work_with_system_calls(options->repeat_cnt);
	if (!strcmp(how, "steps"))
		work_stepped(options->repeat_cnt);
	truths_print(truths, options->repeat_cnt);
	return 0;
}

/* ---- the parent ---- */

/*
 * The child goes on until it is stopped for the tracer's sake; signals are passed on. Returns its status when
 * it has ended.
 */
static int let_go(pid_t child, int request, int signal_nr)
{
	int status;

	must(!ptrace(request, child, 0, signal_nr), "the child does not go on");
	must(waitpid(child, &status, 0) == child, "the child is gone");
	return status;
}

static int signal_of(int status)
{
	bool is_ours = status >> 16 || WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == (SIGTRAP | 0x80);

	return is_ours ? 0 : WSTOPSIG(status);
}

/* How often the child has left its CPU by itself. */
static unsigned long long left_cnt(pid_t child)
{
	unsigned long long cnt = 0;
	char path[64], text[4096], *found;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = read(fd, text, sizeof(text) - 1);
	must(length > 0 && !close(fd), "cannot read the child's status");
	text[length] = 0;
	found = strstr(text, "\nvoluntary_");
	must(found && sscanf(found, "\nvoluntary_ctxt_switches: %llu", &cnt) == 1,
	     "the child's status lacks its switches");
	return cnt;
}

/* A child that is told to have stopped may still be on its way off the CPU. */
static void hold(pid_t child)
{
	unsigned long long before_cnt = left_cnt(child);
	uint64_t begin_ns;
	int status;

	must(!ptrace(PTRACE_INTERRUPT, child, 0, 0) && waitpid(child, &status, 0) == child &&
		     WIFSTOPPED(status),
	     "the child does not stop");
	while (left_cnt(child) == before_cnt)
		sched_yield();
	begin_ns = clock_ns(CLOCK_MONOTONIC);
	sleep_ns(HOLD_NS);
	atomic_store(&shared->held_ns, clock_ns(CLOCK_MONOTONIC) - begin_ns);
	atomic_fetch_add(&shared->held_cnt, 1);
	must(!ptrace(PTRACE_CONT, child, 0, 0), "the child does not go on");
}

static int hold_each(pid_t child)
{
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		if (atomic_load(&shared->ready_cnt) > atomic_load(&shared->held_cnt))
			hold(child);
		else
			sched_yield();
	}
	return status;
}

static int step_all(pid_t child)
{
	int status;

	while (!atomic_load(&shared->ready_cnt))
		must(waitpid(child, &status, WNOHANG) == 0, "the child has ended");
	must(!ptrace(PTRACE_INTERRUPT, child, 0, 0) && waitpid(child, &status, 0) == child &&
		     WIFSTOPPED(status),
	     "the child does not stop");
	atomic_store(&shared->held_cnt, 1);
	while (WIFSTOPPED(status))
		status = let_go(child, atomic_load(&shared->is_over) ? PTRACE_CONT : PTRACE_SINGLESTEP,
				signal_of(status));
	return status;
}

static int stop_at_system_calls(pid_t child)
{
	int status = 0;

	must(!ptrace(PTRACE_INTERRUPT, child, 0, 0) && waitpid(child, &status, 0) == child,
	     "the child does not stop");
	while (WIFSTOPPED(status))
		status = let_go(child, PTRACE_SYSCALL, signal_of(status));
	return status;
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const char *how = "syscalls";
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "how", .help = "syscalls, hold or steps", .text = &how },
	};
	pid_t child;
	int status;

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "ptraced: spans of a process that another one has by ptrace", argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared != MAP_FAILED, "no memory");
	end_with_parent(SIGKILL);
	child = fork();
	must(child >= 0, "cannot fork");
	if (!child)
		return be_child(&options, how);
	must(!ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD),
	     "cannot trace the child");
	status = !strcmp(how, "hold")	 ? hold_each(child)
		 : !strcmp(how, "steps") ? step_all(child)
					 : stop_at_system_calls(child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
