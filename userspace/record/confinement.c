/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define BPF_ENABLE_STATS_NR 32 /* later than some headers */

/* ---- what is allowed ---- */

/* By name: a kernel or libseccomp that does not know one does without it. */
static const char *const calls[] = {
	/* memory, threads, time */
	"brk", "munmap", "mremap", "madvise", "futex", "set_robust_list", "rseq", "exit", "exit_group", "sched_yield", "sched_getaffinity", "gettid",
	"getpid", "clock_gettime", "clock_nanosleep", "nanosleep", "gettimeofday", "restart_syscall", "membarrier",
	/* signals; of tgkill and kill see below */
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "signalfd4",
	/* files: the log, /proc, what targets have mapped */
	"openat", "openat2", "open", "close", "read", "readv", "pread64", "preadv", "write", "writev", "pwrite64", "lseek",
	"fstat", "newfstatat", "stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink",
	"readlinkat", "getdents64", "fcntl", "dup", "flock", "fsync", "fdatasync", "ftruncate",
	"fallocate", "fchmod", "umask", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir", "fstatfs", "statfs",
	"sync_file_range", "fadvise64", "copy_file_range", "sendfile",
	/* waiting, and the sockets that are there: the metrics', the service manager's, the trial's */
	"poll", "ppoll", "select", "pselect6", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "pipe2", "timerfd_settime",
	"accept4", "accept", "recvfrom", "recvmsg", "sendto", "sendmsg", "shutdown", "setsockopt", "getsockopt", "getsockname", "getpeername",
	/* who we are, and how the machine is */
	"uname", "sysinfo", "getrusage", "times", "getrandom", "prlimit64", "getrlimit", "getuid", "geteuid", "getgid", "getegid", "getppid", "capget",
	"sched_getparam", "sched_getscheduler",
	/* the target's memory, and its end */
	"process_vm_readv", "wait4", "waitid",
	/* how a probe in a library that we, too, have mapped enters and leaves the kernel: nobody's choice */
	"uretprobe",
};

/* A call one of whose arguments must be this: in `mask`, if there is one, or else as an int. */
struct ruled_call {
	const char *call;
	unsigned int argument;
	uint64_t mask;
	uint64_t value;
};

static const struct ruled_call ruled_calls[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	{ "clone", 0, CLONE_THREAD, CLONE_THREAD }, /* clone3 hides its flags: glibc takes clone when it is not there */
	{ "ioctl", 1, 0, TCGETS },
	{ "ioctl", 1, 0, TIOCGWINSZ },
	{ "ioctl", 1, 0, FIONBIO },
	{ "ioctl", 1, 0, FIONREAD },
	{ "ioctl", 1, 0, PERF_EVENT_IOC_DISABLE }, /* samples of stacks, at the end */
	{ "prctl", 0, 0, 15 /* PR_SET_NAME */ },
	{ "bpf", 0, 0, BPF_MAP_LOOKUP_ELEM },
	{ "bpf", 0, 0, BPF_MAP_UPDATE_ELEM },
	{ "bpf", 0, 0, BPF_MAP_DELETE_ELEM },
	{ "bpf", 0, 0, BPF_MAP_GET_NEXT_KEY },
	{ "bpf", 0, 0, BPF_OBJ_GET_INFO_BY_FD },
	{ "bpf", 0, 0, BPF_LINK_CREATE },
	{ "bpf", 0, 0, BPF_ITER_CREATE },
};

/* Without uprobe_multi every probe is a perf event; libbpf tries what the kernel can by loading programs. */
static const struct ruled_call perf_calls[] = {
	{ "perf_event_open", 1, 0, UINT32_MAX },
	{ "ioctl", 1, 0, PERF_EVENT_IOC_SET_BPF },
	{ "ioctl", 1, 0, PERF_EVENT_IOC_ENABLE },
	{ "bpf", 0, 0, BPF_PROG_LOAD },
	{ "bpf", 0, 0, BPF_BTF_LOAD },
	{ "bpf", 0, 0, BPF_RAW_TRACEPOINT_OPEN },
};

/* Reads a byte, runs its probe, answers; turns the timing of programs on and off. A sanitizer asks for the signal stack before it lets a process end. */
static const char *const trial_calls[] = { "read", "write", "close", "exit_group", "clock_gettime", "restart_syscall", "sigaltstack", "uretprobe" };

