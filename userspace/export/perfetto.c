/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Perfetto's own format: protobuf, track events (perfetto.proto). The begin and the end of a slice are
 * written together, each with its time: the viewer sorts. Its time is CLOCK_MONOTONIC, as in the log; a clock
 * snapshot tells the wall clock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/formats.h"
#include "export/perfetto_packet.h"
#include "export/perfetto_sched.h"
#include "export/picture.h"

struct perfetto {
	struct packet_writer *writer;
	struct perfetto_sched sched;
};

/* ---- rows ---- */

static int perfetto_row(void *canvas, const struct picture_row *row)
{
	struct packet_writer *writer = ((struct perfetto *)canvas)->writer;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	Perfetto__TrackDescriptor *track = packet_track(writer);
	char *name = row->name.length > 0 ? packet_text(writer, row->name, false) : NULL;

	track->has_uuid = true;
	track->uuid = row->id;
	track->has_parent_uuid = row->parent != 0;
	track->parent_uuid = row->parent;
	switch (row->kind) {
	case ROW_PROCESS:
		track->process = &process;
		process.has_pid = true;
		process.pid = (int32_t)row->pid;
		process.process_name = name;
		break;
	case ROW_THREAD:
		track->thread = &thread;
		thread.has_pid = true;
		thread.pid = (int32_t)row->pid;
		thread.has_tid = true;
		thread.tid = (int32_t)row->tid;
		thread.thread_name = name;
		break;
	case ROW_COUNTER:
		track->counter = &counter;
		track->name = name;
		break;
	case ROW_STATES:
	case ROW_LANE:
		track->name = name;
		break;
	}
	return packet_write(writer);
}

/* ---- shapes ---- */

static int perfetto_draw(void *canvas, const struct shape *shape)
{
	static const Perfetto__TrackEvent__Type types[] = {
		[SHAPE_SLICE] = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
		[SHAPE_INSTANT] = PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT,
		[SHAPE_COUNT] = PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER,
	};
	struct packet_writer *writer = ((struct perfetto *)canvas)->writer;
	Perfetto__TrackEvent *event;
	int err;

	packet_begin(writer, shape->begin_ns);
	event = packet_event(writer, types[shape->kind], shape->row->id);
	if (shape->kind == SHAPE_COUNT) {
		event->has_counter_value = true;
		event->counter_value = shape->value;
		return packet_write(writer);
	}
	packet_category(writer, shape->category);
	packet_name(writer, shape->name);
	packet_args(writer, shape->args, shape->arg_cnt);
	event->n_flow_ids = shape->flow_cnt;
	event->flow_ids = (uint64_t *)shape->flows; /* only read */
	err = packet_write(writer);
	if (err || shape->kind != SHAPE_SLICE)
		return err;
	packet_begin(writer, shape->end_ns);
	packet_event(writer, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, shape->row->id);
	return packet_write(writer);
}

static int perfetto_run(void *canvas, const struct thread_run *run)
{
	return perfetto_sched_run(&((struct perfetto *)canvas)->sched, run);
}

static int perfetto_finish(void *canvas)
{
	(void)canvas;
	return 0;
}

static void perfetto_free(void *canvas)
{
	struct perfetto *perfetto = canvas;

	packet_writer_free(perfetto->writer);
	free(perfetto);
}

static const struct canvas_ops perfetto_canvas = {
	.row = perfetto_row,
	.draw = perfetto_draw,
	.run = perfetto_run,
	.finish = perfetto_finish,
	.free = perfetto_free,
};

/* ---- the beginning ---- */

