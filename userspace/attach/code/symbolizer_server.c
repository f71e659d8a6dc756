/* SPDX-License-Identifier: BSD-2-Clause */
/* The symbolizer's process: libdw on files that may be anything. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/code/rust_name.h"
#include "attach/code/symbolizer.h"
#include "base/id_map.h"

#define NAME_MAX_BYTES 512
#define UNIT_MAX 65536 /* compilation units that are asked for an address that no index knows */

typedef char *(*demangle_fn)(const char *mangled, char *room, size_t *size, int *status);

struct server {
	int socket_fd;
	struct id_map files; /* number -> Dwfl */
	demangle_fn demangle; /* NULL: there is no C++ library */
};

/* What is being written about one address. */
struct answer {
	struct symbol_reply reply;
	char names[SYMBOL_TEXT_MAX];
	char source[200];
};

/* By build id alone: a name in the file might lead anywhere. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **path)
{
	const unsigned char *id;
	GElf_Addr address;
	struct stat status;
	char text[256] = "/usr/lib/debug/.build-id/";
	size_t at = strlen(text);
	int length = dwfl_module_build_id(module, &id, &address), fd;

	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	/* the second time it is what a debug file refers to that is wanted */
	if (*data || length < 3 || length > 64)
		return -1;
	*data = module;
	for (int i = 0; i < length; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, i == 1 ? "/%02x" : "%02x", id[i]);
	snprintf(text + at, sizeof(text) - at, ".debug");
	fd = open(text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		return -1;
	}
	if (fd >= 0)
		*path = strdup(text);
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* NULL: it is no file that libdw can read. */
static Dwfl_Module *open_module(Dwfl **dwfl, int fd)
{
	Dwfl_Module *module;

	*dwfl = dwfl_begin(&callbacks);
	if (!*dwfl)
		return NULL;
	dwfl_report_begin(*dwfl);
	module = dwfl_report_elf(*dwfl, "file", "file", fd, 0, true);
	dwfl_report_end(*dwfl, NULL, NULL);
	return module;
}

/*
 * A compiler's variant of a function (NAME.cold, NAME.isra.0) has the function's name, and so has a version
 * of a symbol (NAME@@VERSION).
 */
static size_t plain_length(const char *name)
{
	size_t length = strcspn(name, ".@");

	return length > 0 ? length : strlen(name);
}

static void add_name(const struct server *server, struct answer *answer, const char *name)
{
	/* whose legacy names have dots */
	char mangled[4 * NAME_MAX_BYTES], *demangled = rust_name_read(name);
	size_t length = plain_length(name), used = answer->reply.names_length;
	int status = -1;

	if (!demangled && length > 2 && length < sizeof(mangled) && name[0] == '_' && name[1] == 'Z' &&
	    server->demangle) {
		memcpy(mangled, name, length);
		mangled[length] = '\0';
		demangled = server->demangle(mangled, NULL, NULL, &status);
	}
	if (demangled) {
		name = demangled;
		length = strlen(demangled);
	}
	if (length > NAME_MAX_BYTES)
		length = NAME_MAX_BYTES;
	if (length > 0 && used + length + 1 <= sizeof(answer->names)) {
		if (used > 0)
			answer->names[used++] = '\n';
		memcpy(answer->names + used, name, length);
		for (size_t i = used; i < used + length; i++)
			answer->names[i] = answer->names[i] == '\n' ? '?' : answer->names[i];
		answer->reply.names_length = (uint16_t)(used + length);
	}
	free(demangled);
}

static const char *name_of_die(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

/* The unit of the address, also where the compiler wrote no index of addresses. */
static Dwarf_Die *unit_at(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit)
		return unit;
	unit = dwfl_module_nextcu(module, NULL, bias);
	for (int i = 0; unit && i < UNIT_MAX; i++) {
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
		unit = dwfl_module_nextcu(module, unit, bias);
	}
	return NULL;
}

