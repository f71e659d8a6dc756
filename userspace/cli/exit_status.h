/* SPDX-License-Identifier: BSD-2-Clause */
/* The paragraph on exit status at the end of the help text of each command that reads a log. */
#ifndef EXIT_STATUS_H
#define EXIT_STATUS_H

extern const char *const exit_status_notes[]; /* for struct options */

#endif
