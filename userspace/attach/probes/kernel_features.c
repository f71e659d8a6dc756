/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/kernel_features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/version.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "attach/probes/fast_nop_trial.h"
#include "attach/probes/kernel_types.h"
#include "attach/probes/uprobe_multi.h"

#define INIT_PID_NAMESPACE 0xeffffffcu /* the inode's number that the kernel gives to its first one */

/* The first bytes of a small file, terminated; false if it cannot be read. */
static bool read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t length;

	if (!file)
		return false;
	length = fread(text, 1, size - 1, file);
	text[length] = '\0';
	fclose(file);
	return true;
}

static void probe_release(struct kernel_features *features)
{
	unsigned int major = 0, minor = 0, patch = 0;
	struct utsname name;

	if (uname(&name) < 0)
		return;
	snprintf(features->release, sizeof(features->release), "%s", name.release);
	sscanf(name.release, "%u.%u.%u", &major, &minor, &patch);
	features->version = KERNEL_VERSION(major, minor, patch > 255 ? 255 : patch);
}

static void probe_privileges(struct kernel_features *features)
{
	char text[8];

	features->is_root = geteuid() == 0;
	features->has_cap_sys_admin = capability_is_effective(CAP_SYS_ADMIN);
	features->has_cap_perfmon = capability_is_effective(CAP_PERFMON);
	features->has_cap_bpf = capability_is_effective(CAP_BPF);
	if (read_text("/proc/sys/kernel/unprivileged_bpf_disabled", text, sizeof(text)))
		features->is_unprivileged_bpf_disabled = text[0] != '0';
}

/* Where the machine's own namespace cannot be told, none is assumed. */
static void probe_namespace(struct kernel_features *features)
{
	struct stat status;

	features->is_in_pid_namespace = !stat("/proc/self/ns/pid", &status) &&
					status.st_ino != INIT_PID_NAMESPACE;
}

/* "none [integrity] confidentiality": the one in brackets holds. */
static void probe_lockdown(struct kernel_features *features)
{
	char text[128];

	if (!read_text("/sys/kernel/security/lockdown", text, sizeof(text)))
		return;
	if (strstr(text, "[integrity]"))
		features->lockdown = LOCKDOWN_INTEGRITY;
	else if (strstr(text, "[confidentiality]"))
		features->lockdown = LOCKDOWN_CONFIDENTIALITY;
}

/* The arguments of the function type behind typedef and pointer, without the context that comes first. */
static uint32_t argument_cnt(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	const struct btf_type *type;

	type = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	type = type ? btf__type_by_id(btf, type->type) : NULL;
	type = type && btf_is_ptr(type) ? btf__type_by_id(btf, type->type) : NULL;
	return type && btf_is_func_proto(type) && btf_vlen(type) > 0 ? btf_vlen(type) - 1u : 0;
}

/* Also in the structs without a name that a struct may consist of. depth: of those that are looked into. */
static bool has_member(const struct btf *btf, const struct btf_type *type, const char *name, int depth)
{
	const struct btf_member *members = btf_members(type);

	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const char *member = btf__name_by_offset(btf, members[i].name_off);
		const struct btf_type *inner = btf__type_by_id(btf, members[i].type);

		if (member && !strcmp(member, name))
			return true;
		if (member && !*member && inner && btf_is_composite(inner) && depth &&
		    has_member(btf, inner, name, depth - 1))
			return true;
	}
	return false;
}

static bool struct_has_member(const struct btf *btf, const char *name, const char *member)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	return id > 0 && has_member(btf, btf__type_by_id(btf, (__u32)id), member, 2);
}

