/* SPDX-License-Identifier: BSD-2-Clause */
/* Which files a command will be run from, told before it runs. */
#ifndef COMMAND_PATH_H
#define COMMAND_PATH_H

/* Return non-zero to stop. */
typedef int (*command_path_visit)(void *context, const char *path);

/*
 * Finds argv[0] as execvp does (PATH, unless it has a slash) and calls visit
 * with its path; then, if that is a script, with the interpreter that its first
 * line names (a program behind /usr/bin/env too), and so on. A guess: what is
 * not found or cannot be read ends the chain. Returns what visit returned, or
 * 0.
 */
int command_path_each(char *const argv[], command_path_visit visit, void *context);

#endif
