/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace of the Filecoin virtual machine as text: Rust's debug format of an event on each line. */
#ifndef FVM_TEXT_H
#define FVM_TEXT_H

#include "base/error.h"
#include "import/fvm_story.h"

/*
 * 1: the event is told; 0: it is none that is known; -EBADMSG: it is, and can't
 * be read, which the error explains; or what the story failed with.
 */
int fvm_text_line(struct fvm_story *story, const char *line, size_t length, struct error *error);

/* Whether a line begins with an event that is known. */
bool fvm_text_is_event(const char *line, size_t length);

#endif
