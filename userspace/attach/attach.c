/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "attach/probes/label_files.h"
#include "attach/probes/link_opener.h"
#include "attach/probes/object_table.h"
#include "attach/process/capabilities.h"
#include "attach/process/proc_status.h"
#include "attach/process/process_reader.h"
#include "attach/elf/program_image.h"
#include "base/clock.h"
#include "base/id_map.h"

#define IMAGE_TRIES 3

/* A process that was scanned. */
struct process {
	pid_t pid;
	uint64_t scan_ns; /* the last time */
	struct process *next_ended;
};

struct attach {
	struct attach_options options;
	struct object_table objects;
	struct id_map processes; /* pid, 0 -> struct process */
	struct probe_providers providers;
	struct attach_stats stats;
	struct link_opener *opener; /* NULL: for each link we wait for as long as it takes */
	bool has_put_off;           /* files that could not be attached, as the kernel was held up */
	char *held_path;            /* the first of them since it was asked for; NULL: none */
};

#define SCAN_INTERVAL_NS 2000000000u /* at most, of a recorder that does its work */

/* One scan of one process. */
struct scan {
	struct attach *attach;
	const struct proc_maps *maps;
	pid_t pid;
	uint64_t image;
	uint64_t now_ns;
	uint64_t before_ns; /* the time of the scan before */
	int attached_cnt;
	int err; /* of the last object that could not be attached */
	struct error *error;
};

int attach_new(struct attach **attach, const struct attach_options *options)
{
	*attach = calloc(1, sizeof(**attach));
	if (!*attach)
		return -ENOMEM;
	(*attach)->options = *options;
	(*attach)->objects.label_files = options->label_files;
	object_table_init(&(*attach)->objects);
	id_map_init(&(*attach)->processes);
	if (options->closes_aside)
		(*attach)->objects.closer = link_closer_new();
	if (options->link_wait_ns)
		(*attach)->opener = link_opener_new(options->link_wait_ns);
	if ((!options->closes_aside || (*attach)->objects.closer) &&
	    (!options->link_wait_ns || (*attach)->opener))
		return 0;
	attach_close(*attach);
	*attach = NULL;
	return -ENOMEM;
}

/* ---- objects ---- */

static pid_t owner_of(const struct attach *attach, pid_t pid)
{
	return attach->options.is_every_process ? 0 : pid;
}

/* The probes of spans of programs that were never changed. */
static int object_attach_foreign(struct attach *attach, struct object *object, int fd,
				 const struct elf_notes *notes, pid_t pid, struct error *error)
{
	struct foreign_object foreign = {
		.features = attach->options.features,
		.elf_reader = attach->options.elf_reader,
		.path = object->path,
		.fd = fd,
		.notes = notes,
		.pid = pid,
		.reader = attach->options.reader,
		.opener = attach->opener,
	};

	return attach->options.foreign
		       ? foreign_plan_attach(attach->options.foreign, &foreign, &object->links, error)
		       : 0;
}

/* The marks of txtrace. Their labels are known by their places from then on. */
static int object_attach_marks(struct attach *attach, struct object *object, int fd,
			       const struct proc_mapping *mapping, const struct probe_sites *sites, pid_t pid,
			       struct error *error)
{
	struct label_file labels;
	struct probe_links_options options = {
		.features = attach->options.features,
		.programs = attach->options.programs,
		.program_cnt = attach->options.program_cnt,
		.label_file = attach->options.label_files ? &labels : NULL,
		.pid = pid,
		.opener = attach->opener,
	};
	int result;

	if (sites->cnt == 0 || options.program_cnt == 0)
		return 0;
	label_files_open(attach->options.label_files, &labels, mapping, fd);
	result = probe_links_attach(&object->links, &options, fd, sites, error);
	label_file_release(&labels);
	if (result > 0)
		object->label_file = labels.number;
	else
		label_files_retire(attach->options.label_files, labels.number, clock_now_ns());
	return result;
}

/*
 * A process in seccomp's strict mode would die of a mark in memory. pid 0: of
 * one that is to come.
 */
static bool uses_ring(const struct attach *attach, const struct probe_sites *sites, pid_t pid)
{
	return attach->options.uses_ring && sites->cnt && (!pid || !proc_status_is_strict(pid));
}

