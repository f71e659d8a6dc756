/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/frozen_targets.h"

#include <stdlib.h>
#include <string.h>

#include "attach/process/proc_status.h"

#define RECENT_SHIFT 3 /* what many processes may take is halved with each eight of them */

void frozen_targets_release(struct frozen_targets *set)
{
	free(set->targets);
	*set = (struct frozen_targets){ 0 };
}

static size_t recent_cnt(const struct frozen_targets *set, uint64_t now_ns)
{
	size_t cnt = 0;

	for (size_t i = 0; i < set->cnt; i++)
		cnt += now_ns - set->targets[i].since_ns < FROZEN_USER_NS;
	return cnt;
}

bool frozen_targets_refuse(const struct frozen_targets *set, pid_t pid, uint64_t now_ns)
{
	struct proc_status status;
	size_t of_user_cnt = 0;

	if (!set->cnt || proc_status_read(&status, pid))
		return false;
	for (size_t i = 0; i < set->cnt; i++) {
		const struct frozen_target *target = &set->targets[i];

		if (target->pid == pid && target->start_ticks == status.start_ticks)
			return true;
		of_user_cnt += target->uid == status.uid && now_ns - target->since_ns < FROZEN_USER_NS;
	}
	return of_user_cnt >= FROZEN_OF_USER_MAX;
}

static const struct slow_target *find_slow(const struct frozen_targets *set, pid_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < FROZEN_SLOW_MAX; i++)
		if (set->slow[i].pid == pid && set->slow[i].start_ticks == start_ticks)
			return &set->slow[i];
	return NULL;
}

static uint64_t waited_ns(const struct slow_target *slow, uint64_t now_ns)
{
	uint64_t forgiven_ns = slow ? (now_ns - slow->at_ns) >> FROZEN_FORGIVE_SHIFT : 0;

	return slow && slow->waited_ns > forgiven_ns ? slow->waited_ns - forgiven_ns : 0;
}

static uint64_t limit_ns(const struct frozen_targets *set, uint64_t now_ns)
{
	size_t halves = recent_cnt(set, now_ns) >> RECENT_SHIFT;

	return FROZEN_WAIT_NS >> (halves < 10 ? halves : 10);
}

uint64_t frozen_targets_left_ns(const struct frozen_targets *set, pid_t pid, uint64_t now_ns)
{
	struct proc_status status = { .start_ticks = 0 };
	uint64_t spent_ns, all_ns = limit_ns(set, now_ns);

	proc_status_read(&status, pid);
	spent_ns = waited_ns(find_slow(set, pid, status.start_ticks), now_ns);
	return spent_ns < all_ns ? all_ns - spent_ns : 0;
}

static const struct frozen_target *freeze(struct frozen_targets *set, pid_t pid,
					  const struct proc_status *status, uint64_t now_ns)
{
	struct frozen_target *grown = reallocarray(set->targets, set->cnt + 1, sizeof(*grown));

	if (!grown)
		return NULL;
	set->targets = grown;
	grown = &set->targets[set->cnt++];
	*grown = (struct frozen_target){
		.pid = pid, .uid = status->uid, .start_ticks = status->start_ticks, .since_ns = now_ns
	};
	memcpy(grown->comm, status->comm, sizeof(grown->comm));
	return grown;
}

const struct frozen_target *frozen_targets_wait(struct frozen_targets *set, pid_t pid, uint64_t more_ns,
						uint64_t now_ns)
{
	struct proc_status status = { .comm = "?" };
	struct slow_target *slow;
	uint64_t all_ns;

	proc_status_read(&status, pid);
	slow = (struct slow_target *)find_slow(set, pid, status.start_ticks);
	all_ns = waited_ns(slow, now_ns) + more_ns;
	if (all_ns >= limit_ns(set, now_ns))
		return freeze(set, pid, &status, now_ns);
	if (!slow) {
		slow = &set->slow[set->slow_idx];
		set->slow_idx = (set->slow_idx + 1) % FROZEN_SLOW_MAX;
	}
	*slow = (struct slow_target){
		.pid = pid, .start_ticks = status.start_ticks, .waited_ns = all_ns, .at_ns = now_ns
	};
	return NULL;
}
