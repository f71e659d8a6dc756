/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which processes are traced, as the user says it: some by name (pids), others
 * by a rule that holds for processes that run now and for those to come. A
 * child follows its parent only with follows_children.
 */
#ifndef TARGET_RULES_H
#define TARGET_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TARGET_PID_MAX 1024
#define TARGET_RULE_MAX 64 /* of each kind */

struct target_rules {
	pid_t pids[TARGET_PID_MAX]; /* no two alike */
	size_t pid_cnt;
	const char *comms[TARGET_RULE_MAX]; /* strings are the command line's */
	size_t comm_cnt;
	const char *exes[TARGET_RULE_MAX];
	size_t exe_cnt;
	const char *cgroups[TARGET_RULE_MAX];
	size_t cgroup_cnt;
	bool follows_children;
	bool is_any; /* whoever meets a probe */
};

/*
 * Besides those that are named, others become targets while it records; it goes
 * on when those that are named have ended.
 */
static inline bool target_rules_are_open(const struct target_rules *rules)
{
	return rules->comm_cnt || rules->exe_cnt || rules->cgroup_cnt || rules->is_any;
}

/* Processes that are not known yet may be traced: probes have to be there before them. */
static inline bool target_rules_want_every_process(const struct target_rules *rules)
{
	return rules->follows_children || target_rules_are_open(rules);
}

/* "1,22,333": adds them. -EINVAL: something else stands there; -E2BIG: too many. */
int target_rules_add_pids(struct target_rules *rules, const char *list);

#endif
