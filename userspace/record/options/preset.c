/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/preset.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/near_miss.h"
#include "base/text.h"

int preset_add(struct preset *preset, bool is_span, const char *line)
{
	size_t *cnt = is_span ? &preset->span_cnt : &preset->func_cnt;

	if (*cnt == PRESET_LINE_MAX)
		return -E2BIG;
	(is_span ? preset->spans : preset->funcs)[(*cnt)++] = line;
	return 0;
}

/* Without blanks at both ends, in place. */
static char *trim(char *line)
{
	size_t length;

	line += strspn(line, " \t");
	length = strlen(line);
	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	return line;
}

static int parse_line(struct preset *preset, char *line, const char *path, int number, struct error *error)
{
	size_t word;
	bool is_span;
	int err;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	word = strcspn(line, " \t");
	is_span = word == 4 && memcmp(line, "span", 4) == 0;
	if ((!is_span && !(word == 4 && memcmp(line, "func", 4) == 0)) || !line[word]) {
		error_set(error,
			  "the preset '%s', line %d: '%.40s' is neither 'span LABEL=BEGIN..END' nor 'func "
			  "BINARY:SYMBOL'",
			  path, number, line);
		return -EINVAL;
	}
	err = preset_add(preset, is_span, trim(line + word));
	if (err)
		error_set(error, "the preset '%s' has more than %d spans or functions", path,
			  PRESET_LINE_MAX);
	return err ? -EINVAL : 0;
}

int preset_parse(struct preset *preset, char *text, size_t length, const char *path, struct error *error)
{
	char *line = text, *end = text + length;
	int err = 0;

	*preset = (struct preset){ .text = text };
	if (memchr(text, '\0', length)) {
		error_set(error, "the preset '%s' is no text", path);
		err = -EINVAL;
	}
	for (int number = 1; !err && line < end; number++) {
		char *newline = memchr(line, '\n', (size_t)(end - line));
		char *next = newline ? newline + 1 : end;

		*(newline ? newline : end) = '\0';
		err = parse_line(preset, line, path, number, error);
		line = next;
	}
	if (!err && !preset->span_cnt && !preset->func_cnt) {
		error_set(error, "the preset '%s' has neither spans nor functions", path);
		err = -EINVAL;
	}
	if (err)
		preset_release(preset);
	return err;
}

/* A device or a pipe would keep us waiting. */
static int read_file(int fd, const char *path, char **text, size_t *length, struct error *error)
{
	struct stat status;
	size_t done = 0;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size > PRESET_BYTES_MAX) {
		error_set(error, "the preset '%s' is no file of at most %d bytes", path, PRESET_BYTES_MAX);
		return -EINVAL;
	}
	*text = malloc(PRESET_BYTES_MAX + 1);
	if (!*text)
		return -ENOMEM;
	while (done < PRESET_BYTES_MAX) {
		ssize_t got = read(fd, *text + done, PRESET_BYTES_MAX - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	*length = done;
	return 0;
}

static int read_path(struct preset *preset, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text;
	size_t length;
	int err;

	if (fd < 0) {
		err = -errno;
		error_set(error, "cannot read the preset '%s': %s", path, strerror(errno));
		return err;
	}
	err = read_file(fd, path, &text, &length, error);
	close(fd);
	return err ? err : preset_parse(preset, text, length, path, error);
}

/* A folder of presets; false: there is none of this number. Where it is not set, what it is empty. */
static bool folder_path(size_t idx, char *path, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char own[PATH_MAX] = "";
	ssize_t length;

	*path = '\0';
	if (idx == 0 && config && *config == '/')
		snprintf(path, size, "%s/txtrace/presets", config);
	else if (idx == 0 && home && *home == '/')
		snprintf(path, size, "%s/.config/txtrace/presets", home);
	if (idx == 1)
		snprintf(path, size, "/etc/txtrace/presets");
	if (idx < 2)
		return true;
	length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	for (size_t up = 0; length > 0 && up < idx - 1; up++) { /* PREFIX/bin, build, build/sanitize-… */
		char *slash = strrchr(own, '/');

		if (slash)
			*slash = '\0';
	}
	if (*own)
		snprintf(path, size, "%s/../share/txtrace/presets", own);
	return idx < 4;
}

static bool is_name(const char *name)
{
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
			return false;
	return *name && *name != '.';
}

/* ---- which there are ---- */

static void add_name(struct preset_names *names, const char *name)
{
	size_t at = 0;

	while (at < names->cnt && strcmp(names->names[at], name) < 0)
		at++;
	if (names->cnt == PRESET_NAME_MAX || (at < names->cnt && strcmp(names->names[at], name) == 0))
		return;
	memmove(&names->names[at + 1], &names->names[at], (names->cnt - at) * sizeof(*names->names));
	names->names[at] = strdup(name);
	if (names->names[at])
		names->cnt++;
	else
		memmove(&names->names[at], &names->names[at + 1], (names->cnt - at) * sizeof(*names->names));
}

void preset_names_read(struct preset_names *names)
{
	char path[PATH_MAX];

	*names = (struct preset_names){ .cnt = 0 };
	for (size_t i = 0; folder_path(i, path, sizeof(path)); i++) {
		DIR *folder = *path ? opendir(path) : NULL;
		struct dirent *entry;

		while (folder && (entry = readdir(folder)))
			if (is_name(entry->d_name))
				add_name(names, entry->d_name);
		if (folder)
			closedir(folder);
	}
}

void preset_names_release(struct preset_names *names)
{
	while (names->cnt)
		free(names->names[--names->cnt]);
}

static void say_what_there_is(const char *name, struct error *error)
{
	struct preset_names names;
	struct near_miss near_miss;
	struct text list = { 0 };

	preset_names_read(&names);
	near_miss_init(&near_miss, name);
	for (size_t i = 0; i < names.cnt; i++) {
		text_append(&list, i ? ", " : "");
		text_append(&list, names.names[i]);
		near_miss_offer(&near_miss, names.names[i]);
	}
	if (near_miss.best)
		error_set(error, "there is no preset '%s', did you mean '%s'?", name, near_miss.best);
	else
		error_set(error,
			  "there is no preset '%s'; there is %s; put yours into ~/.config/txtrace/presets",
			  name, names.cnt ? text_string(&list) : "none");
	text_release(&list);
	preset_names_release(&names);
}

int preset_read(struct preset *preset, const char *name, struct error *error)
{
	char folder[PATH_MAX], path[PATH_MAX + 256];

	if (strchr(name, '/'))
		return read_path(preset, name, error);
	if (!is_name(name) || strlen(name) > 128) {
		error_set(error,
			  "'%.64s' cannot be the name of a preset: letters, digits, '.', '_' and '-' make "
			  "one, a path has a slash",
			  name);
		return -EINVAL;
	}
	for (size_t i = 0; folder_path(i, folder, sizeof(folder)); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (*folder && access(path, F_OK) == 0)
			return read_path(preset, path, error);
	}
	say_what_there_is(name, error);
	return -ENOENT;
}

void preset_release(struct preset *preset)
{
	free(preset->text);
	*preset = (struct preset){ 0 };
}