/* Attaches what the notes say to the object, which keeps the fd then. How many sites, or a negative errno. */
static int object_attach(struct attach *attach, struct object *object, int fd,
			 const struct proc_mapping *mapping, const struct elf_notes *notes, pid_t pid,
			 struct error *error)
{
	struct probe_sites sites;
	int result = probe_sites_find(&sites, notes, fd, attach->options.features->fast_nop), foreign_cnt;

	if (result)
		return result;
	probe_sites_choose(&sites, uses_ring(attach, &sites, pid));
	result = object_attach_marks(attach, object, fd, mapping, &sites, owner_of(attach, pid), error);
	probe_sites_release(&sites);
	foreign_cnt =
		result >= 0 ? object_attach_foreign(attach, object, fd, notes, owner_of(attach, pid), error)
			    : 0;
	if (foreign_cnt > 0 || result > 0) /* what one kind cannot have leaves the other alone */
		result = (result > 0 ? result : 0) + (foreign_cnt > 0 ? foreign_cnt : 0);
	else if (foreign_cnt < 0)
		result = foreign_cnt;
	if (result > 0) {
		object_table_attached(&attach->objects, object, fd, (size_t)result);
		attach->stats.probed_cnt += (size_t)result;
	}
	return result;
}

/*
 * Reads the object's file and attaches its probes: how many sites, or a negative errno. What is no ELF file
 * has none.
 */
static int object_open(struct attach *attach, struct object *object, int fd,
		       const struct proc_mapping *mapping, pid_t pid, struct error *error)
{
	struct elf_notes notes;
	int result = elf_reader_notes(attach->options.elf_reader, &notes, fd);

	if (result) {
		attach->stats.unreadable_cnt += result != -ENOEXEC;
		return 0;
	}
	result = probe_providers_add(&attach->providers, &notes);
	if (!result)
		result = object_attach(attach, object, fd, mapping, &notes, pid, error);
	attach->stats.failed_cnt += result < 0 && result != -ETIMEDOUT;
	elf_notes_release(&notes);
	return result;
}

static void put_off(struct attach *attach, const char *path)
{
	attach->has_put_off = true;
	if (!attach->held_path)
		attach->held_path = strdup(path); /* without memory, the next one */
}

/*
 * A file that is mapped under a number that is not known, or will be. The fd is taken over. How many sites
 * were attached to it, none if it is put off; or a negative errno.
 */
static int add_file(struct attach *attach, const struct proc_mapping *mapping, int fd, pid_t pid,
		    uint64_t seen_ns, struct error *error)
{
	pid_t owner = owner_of(attach, pid);
	struct object *object;
	struct stat file;
	int result;

	if (fstat(fd, &file) < 0) {
		result = -errno;
		close(fd);
		return result;
	}
	object = object_table_same_file(&attach->objects, &file, owner);
	if (object) {
		object_table_rename(&attach->objects, object, mapping);
		close(fd);
		return 0;
	}
	object = object_table_add(&attach->objects, mapping, owner, clock_now_ns());
	result = object ? object_open(attach, object, fd, mapping, pid, error) : -ENOMEM;
	if (object) {
		object->seen_ns = seen_ns;
		object->file_dev = file.st_dev;
		object->file_inode = file.st_ino;
	}
	if (!object || object->fd < 0)
		close(fd);
	if (result == -ETIMEDOUT) {
		put_off(attach, mapping->path);
		object_table_remove(&attach->objects, object);
		return 0;
	}
	return result;
}

/* ---- processes ---- */

/* It is made if it is not there; NULL: no memory. */
static struct process *process_get(struct attach *attach, pid_t pid)
{
	struct process *process = id_map_get(&attach->processes, (uint64_t)pid, 0);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (process && id_map_put(&attach->processes, (uint64_t)pid, 0, process)) {
		free(process);
		return NULL;
	}
	if (process)
		process->pid = pid;
	return process;
}

/*
 * A number of an inode can be used again by another file (a plugin that was rebuilt): what has no probes, and
 * was not mapped the last time, is looked at again. What is attached is held open, so its number is its own.
 */
static bool is_known(const struct object *object, const struct scan *scan)
{
	return object && (object->links || object->seen_ns >= scan->before_ns);
}

