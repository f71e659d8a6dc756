/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_NAME [FILE|FOLDER...]: a fuzz target without libFuzzer: it gets each file once; without arguments all
 * of tests/fuzz/corpus/NAME. Prints TAP; what a target has to say against an input ends the process, and the
 * last line names the input.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

#define FOLDER "tests/fuzz/corpus/"
#define INPUT_MAX_BYTES (16u << 20)

static unsigned int input_cnt, unread_cnt;

static void give_file(const char *path)
{
	static uint8_t bytes[INPUT_MAX_BYTES];
	FILE *in = fopen(path, "rb");
	uint8_t *exact;
	size_t length;

	if (!in) {
		printf("# cannot read '%s': %s\n", path, strerror(errno));
		unread_cnt++;
		return;
	}
	length = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	exact = malloc(length ? length : 1); /* so that a sanitizer sees who reads beyond it */
	LAW(exact);
	memcpy(exact, bytes, length);
	printf("# %s\n", path);
	LLVMFuzzerTestOneInput(exact, length);
	free(exact);
	input_cnt++;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void give(const char *path)
{
	struct dirent **entries;
	struct stat status;
	int cnt;

	if (stat(path, &status) || !S_ISDIR(status.st_mode)) {
		give_file(path);
		return;
	}
	cnt = scandir(path, &entries, is_visible, alphasort);
	for (int i = 0; i < cnt; i++) {
		char *name;

		LAW(asprintf(&name, "%s/%s", path, entries[i]->d_name) > 0);
		give(name);
		free(name);
		free(entries[i]);
	}
	if (cnt >= 0)
		free(entries);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
	char folder[256];

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(folder, sizeof(folder), FOLDER "%s", strncmp(name, "fuzz_", 5) ? name : name + 5);
	if (argc < 2)
		give(folder);
	for (int i = 1; i < argc; i++)
		give(argv[i]);
	printf("%s 1 - %s: %u inputs\n1..1\n", input_cnt && !unread_cnt ? "ok" : "not ok", name, input_cnt);
	return input_cnt && !unread_cnt ? 0 : 1;
}
