/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/record_strings.h"

struct record_strings record_strings_of(const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return (struct record_strings){ &record->span.label, { &record->span.tag, &record->span.key } };
	case TXTRACE_RECORD_WAKE:
		return (struct record_strings){ &record->wake.waker_comm, { NULL, NULL } };
	case TXTRACE_RECORD_THREAD:
		return (struct record_strings){ &record->thread.comm, { NULL, NULL } };
	case TXTRACE_RECORD_ATTRIBUTE:
		return (struct record_strings){ &record->attribute.name, { &record->attribute.string, NULL } };
	case TXTRACE_RECORD_INSTANT:
		return (struct record_strings){ &record->instant.name, { NULL, NULL } };
	case TXTRACE_RECORD_COUNTER:
		return (struct record_strings){ &record->counter.name, { NULL, NULL } };
	case TXTRACE_RECORD_LINK:
		return (struct record_strings){ &record->link.name, { NULL, NULL } };
	case TXTRACE_RECORD_OBJECT:
		return (struct record_strings){ NULL, { &record->object.name, NULL } };
	case TXTRACE_RECORD_FRAMES:
		return (struct record_strings){ NULL, { &record->frames.names, NULL } };
	case TXTRACE_RECORD_OTHER_RUN:
		return (struct record_strings){ &record->other_run.comm, { NULL, NULL } };
	case TXTRACE_RECORD_COST:
		return (struct record_strings){ &record->cost.event, { NULL, NULL } };
	case TXTRACE_RECORD_PROCESS:
		return (struct record_strings){ &record->process.comm, { &record->process.exe, &record->process.command } };
	case TXTRACE_RECORD_TRIGGER:
		return (struct record_strings){ &record->trigger.label, { &record->trigger.rule, NULL } };
	case TXTRACE_RECORD_OPEN_SPAN:
		return (struct record_strings){ &record->open_span.label, { &record->open_span.key, NULL } };
	default:
		return (struct record_strings){ NULL, { NULL, NULL } };
	}
}
