/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/otlp_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE_UNKNOWN "unknown_service" /* as the specification of OpenTelemetry wants it */
#define SERVICE_VARIABLE "OTEL_SERVICE_NAME"

static void release_process(void *value)
{
	struct otlp_process *process = value;

	text_release(&process->service);
	text_release(&process->exe);
	text_release(&process->command);
	text_release(&process->container);
	text_release(&process->pod);
	text_release(&process->spans);
}

void otlp_processes_init(struct otlp_processes *processes)
{
	*processes = (struct otlp_processes){ .end = &processes->first };
	key_map_init(&processes->by_pid, sizeof(struct otlp_process), release_process);
}

void otlp_processes_release(struct otlp_processes *processes)
{
	key_map_release(&processes->by_pid);
}

/* What it runs goes behind the word for "not known", as the exporters of SDKs have it. */
static void set_service(struct otlp_process *process, struct txtrace_string comm)
{
	const char *given = getenv(SERVICE_VARIABLE), *slash = strrchr(text_string(&process->exe), '/');

	text_clear(&process->service);
	if (given && given[0]) {
		text_append(&process->service, given);
		return;
	}
	text_append(&process->service, SERVICE_UNKNOWN);
	if (process->exe.length > 0) {
		text_append(&process->service, ":");
		text_append(&process->service, slash ? slash + 1 : text_string(&process->exe));
	} else if (comm.length > 0) {
		text_append(&process->service, ":");
		text_append_bytes(&process->service, comm.bytes, comm.length);
	}
}

static void set(struct text *text, struct txtrace_string string)
{
	if (string.length == 0)
		return;
	text_clear(text);
	text_append_bytes(text, string.bytes, string.length);
}

/* Where a process is now; what is said as it ends does not say where it was. */
static void set_place(struct otlp_process *process, const struct txtrace_process *added)
{
	if (added->is_exit)
		return;
	text_clear(&process->container);
	text_append_bytes(&process->container, added->container.bytes, added->container.length);
	text_clear(&process->pod);
	text_append_bytes(&process->pod, added->pod.bytes, added->pod.length);
}

struct otlp_process *otlp_processes_get(struct otlp_processes *processes, uint32_t pid)
{
	bool is_new;
	struct otlp_process *process = key_map_add(&processes->by_pid, &pid, sizeof(pid), &is_new);

	if (process && is_new) {
		process->pid = pid;
		set_service(process, (struct txtrace_string){ 0 });
		*processes->end = process;
		processes->end = &process->next;
	}
	return process;
}

int otlp_processes_add(struct otlp_processes *processes, const struct txtrace_process *added)
{
	struct otlp_process *process = otlp_processes_get(processes, added->pid);

	if (!process)
		return -ENOMEM;
	process->has_ended = added->is_exit;
	process->inner_pid = added->inner_pid;
	set(&process->exe, added->exe);
	set(&process->command, added->command);
	set_service(process, added->comm);
	set_place(process, added);
	return process->exe.err || process->command.err || process->service.err || process->container.err ||
			       process->pod.err
		       ? -ENOMEM
		       : 0;
}

void otlp_processes_clear_spans(struct otlp_processes *processes)
{
	struct otlp_process **at = &processes->first, *process;

	while ((process = *at)) {
		uint32_t pid = process->pid;

		text_clear(&process->spans);
		if (process->has_ended) {
			*at = process->next;
			key_map_remove(&processes->by_pid, &pid, sizeof(pid));
		} else {
			at = &process->next;
		}
	}
	processes->end = at;
}

static struct txtrace_string string_of(const struct text *text)
{
	return (struct txtrace_string){ text_string(text), text->length };
}

void otlp_process_list(const struct otlp_process *process, struct otlp_list *list)
{
	otlp_list_add_string(list, "service.name", string_of(&process->service));
	otlp_list_add_int(list, "process.pid", process->pid);
	if (process->inner_pid && process->inner_pid != process->pid)
		otlp_list_add_int(list, "process.vpid", process->inner_pid);
	otlp_list_add_string(list, "process.executable.path", string_of(&process->exe));
	otlp_list_add_string(list, "process.command_line", string_of(&process->command));
	otlp_list_add_string(list, "container.id", string_of(&process->container));
	otlp_list_add_string(list, "k8s.pod.uid", string_of(&process->pod));
}
