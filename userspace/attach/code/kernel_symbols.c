/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/kernel_symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define LAST_PART_BYTES 4096 /* of what has no symbol behind it */

/* "ffffffff81592b20 T filemap_fault\t[module]", terminated. */
static bool parse_line(char *line, struct kernel_symbol *symbol)
{
	char *behind;

	errno = 0;
	symbol->address = strtoull(line, &behind, 16);
	if (behind == line || errno || symbol->address == 0 || behind[0] != ' ' ||
	    !strchr("tTwW", behind[1]) || !behind[1] || behind[2] != ' ')
		return false;
	symbol->name = behind + 3;
	behind[3 + strcspn(behind + 3, " \t")] = '\0';
	return symbol->name[0] != '\0';
}

static int add(struct kernel_symbols *symbols, const struct kernel_symbol *symbol)
{
	struct kernel_symbol *grown = array_grow_unnoted(symbols->symbols, symbols->cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	symbols->symbols = grown;
	symbols->symbols[symbols->cnt++] = *symbol;
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct kernel_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* The kernel lists its own symbols in order, and those of modules behind them. */
static bool is_sorted(const struct kernel_symbols *symbols)
{
	for (size_t i = 1; i < symbols->cnt; i++)
		if (compare(&symbols->symbols[i - 1], &symbols->symbols[i]) > 0)
			return false;
	return true;
}

/* Takes the text (terminated) over. */
static int parse(struct kernel_symbols *symbols, char *text)
{
	struct kernel_symbol symbol;
	char *line;
	int err = 0;

	*symbols = (struct kernel_symbols){ .text = text };
	while (!err && symbols->cnt < KERNEL_SYMBOL_CNT_MAX && (line = strsep(&text, "\n")))
		err = parse_line(line, &symbol) ? add(symbols, &symbol) : 0;
	if (err)
		kernel_symbols_release(symbols);
	else if (!is_sorted(symbols))
		qsort(symbols->symbols, symbols->cnt, sizeof(symbol), compare);
	return err;
}

int kernel_symbols_parse(struct kernel_symbols *symbols, const char *text, size_t length)
{
	char *copy = strndup(text, length);

	*symbols = (struct kernel_symbols){ 0 };
	return copy ? parse(symbols, copy) : -ENOMEM;
}

int kernel_symbols_read(struct kernel_symbols *symbols)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;
	size_t size = 1 << 20, length = 0;
	char *text = err ? NULL : malloc(size);

	*symbols = (struct kernel_symbols){ 0 };
	if (!err && !text)
		err = -ENOMEM;
	while (!err && length < KERNEL_SYMBOLS_BYTES_MAX) {
		ssize_t got = read(fd, text + length, size - 1 - length);
		char *grown;

		if (got <= 0 && (got == 0 || errno != EINTR)) {
			err = got < 0 ? -errno : 0;
			break;
		}
		length += got > 0 ? (size_t)got : 0;
		if (length < size - 1)
			continue;
		grown = realloc(text, size *= 2);
		err = grown ? 0 : -ENOMEM;
		text = grown ? grown : text;
	}
	if (fd >= 0)
		close(fd);
	if (err) {
		free(text);
		return err;
	}
	text[length] = '\0';
	return parse(symbols, text);
}

void kernel_symbols_release(struct kernel_symbols *symbols)
{
	free(symbols->symbols);
	free(symbols->text);
	*symbols = (struct kernel_symbols){ 0 };
}

const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? symbols->symbols[low - 1].name : NULL;
}

int kernel_symbols_each_part(const struct kernel_symbols *symbols, const char *name, kernel_part_visit visit,
			     void *context)
{
	size_t length = strlen(name);
	int result = 0;

	for (size_t i = 0; i < symbols->cnt && !result; i++) {
		const char *other = symbols->symbols[i].name;
		uint64_t begin = symbols->symbols[i].address, end = begin + LAST_PART_BYTES;

		if (other[0] != name[0] || strncmp(other, name, length) != 0 ||
		    (other[length] && other[length] != '.'))
			continue;
		for (size_t next = i + 1; next < symbols->cnt; next++) {
			if (symbols->symbols[next].address > begin) {
				end = symbols->symbols[next].address;
				break;
			}
		}
		result = visit(context, begin, end);
	}
	return result;
}