/*
 * What was inlined there, the outermost first, behind the function that is there. *function: that one's name,
 * if DWARF has it.
 */
static void add_inlined(const struct server *server, struct answer *answer, Dwarf_Die *unit,
			Dwarf_Addr address, const char *symbol)
{
	Dwarf_Die *around = NULL, *scopes = NULL;
	const char *function = symbol;
	int cnt = dwarf_getscopes(unit, address, &around);

	if (cnt > 0)
		cnt = dwarf_getscopes_die(&around[0], &scopes);
	for (int i = 0; !function && i < cnt; i++) {
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			function = name_of_die(&scopes[i]);
	}
	if (function)
		add_name(server, answer, function);
	for (int i = cnt - 1; i >= 0; i--) {
		const char *name = dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine
					   ? name_of_die(&scopes[i])
					   : NULL;

		if (name)
			add_name(server, answer, name);
	}
	free(scopes);
	free(around);
}

static void add_source(struct answer *answer, Dwarf_Die *unit, Dwarf_Addr address)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	const char *path = line ? dwarf_linesrc(line, NULL, NULL) : NULL,
		   *slash = path ? strrchr(path, '/') : NULL;
	int number = 0;

	if (!path || dwarf_lineno(line, &number) || number <= 0)
		return;
	answer->reply.line = (uint32_t)number;
	snprintf(answer->source, sizeof(answer->source), "%s", slash ? slash + 1 : path);
	answer->reply.source_length = (uint16_t)strlen(answer->source);
}

static void describe(const struct server *server, Dwfl_Module *module, Dwarf_Addr address,
		     struct answer *answer)
{
	GElf_Sym symbol;
	GElf_Off offset = 0;
	Dwarf_Addr bias = 0;
	const char *name = dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	Dwarf_Die *unit = unit_at(module, address, &bias);

	if (name && symbol.st_size > 0 && offset >= symbol.st_size)
		name = NULL; /* it lies behind the last function that is known */
	answer->reply.offset = name ? offset : 0;
	if (unit)
		add_inlined(server, answer, unit, address - bias, name);
	else if (name)
		add_name(server, answer, name);
	if (unit)
		add_source(answer, unit, address - bias);
}

/* ---- requests ---- */

static bool take_request(int socket_fd, struct symbol_request *request, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = { request, sizeof(*request) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *header;
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(*request))
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return true;
}

static void reply(const struct server *server, const struct answer *answer)
{
	char bytes[SYMBOL_REPLY_MAX];
	size_t size = sizeof(answer->reply);

	memcpy(bytes, &answer->reply, size);
	memcpy(bytes + size, answer->names, answer->reply.names_length);
	size += answer->reply.names_length;
	memcpy(bytes + size, answer->source, answer->reply.source_length);
	size += answer->reply.source_length;
	if (send(server->socket_fd, bytes, size, MSG_NOSIGNAL) < 0)
		_exit(0);
}

static void serve(struct server *server)
{
	struct symbol_request request;
	int fd;

	while (take_request(server->socket_fd, &request, &fd)) {
		struct answer answer = { .reply = { 0 } };
		Dwfl_Module *module;

		if (fd >= 0) {
			Dwfl *dwfl;

			module = open_module(&dwfl, fd);
			if (module)
				id_map_put(&server->files, request.file, 0, module);
		}
		module = id_map_get(&server->files, request.file, 0);
		if (module)
			describe(server, module, request.address, &answer);
		reply(server, &answer);
	}
}

void symbolizer_serve(void *context)
{
	const struct outside_settle *settle = context;
	struct server server = { .socket_fd = OUTSIDE_SOCKET_FD };
	void *library;

	id_map_init(&server.files);
	library = dlopen("libstdc++.so.6", RTLD_NOW);
	if (library)
		*(void **)&server.demangle = dlsym(library, "__cxa_demangle");
	if (settle->settle)
		settle->settle(settle->context);
	serve(&server);
}
