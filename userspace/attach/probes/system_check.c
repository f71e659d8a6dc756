/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/system_check.h"

#include <errno.h>
#include <linux/version.h>
#include <string.h>

const char *const check_verdict_names[] = {
	[CHECK_OK] = "ok",
	[CHECK_LIMITED] = "limited",
	[CHECK_MISSING] = "missing",
	[CHECK_UNKNOWN] = "unknown",
};

/* Says what is found, and sets the verdict; the advice follows where there is one. */
#define FOUND(row, is, ...) ((row)->verdict = (is), error_set(&(row)->found, __VA_ARGS__))
#define ADVISE(row, ...) error_set(&(row)->advice, __VA_ARGS__)

static bool may_record(const struct kernel_features *features)
{
	return features->has_cap_sys_admin || (features->has_cap_bpf && features->has_cap_perfmon);
}

static void check_kernel(const struct system_facts *facts, struct check_row *row)
{
	const struct kernel_features *features = &facts->features;

	if (features->version < KERNEL_VERSION(5, 10, 0)) {
		FOUND(row, CHECK_MISSING, "%s", features->release);
		ADVISE(row, "use 5.10 or later: before, there are no ring buffers, or programs that we need "
			    "are refused");
	} else if (features->version < KERNEL_VERSION(5, 15, 0)) {
		FOUND(row, CHECK_LIMITED,
		      "%s: system calls are read from where the kernel keeps them unless it was built with "
		      "KASAN",
		      features->release);
		ADVISE(row, "5.15 and later always report why a thread blocks");
	} else {
		FOUND(row, CHECK_OK, "%s", features->release);
	}
}

static void check_btf(const struct system_facts *facts, struct check_row *row)
{
	if (facts->features.has_btf) {
		FOUND(row, CHECK_OK, "the kernel describes its types");
		return;
	}
	FOUND(row, CHECK_MISSING, "\"/sys/kernel/btf/vmlinux\" cannot be read");
	ADVISE(row, "use a kernel built with CONFIG_DEBUG_INFO_BTF=y, and mount sysfs");
}

static void check_lockdown(const struct system_facts *facts, struct check_row *row)
{
	if (facts->features.lockdown == LOCKDOWN_CONFIDENTIALITY) {
		FOUND(row, CHECK_MISSING, "confidentiality: BPF programs may not read the kernel's memory");
		ADVISE(row, "boot with lockdown=integrity or lockdown=none");
		return;
	}
	FOUND(row, CHECK_OK, "%s",
	      facts->features.lockdown == LOCKDOWN_INTEGRITY ? "integrity, which does not hinder" : "none");
}

static void check_capabilities(const struct system_facts *facts, struct check_row *row)
{
	const struct kernel_features *features = &facts->features;

	if (!may_record(features)) {
		FOUND(row, CHECK_MISSING, "no CAP_SYS_ADMIN%s%s", features->has_cap_bpf ? "" : ", no CAP_BPF",
		      features->has_cap_perfmon ? "" : ", no CAP_PERFMON");
		ADVISE(row, "use sudo, or give the program CAP_BPF and CAP_PERFMON (%s)",
		       "setcap cap_bpf,cap_perfmon+ep txtrace-bpf");
	} else if (!features->has_uprobe_multi && !features->has_cap_sys_admin) {
		FOUND(row, CHECK_MISSING,
		      "CAP_BPF and CAP_PERFMON, which this kernel does not let attach probes");
		ADVISE(row, "use sudo, or add CAP_SYS_ADMIN: only with uprobe_multi (6.6 and later) these "
			    "two are enough");
	} else if (!features->has_cap_sys_admin) {
		FOUND(row, CHECK_LIMITED,
		      "CAP_BPF and CAP_PERFMON: enough, but how long our programs run is not known");
		ADVISE(row, "with CAP_SYS_ADMIN the full cost of tracing is known");
	} else {
		FOUND(row, CHECK_OK, "CAP_SYS_ADMIN");
	}
}

static void check_memory_access(const struct system_facts *facts, struct check_row *row)
{
	if (facts->has_cap_sys_ptrace) {
		FOUND(row, CHECK_OK, "labels can be read from any process");
	} else if (facts->ptrace_scope > 0) {
		FOUND(row, CHECK_LIMITED,
		      "kernel.yama.ptrace_scope is %d and there is no CAP_SYS_PTRACE: labels of running "
		      "processes cannot be read",
		      (int)facts->ptrace_scope);
		ADVISE(row, "add CAP_SYS_PTRACE");
	} else {
		FOUND(row, CHECK_LIMITED,
		      "no CAP_SYS_PTRACE: labels can be read from processes of the same user only");
		ADVISE(row, "add CAP_SYS_PTRACE to trace those of others");
	}
}

