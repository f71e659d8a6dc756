/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Temporary files of queries and of database exports. They lie in the folder
 * that SQLite chooses for its own, so that a message can name it.
 */
#ifndef TEMPORARY_FILE_H
#define TEMPORARY_FILE_H

/* TMPDIR, or where SQLite goes if that is no folder that can be written; static, or of the environment. */
const char *temporary_folder(void);

/*
 * A new file in that folder, to be read and written. *path is the caller's,
 * to be freed; if path is NULL, the file has no name any more. Its descriptor
 * or a negative errno.
 */
int temporary_file_open(char **path);

#endif
