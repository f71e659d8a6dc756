/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/trial_site.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_BYTES 4096

#define STEPPED_AT 64

#if defined(__x86_64__)
static const unsigned char stepped[] = { 0x31, 0xc0, 0xc3 }; /* xor %eax, %eax; ret */
static const unsigned char site[] = {
	0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc3,
};
#elif defined(__aarch64__)
static const unsigned char stepped[] = { 0xc0, 0x03, 0x5f, 0xd6 };
static const unsigned char site[] = { 0x1f, 0x20, 0x03, 0xd5, 0xc0, 0x03, 0x5f, 0xd6 };
#endif

size_t trial_site_offset(enum fast_nop fast_nop)
{
	return fast_nop == FAST_NOP_5 ? 1 : fast_nop == FAST_NOP_10 ? 6 : 0;
}

size_t trial_site_stepped_offset(void)
{
#if defined(__x86_64__)
	return STEPPED_AT;
#else
	return 0;
#endif
}

int trial_site_open(void)
{
	unsigned char page[PAGE_BYTES] = { 0 };
	int fd = memfd_create("txtrace-trial", MFD_CLOEXEC);

	memcpy(page, site, sizeof(site));
	memcpy(page + STEPPED_AT, stepped, sizeof(stepped));
	if (fd >= 0 && write(fd, page, sizeof(page)) != sizeof(page)) {
		close(fd);
		return -1;
	}
	return fd;
}

const unsigned char *trial_site_map(int fd)
{
	const unsigned char *code = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	return code == MAP_FAILED ? NULL : code;
}

void trial_site_run(const unsigned char *code, unsigned int cnt)
{
	void (*run)(void);

	memcpy(&run, &code, sizeof(run));
	for (unsigned int i = 0; i < cnt; i++)
		run();
}
