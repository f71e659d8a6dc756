/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a ring's file, which can be read at any place. A file that is
 * not packed is read where it is. What is packed, or comes through a pipe, is
 * unpacked into an unnamed file first; pages of zeros take no room there.
 *
 * The file may change or shrink at any time: nothing is mapped.
 */
#ifndef MONAD_IMAGE_H
#define MONAD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "import/import_source.h"

#define MONAD_IMAGE_MAX (16ull << 30) /* bytes that are not zero, unpacked */

struct monad_image {
	int fd;
	bool is_copy; /* fd is of the unnamed file */
	int err;      /* why the copy ends early: of import_source_error(), or 0 */
};

/*
 * bytes: how many are of use; what follows is not unpacked. directory: where
 * the unnamed file is made. A negative errno: *error says why.
 */
int monad_image_open(struct monad_image *image, struct import_source *source, uint64_t bytes,
		     const char *directory, struct error *error);

void monad_image_close(struct monad_image *image); /* also after a failure, once */

/*
 * The number of bytes that there are: less than cnt only at the end. A negative
 * errno. A later call reads nothing older than this one does.
 */
int64_t monad_image_read(const struct monad_image *image, uint64_t offset, void *bytes, size_t cnt);

/* The first offset from here on that may hold other bytes than 0; UINT64_MAX: there is none. */
uint64_t monad_image_skip_zeros(const struct monad_image *image, uint64_t offset);

uint64_t monad_image_length(const struct monad_image *image);

/* Whether somebody holds the lock that a writer has as long as it lives. */
bool monad_image_is_locked(const struct monad_image *image);

#endif
