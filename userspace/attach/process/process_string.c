/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/process_string.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE_PRESENT (1ull << 63)
#define PAGE_SWAPPED (1ull << 62)

/* What was read, as a string; is_end: what follows it is zeros. */
static void finish(struct process_string *string, size_t got, bool is_end)
{
	const char *end = memchr(string->bytes, '\0', got);

	if (end) {
		got = (size_t)(end - string->bytes);
		is_end = true;
	}
	string->is_truncated = !is_end || got > PROCESS_STRING_MAX;
	string->length = (uint32_t)(got > PROCESS_STRING_MAX ? PROCESS_STRING_MAX : got);
}

/* Whether the page of the address is in memory or swapped out; also if the kernel does not tell. */
static bool is_touched(pid_t pid, uint64_t address)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entry = 0;
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	got = pread(fd, &entry, sizeof(entry), (off_t)(address / page_bytes * sizeof(entry)));
	close(fd);
	return got == sizeof(entry) && entry & (PAGE_PRESENT | PAGE_SWAPPED);
}

static ssize_t read_mem(pid_t pid, void *to, size_t size, uint64_t address)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	got = pread(fd, to, size, (off_t)address);
	if (got < 0)
		got = errno == EIO ? -EFAULT : -errno;
	close(fd);
	return got ? got : -ESRCH;
}

/*
 * Within one page. By /proc first: who waits for the process' memory there can
 * be killed, and who does in process_vm_readv can't.
 */
static ssize_t read_page(pid_t pid, void *to, size_t size, uint64_t address)
{
	struct iovec local = { .iov_base = to, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
	ssize_t got;

	if (!is_touched(pid, address))
		return -EFAULT;
	got = read_mem(pid, to, size, address);
	if (got > 0 || got == -ESRCH || got == -EFAULT)
		return got;
	got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return got < 0 ? -errno : got ? got : -EFAULT;
}

int process_string_from_memory(struct process_string *string, pid_t pid, uint64_t address)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t got = 0;

	while (got < sizeof(string->bytes)) {
		uint64_t in_page = page_bytes - (address + got) % page_bytes;
		size_t want = sizeof(string->bytes) - got;
		ssize_t more = read_page(pid, string->bytes + got, want < in_page ? want : in_page,
					 address + got);

		if (more < 0 && got == 0)
			return (int)more;
		if (more < 0)
			break;
		if (memchr(string->bytes + got, '\0', (size_t)more)) {
			got += (size_t)more;
			break;
		}
		got += (size_t)more;
	}
	finish(string, got, false);
	return 0;
}

int process_bytes_from_memory(void *bytes, size_t size, pid_t pid, uint64_t address)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

	for (size_t got = 0; got < size;) {
		uint64_t in_page = page_bytes - (address + got) % page_bytes;
		ssize_t more = read_page(pid, (char *)bytes + got,
					 size - got < in_page ? size - got : in_page, address + got);

		if (more < 0)
			return (int)more;
		got += (size_t)more;
	}
	return 0;
}

ssize_t process_string_rest_of_page(char bytes[PROCESS_STRING_PAGE_MAX], pid_t pid, uint64_t address)
{
	return read_mem(pid, bytes, PROCESS_STRING_PAGE_MAX - address % PROCESS_STRING_PAGE_MAX, address);
}

bool process_string_from_bytes(struct process_string *string, const char *bytes, size_t length)
{
	size_t size = length < sizeof(string->bytes) ? length : sizeof(string->bytes);

	if (size < sizeof(string->bytes) && !memchr(bytes, '\0', size))
		return false;
	memcpy(string->bytes, bytes, size);
	finish(string, size, false);
	return true;
}

int process_string_from_file(struct process_string *string, int fd, uint64_t offset, uint64_t room)
{
	size_t want = room < sizeof(string->bytes) ? room : sizeof(string->bytes);
	ssize_t got;

	do
		got = pread(fd, string->bytes, want, (off_t)offset);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? -errno : -EFAULT;
	finish(string, (size_t)got, (size_t)got < want);
	return 0;
}