/* A file that cannot be opened is remembered, and said: it may be the one with the probes. */
static int add_unreadable(struct scan *scan, const struct proc_mapping *mapping, int err)
{
	struct object *object = object_table_add(&scan->attach->objects, mapping,
						 owner_of(scan->attach, scan->pid), clock_now_ns());

	if (!object)
		return -ENOMEM;
	object->seen_ns = scan->now_ns;
	if (err == -EINVAL) /* a device, or the like */
		return 0;
	scan->attach->stats.unreadable_cnt++;
	scan->err = err;
	error_set(scan->error, "cannot open \"%s\", which process %d has mapped: %s%s", mapping->path,
		  scan->pid, process_reader_explain(err),
		  err == -EACCES || err == -EPERM
			  ? "; run as root, as that process' user, or with the capability CAP_SYS_PTRACE"
			  : "");
	return 0;
}

static int scan_object(void *context, const struct proc_mapping *mapping)
{
	struct scan *scan = context;
	struct attach *attach = scan->attach;
	struct object *object = object_table_find(&attach->objects, mapping, owner_of(attach, scan->pid));
	int fd, result;

	if (is_known(object, scan)) {
		object->seen_ns = scan->now_ns;
		return 0;
	}
	if (object)
		object_table_remove(&attach->objects, object);
	if (link_opener_is_held(attach->opener)) {
		attach->has_put_off = true;
		return 0;
	}
	fd = process_reader_open(attach->options.reader, mapping, scan->maps->pid);
	if (fd < 0)
		return add_unreadable(scan, mapping, fd);
	result = add_file(attach, mapping, fd, scan->pid, scan->now_ns, scan->error);
	if (result < 0)
		scan->err = result;
	else
		scan->attached_cnt += result;
	return result == -ESRCH || result == -ENOMEM ? result : 0;
}

/*
 * Tells the memory where the strings of attached objects lie. A limit that is met there costs labels, and is
 * counted there.
 */
static void note_mappings(const struct scan *scan)
{
	struct attach *attach = scan->attach;

	if (!attach->options.memory)
		return;
	for (size_t i = 0; i < scan->maps->cnt; i++) {
		const struct proc_mapping *mapping = &scan->maps->mappings[i];
		const struct object *object = object_table_find(&attach->objects, mapping,
								owner_of(attach, scan->pid));

		if (object && object->fd >= 0)
			program_memory_note_mapping(attach->options.memory, (uint32_t)scan->pid, scan->image,
						    scan->now_ns, mapping, object->fd);
	}
}

/*
 * The maps of one image: an exec between the two readings is no error, but the reading is worth nothing. The
 * first waits for an exec that is under way: what it finds is so from then on, not from before.
 */
static int read_image(struct scan *scan, struct proc_maps *maps)
{
	for (int i = 0; i < IMAGE_TRIES; i++) {
		struct proc_status before, after;
		int err;

		err = proc_status_read(&before, scan->pid);
		scan->now_ns = clock_now_ns();
		if (!err)
			err = process_reader_maps(scan->attach->options.reader, maps, scan->pid);
		if (err)
			return err;
		err = proc_status_read(&after, scan->pid);
		if (!err && before.image == after.image) {
			scan->image = after.image;
			if (maps->cnt)
				return 0;
			/*
			 * a zombie has none; nor has an image that an exec has ended, but then there is
			 * another one now
			 */
			err = -ESRCH;
		}
		proc_maps_release(maps);
		if (err)
			return err;
	}
	return -EAGAIN;
}

static void explain_unreadable(struct error *error, pid_t pid, int err)
{
	if (err == -ESRCH)
		error_set(error, "process %d has ended", pid);
	else if ((err == -EACCES || err == -EPERM) && capability_is_effective(CAP_SYS_PTRACE))
		error_set(error,
			  "may not see what process %d has mapped, even with CAP_SYS_PTRACE: a security "
			  "module or the sandbox around this shell forbids it",
			  pid);
	else if (err == -EACCES || err == -EPERM)
		error_set(error,
			  "may not see what process %d has mapped: run as root, as that process' user, or "
			  "with the capability CAP_SYS_PTRACE",
			  pid);
	else
		error_set(error, "cannot read /proc/%d/maps: %s", pid, process_reader_explain(err));
}

static void note_shared(const struct scan *scan)
{
	const struct attach_options *options = &scan->attach->options;

	for (size_t i = 0; options->see_shared && i < scan->maps->cnt; i++) {
		const struct proc_mapping *mapping = &scan->maps->mappings[i];

		if (proc_mapping_is_memory(mapping, options->shared_bytes))
			options->see_shared(options->shared_context, scan->pid, mapping->start);
	}
}