static void check_load(const struct system_facts *facts, struct check_row *row)
{
	const struct kernel_features *features = &facts->features;
	int err = !features->can_load ? features->load_errno : facts->load_err < 0 ? -facts->load_err : 0;

	if (!err) {
		FOUND(row, CHECK_OK,
		      facts->load_err ? "the kernel loads BPF programs"
				      : "the kernel accepts and attaches ours");
		return;
	}
	FOUND(row, CHECK_MISSING, "the kernel refuses %s: %s",
	      features->can_load ? "our programs" : "any BPF program", strerror(err));
	if (!may_record(features))
		ADVISE(row, "see capabilities");
	else if (err == EPERM && facts->is_in_user_namespace)
		ADVISE(row, "capabilities within a user namespace do not count: run it outside");
	else if (err == EPERM || err == ENOSYS)
		ADVISE(row, "%s",
		       facts->has_seccomp ? "a seccomp filter is in force: in a container, allow bpf(2) and "
					    "perf_event_open(2)"
					  : "use a kernel built with CONFIG_BPF_SYSCALL=y, and no security "
					    "module that forbids bpf(2)");
	else
		ADVISE(row, "TXTRACE_DEBUG_LIBBPF=1 shows why when recording is tried");
}

static void check_uprobe_multi(const struct system_facts *facts, struct check_row *row)
{
	if (!facts->features.can_load) {
		FOUND(row, CHECK_UNKNOWN, "asked with a BPF program, which cannot be loaded");
	} else if (facts->features.has_uprobe_multi) {
		FOUND(row, CHECK_OK, "all probes of an object in one link%s",
		      facts->features.has_uprobe_multi_pid
			      ? ", for one process"
			      : "; they fire in every process that runs the file");
	} else {
		FOUND(row, CHECK_OK,
		      "not in this kernel (6.6 and later have it): perf uprobes are used, which take "
		      "CAP_SYS_ADMIN");
	}
}

static void check_fast_nops(const struct system_facts *facts, struct check_row *row)
{
	if (facts->features.fast_nop != FAST_NOP_NONE) {
		FOUND(row, CHECK_OK, "used: a probe is a call of the kernel");
	} else if (facts->features.reckless_nop != FAST_NOP_NONE && !facts->features.has_uprobe_multi) {
		FOUND(row, CHECK_UNKNOWN,
		      "this kernel has them; tried with a BPF program, which cannot be attached");
	} else if (facts->features.reckless_nop != FAST_NOP_NONE) {
		FOUND(row, CHECK_LIMITED,
		      "not used: on this kernel a child that the program forks dies at its next mark; a "
		      "probe is a trap");
		ADVISE(row, "--fast-probes halves the cost for programs that never fork");
	} else {
		FOUND(row, CHECK_OK,
		      "none in this kernel (x86-64, 6.18 and later have them): a probe is a trap");
	}
}

static void check_foreign(const struct system_facts *facts, struct check_row *row)
{
	const struct kernel_features *features = &facts->features;

	if (!features->can_load) {
		FOUND(row, CHECK_UNKNOWN, "asked with a BPF program, which cannot be loaded");
	} else if (features->has_cookies) {
		FOUND(row, CHECK_OK, "--span, --func and --preset work");
	} else if (features->has_probe_paths) {
		FOUND(row, CHECK_OK, "--span, --func and --preset work%s",
		      features->has_task_storage ? ""
						 : "; at most 4,096 threads can have such spans at a time");
	} else {
		FOUND(row, CHECK_LIMITED,
		      "the kernel does not report which probe was hit: no --span, --func and --preset");
		ADVISE(row, "use Linux 5.15 or later for these");
	}
}

static void check_sockets(const struct system_facts *facts, struct check_row *row)
{
	if (!facts->features.has_btf) {
		FOUND(row, CHECK_UNKNOWN, "asked by the kernel's types, see BTF");
	} else if (facts->features.has_socket_types) {
		FOUND(row, CHECK_OK, "a BPF program reads their addresses");
	} else {
		FOUND(row, CHECK_LIMITED,
		      "the kernel does not describe its sockets: addresses are those of /proc/PID/net, of "
		      "about 7,000 sockets at most");
		ADVISE(row, "use a kernel built with CONFIG_INET=y");
	}
}

static void check_steal(const struct system_facts *facts, struct check_row *row)
{
	const struct steal_source *steal = &facts->features.steal;

	if (!facts->features.has_btf) {
		FOUND(row, CHECK_UNKNOWN, "asked by the kernel's types, see BTF");
	} else if (steal->kind == STEAL_EXACT) {
		FOUND(row, CHECK_OK, "KVM reports at any moment what it takes of a CPU");
	} else if (steal->hypervisor == HYPERVISOR_NONE) {
		FOUND(row, CHECK_OK, "there is no hypervisor that takes CPUs away");
	} else if (steal->kind == STEAL_LATE) {
		FOUND(row, CHECK_LIMITED, "the scheduler reports what a hypervisor takes when a thread leaves its CPU: "
					  "where marks were made meanwhile, that is on-CPU");
	} else {
		FOUND(row, CHECK_LIMITED, "%s: what it takes of the CPUs is on-CPU",
		      steal->hypervisor == HYPERVISOR_KVM_MUTE
			      ? "this hypervisor does not report what it takes"
			      : "there may be a hypervisor, and this kernel does not report what it takes");
		if (steal->hypervisor != HYPERVISOR_KVM_MUTE)
			ADVISE(row, "use a kernel built with CONFIG_PARAVIRT_TIME_ACCOUNTING=y and "
				    "CONFIG_FAIR_GROUP_SCHED=y");
	}
}