static const struct ruled_call trial_ruled_calls[] = {
	{ "prctl", 0, 0, 15 /* PR_SET_NAME */ },
	{ "bpf", 0, 0, BPF_ENABLE_STATS_NR },
};

/*
 * libdw on files that may be anything, and a demangler. A sanitizer wants its
 * signal stack, and to say what it has found.
 */
static const char *const symbols_calls[] = {
	"brk", "munmap", "mremap", "madvise", "futex", "getrandom", "sysinfo", "prlimit64", "getrlimit",
	"sched_getaffinity", "sched_yield", "membarrier", "read", "readv", "pread64", "preadv", "lseek", "close",
	"fstat", "newfstatat", "stat", "lstat", "statx", "readlink", "readlinkat", "getcwd", "fcntl", "access",
	"faccessat", "faccessat2", "clock_gettime", "gettimeofday", "getpid", "gettid", "rt_sigreturn",
	"rt_sigprocmask", "restart_syscall", "exit", "exit_group", "sigaltstack", "uretprobe",
};

static const struct ruled_call symbols_ruled_calls[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	{ "openat", 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ "open", 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ "write", 0, 0, STDERR_FILENO },
	{ "writev", 0, 0, STDERR_FILENO },
};

/*
 * Looks into other processes, and answers. How openat2 opens can't be seen from
 * here; there is no call to write with.
 */
static const char *const reader_calls[] = {
	"brk", "munmap", "mremap", "madvise", "futex", "getrandom", "sysinfo", "prlimit64", "getrlimit", "sched_yield",
	"membarrier", "openat2", "read", "readv", "pread64", "lseek", "close", "fstat", "newfstatat", "stat", "lstat",
	"statx", "fstatfs", "readlink", "readlinkat", "fcntl", "process_vm_readv", "clock_gettime", "getpid", "gettid",
	"rt_sigreturn", "rt_sigprocmask", "restart_syscall", "exit", "exit_group", "sigaltstack", "uretprobe",
};

static const struct ruled_call reader_ruled_calls[] = {
	{ "mmap", 2, PROT_EXEC, 0 },
	{ "mprotect", 2, PROT_EXEC, 0 },
	{ "openat", 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ "open", 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
};

/* ---- filters ---- */

struct filter {
	scmp_filter_ctx context;
	int err;
};

static void allow(struct filter *filter, const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (!filter->err && nr != __NR_SCMP_ERROR)
		filter->err = seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, nr, 0);
	if (filter->err == -EDOM) /* another machine's */
		filter->err = 0;
}

static void allow_if(struct filter *filter, const char *name, struct scmp_arg_cmp condition)
{
	int nr = seccomp_syscall_resolve_name(name);

	if (!filter->err && nr != __NR_SCMP_ERROR)
		filter->err = seccomp_rule_add_array(filter->context, SCMP_ACT_ALLOW, nr, 1, &condition);
}

static struct scmp_arg_cmp argument_is(unsigned int argument, uint64_t mask, uint64_t value)
{
	return (struct scmp_arg_cmp){ .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value };
}

static void allow_ruled(struct filter *filter, const struct ruled_call *calls_, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		const struct ruled_call *call = &calls_[i];

		allow_if(filter, call->call, argument_is(call->argument, call->mask ? call->mask : UINT32_MAX, call->value));
	}
}

/* The system call by which a fast probe enters the kernel; it has no name in older tables. */
static void allow_uprobe(struct filter *filter)
{
#if defined(__x86_64__)
	if (!filter->err)
		filter->err = seccomp_rule_add(filter->context, SCMP_ACT_ALLOW, 336, 0);
#else
	(void)filter;
#endif
}

static struct filter filter_new(uint32_t otherwise)
{
	struct filter filter = { .context = seccomp_init(otherwise) };

	if (!filter.context)
		filter.err = -ENOMEM;
	if (!filter.err)
		filter.err = seccomp_attr_set(filter.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
	if (!filter.err)
		filter.err = seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!filter.err && seccomp_api_get() >= 4) /* or older kernels would slow us down for the sake of a mitigation that is not about filters */
		seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_SSB, 1);
	if (!filter.err)
		seccomp_attr_set(filter.context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return filter;
}

/* Sets no_new_privs, too. */
static int filter_load(struct filter *filter)
{
	if (!filter->err)
		filter->err = seccomp_load(filter->context);
	seccomp_release(filter->context);
	return filter->err;
}

/* ---- violations ---- */