static int write_clocks(struct packet_writer *writer, const struct txtrace_log_info *info)
{
	Perfetto__Clock realtime = PERFETTO__CLOCK__INIT, monotonic = PERFETTO__CLOCK__INIT;
	Perfetto__Clock raw = PERFETTO__CLOCK__INIT;
	Perfetto__Clock *clocks[] = { &monotonic, &realtime, &raw };
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;

	monotonic.has_clock_id = monotonic.has_timestamp = true;
	monotonic.clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC;
	monotonic.timestamp = info->start_monotonic_ns;
	realtime.has_clock_id = realtime.has_timestamp = true;
	realtime.clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME;
	realtime.timestamp = info->start_realtime_ns;
	/* the clock of the scheduler's events, which cannot have the monotonic one: the times are the same */
	raw.has_clock_id = raw.has_timestamp = true;
	raw.clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC_RAW;
	raw.timestamp = info->start_monotonic_ns;
	snapshot.n_clocks = sizeof(clocks) / sizeof(clocks[0]);
	snapshot.clocks = clocks;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC;
	packet_begin(writer, info->start_monotonic_ns)->clock_snapshot = &snapshot;
	return packet_write(writer);
}

static int write_system(struct packet_writer *writer, const struct txtrace_log_info *info)
{
	Perfetto__Utsname utsname = PERFETTO__UTSNAME__INIT;
	Perfetto__SystemInfo system = PERFETTO__SYSTEM_INFO__INIT;
	Perfetto__TraceUuid uuid = PERFETTO__TRACE_UUID__INIT;
	Perfetto__TracePacket *packet = packet_begin(writer, info->start_monotonic_ns);
	size_t length = strnlen(info->kernel, sizeof(info->kernel));
	const char *blank = memrchr(info->kernel, ' ', length); /* release and machine */
	size_t release = blank ? (size_t)(blank - info->kernel) : length;
	int err;

	utsname.sysname = packet_text(writer, (struct txtrace_string){ "Linux", strlen("Linux") }, false);
	utsname.release = packet_text(writer, (struct txtrace_string){ info->kernel, release }, false);
	if (blank)
		utsname.machine = packet_text(writer,
					      (struct txtrace_string){ blank + 1, length - release - 1 },
					      false);
	system.utsname = &utsname;
	system.has_num_cpus = true;
	system.num_cpus = info->cpu_cnt;
	packet->system_info = &system;
	err = packet_write(writer);
	if (err)
		return err;
	for (int i = 0; i < 8; i++) { /* most significant first, as a UUID is written */
		uuid.msb = (int64_t)((uint64_t)uuid.msb << 8 | info->capture_id[i]);
		uuid.lsb = (int64_t)((uint64_t)uuid.lsb << 8 | info->capture_id[8 + i]);
	}
	uuid.has_msb = uuid.has_lsb = true;
	packet_begin(writer, info->start_monotonic_ns)->trace_uuid = &uuid;
	return packet_write(writer);
}

static int perfetto_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct perfetto *perfetto = calloc(1, sizeof(*perfetto));
	struct picture *picture;
	int err;

	if (!perfetto)
		return -ENOMEM;
	perfetto->writer = packet_writer_new(out);
	if (!perfetto->writer) {
		free(perfetto);
		return -ENOMEM;
	}
	perfetto_sched_init(&perfetto->sched, perfetto->writer, info->kernel);
	picture = picture_new(&perfetto_canvas, perfetto, info);
	if (!picture)
		return -ENOMEM;
	*state = picture;
	err = write_clocks(perfetto->writer, info);
	return err ? err : write_system(perfetto->writer, info);
}

static void perfetto_tell(const void *state, export_say *say, void *context)
{
	static const char *const names[] = {
		"runs on an unknown CPU, which are slices and not in thread_state"
	};
	const struct perfetto *perfetto = picture_canvas(state);

	export_tell_counts(names, &perfetto->sched.no_cpu_cnt, 1, say, context);
}

const struct export_format format_perfetto = {
	.name = "perfetto",
	.help = "protobuf for ui.perfetto.dev: spans, thread states, counters, wakeups, losses",
	.suffix = ".pftrace",
	.is_binary = true,
	.open = perfetto_open,
	.survey = picture_survey,
	.span = picture_span,
	.run = picture_run,
	.wake = picture_wake,
	.thread = picture_thread,
	.attribute = picture_attribute,
	.instant = picture_instant,
	.counter = picture_counter,
	.link = picture_link,
	.open_span = picture_open_span,
	.loss = picture_loss,
	.dropped = picture_dropped,
	.damage = picture_damage,
	.finish = picture_finish,
	.tell = perfetto_tell,
	.free = picture_free,
};