static int scan_maps(struct scan *scan, struct process *process)
{
	int err = proc_maps_each_object(scan->maps, scan_object, scan);

	if (err == -ENOMEM)
		error_set(scan->error, "no memory");
	if (err)
		return err;
	note_mappings(scan);
	note_shared(scan);
	process->scan_ns = scan->now_ns;
	return scan->attached_cnt ? scan->attached_cnt : scan->err;
}

/* What could not be opened or attached may have gone with the image. */
static bool has_left_image(const struct scan *scan)
{
	struct proc_status status;

	return scan->err && (proc_status_read(&status, scan->pid) || status.image != scan->image);
}

static bool has_failed(const void *context, const struct object *object)
{
	const struct scan *scan = context;

	return object->pid == owner_of(scan->attach, scan->pid) && !object->links &&
	       object->open_ns >= scan->now_ns;
}

/*
 * One scan; -EAGAIN: it has met another image than the one that it began with, and has left nothing behind
 * but what it could attach.
 */
static int scan_once(struct scan *scan, struct process *process)
{
	struct attach *attach = scan->attach;
	const struct attach_stats before = attach->stats;
	struct proc_maps maps;
	int result = read_image(scan, &maps);

	if (result) {
		explain_unreadable(scan->error, scan->pid, result);
		return result;
	}
	scan->maps = &maps;
	scan->err = 0;
	scan->before_ns = process->scan_ns ? process->scan_ns : scan->now_ns - SCAN_INTERVAL_NS;
	result = scan_maps(scan, process);
	if (result != -ENOMEM && has_left_image(scan)) {
		object_table_remove_chosen(&attach->objects, has_failed, scan);
		attach->stats.unreadable_cnt = before.unreadable_cnt;
		attach->stats.failed_cnt = before.failed_cnt;
		result = -EAGAIN;
	}
	proc_maps_release(&maps);
	return result;
}

int attach_scan(struct attach *attach, pid_t pid, struct error *error)
{
	struct process *process = process_get(attach, pid);
	struct scan scan = { .attach = attach, .pid = pid, .error = error };
	int result = -EAGAIN;

	if (!process) {
		error_set(error, "no memory");
		return -ENOMEM;
	}
	for (int i = 0; i < IMAGE_TRIES && result == -EAGAIN; i++)
		result = scan_once(&scan, process);
	return result == -EAGAIN ? scan.attached_cnt : result;
}

/* ---- the rest ---- */

/* For target_each_path. */
struct command_scan {
	struct attach *attach;
	pid_t pid;
	int attached_cnt;
	int err;
	struct error *error;
};

/* Nobody runs it yet: it may be in the midst of being written, and is looked at again when somebody does. */
static void forget_unprobed(const struct command_scan *scan, const struct proc_mapping *mapping)
{
	struct object *object = object_table_find(&scan->attach->objects, mapping,
						  owner_of(scan->attach, scan->pid));

	if (object && !object->links)
		object_table_remove(&scan->attach->objects, object);
}

/* Once it runs, a scan meets the file under the numbers of its mapping, and finds that it is known. */
static int add_open(struct command_scan *scan, const char *path, int fd)
{
	struct proc_mapping mapping = { .path = path };
	struct stat file;
	int result;

	if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode)) {
		close(fd);
		return 0;
	}
	mapping.inode = file.st_ino;
	mapping.dev_major = major(file.st_dev);
	mapping.dev_minor = minor(file.st_dev);
	if (object_table_find(&scan->attach->objects, &mapping, owner_of(scan->attach, scan->pid))) {
		close(fd);
		return 0;
	}
	result = add_file(scan->attach, &mapping, fd, scan->pid, clock_now_ns(), scan->error);
	if (result <= 0)
		forget_unprobed(scan, &mapping);
	if (result < 0)
		scan->err = result;
	else
		scan->attached_cnt += result;
	return 0;
}

static int add_path(void *context, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? 0 : add_open(context, path, fd);
}

int attach_file(struct attach *attach, const char *path, int fd, struct error *error)
{
	struct command_scan scan = { .attach = attach, .error = error };

	add_open(&scan, path, fd);
	return scan.attached_cnt ? scan.attached_cnt : scan.err;
}

int attach_command(struct attach *attach, const struct target *target, struct error *error)
{
	struct command_scan scan = { .attach = attach, .pid = target_pid(target), .error = error };

	if (target_can_be_held(target))
		return 0;
	target_each_path(target, add_path, &scan);
	return scan.attached_cnt ? scan.attached_cnt : scan.err;
}

struct forgotten {
	pid_t pid;
	uint64_t before_ns;
};