/* What the call returns. */
static void set_result(ucontext_t *context, long result)
{
#if defined(__x86_64__)
	context->uc_mcontext.gregs[REG_RAX] = result;
#elif defined(__aarch64__)
	context->uc_mcontext.regs[0] = (unsigned long long)result;
#else
#error "the register of a system call's result is not known for this machine"
#endif
}

static void say_and_abort(int nr)
{
	char text[] = "txtrace-bpf: system call 0000 is not among those that recording takes\n";
	char *digit = strchr(text, '0') + 3;
	ssize_t ignored;

	for (unsigned int rest = (unsigned int)nr % 10000; rest; rest /= 10)
		*digit-- = (char)('0' + rest % 10);
	ignored = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)ignored;
	_exit(128 + SIGSYS);
}

void confinement_refuse(struct confinement_tally *tally, const siginfo_t *info, void *context)
{
	if (tally->aborts)
		say_and_abort(info->si_syscall);
	__atomic_store_n(&tally->last_nr, info->si_syscall, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tally->cnt, 1, __ATOMIC_RELAXED);
	set_result(context, -EPERM);
}

static int handle(const struct confinement_handler *handler)
{
	struct sigaction action = { .sa_sigaction = handler->handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER };
	const char *wish = getenv("TXTRACE_CONFINEMENT");

	handler->tally->aborts = wish && strcmp(wish, "abort") == 0;
	return sigaction(SIGSYS, &action, NULL) ? -errno : 0;
}

/* ---- both ---- */

int confinement_begin(const struct confinement_options *options)
{
	struct filter filter = filter_new(SCMP_ACT_TRAP);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		allow(&filter, calls[i]);
	allow_ruled(&filter, ruled_calls, sizeof(ruled_calls) / sizeof(ruled_calls[0]));
	if (!options->has_uprobe_multi)
		allow_ruled(&filter, perf_calls, sizeof(perf_calls) / sizeof(perf_calls[0]));
	if (options->command_fd >= 0)
		allow_if(&filter, "pidfd_send_signal", argument_is(0, UINT32_MAX, (uint32_t)options->command_fd));
	if (options->may_fork)
		allow(&filter, "clone");
	allow_if(&filter, "tgkill", argument_is(0, UINT32_MAX, (uint32_t)getpid()));
	allow_uprobe(&filter);
	if (!filter.err)
		filter.err = seccomp_rule_add(filter.context, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	if (!filter.err)
		filter.err = handle(options->handler);
	return filter_load(&filter);
}

int confinement_begin_trial(void)
{
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));

	for (size_t i = 0; i < sizeof(trial_calls) / sizeof(trial_calls[0]); i++)
		allow(&filter, trial_calls[i]);
	allow_ruled(&filter, trial_ruled_calls, sizeof(trial_ruled_calls) / sizeof(trial_ruled_calls[0]));
	allow_uprobe(&filter);
	return filter_load(&filter);
}

int confinement_begin_symbols(int socket_fd)
{
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));

	for (size_t i = 0; i < sizeof(symbols_calls) / sizeof(symbols_calls[0]); i++)
		allow(&filter, symbols_calls[i]);
	allow_ruled(&filter, symbols_ruled_calls, sizeof(symbols_ruled_calls) / sizeof(symbols_ruled_calls[0]));
	allow_if(&filter, "recvmsg", argument_is(0, UINT32_MAX, (uint32_t)socket_fd));
	allow_if(&filter, "sendto", argument_is(0, UINT32_MAX, (uint32_t)socket_fd));
	allow_uprobe(&filter);
	return filter_load(&filter);
}

int confinement_begin_reader(int socket_fd)
{
	static const char *const socket_calls[] = { "recvfrom", "recvmsg", "sendto", "sendmsg" };
	struct filter filter = filter_new(SCMP_ACT_ERRNO(EPERM));

	for (size_t i = 0; i < sizeof(reader_calls) / sizeof(reader_calls[0]); i++)
		allow(&filter, reader_calls[i]);
	allow_ruled(&filter, reader_ruled_calls, sizeof(reader_ruled_calls) / sizeof(reader_ruled_calls[0]));
	for (size_t i = 0; i < sizeof(socket_calls) / sizeof(socket_calls[0]); i++)
		allow_if(&filter, socket_calls[i], argument_is(0, UINT32_MAX, (uint32_t)socket_fd));
	allow_uprobe(&filter);
	return filter_load(&filter);
}

char *confinement_call_name(int nr)
{
	return seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
}
