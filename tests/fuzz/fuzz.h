/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fuzz target is a file fuzz_NAME.c with a LLVMFuzzerTestOneInput(): any
 * bytes in, and what must hold of them whatever they are. libFuzzer makes the
 * bytes (`make fuzz`); corpus_main.c takes them from tests/fuzz/corpus/NAME
 * (`make check`). A law that is broken ends the process.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Changes an input into another one, of at most max_size bytes; only libFuzzer
 * calls it, and offers LLVMFuzzerMutate() for it.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#define LAW(holds)                                                                              \
	do {                                                                                    \
		if (!(holds)) {                                                                 \
			fprintf(stderr, "%s:%d: broken law: %s\n", __FILE__, __LINE__, #holds); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* A file that holds these bytes and nothing else. The same one for each call with the same file. */
struct fuzz_file {
	int fd; /* 0: none yet */
	char path[32];
};

static inline const char *fuzz_file_set(struct fuzz_file *file, const void *bytes, size_t size)
{
	if (!file->fd) {
		file->fd = memfd_create("fuzz", MFD_CLOEXEC);
		LAW(file->fd > 0);
		snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
	}
	LAW(!ftruncate(file->fd, 0) && pwrite(file->fd, bytes, size, 0) == (ssize_t)size);
	return file->path;
}

/* Does what it is told with the first bytes of an input: numbers, which are 0 when there are no more. */
struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

static inline uint64_t fuzz_take(struct fuzz_bytes *bytes, size_t width)
{
	uint64_t value = 0;

	width = width < bytes->left ? width : bytes->left;
	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)bytes->at[i] << (8 * i);
	bytes->at += width;
	bytes->left -= width;
	return value;
}

#endif
