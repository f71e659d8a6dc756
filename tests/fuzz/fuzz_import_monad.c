/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a Monad event ring: what is read of them are records that keep
 * their laws. A ring is at least 134 MiB long, so the input is what is in it:
 * a byte of options, where the file ends, the header, how many descriptors
 * follow and from which one on, and payloads.
 */
#include "fuzz/fuzz_import.h"

#define AREA_BYTES (2u << 20)
#define HEADER_BYTES 136u
#define CAPACITY 65536u
#define DESCRIPTOR_BYTES 64u

static void put(int fd, struct fuzz_bytes *bytes, size_t cnt, uint64_t offset)
{
	cnt = cnt < bytes->left ? cnt : bytes->left;
	LAW(pwrite(fd, bytes->at, cnt, (off_t)offset) == (ssize_t)cnt);
	bytes->at += cnt;
	bytes->left -= cnt;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	const char *path = fuzz_file_set(&file, "", 0);
	struct fuzz_bytes bytes = { data, size };
	struct import_options options = { .directory = "/tmp" };
	uint64_t choice = fuzz_take(&bytes, 1), length = fuzz_take(&bytes, 4) % (192u << 20);
	uint64_t cnt, first;

	options.with_payloads = choice & 1;
	options.is_following = choice & 2;
	put(file.fd, &bytes, HEADER_BYTES, 0);
	cnt = fuzz_take(&bytes, 1);
	first = fuzz_take(&bytes, 2);
	for (uint64_t i = 0; i < cnt && bytes.left > 0; i++)
		put(file.fd, &bytes, DESCRIPTOR_BYTES,
		    AREA_BYTES + (first + i) % CAPACITY * DESCRIPTOR_BYTES);
	put(file.fd, &bytes, bytes.left, AREA_BYTES + CAPACITY * DESCRIPTOR_BYTES);
	if (length > 0)
		LAW(ftruncate(file.fd, (off_t)length) == 0);
	fuzz_import_path(&import_monad, &options, path);
	return 0;
}