static bool has_tracepoint(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

/* Requests can be told from what they were when they have a field that came with that. */
static uint32_t uring_places(const struct btf *btf)
{
	uint32_t places = 0;

	if (!struct_has_member(btf, "io_kiocb", "cqe"))
		return places;
	if (has_tracepoint(btf, "btf_trace_io_uring_complete"))
		places |= URING_PLACE_COMPLETE;
	if (has_tracepoint(btf, "btf_trace_io_uring_create"))
		places |= URING_PLACE_CREATE;
	if (has_tracepoint(btf, "btf_trace_io_uring_submit_req"))
		places |= URING_PLACE_SUBMIT_REQ;
	else if (has_tracepoint(btf, "btf_trace_io_uring_submit_sqe"))
		places |= URING_PLACE_SUBMIT_SQE;
	return places;
}

static void probe_btf(struct kernel_features *features)
{
	const struct btf *btf;

	features->has_btf = access(KERNEL_TYPES_PATH, R_OK) == 0;
	if (!features->has_btf)
		return;
	btf = features->types = btf__parse(KERNEL_TYPES_PATH, NULL);
	if (!btf)
		return;
	features->sched_switch_arg_cnt = argument_cnt(btf, "btf_trace_sched_switch");
	features->has_task_storage = struct_has_member(btf, "task_struct", "bpf_storage");
	features->has_probe_paths = struct_has_member(btf, "task_struct", "utask") &&
				    struct_has_member(btf, "uprobe_task", "vaddr") &&
				    struct_has_member(btf, "uprobe_dispatch_data", "tu") &&
				    struct_has_member(btf, "trace_uprobe", "filename");
	features->has_socket_types = struct_has_member(btf, "socket", "sk") &&
				     struct_has_member(btf, "sock", "sk_protocol") &&
				     struct_has_member(btf, "sock_common", "skc_rcv_saddr");
	features->uring_places = uring_places(btf);
	percpu_layout_read(btf, &features->percpu);
	steal_source_choose(&features->steal, &features->percpu, hypervisor_find());
}

/* helper: that is called with the context; 0: none. */
static int load_tiny_program(enum bpf_attach_type attach_type, enum bpf_func_id helper)
{
	const struct bpf_insn instructions[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = (int)helper },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	size_t skipped_cnt = helper ? 0 : 1;
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", instructions + skipped_cnt,
			     sizeof(instructions) / sizeof(instructions[0]) - skipped_cnt, &options);
}

static int load_empty_program(enum bpf_attach_type attach_type)
{
	return load_tiny_program(attach_type, 0);
}

static void probe_cookies(struct kernel_features *features)
{
	int fd = load_tiny_program(0, BPF_FUNC_get_attach_cookie);

	features->has_cookies = fd >= 0;
	if (fd >= 0)
		close(fd);
}

/*
 * Links that cannot be made, refused for a reason that tells: "/" is no file (EBADF; a kernel without the
 * feature says EINVAL before it looks), and pid -1 is a bad argument (EINVAL) to a kernel that filters by
 * process, and an unknown thread (ESRCH) to one that filters by thread.
 */
static void probe_uprobe_multi(struct kernel_features *features)
{
	uint64_t offset = 0;
	struct uprobe_multi link = { .path = "/", .offsets = &offset, .cnt = 1 };
	int prog_fd = load_empty_program(UPROBE_MULTI_ATTACH_TYPE);
	int fd;

	if (prog_fd < 0)
		return;
	fd = uprobe_multi_link(prog_fd, &link);
	features->has_uprobe_multi = fd == -EBADF;
	if (fd >= 0)
		close(fd);
	link.path = "/proc/self/exe";
	link.pid = (uint32_t)-1;
	fd = features->has_uprobe_multi ? uprobe_multi_link(prog_fd, &link) : -1;
	features->has_uprobe_multi_pid = fd == -EINVAL;
	if (fd >= 0)
		close(fd);
	close(prog_fd);
}

static void probe_load(struct kernel_features *features)
{
	int fd = load_empty_program(0);

	features->can_load = fd >= 0;
	features->load_errno = fd < 0 ? -fd : 0;
	if (fd >= 0)
		close(fd);
}

/*
 * The system call by which a fast nop enters the kernel refuses callers other than a nop's call, and the
 * errno tells which nop it is: ENXIO from the first kernels, EPROTO since the 10-byte nop took the place of
 * the 5-byte one; ENOSYS: there is none.
 */
static void probe_fast_nop(struct kernel_features *features)
{
#if defined(__x86_64__)
	const long uprobe_syscall_nr = 336;

	if (syscall(uprobe_syscall_nr) >= 0)
		return;
	if (errno == ENXIO)
		features->reckless_nop = FAST_NOP_5;
	else if (errno == EPROTO)
		features->reckless_nop = FAST_NOP_10;
#else
	(void)features;
#endif
}

/* Returns `context`, if a forked child survives the nop. */
static void *try_fast_nop(void *context)
{
	const struct kernel_features *features = context;
	int prog_fd = load_empty_program(UPROBE_MULTI_ATTACH_TYPE);
	bool survives = prog_fd >= 0 && fast_nop_survives_fork(prog_fd, features->reckless_nop);

	if (prog_fd >= 0)
		close(prog_fd);
	return survives ? context : NULL;
}

static void begin_nop_trial(struct kernel_features *features)
{
	if (!features->has_uprobe_multi || features->reckless_nop == FAST_NOP_NONE)
		return;
	features->has_nop_trial = !pthread_create(&features->nop_trial, NULL, try_fast_nop, features);
	if (!features->has_nop_trial && try_fast_nop(features))
		features->fast_nop = features->reckless_nop;
}

