/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/target_start.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/foreign_spans.h"
#include "record/kernel/kernel_targets.h"
#include "record/recorder_state.h"
#include "record/target_exes.h"

/* ---- opening ---- */

static int add(struct recorder *recorder, struct target *target, struct error *error)
{
	int err = target_set_add(recorder->targets, target);

	if (err) {
		error_set(error, "cannot watch process %d: %s%s", target_pid(target), strerror(-err),
			  err == -EMFILE ? "; raise the limit with ulimit -n" : "");
		target_close(target);
	}
	return err;
}

static int put_process(void *context, const struct txtrace_record *record)
{
	struct recorder *recorder = context;

	return pipeline_put(recorder->pipeline, record);
}

/* Whoever ignores SIGCHLD, and some supervisors hand that down, never learns how a child ended. */
int target_start_open(struct recorder *recorder, struct error *error)
{
	const struct target_rules *rules = &recorder->options->targets;
	struct target *target;
	int err = 0;

	signal(SIGCHLD, SIG_DFL);
	recorder->targets = target_set_new(put_process, recorder);
	if (!recorder->targets) {
		error_set(error, "not enough memory to record");
		return -ENOMEM;
	}
	if (recorder->options->command) {
		err = target_launch(&target, (char *const *)recorder->options->command, error);
		return err ? err : add(recorder, target, error);
	}
	for (size_t i = 0; !err && i < rules->pid_cnt; i++) {
		err = target_open_pid(&target, rules->pids[i], error);
		if (!err)
			err = add(recorder, target, error);
	}
	return err;
}

void target_start_describe(const struct recorder *recorder, struct text *text)
{
	const struct target_rules *rules = &recorder->options->targets;
	const char *between = "";

	if (target_set_named_cnt(recorder->targets) == 1 && !target_rules_are_open(rules)) {
		text_append(text, target_command(target_set_named(recorder->targets, 0)));
		return;
	}
	for (size_t i = 0; i < rules->pid_cnt; i++, between = ", ")
		text_append_format(text, "%spid %d", between, rules->pids[i]);
	for (size_t i = 0; i < rules->comm_cnt; i++, between = ", ")
		text_append_format(text, "%scomm %s", between, rules->comms[i]);
	for (size_t i = 0; i < rules->exe_cnt; i++, between = ", ")
		text_append_format(text, "%sexe %s", between, rules->exes[i]);
	for (size_t i = 0; i < rules->cgroup_cnt; i++, between = ", ")
		text_append_format(text, "%scgroup %s", between, rules->cgroups[i]);
	if (rules->is_any)
		text_append_format(text, "%sall processes", between);
}

/* ---- telling ---- */

struct cgroup_look {
	struct cgroup_identity *identity;
	const char *path;
	struct error *error;
};

static int look_at_cgroup(void *context)
{
	const struct cgroup_look *look = context;

	return cgroup_identity_of_path(look->identity, look->path, look->error);
}

static int tell_cgroup(struct recorder *recorder, const char *path, struct error *error)
{
	struct cgroup_identity identity;
	struct cgroup_look look = { &identity, path, error };
	int err = caller_do(recorder->options->caller, look_at_cgroup, &look);

	return err ? err : kernel_targets_add_cgroup(kernel_side_bpf(recorder->kernel), &identity, error);
}

int target_start_tell(struct recorder *recorder, struct error *error)
{
	const struct target_rules *rules = &recorder->options->targets;
	int err = 0;

	for (size_t i = 0; !err && i < target_set_named_cnt(recorder->targets); i++)
		err = kernel_targets_add(kernel_side_bpf(recorder->kernel),
					 (uint32_t)target_pid(target_set_named(recorder->targets, i)), error);
	for (size_t i = 0; !err && i < rules->comm_cnt; i++)
		err = kernel_targets_add_comm(kernel_side_bpf(recorder->kernel), rules->comms[i], error);
	if (!err)
		err = target_exes_tell(recorder, error);
	for (size_t i = 0; !err && i < rules->cgroup_cnt; i++)
		err = tell_cgroup(recorder, rules->cgroups[i], error);
	return err;
}

/*
 * Its pid may be another's by now, who was not meant. From the moment on at which the events flow, the kernel
 * side forgets it by itself.
 */
static void untarget(void *context, pid_t pid)
{
	struct recorder *recorder = context;

	kernel_targets_remove(kernel_side_bpf(recorder->kernel), (uint32_t)pid);
}

/*
 * Threads are listed in the order of their numbers: a child whose number is below that of its parent is met
 * before its parent is known.
 */
int target_start_seed(struct recorder *recorder, struct error *error)
{
	size_t known_cnt;
	int err;

	target_set_reap(recorder->targets, untarget, recorder);
	do {
		known_cnt = target_set_cnt(recorder->targets);
		err = kernel_side_seed(recorder->kernel, error);
		if (!err)
			err = recorder_drain(recorder);
	} while (!err && recorder->options->targets.follows_children &&
		 target_set_cnt(recorder->targets) > known_cnt);
	return err;
}

