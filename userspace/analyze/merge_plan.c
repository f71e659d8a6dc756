/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/merge_plan.h"

#include <string.h>

#include "base/saturating.h"
#include "base/sha256.h"

static bool is_same_id(const uint8_t a[16], const uint8_t b[16])
{
	static const uint8_t unknown[16];

	return memcmp(a, b, 16) == 0 && memcmp(a, unknown, 16) != 0;
}

/*
 * The first source of the same capture, or of the same boot, as this one; it itself if there is none before
 * it.
 */
static size_t first_of_capture(const struct merge_source *sources, size_t idx)
{
	size_t first = 0;

	while (first < idx && !is_same_id(sources[first].info.capture_id, sources[idx].info.capture_id))
		first++;
	return first;
}

static size_t first_of_boot(const struct merge_source *sources, size_t idx)
{
	size_t first = 0, of_capture = first_of_capture(sources, idx);

	if (of_capture < idx)
		return first_of_boot(sources, of_capture);
	while (first < idx && !is_same_id(sources[first].info.boot_id, sources[idx].info.boot_id))
		first++;
	return first;
}

static bool has_clock(const struct merge_source *source)
{
	return source->clock_ns != 0 || source->is_realtime;
}

static enum merge_refusal place(const struct merge_source *sources, size_t idx, const struct id_shift *shifts,
				uint64_t *time_ns)
{
	size_t boot = first_of_boot(sources, idx);

	*time_ns = boot < idx ? shifts[boot].time_ns : 0;
	if (boot < idx || idx == 0)
		return MERGE_ACCEPTED;
	if (!has_clock(&sources[idx]) || !has_clock(&sources[0]))
		return MERGE_CLOCK_UNKNOWN;
	*time_ns = sources[idx].clock_ns - sources[0].clock_ns + (uint64_t)sources[idx].correction_ns;
	return (int64_t)(sources[idx].begin_ns + *time_ns) < 0 ? MERGE_BEFORE_BOOT : MERGE_ACCEPTED;
}

/* ---- the header of the result ---- */

/* "a", "a, b": each once, as far as there is room. */
static void join(char *to, size_t size, const char *what)
{
	size_t length = strlen(to), more = strlen(what);
	const char *found = more > 0 ? strstr(to, what) : to;

	while (found && more > 0 &&
	       !((found == to || found[-1] == ' ') && (found[more] == ',' || !found[more])))
		found = strstr(found + 1, what);
	if (found)
		return;
	if (length > 0 && length + 2 + more < size) {
		memcpy(to + length, ", ", 2);
		length += 2;
	}
	if (length + more < size)
		memcpy(to + length, what, more + 1);
}

static void join_strings(struct txtrace_log_info *info, const struct txtrace_log_info *other)
{
	join(info->host, sizeof(info->host), other->host);
	join(info->kernel, sizeof(info->kernel), other->kernel);
	join(info->command, sizeof(info->command), other->command);
	join(info->recorder, sizeof(info->recorder), other->recorder);
	join(info->options, sizeof(info->options), other->options);
}

/* The moment at which the first of them began, on the clock of the result. */
static void start_at(struct txtrace_log_info *info, const struct merge_source *sources, uint64_t begin_ns)
{
	if (begin_ns >= info->start_monotonic_ns && info->start_monotonic_ns > 0)
		return;
	info->start_monotonic_ns = begin_ns;
	info->start_realtime_ns = begin_ns + sources[0].clock_ns;
}

static void make_info(struct merge_plan *plan, const struct merge_source *sources, size_t cnt)
{
	struct txtrace_log_info *info = &plan->info;
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha256;

	*info = sources[0].info;
	if (cnt == 1)
		return;
	sha256_init(&sha256);
	for (size_t i = 0; i < cnt; i++) {
		const struct txtrace_log_info *other = &sources[i].info;

		if (first_of_capture(sources, i) == i)
			sha256_update(&sha256, other->capture_id, sizeof(other->capture_id));
		if (i > 0 && first_of_boot(sources, i) == i)
			info->cpu_cnt += other->cpu_cnt;
		if (other->pid != info->pid)
			info->pid = 0;
		join_strings(info, other);
		start_at(info, sources, sources[i].begin_ns + plan->shifts[i].time_ns);
	}
	sha256_final(&sha256, digest);
	if (plan->capture_cnt > 1) {
		info->pid = 0;
		memcpy(info->capture_id, digest, sizeof(info->capture_id));
	}
}

/* ---- the plan ---- */

enum merge_refusal merge_plan_make(struct merge_plan *plan, const struct merge_source *sources, size_t cnt)
{
	size_t boot_cnt = 0;

	plan->capture_cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		size_t capture = first_of_capture(sources, i), boot = first_of_boot(sources, i);
		struct id_shift *shift = &plan->shifts[i];
		enum merge_refusal refusal;

		*shift = (struct id_shift){ .pid_range = capture < i ? plan->shifts[capture].pid_range
								     : (uint32_t)plan->capture_cnt++,
					    .cpu_range = boot < i ? plan->shifts[boot].cpu_range
								  : (uint32_t)boot_cnt++ };
		refusal = plan->capture_cnt > ID_SHIFT_RANGES
				  ? MERGE_TOO_MANY
				  : place(sources, i, plan->shifts, &shift->time_ns);
		if (refusal) {
			plan->refused = i;
			return refusal;
		}
	}
	for (size_t i = 0; i < cnt; i++)
		plan->shifts[i].is_alone = plan->capture_cnt == 1;
	make_info(plan, sources, cnt);
	return MERGE_ACCEPTED;
}

void merge_summary_add(struct txtrace_summary *sum, const struct txtrace_summary *summary)
{
	if (summary->time_ns > sum->time_ns)
		sum->time_ns = summary->time_ns;
	increase(&sum->sent_cnt, summary->sent_cnt);
	increase(&sum->received_cnt, summary->received_cnt);
	increase(&sum->lost_cnt, summary->lost_cnt);
	increase(&sum->lost_clocks_cnt, summary->lost_clocks_cnt);
	increase(&sum->late_cnt, summary->late_cnt);
	increase(&sum->memory_process_cnt, summary->memory_process_cnt);
	increase(&sum->unread_process_cnt, summary->unread_process_cnt);
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		increase(&sum->anomaly_cnt[i], summary->anomaly_cnt[i]);
	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		increase(&sum->left_out_cnt[i], summary->left_out_cnt[i]);
}
