/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/options_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 20)

/* Not of a pipe or a device: those may have no end. */
static int read_all(const char *path, char **text, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	ssize_t got;
	int err = 0;

	*length = 0;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		err = -errno;
	else if (!S_ISREG(status.st_mode))
		err = S_ISDIR(status.st_mode) ? -EISDIR : -ESPIPE;
	*text = err ? NULL : malloc(FILE_BYTES_MAX + 1);
	if (!err && !*text)
		err = -ENOMEM;
	while (!err && *length < FILE_BYTES_MAX) {
		got = read(fd, *text + *length, FILE_BYTES_MAX - *length);
		if (got < 0)
			err = -errno;
		if (got <= 0)
			break;
		*length += (size_t)got;
	}
	close(fd);
	if (!err && *length == FILE_BYTES_MAX)
		err = -EFBIG;
	if (!err)
		(*text)[*length] = '\0';
	return err;
}

static char *skip_blanks(char *at)
{
	return at + strspn(at, " \t\r");
}

static void cut_blanks(char *word)
{
	size_t length = strlen(word);

	while (length && isspace((unsigned char)word[length - 1]))
		word[--length] = '\0';
}

/*
 * "name", "name value" or "name = value". A '#' begins a comment only where a word could begin, so that
 * values may hold it.
 */
static int take_line(struct options_parser *parser, char *line)
{
	char *name = skip_blanks(line), *value;
	size_t length = strcspn(name, " \t\r=");
	const struct option_spec *spec;

	if (!*name || *name == '#')
		return 0;
	value = skip_blanks(name + length);
	if (*value == '=')
		value = skip_blanks(value + 1);
	cut_blanks(value);
	spec = options_find(parser->options, name, length);
	if (!spec)
		return options_complain_unknown(parser, name, length);
	if (spec->type == OPTION_FILE)
		return options_complain(parser, "option '--%s' is allowed on the command line only",
					spec->name);
	if (!spec->argument)
		return *value ? options_complain(parser, "option '--%s' takes no value", spec->name)
			      : options_take(parser, spec, NULL);
	if (!*value)
		return options_complain(parser, "option '--%s' needs a value: %s = %s", spec->name,
					spec->name, spec->argument);
	return options_take(parser, spec, value);
}

int options_take_file(struct options_parser *parser, const struct option_spec *spec, const char *path)
{
	struct option_file *field = (void *)((char *)parser->values + spec->offset);
	char sentence[OPTIONS_ERROR_SIZE];
	unsigned int number = 0;
	size_t length;
	char *next;
	int err;

	if (field->text)
		return options_complain(parser, "option '--%s' can be given once", spec->name);
	err = read_all(path, &field->text, &length);
	if (!err && strlen(field->text) != length)
		err = -EILSEQ;
	if (err == -ESPIPE || err == -EILSEQ)
		return options_complain(parser, "can't read the options in '%s': it is no %s", path,
					err == -ESPIPE ? "file" : "text");
	if (err)
		return options_complain(parser, "can't read the options in '%s': %s", path, strerror(-err));
	field->path = path;
	next = field->text;
	while (!err && next) {
		char *line = strsep(&next, "\n");

		number++;
		err = take_line(parser, line);
	}
	if (!err)
		return 0;
	memcpy(sentence, parser->result->error, sizeof(sentence));
	return options_complain(parser, "'%s', line %u: %.*s", path, number, OPTIONS_ERROR_SIZE - 1,
				sentence);
}
