/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/target_rules.h"

#include <errno.h>
#include <limits.h>

static int add_pid(struct target_rules *rules, pid_t pid)
{
	for (size_t i = 0; i < rules->pid_cnt; i++)
		if (rules->pids[i] == pid)
			return 0;
	if (rules->pid_cnt == TARGET_PID_MAX)
		return -E2BIG;
	rules->pids[rules->pid_cnt++] = pid;
	return 0;
}

int target_rules_add_pids(struct target_rules *rules, const char *list)
{
	int err = 0;

	do {
		int64_t pid = 0;
		const char *begin = list;

		for (; *list >= '0' && *list <= '9'; list++)
			if ((pid = pid * 10 + (*list - '0')) > INT_MAX)
				return -EINVAL;
		if (list == begin || !pid || (*list && *list != ','))
			return -EINVAL;
		err = add_pid(rules, (pid_t)pid);
	} while (!err && *list++ == ',');
	return err;
}