static bool is_forgotten(const void *context, const struct object *object)
{
	const struct forgotten *forgotten = context;

	return object->pid == forgotten->pid && object->open_ns < forgotten->before_ns;
}

static bool is_any(const void *context, const struct object *object)
{
	(void)context;
	(void)object;
	return true;
}

void attach_forget(struct attach *attach, pid_t pid, uint64_t before_ns)
{
	const struct forgotten forgotten = { .pid = pid, .before_ns = before_ns };
	const struct process *process = id_map_get(&attach->processes, (uint64_t)pid, 0);

	if (process && process->scan_ns < before_ns)
		free(id_map_remove(&attach->processes, (uint64_t)pid, 0));
	if (!attach->options.is_every_process)
		object_table_remove_chosen(&attach->objects, is_forgotten, &forgotten);
}

bool attach_knows(struct attach *attach, uint32_t dev_major, uint32_t dev_minor, uint64_t inode)
{
	struct proc_mapping mapping = { .dev_major = dev_major, .dev_minor = dev_minor, .inode = inode };
	const struct object *object = object_table_find(&attach->objects, &mapping, 0);

	return object && (object->links || object->seen_ns + SCAN_INTERVAL_NS >= clock_now_ns());
}

int attach_note_program(struct attach *attach, pid_t pid, const struct attach_program *program)
{
	struct proc_mapping mapping = { .dev_major = program->dev_major,
					.dev_minor = program->dev_minor,
					.inode = program->inode };
	const struct object *object = object_table_find(&attach->objects, &mapping, owner_of(attach, pid));

	if (!object)
		return -ENOENT;
	if (!attach->options.memory || object->fd < 0)
		return 0;
	mapping.path = object->path;
	return program_image_note(attach->options.memory, (uint32_t)pid, program->noted_ns,
				  program->code_start, &mapping, object->fd);
}

/* What no process maps any more: a file that has no name either, or one without probes. */
static bool is_stale(const void *context, const struct object *object)
{
	uint64_t sweep_ns = *(const uint64_t *)context;
	struct stat file;

	if (object->seen_ns >= sweep_ns)
		return false;
	return !object->links || (fstat(object->fd, &file) == 0 && file.st_nlink == 0);
}

void attach_sweep(struct attach *attach)
{
	uint64_t sweep_ns = clock_now_ns();
	struct process *process, *ended = NULL;
	struct error ignored;

	for (size_t i = 0; (process = id_map_next(&attach->processes, &i));) {
		if (attach_scan(attach, process->pid, &ignored) != -ESRCH)
			continue;
		process->next_ended = ended;
		ended = process;
	}
	while ((process = ended)) {
		ended = process->next_ended;
		free(id_map_remove(&attach->processes, (uint64_t)process->pid, 0));
	}
	object_table_remove_chosen(&attach->objects, is_stale, &sweep_ns);
	label_files_forget(attach->options.label_files, sweep_ns);
}

void attach_renew_threads(struct attach *attach)
{
	link_opener_renew(attach->opener);
}

bool attach_has_put_off(const struct attach *attach)
{
	return attach->has_put_off;
}

bool attach_take_put_off(struct attach *attach)
{
	bool has_put_off = attach->has_put_off && !link_opener_is_held(attach->opener);

	if (has_put_off)
		attach->has_put_off = false;
	return has_put_off;
}

char *attach_take_held_path(struct attach *attach)
{
	char *path = attach->held_path;

	attach->held_path = NULL;
	return path;
}

void attach_stats(const struct attach *attach, struct attach_stats *stats)
{
	*stats = attach->stats;
	stats->object_cnt = attach->objects.object_cnt;
	stats->site_cnt = attach->objects.site_cnt;
	stats->link_cnt = attach->objects.link_cnt;
}

const struct probe_providers *attach_providers(const struct attach *attach)
{
	return &attach->providers;
}

void attach_close(struct attach *attach)
{
	struct link_closer *closer;
	struct process *process;

	if (!attach)
		return;
	closer = attach->objects.closer;
	attach->objects.closer = NULL;
	object_table_remove_chosen(&attach->objects, is_any, NULL);
	object_table_release(&attach->objects);
	link_closer_free(closer);
	link_opener_free(attach->opener);
	free(attach->held_path);
	for (size_t i = 0; (process = id_map_next(&attach->processes, &i));)
		free(process);
	id_map_release(&attach->processes);
	free(attach);
}
