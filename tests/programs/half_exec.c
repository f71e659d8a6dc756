/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process looks like in the midst of an exec, for as long as a test wants: no file is mapped, the
 * process runs on in memory that has no name. When its stdin ends it becomes the program whose words follow
 * --.
 */
#include <sys/mman.h>

#include "truth.h"

#define MAPPING_MAX 256

struct mapping {
	unsigned long begin, size;
};

static struct mapping mappings[MAPPING_MAX];

/* What moves calls nothing, and knows no address but those that it is given. */
#define MOVED __attribute__((section("moved"), noinline, used))

#if defined(__x86_64__)
#define CALL(result, nr, a, b, c) \
	__asm__ volatile("syscall" : "=a"(result) : "0"((long)(nr)), "D"((long)(a)), "S"((long)(b)), \
		"d"((long)(c)) : "rcx", "r11", "memory")
#else
#define CALL(result, nr, a, b, c)									\
	do {												\
		register long x8 __asm__("x8") = (long)(nr), x0 __asm__("x0") = (long)(a), \
			x1 __asm__("x1") = (long)(b), \
			      x2 __asm__("x2") = (long)(c);						\
		__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");		\
		(result) = x0;										\
	} while (0)
#endif

MOVED static void become(const struct mapping *mapping, const char *path, char **argv, char **environment)
{
	char byte;
	long result;

	for (; mapping->size; mapping++)
		CALL(result, SYS_munmap, mapping->begin, mapping->size, 0);
	do
		CALL(result, SYS_read, 0, &byte, 1);
	while (result > 0);
	CALL(result, SYS_execve, path, argv, environment);
	CALL(result, SYS_exit_group, 1, 0, 0);
}

extern const char __start_moved[], __stop_moved[];

static void list_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	size_t cnt = 0;

	must(maps, "cannot read the maps");
	while (fgets(line, sizeof(line), maps)) {
		unsigned long begin, end;

		if (!strchr(line, '/') || sscanf(line, "%lx-%lx", &begin, &end) != 2)
			continue;
		must(cnt + 1 < MAPPING_MAX, "too many mappings");
		mappings[cnt++] = (struct mapping){ begin, end - begin };
	}
	fclose(maps);
}

int main(int argc, char **argv)
{
	size_t code_size = (size_t)(__stop_moved - __start_moved), size = code_size + sizeof(mappings);
	void (*moved)(const struct mapping *, const char *, char **, char **);
	int own_cnt = 1;
	char *page;

	while (own_cnt < argc && strcmp(argv[own_cnt], "--"))
		own_cnt++;
	options_parse(NULL, 0,
		      "half_exec: maps no file until its stdin ends; behind --: what it becomes then",
		      own_cnt, argv);
	errno = EINVAL;
	must(own_cnt + 1 < argc, "no program is given");
	end_with_parent(SIGKILL);
	page = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(page != MAP_FAILED, "no memory");
	list_mappings();
	memcpy(page, __start_moved, code_size);
	memcpy(page + code_size, mappings, sizeof(mappings));
	__builtin___clear_cache(page, page + code_size);
	*(void **)&moved = page + ((const char *)(uintptr_t)become - __start_moved);
	moved((struct mapping *)(page + code_size), argv[own_cnt + 1], argv + own_cnt + 1, environ);
	return 1;
}
