/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/invoking_user.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUP_MAX 65536 /* NGROUPS_MAX of the kernel */

static int parse_id(const char *text, uint32_t *id)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || value >= UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)value;
	return 0;
}

static int read_groups(struct invoking_user *user, const char *name)
{
	int cnt = 64;

	for (;;) {
		gid_t *grown = reallocarray(user->groups, (size_t)cnt, sizeof(*grown));
		int room = cnt;

		if (!grown)
			return -ENOMEM;
		user->groups = grown;
		if (getgrouplist(name, user->gid, user->groups, &cnt) >= 0)
			break;
		cnt = cnt > room ? cnt : room * 2;
		if (cnt > GROUP_MAX)
			return -EINVAL;
	}
	user->group_cnt = (size_t)cnt;
	return 0;
}

/* A user whom the machine does not know (any more) has the one group. */
static int read_one_group(struct invoking_user *user)
{
	user->groups = malloc(sizeof(*user->groups));
	if (!user->groups)
		return -ENOMEM;
	user->groups[0] = user->gid;
	user->group_cnt = 1;
	return 0;
}

static bool is_replaced(const struct invoking_user *user, const char *variable)
{
	static const char *const names[] = { "HOME=",	  "USER=",	"LOGNAME=",	"SUDO_UID=",
					     "SUDO_GID=", "SUDO_USER=", "SUDO_COMMAND=" };

	for (size_t i = 0; user->is_other && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static int make_environment(struct invoking_user *user)
{
	size_t cnt = 0, own_cnt = sizeof(user->strings) / sizeof(user->strings[0]);

	while (environ && environ[cnt])
		cnt++;
	user->environment = calloc(cnt + own_cnt + 1, sizeof(*user->environment));
	if (!user->environment)
		return -ENOMEM;
	cnt = 0;
	for (char **variable = environ; variable && *variable; variable++)
		if (!is_replaced(user, *variable))
			user->environment[cnt++] = *variable;
	for (size_t i = 0; i < own_cnt; i++)
		if (user->strings[i])
			user->environment[cnt++] = user->strings[i];
	return 0;
}

static int read_account(struct invoking_user *user)
{
	const struct passwd *account = getpwuid(user->uid);

	if (!account)
		return read_one_group(user);
	if (asprintf(&user->strings[0], "HOME=%s", account->pw_dir) < 0 ||
	    asprintf(&user->strings[1], "USER=%s", account->pw_name) < 0 ||
	    asprintf(&user->strings[2], "LOGNAME=%s", account->pw_name) < 0)
		return -ENOMEM;
	return read_groups(user, account->pw_name);
}

int invoking_user_read(struct invoking_user *user)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");
	int err = 0;

	memset(user, 0, sizeof(*user));
	if (uid && gid && getuid() == 0 && geteuid() == 0) {
		err = parse_id(uid, &user->uid);
		if (!err)
			err = parse_id(gid, &user->gid);
		user->is_other = !err && user->uid != 0;
	}
	if (!err && user->is_other)
		err = read_account(user);
	if (!err)
		err = make_environment(user);
	if (err)
		invoking_user_release(user);
	return err;
}

void invoking_user_release(struct invoking_user *user)
{
	for (size_t i = 0; i < sizeof(user->strings) / sizeof(user->strings[0]); i++)
		free(user->strings[i]);
	free(user->groups);
	free(user->environment);
	memset(user, 0, sizeof(*user));
}

int invoking_user_become(const struct invoking_user *user)
{
	if (!user->is_other)
		return 0;
	if (setgroups(user->group_cnt, user->groups) < 0 || setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return -errno;
	return 0;
}