static void check_rings(const struct system_facts *facts, struct check_row *row)
{
	unsigned long long mib = (unsigned long long)(facts->ring_cnt * facts->ring_bytes >> 20);

	if (facts->ring_errno > 0) {
		FOUND(row, CHECK_MISSING, "%llu rings of %llu KiB cannot be made: %s",
		      (unsigned long long)facts->ring_cnt, (unsigned long long)facts->ring_bytes >> 10,
		      strerror(facts->ring_errno));
		if (facts->features.version < KERNEL_VERSION(5, 11, 0) &&
		    facts->memlock_bytes < facts->ring_cnt * facts->ring_bytes &&
		    !facts->has_cap_sys_resource)
			ADVISE(row, "before 5.11 they count as locked memory: ulimit -l unlimited, or "
				    "CAP_SYS_RESOURCE");
		else
			ADVISE(row, "try a smaller --ring-size, or raise the memory limit of the cgroup");
	} else if (facts->ring_errno < 0) {
		FOUND(row, CHECK_UNKNOWN, "%llu rings, %llu MiB in all; not tried",
		      (unsigned long long)facts->ring_cnt, mib);
	} else {
		FOUND(row, CHECK_OK, "%llu rings, %llu MiB in all, can be made",
		      (unsigned long long)facts->ring_cnt, mib);
	}
}

static void check_namespaces(const struct system_facts *facts, struct check_row *row)
{
	if (facts->is_in_user_namespace) {
		FOUND(row, CHECK_MISSING, "a user namespace, in which capabilities do not count for BPF");
		ADVISE(row, "run it outside of the container, or in one without a user namespace "
			    "(--privileged, --userns=host)");
	} else if (facts->features.is_in_pid_namespace) {
		FOUND(row, CHECK_MISSING,
		      "a PID namespace: processes have other pids here than the kernel says");
		ADVISE(row, "run it outside of the container, or share the machine's namespace (--pid=host)");
	} else {
		FOUND(row, CHECK_OK, "the machine's own");
	}
}

static void append_setting(struct check_row *row, int32_t value, const char *hindrance)
{
	if (value == SYSTEM_UNKNOWN)
		FOUND(row, CHECK_OK, "the kernel does not say");
	else
		FOUND(row, CHECK_OK, "%d, %s", (int)value, hindrance);
}

static void check_perf(const struct system_facts *facts, struct check_row *row)
{
	append_setting(row, facts->perf_event_paranoid, "which is for those without CAP_PERFMON");
}

static void check_unprivileged(const struct system_facts *facts, struct check_row *row)
{
	append_setting(row, facts->unprivileged_bpf_disabled, "which is for those without CAP_BPF");
}

static void check_tracefs(const struct system_facts *facts, struct check_row *row)
{
	FOUND(row, CHECK_OK, "%s", facts->has_tracefs ? "mounted; not needed" : "not mounted; not needed");
}

static void check_timing(const struct system_facts *facts, struct check_row *row)
{
	if (facts->features.has_cap_sys_admin || facts->bpf_stats_enabled > 0) {
		FOUND(row, CHECK_OK, "the kernel times our programs, for txtrace report --cost");
		return;
	}
	FOUND(row, CHECK_LIMITED,
	      "the kernel does not time our programs: what tracing costs is known in part");
	ADVISE(row, "add CAP_SYS_ADMIN");
}

static const struct {
	const char *subject;
	void (*check)(const struct system_facts *facts, struct check_row *row);
} checks[] = {
	{ "kernel", check_kernel },
	{ "BTF", check_btf },
	{ "lockdown", check_lockdown },
	{ "capabilities", check_capabilities },
	{ "namespaces", check_namespaces },
	{ "BPF programs", check_load },
	{ "ring buffers", check_rings },
	{ "uprobe_multi", check_uprobe_multi },
	{ "fast nops", check_fast_nops },
	{ "unmodified programs", check_foreign },
	{ "socket addresses", check_sockets },
	{ "stolen time", check_steal },
	{ "process memory", check_memory_access },
	{ "timing", check_timing },
	{ "perf_event_paranoid", check_perf },
	{ "unprivileged_bpf_disabled", check_unprivileged },
	{ "tracefs", check_tracefs },
};

size_t system_check(const struct system_facts *facts, struct check_row *rows, size_t max)
{
	size_t cnt = sizeof(checks) / sizeof(checks[0]);

	for (size_t i = 0; i < cnt && i < max; i++) {
		memset(&rows[i], 0, sizeof(rows[i]));
		rows[i].subject = checks[i].subject;
		checks[i].check(facts, &rows[i]);
	}
	return cnt;
}
