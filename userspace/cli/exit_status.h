/* SPDX-License-Identifier: BSD-2-Clause */
/* The paragraphs on exit status at the end of the help texts, for struct options. */
#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H

extern const char *const exit_status_notes[];      /* of commands that show a log */
extern const char *const exit_status_tool_notes[]; /* of commands that make a log out of logs */

#endif