/* ---- attaching ---- */

static int refuse_unmarked(struct recorder *recorder, struct error *error)
{
	const struct target *target = target_set_named(recorder->targets, 0);
	size_t cnt = target_set_named_cnt(recorder->targets);
	char others[256], who[160];

	probe_providers_text(attach_providers(recorder->attach), others, sizeof(others));
	if (cnt == 1)
		snprintf(who, sizeof(who), "process %d ('%s') has", target_pid(target), target_comm(target));
	else
		snprintf(who, sizeof(who), "none of the %zu processes has", cnt);
	error_set(error,
		  "%s%s txtrace probes; %s %s; add the macros of txtrace.h to the program, or name probes "
		  "with --span, functions with --func",
		  who, cnt == 1 ? " no" : "", cnt == 1 ? "it has" : "they have",
		  *others ? others : "no other USDT probes either");
	return -ENOENT;
}

/* What was asked for of programs that were never changed. */
static int check_foreign(struct recorder *recorder, size_t attached_cnt, struct error *error)
{
	char others[256];

	probe_providers_text(attach_providers(recorder->attach), others, sizeof(others));
	return foreign_spans_check(recorder->foreign, (int)attached_cnt,
				   target_pid(target_set_named(recorder->targets, 0)), others,
				   recorder->messages, error);
}

/*
 * As attach_scan, and -EAGAIN: the process runs and has nothing of a program, as in the midst of an exec. The
 * kernel side tells when that is done. The pid of a process that has ended meanwhile may be another one's by
 * now, which was not meant.
 */
static int attach_one(struct recorder *recorder, const struct target *target, struct error *error)
{
	int result = attach_scan(recorder->attach, target_pid(target), error);

	if (target_is_running(target))
		return result == -ESRCH ? -EAGAIN : result;
	attach_forget(recorder->attach, target_pid(target), UINT64_MAX);
	return -ESRCH;
}

/*
 * Those that were named. One that ends meanwhile has a normal end. If a file is put off, it is not known yet
 * whether they have probes.
 */
static int attach_named(struct recorder *recorder, struct error *error)
{
	size_t attached_cnt = 0, ended_cnt = 0, exec_cnt = 0, cnt = target_set_named_cnt(recorder->targets);
	int err = 0;

	for (size_t i = 0; i < cnt; i++) {
		int result;

		child_count_add(&recorder->children, target_pid(target_set_named(recorder->targets, i)));
		result = attach_one(recorder, target_set_named(recorder->targets, i), error);

		attached_cnt += result > 0;
		ended_cnt += result == -ESRCH;
		exec_cnt += result == -EAGAIN;
		if (result < 0 && result != -ESRCH && result != -EAGAIN)
			err = result;
	}
	recorder->is_target_gone = ended_cnt == cnt && !target_rules_are_open(&recorder->options->targets);
	if (recorder->options->wants_threads)
		return err;
	/* what is shared is attached for the first alone; others may come */
	if (target_rules_want_every_process(&recorder->options->targets) ||
	    attach_has_put_off(recorder->attach))
		return 0;
	if (recorder->foreign && !err && !recorder->is_target_gone && !exec_cnt)
		return check_foreign(recorder, attached_cnt, error);
	if (attached_cnt || ended_cnt || exec_cnt || recorder->otel)
		return 0;
	return err ? err : refuse_unmarked(recorder, error);
}

static int attach_launched(struct recorder *recorder, struct error *error)
{
	struct target *target = target_set_named(recorder->targets, 0);
	int cnt = 0;

	if (!target_can_be_held(target))
		cnt = attach_command(recorder->attach, target, error);
	if (cnt >= 0)
		cnt = target_go(target, &recorder->exit_status, error);
	if (cnt < 0)
		return cnt;
	cnt = attach_scan(recorder->attach, target_pid(target), error);
	/* it may have been met when the threads were listed, and nobody waits for it any more */
	if (!target_is_running(target))
		recorder->is_target_gone = !target_rules_are_open(&recorder->options->targets);
	return cnt < 0 && cnt != -ESRCH ? cnt : 0;
}

/* Executables that nobody runs yet: their first span is not missed. */
static int attach_exes(struct recorder *recorder, struct error *error)
{
	const struct target_rules *rules = &recorder->options->targets;
	int cnt = 0;

	for (size_t i = 0; cnt >= 0 && i < rules->exe_cnt; i++)
		cnt = target_exes_attach(recorder, i, error);
	return cnt < 0 ? cnt : 0;
}

int target_start_attach(struct recorder *recorder, struct error *error)
{
	const struct target_rules *rules = &recorder->options->targets;
	int err = 0;

	if (recorder->options->command)
		return attach_launched(recorder, error);
	if (rules->pid_cnt)
		err = attach_named(recorder, error);
	if (!err)
		err = attach_exes(recorder, error);
	if (!err && target_rules_want_every_process(rules))
		attach_watch_scan_all(recorder->watch);
	return err;
}
