/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes that are longer than the kernel side copies, marked in shared memory: bytes in one place and in
 * pieces, and a string. Prints each as tests/programs/marks.c does.
 */
#include "shared_memory.h"
#include "truth.h"

#define LONGEST (1 << 20)

static char bytes[LONGEST + 10];

static void print_bytes(const char *name, const char *type, txtrace_span_t span, const char *first,
			size_t size)
{
	printf("{\"type\":\"attribute\",\"span\":\"%llu\",\"name\":\"%s\",\"value_type\":\"%s\",\"bytes\":\"",
	       (unsigned long long)span, name, type);
	for (size_t i = 0; i < size && i < LONGEST; i++)
		printf("%02x", (unsigned char)first[i]);
	printf("\"}\n");
}

static void mark_bytes(size_t size)
{
	txtrace_span_t span = TXTRACE_BEGIN("bytes");
	size_t part = size / 7 + 1;
	struct txtrace_piece pieces[7];

	for (size_t i = 0, at = 0; i < 7; i++, at += pieces[i - 1].size)
		pieces[i] = (struct txtrace_piece){ bytes + at, size - at < part ? size - at : part };
	TXTRACE_ATTR_BYTES(span, "whole", bytes, size);
	TXTRACE_ATTR_PIECES(span, "pieces", pieces, 7);
	TXTRACE_END(span);
	print_bytes("whole", "bytes", span, bytes, size);
	print_bytes("pieces", "bytes", span, bytes, size);
	usleep(20000); /* the pool is not for so much at once */
}

static void mark_string(size_t size)
{
	char *text = malloc(size + 1);
	txtrace_span_t span = TXTRACE_BEGIN("string");

	must(text, "no memory");
	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + i % 26);
	text[size] = 0;
	TXTRACE_ATTR(span, "string", text);
	TXTRACE_END(span);
	print_bytes("string", "string", span, text, size);
	free(text);
}

/* Two tags, which fit together, and one that does not any more. */
static void mark_tags(void)
{
	char *text = malloc(LONGEST / 2);
	txtrace_span_t span = TXTRACE_BEGIN("tagged");

	must(text, "no memory");
	memset(text, 't', LONGEST / 2 - 1);
	text[LONGEST / 2 - 1] = 0;
	for (int i = 0; i < 3; i++)
		TXTRACE_TAG(span, text);
	TXTRACE_END(span);
	free(text);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 511,   512,   513,	   600,	    4096,	 64000,
					64001, 70000, LONGEST - 1, LONGEST, LONGEST + 1, LONGEST + 10 };
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	const struct option_spec specs[] = { TRUTH_OPTION_SPECS(&truth) };

	options_parse(specs, sizeof(specs) / sizeof(specs[0]), "long_texts: attributes of any size", argc,
		      argv);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(i * 7 + (i >> 8));
	truth_start(&truth);
	wait_for_memory();
	TXTRACE_COUNTER("waits", 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		mark_bytes(sizes[i]);
		mark_string(sizes[i]);
	}
	mark_tags();
	return 0;
}
