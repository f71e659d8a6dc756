/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names under which a recorder leaves the files of its captures. With `-o
 * app.txtrace` the file that it writes is app.txtrace.partial; the last one of
 * a capture becomes app.txtrace; all before are app.000001.txtrace,
 * app.000002.txtrace, …, older ones of earlier captures first.
 */
#ifndef LOG_FAMILY_H
#define LOG_FAMILY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The name that was given to the recorder, of any of the family:
 * "app.txtrace.partial" and "app.000012.txtrace" give "app.txtrace". NULL: no
 * memory.
 */
char *log_family_base(const char *path);

/*
 * The file to begin with when `path` is to be followed: path.partial while a
 * recorder holds it, or if there is no `path`. NULL: no memory.
 */
char *log_family_live(const char *path);

/* A recorder is writing this file. */
bool log_family_is_held(const char *path);

/*
 * The file with this part of a capture, or, if there is none any more, with the
 * next one that there is: 1, *path to be freed, and *found says which; 0: there
 * is none; or a negative errno.
 */
int log_family_find(const char *base, const uint8_t capture_id[16], uint32_t part, char **path,
		    uint32_t *found);

#endif