void kernel_features_begin(struct kernel_features *features)
{
	memset(features, 0, sizeof(*features));
	probe_release(features);
	probe_privileges(features);
	probe_namespace(features);
	probe_lockdown(features);
	probe_load(features);
	probe_cookies(features);
	probe_uprobe_multi(features);
	probe_fast_nop(features);
	begin_nop_trial(features);
	probe_btf(features);
}

void kernel_features_settle(struct kernel_features *features)
{
	void *survives = NULL;

	if (features->has_nop_trial)
		pthread_join(features->nop_trial, &survives);
	features->has_nop_trial = false;
	if (survives)
		features->fast_nop = features->reckless_nop;
	btf__free(features->types);
	features->types = NULL;
}

void kernel_features_probe(struct kernel_features *features)
{
	kernel_features_begin(features);
	kernel_features_settle(features);
}

static bool may_record(const struct kernel_features *features)
{
	return features->has_cap_sys_admin || (features->has_cap_bpf && features->has_cap_perfmon);
}

static bool lacks_privilege(const struct kernel_features *features)
{
	return !may_record(features);
}

static void explain_privilege(const struct kernel_features *features, struct error *sentence)
{
	(void)features;
	error_set(sentence, "recording needs root: run it with sudo, or give the program the capabilities "
			    "CAP_BPF and CAP_PERFMON");
}

static bool lacks_uprobe_privilege(const struct kernel_features *features)
{
	return may_record(features) && !features->has_uprobe_multi && !features->has_cap_sys_admin;
}

static void explain_uprobe_privilege(const struct kernel_features *features, struct error *sentence)
{
	error_set(sentence,
		  "kernel %s has no uprobe_multi (6.6 and later have), without which CAP_BPF and CAP_PERFMON "
		  "are not enough: run it with sudo, "
		  "or add the capability CAP_SYS_ADMIN",
		  features->release);
}

static bool is_in_namespace(const struct kernel_features *features)
{
	return features->is_in_pid_namespace;
}

static void explain_namespace(const struct kernel_features *features, struct error *sentence)
{
	(void)features;
	error_set(sentence, "in this PID namespace processes have other pids than the kernel says, so none "
			    "would be recognised: run it outside of the "
			    "container, or share the machine's namespace (--pid=host)");
}

static bool lacks_btf(const struct kernel_features *features)
{
	return !features->has_btf;
}

static void explain_btf(const struct kernel_features *features, struct error *sentence)
{
	error_set(sentence,
		  "kernel %s has no BTF (\"/sys/kernel/btf/vmlinux\" cannot be read): use a kernel built "
		  "with CONFIG_DEBUG_INFO_BTF=y, as those of "
		  "Debian, Ubuntu and Fedora are, and mount sysfs",
		  features->release);
}

static bool is_locked_down(const struct kernel_features *features)
{
	return features->lockdown == LOCKDOWN_CONFIDENTIALITY;
}

static void explain_lockdown(const struct kernel_features *features, struct error *sentence)
{
	(void)features;
	error_set(sentence, "the kernel is locked down (confidentiality), so BPF programs may not read its "
			    "memory: boot with "
			    "lockdown=integrity or lockdown=none");
}

static bool lacks_load(const struct kernel_features *features)
{
	return !features->can_load && may_record(features) && !is_locked_down(features);
}

static void explain_load(const struct kernel_features *features, struct error *sentence)
{
	const char *advice =
		features->load_errno == ENOSYS ? "use a kernel built with CONFIG_BPF_SYSCALL=y"
		: features->load_errno == EPERM
			? "in a container, start it with CAP_SYS_ADMIN, CAP_SYS_RESOURCE and a seccomp "
			  "profile "
			  "that allows bpf(2)"
			: "use a kernel built with CONFIG_BPF_EVENTS=y and CONFIG_UPROBE_EVENTS=y";

	error_set(sentence, "kernel %s refuses to load a BPF program (%s): %s", features->release,
		  strerror(features->load_errno), advice);
}

/* Worst first. */
static const struct {
	bool (*is_missing)(const struct kernel_features *features);
	void (*explain)(const struct kernel_features *features, struct error *sentence);
} requirements[] = {
	{ lacks_privilege, explain_privilege },
	{ is_in_namespace, explain_namespace },
	{ lacks_btf, explain_btf },
	{ is_locked_down, explain_lockdown },
	{ lacks_load, explain_load },
	{ lacks_uprobe_privilege, explain_uprobe_privilege },
};

size_t kernel_features_missing(const struct kernel_features *features, struct error *sentences, size_t max)
{
	size_t cnt = 0;

	for (size_t i = 0; i < sizeof(requirements) / sizeof(requirements[0]); i++) {
		if (!requirements[i].is_missing(features))
			continue;
		if (cnt < max)
			requirements[i].explain(features, &sentences[cnt]);
		cnt++;
	}
	return cnt;
}
