/* SPDX-License-Identifier: BSD-2-Clause */
/* What the recorder and its helpers give up, each at its moment. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/process/capabilities.h"
#include "attach/code/cxx_name.h"
#include "base/named_output.h"
#include "record/options/log_place.h"
#include "record/recorder_state.h"
#include "record/sandbox/short_slice.h"

static int close_log(void *context)
{
	struct recorder *recorder = context;

	return log_writer_close(recorder->log);
}

static int abort_log(void *context)
{
	struct recorder *recorder = context;

	log_writer_abort(recorder->log);
	return 0;
}

int recorder_end_log(struct recorder *recorder, int err)
{
	if (!recorder->log)
		return err;
	if (!err)
		err = caller_do(recorder->options->caller, close_log, recorder);
	else
		caller_do(recorder->options->caller, abort_log, recorder);
	recorder->log = NULL;
	return err;
}

const char *recorder_explain_output(const struct recorder *recorder, int err)
{
	if (err == -EACCES || err == -EPERM)
		return caller_explain(recorder->options->caller, err);
	return named_output_explain(err);
}

static int find_log_path(void *context)
{
	struct recorder *recorder = context;

	return log_place_path(recorder->options->output, recorder->log_path, sizeof(recorder->log_path));
}

int recorder_plan_restraint(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	const struct privileges_needs needs = {
		.features = &recorder->features,
		.log_path = recorder->log_path,
		.metrics_file = options->metrics_file,
		.has_command = options->command != NULL,
		.has_caller = caller_is_other(options->caller),
	};
	struct error lacking = { "" };
	int err = caller_do(options->caller, find_log_path, recorder);

	if (err) {
		error_set(error, "cannot write the log '%s': %s; choose another file with -o",
			  options->output, recorder_explain_output(recorder, err));
		return err;
	}
	privileges_plan(&recorder->privileges, &needs);
	if (privileges_lacking(&recorder->privileges, &lacking))
		messages_say(recorder->messages, MESSAGE_WARNING, "privileges", "%s", lacking.text);
	return 0;
}

/* A process that cannot give up what it has is as good as before, and has nothing to say it with. */
void recorder_restrain_trial(void *context)
{
	const struct recorder *recorder = context;

	if (recorder->options->is_unconfined)
		return;
	capabilities_keep(recorder->privileges.timing);
	confinement_begin_trial();
}

void recorder_restrain_symbols(void *context)
{
	const struct recorder *recorder = context;

	if (!recorder->options->is_unconfined)
		confinement_begin_symbols();
}

void recorder_restrain_metrics(void *context)
{
	const struct recorder *recorder = context;

	if (!recorder->options->is_unconfined)
		confinement_begin_metrics();
}

void recorder_restrain_reader(void *context, int socket_fd)
{
	const struct recorder *recorder = context;

	if (!recorder->options->is_unconfined)
		confinement_begin_reader(socket_fd);
}

void recorder_restrain_log(void *context)
{
	const struct recorder *recorder = context;

	short_slice_take();
	if (!recorder->options->is_unconfined)
		capabilities_keep(recorder->privileges.writing);
}

void recorder_restrain(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	const struct confinement_options confinement = {
		.handler = recorder->confinement,
		.has_uprobe_multi = recorder->features.has_uprobe_multi,
		.may_fork = options->foreign.func_cnt || options->foreign.span_cnt,
		.command_fd = options->command ? target_poll_fd(target_set_named(recorder->targets, 0)) : -1,
	};
	int err;

	short_slice_take();
	if (options->is_unconfined)
		return;
	if (confinement.may_fork)
		cxx_names_prepare();
	err = capabilities_keep(recorder->privileges.recording);
	if (err)
		messages_say(recorder->messages, MESSAGE_WARNING, "confinement",
			     "cannot give up capabilities: %s", strerror(-err));
	err = confinement_begin(&confinement);
	if (err)
		messages_say(recorder->messages, MESSAGE_WARNING, "confinement",
			     "the recorder is not confined, seccomp does not work here: %s", strerror(-err));
}

void recorder_tell_unread(struct recorder *recorder)
{
	struct elf_reader_news news;
	struct message_field fields[2] = { { "file", NULL, 0 }, { "unreadable", NULL, 0 } };
	char others[64] = "";

	if (!elf_reader_take_news(recorder->elf_reader, &news))
		return;
	fields[0].text = news.path;
	fields[1].number = news.file_cnt;
	if (news.file_cnt > 1)
		snprintf(others, sizeof(others), " and %llu more", (unsigned long long)news.file_cnt - 1);
	messages_tell(recorder->messages, MESSAGE_WARNING, "unreadable_file", fields, 2,
		      "no probes were looked for in '%s'%s: %s", news.path, others, news.why);
}

void recorder_tell_held(struct recorder *recorder)
{
	struct message_field field = { "file", attach_take_held_path(recorder->attach), 0 };

	if (field.text)
		messages_tell(recorder->messages, MESSAGE_WARNING, "held", &field, 1,
			      "the kernel cannot attach probes to '%s': a process that has mapped it holds "
			      "the lock of its memory; until it lets go, no new program or library is traced",
			      field.text);
	free((char *)field.text);
}

void recorder_tell_refused(struct recorder *recorder)
{
	const struct confinement_tally *tally = recorder->confinement->tally;
	uint64_t cnt = __atomic_load_n(&tally->cnt, __ATOMIC_RELAXED);
	int nr = __atomic_load_n(&tally->last_nr, __ATOMIC_RELAXED);
	const struct message_field field = { "refused", NULL, cnt - recorder->refused_cnt };
	char *name;

	if (cnt == recorder->refused_cnt)
		return;
	name = confinement_call_name(nr);
	messages_tell(recorder->messages, MESSAGE_WARNING, "confinement", &field, 1,
		      "%llu system calls that recording does not take were refused, the last of them %s "
		      "(%d): please report it; --no-confine lets them be",
		      (unsigned long long)field.number, name ? name : "one without a name", nr);
	free(name);
	recorder->refused_cnt = cnt;
}
