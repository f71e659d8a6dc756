/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/kernel_side.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <linux/version.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/probes/kernel_types.h"
#include "record/kernel/fault_ranges.h"
#include "record/kernel/interrupt_programs.h"
#include "record/kernel/kernel_filter.h"
#include "record/kernel/kernel_targets.h"
#include "record/kernel/loaded_programs.h"
#include "record/kernel/sample_events.h"
#include "record/kernel/symbol_look.h"
#include "txtrace_bpf.skel.h"

#define PROBE_CNT_MAX 16

/* To read all of the kernel's symbols takes some 70 ms: in a thread, while the programs are loaded. */
struct fault_look {
	pthread_t thread;
	bool has_thread;
	uint32_t cnt;
	struct fault_range ranges[FAULT_RANGE_MAX];
};

struct kernel_side {
	struct txtrace_bpf *bpf; /* the maps, and what is wanted of the programs */
	struct loaded_programs loaded;
	int types_fd; /* a file of the kernel's types that the programs read; -1: of all */
	char types_path[32];
	struct fault_look faults;
	struct probe_program programs[PROBE_CNT_MAX];
	size_t program_cnt;
	struct bpf_link *links[32];
	size_t link_cnt;
	struct bpf_link *interrupt_links[INTERRUPT_PROGRAM_MAX];
	size_t interrupt_link_cnt;
	struct sample_events *samples;
	uint64_t sample_ns; /* 0: none */
};

/*
 * The probes of include/txtrace.h and who handles them. In the order of attaching: what ends a span before
 * what begins one.
 */
static const struct {
	const char *probe;
	const char *program;
} probes[] = {
	{ "end", "on_end" },
	{ "exit", "on_exit" },
	{ "enter", "on_enter" },
	{ "tag", "on_tag" },
	{ "attr", "on_attr" },
	{ "event", "on_event" },
	{ "counter", "on_counter" },
	{ "link", "on_link" },
	{ "key_event", "on_key_event" },
	{ "key_end", "on_key_end" },
	{ "key_exit", "on_key_exit" },
	{ "key_enter", "on_key_enter" },
	{ "key_begin", "on_key_begin" },
	{ "begin_detached", "on_begin_detached" },
	{ "begin", "on_begin" },
	{ "ring", "on_ring" },
};
_Static_assert(sizeof(probes) / sizeof(probes[0]) <= PROBE_CNT_MAX, "PROBE_CNT_MAX");

/* libbpf explains a failed load in hundreds of lines; whoever has to debug one sets this. */
static int print_quietly(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (level == LIBBPF_DEBUG || !getenv("TXTRACE_DEBUG_LIBBPF"))
		return 0;
	return vfprintf(stderr, format, arguments);
}

/*
 * What is not asked for is not loaded, or cut away by the verifier. Threads and processes are known in any
 * case.
 */
static void choose_scheduler(struct txtrace_bpf *bpf, enum sched_mode sched)
{
	bpf->rodata->cfg_has_timeline = sched == SCHED_TIMELINE;
	bpf->rodata->cfg_has_clocks = sched != SCHED_NONE;
	bpf_program__set_autoload(bpf->progs.on_sched_switch, sched != SCHED_NONE);
	bpf_program__set_autoload(bpf->progs.on_sched_waking, sched != SCHED_NONE);
	bpf_program__set_autoload(bpf->progs.on_migrate, sched == SCHED_TIMELINE);
	bpf_program__set_autoload(bpf->progs.on_wakeup_new, sched == SCHED_TIMELINE);
}

/* Not necessary: without them a wait in io_uring is for what its requests are not told to be for, `poll`. */
static int choose_uring(struct txtrace_bpf *bpf, uint32_t places)
{
	bpf_program__set_autoload(bpf->progs.on_ring_create, places & URING_PLACE_CREATE);
	bpf_program__set_autoload(bpf->progs.on_ring_complete, places & URING_PLACE_COMPLETE);
	bpf_program__set_autoload(bpf->progs.on_ring_submit, places & URING_PLACE_SUBMIT_REQ);
	bpf_program__set_autoload(bpf->progs.on_ring_submit_before_6_4, places & URING_PLACE_SUBMIT_SQE);
	return bpf_map__set_autocreate(bpf->maps.counted_requests, places != 0);
}

/* Nobody asks what a descriptor is where no waits are recorded. */
static void choose_sockets(struct txtrace_bpf *bpf, const struct kernel_side_options *options)
{
	bpf_program__set_autoload(bpf->progs.on_socket_look,
				  options->features->has_socket_types && options->sched != SCHED_NONE);
}

/* They are optional: without them their maps are not made either. */
static int prepare_foreign(struct kernel_side *side, const struct kernel_side_options *options)
{
	struct txtrace_bpf *bpf = side->bpf;
	bool has_storage = options->features->has_task_storage;
	const struct {
		struct bpf_map *map;
		bool is_used;
	} maps[] = {
		{ bpf->maps.foreign_sites, true },
		{ bpf->maps.foreign_open, true },
		{ bpf->maps.foreign_threads, has_storage },
		{ bpf->maps.foreign_thread_table, !has_storage },
		{ bpf->maps.foreign_new_thread, !has_storage },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(maps) / sizeof(maps[0]); i++)
		err = bpf_map__set_autocreate(maps[i].map, options->has_foreign && maps[i].is_used);
	/* a program may not allocate there, and the kernel complains if it could */
	if (!err && options->features->version < KERNEL_VERSION(6, 1, 0))
		err = bpf_map__set_map_flags(bpf->maps.foreign_open, 0);
	if (!err)
		err = bpf_program__set_autoload(bpf->progs.on_foreign_thread_exit,
						options->has_foreign && !has_storage);
	for (int i = 0; !err && options->has_foreign && i < FOREIGN_PROGRAM_CNT; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(bpf->obj,
							 foreign_program_name(i, options->features));

		err = probe_program_prepare(program, options->features);
		if (!err)
			err = bpf_program__set_autoload(program, true);
	}
	return err;
}

static int prepare_otel(struct kernel_side *side, bool has_otel)
{
	struct txtrace_bpf *bpf = side->bpf;
	int err = bpf_map__set_autocreate(bpf->maps.otel_processes, has_otel);

	bpf_program__set_autoload(bpf->progs.on_otel_switch, has_otel);
	bpf_program__set_autoload(bpf->progs.on_otel_exit, has_otel);
	bpf_program__set_autoload(bpf->progs.on_otel_exec, has_otel);
	bpf_program__set_autoload(bpf->progs.on_otel_fork, has_otel);
	return err ? err : bpf_map__set_autocreate(bpf->maps.otel_threads, has_otel);
}

static int each_part_read(const void *symbols, const char *name, kernel_part_visit visit, void *context)
{
	return kernel_symbols_each_part(symbols, name, visit, context);
}

static void *read_all_symbols(void *context)
{
	struct fault_look *look = context;
	struct kernel_symbols symbols;
	const struct fault_symbols source = { each_part_read, &symbols };

	if (kernel_symbols_read(&symbols))
		return NULL;
	look->cnt = (uint32_t)fault_ranges_find(look->ranges, &source);
	kernel_symbols_release(&symbols);
	return NULL;
}

struct asked_symbols {
	int prog_fd;
	bool *has_failed;
};

static int each_part_asked(const void *symbols, const char *name, kernel_part_visit visit, void *context)
{
	const struct asked_symbols *asked = symbols;
	int result = symbol_look_each_part(asked->prog_fd, name, visit, context);

	*asked->has_failed |= result < 0;
	return result;
}

/* Where the kernel is slow to answer, or does not, all are read. */
static void begin_fault_look(struct fault_look *look, const struct bpf_program *program)
{
	bool has_failed = false;
	const struct asked_symbols asked = { bpf_program__fd(program), &has_failed };
	const struct fault_symbols source = { each_part_asked, &asked };

	if (asked.prog_fd >= 0)
		look->cnt = (uint32_t)fault_ranges_find(look->ranges, &source);
	if (look->cnt && !has_failed)
		return;
	look->cnt = 0;
	look->has_thread = !pthread_create(&look->thread, NULL, read_all_symbols, look);
	if (!look->has_thread)
		read_all_symbols(look);
}

/* The skeleton's array of ranges has a type of its own. */
static void end_fault_look(struct fault_look *look, struct txtrace_bpf *bpf)
{
	if (look->has_thread)
		pthread_join(look->thread, NULL);
	look->has_thread = false;
	_Static_assert(sizeof(bpf->bss->fault_ranges) == sizeof(look->ranges),
		       "the kernel side has the same ranges");
	memcpy(bpf->bss->fault_ranges, look->ranges, sizeof(look->ranges));
	bpf->bss->fault_range_cnt = look->cnt;
}

static void prepare_stacks(struct kernel_side *side, const struct kernel_side_options *options)
{
	struct txtrace_bpf *bpf = side->bpf;

	bpf->rodata->cfg_names_futexes = options->names_futexes;
	bpf->rodata->cfg_stacks_off_cpu = options->has_stacks_off_cpu;
	bpf->rodata->cfg_copies_stacks = options->copies_stacks;
	bpf->rodata->cfg_sample_ns = options->sample_ns;
	bpf->rodata->cfg_first_look_bytes = options->ring_bytes / 4;
	side->sample_ns = options->has_stacks_on_cpu ? options->sample_ns : 0;
	bpf_program__set_autoload(bpf->progs.on_sample, options->has_stacks_on_cpu);
}

static int prepare(struct kernel_side *side, const struct kernel_side_options *options)
{
	struct txtrace_bpf *bpf = side->bpf;
	int err = 0;

	bpf->rodata->cfg_ring_mask = options->ring_cnt - 1;
	bpf->rodata->cfg_wake_bytes = options->wake_bytes;
	bpf->rodata->cfg_has_prev_state = options->features->sched_switch_arg_cnt >= 4;
	bpf->rodata->cfg_preempt_count_offset = options->features->percpu.preempt_count;
	bpf->rodata->cfg_hrtimer_bases_offset = options->features->percpu.hrtimer_bases;
	bpf->rodata->cfg_timer_bases_offset = options->features->percpu.timer_bases;
	bpf->rodata->cfg_interrupt_mask = options->features->percpu.interrupt_mask;
	bpf->rodata->cfg_steal_offset = options->features->steal.offset;
	bpf->rodata->cfg_steal_is_late = options->features->steal.kind == STEAL_LATE;
	bpf->rodata->cfg_has_attach_cookie = options->features->has_cookies;
	bpf->rodata->cfg_has_task_pt_regs = options->features->version >= KERNEL_VERSION(5, 15, 0);
	bpf->rodata->cfg_has_mark_rings = options->has_mark_rings;
	bpf_program__set_autoload(bpf->progs.on_ring, options->has_mark_rings);
	bpf_program__set_autoload(bpf->progs.ask_current,
				  options->has_mark_rings && options->sched != SCHED_NONE);
	prepare_stacks(side, options);
	choose_scheduler(bpf, options->sched);
	choose_sockets(bpf, options);
	err = choose_uring(bpf, options->sched == SCHED_NONE ? 0 : options->features->uring_places);
	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.thread_clocks, options->features->has_task_storage);
	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.table_clocks, !options->features->has_task_storage);
	if (!err)
		err = bpf_map__set_autocreate(bpf->maps.thread_lanes, options->has_mark_rings);
	if (!err)
		err = kernel_targets_prepare(bpf, options->rules);
	if (!err)
		err = kernel_filter_prepare(bpf, options->choices);
	if (!err)
		err = probe_program_prepare(bpf->progs.on_empty_probe, options->features);
	for (size_t i = 0; !err && i < sizeof(probes) / sizeof(probes[0]); i++)
		err = probe_program_prepare(bpf_object__find_program_by_name(bpf->obj, probes[i].program),
					    options->features);
	if (!err)
		err = prepare_otel(side, options->has_otel);
	return err ? err : prepare_foreign(side, options);
}

static void list_programs(struct kernel_side *side)
{
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		struct bpf_program *program = kernel_side_program(side, probes[i].program);

		if (!program)
			continue;
		side->programs[side->program_cnt++] = (struct probe_program){
			.probe = probes[i].probe,
			.prog = program,
			.prog_fd = bpf_program__fd(program),
		};
	}
}

/* Selects the kernel's types for the programs and writes them to the file from which libbpf loads them. */
static int write_types(const struct btf *kernel, const struct btf *programs, int fd)
{
	struct btf *types = NULL;
	int err = kernel ? kernel_types_select(&types, kernel, programs) : -ENOENT;
	uint32_t size = 0;
	const void *bytes = types ? btf__raw_data(types, &size) : NULL;
	ssize_t written;

	if (!err && !bytes)
		err = -ENOMEM;
	if (!err) {
		written = write(fd, bytes, size);
		err = written < 0 ? -errno : (size_t)written < size ? -ENOSPC : 0;
	}
	btf__free(types);
	return err;
}

/*
 * libbpf wants the name of the file with the types before it reads the
 * programs, and the programs say which types the file must have. So the file is
 * empty at first. With such a file libbpf ignores the types of modules; of those
 * that the programs read, only the ones of unix sockets can be in a module.
 */
static int open_object(struct kernel_side *side, const struct btf *kernel)
{
	bool is_in_module = access("/sys/kernel/btf/unix", F_OK) == 0;
	LIBBPF_OPTS(bpf_object_open_opts, options);

	side->types_fd = is_in_module ? -1 : memfd_create("types", MFD_CLOEXEC);
	if (side->types_fd >= 0) {
		snprintf(side->types_path, sizeof(side->types_path), "/proc/self/fd/%d", side->types_fd);
		options.btf_custom_path = side->types_path;
	}
	side->bpf = txtrace_bpf__open_opts(&options);
	if (!side->bpf)
		return -errno;
	return side->types_fd < 0 ? 0 : write_types(kernel, bpf_object__btf(side->bpf->obj), side->types_fd);
}

/*
 * First the maps: only then there is something that the programs can share; and
 * the programs that are used while the others are loaded.
 */
static int begin_load(struct kernel_side *side, bool asks_for_symbols)
{
	struct loaded_programs_source source = { .object = side->bpf->obj };
	int err;

	bpf_program__set_autoload(side->bpf->progs.on_empty_probe, false);
	bpf_program__set_autoload(side->bpf->progs.on_empty_tracepoint, false);
	err = loaded_programs_plan(&side->loaded, side->bpf->obj);
	bpf_program__set_autoload(side->bpf->progs.on_empty_probe, true);
	bpf_program__set_autoload(side->bpf->progs.on_empty_tracepoint, true);
	bpf_program__set_autoload(side->bpf->progs.on_symbol_look, asks_for_symbols);
	if (!err)
		err = txtrace_bpf__load(side->bpf);
	if (err)
		return err;
	source.types_path = side->types_fd < 0 ? NULL : side->types_path;
	source.elf = txtrace_bpf__elf_bytes(&source.elf_bytes);
	loaded_programs_begin(&side->loaded, &source);
	begin_fault_look(&side->faults, side->bpf->progs.on_symbol_look);
	return 0;
}

static int open_side(struct kernel_side *side, const struct kernel_side_options *options, struct error *error)
{
	struct btf *own_types = options->features->types ? NULL : btf__parse(KERNEL_TYPES_PATH, NULL);
	const struct btf *types = own_types ? own_types : options->features->types;
	int err;

	side->types_fd = -1;
	libbpf_set_print(print_quietly);
	err = open_object(side, types);
	if (!err)
		err = prepare(side, options);
	if (!err && options->wants_interrupts)
		err = interrupt_programs_choose(side->bpf->obj, types, error);
	btf__free(own_types);
	return err ? err : begin_load(side, options->features->version >= KERNEL_VERSION(6, 2, 0));
}

static int refuse(struct error *error, int err)
{
	if (err == -EMFILE)
		error_set(error,
			  "no file descriptor is left for the BPF programs: raise the limit with ulimit -n");
	else
		error_set(error,
			  "the kernel does not accept the BPF programs: %s; TXTRACE_DEBUG_LIBBPF=1 shows why",
			  strerror(-err));
	return err;
}

int kernel_side_open(struct kernel_side **result, const struct kernel_side_options *options,
		     struct error *error)
{
	struct kernel_side *side = calloc(1, sizeof(*side));
	int err = side ? open_side(side, options, error) : -ENOMEM;

	if (err)
		kernel_side_close(side);
	else
		*result = side;
	return err && err != -EOPNOTSUPP ? refuse(error, err) : err;
}

int kernel_side_wait(struct kernel_side *side, struct error *error)
{
	int err = loaded_programs_wait(&side->loaded);

	end_fault_look(&side->faults, side->bpf);
	if (err)
		return refuse(error, err);
	list_programs(side);
	return 0;
}

struct txtrace_bpf *kernel_side_bpf(struct kernel_side *side)
{
	return side->bpf;
}

int kernel_side_rings_fd(const struct kernel_side *side)
{
	return bpf_map__fd(side->bpf->maps.rings);
}

int kernel_side_label_files_fd(const struct kernel_side *side)
{
	return bpf_map__fd(side->bpf->maps.label_files);
}

const struct wire_counters *kernel_side_counters(const struct kernel_side *side)
{
	return side->bpf->bss->counters;
}

void kernel_side_set_sleeping(const struct kernel_side *side, bool sleeps)
{
	__atomic_store_n(&side->bpf->bss->reader_sleeps, sleeps, __ATOMIC_RELAXED);
}

uint64_t kernel_side_full_cnt(const struct kernel_side *side)
{
	return __atomic_load_n(&side->bpf->bss->foreign_full_cnt, __ATOMIC_RELAXED);
}

int kernel_side_otel_fd(const struct kernel_side *side)
{
	return bpf_map__fd(side->bpf->maps.otel_processes);
}

volatile uint64_t *kernel_side_otel_generation(const struct kernel_side *side)
{
	return &side->bpf->bss->otel_generation;
}

uint64_t kernel_side_otel_full_cnt(const struct kernel_side *side)
{
	return __atomic_load_n(&side->bpf->bss->otel_full_cnt, __ATOMIC_RELAXED);
}

uint64_t kernel_side_otel_fail_cnt(const struct kernel_side *side)
{
	return __atomic_load_n(&side->bpf->bss->otel_fail_cnt, __ATOMIC_RELAXED);
}

uint64_t kernel_side_step_cnt(const struct kernel_side *side)
{
	uint64_t cnt = 0;

	for (size_t cpu = 0; cpu < kernel_side_cpu_cnt(); cpu++)
		cnt += __atomic_load_n(&side->bpf->bss->foreign_steps[cpu].cnt, __ATOMIC_RELAXED);
	return cnt;
}

/* Numbers may have gaps: libbpf counts those, too. */
size_t kernel_side_cpu_cnt(void)
{
	int cnt = libbpf_num_possible_cpus();

	return cnt > 0 && cnt < WIRE_CPU_MAX ? (size_t)cnt : WIRE_CPU_MAX;
}

volatile uint64_t *kernel_side_loss_generation(const struct kernel_side *side)
{
	return &side->bpf->bss->loss_generation;
}

/*
 * Kernels that can be preempted on tracepoints (7.3, at the latest) leave a program out while the CPU is in
 * it. Not where the scheduler holds its locks; and the end of a thread is told again by its last switch.
 */
void kernel_side_watch_losses(const struct kernel_side *side, struct loss_counters *losses)
{
	static const struct {
		const char *program;
		enum wire_kind kind;
	} watched[] = {
		{ "on_fork", WIRE_PROCESS }, /* so that threads are listed again */
		{ "on_rename", WIRE_THREAD },
		{ "on_exec", WIRE_EXEC },
		{ "on_cgroup_attach", WIRE_PROCESS },
	};

	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
		struct bpf_program *program = kernel_side_program(side, watched[i].program);

		if (program)
			loss_counters_watch(losses, bpf_program__fd(program), watched[i].kind);
	}
}

struct bpf_program *kernel_side_program(const struct kernel_side *side, const char *name)
{
	struct bpf_program *program = loaded_programs_find(&side->loaded, name);

	if (!program)
		program = bpf_object__find_program_by_name(side->bpf->obj, name);
	return program && bpf_program__autoload(program) ? program : NULL;
}

const struct probe_program *kernel_side_programs(const struct kernel_side *side, size_t *cnt)
{
	*cnt = side->program_cnt;
	return side->programs;
}

void kernel_side_connect(const struct kernel_side *side, const struct kernel_features *features,
			 struct foreign_plan *plan)
{
	struct probe_spot_program programs[FOREIGN_PROGRAM_CNT];

	for (int i = 0; i < FOREIGN_PROGRAM_CNT; i++) {
		programs[i].prog = kernel_side_program(side, foreign_program_name(i, features));
		programs[i].prog_fd = bpf_program__fd(programs[i].prog);
		programs[i].is_return = foreign_program_is_return(i);
	}
	foreign_plan_connect(plan, bpf_map__fd(side->bpf->maps.foreign_sites), programs);
}

int kernel_side_start(struct kernel_side *side, struct error *error)
{
	/* in the order in which they run: what reads contexts before what moves the clocks */
	static const char *const names[] = {
		"on_otel_switch",    "on_otel_exit",
		"on_otel_exec",	     "on_otel_fork",
		"on_sched_switch",   "on_sched_waking",
		"on_fork",	     "on_rename",
		"on_exit_of_thread", "on_exec",
		"on_migrate",	     "on_wakeup_new",
		"on_cgroup_attach",  "on_foreign_thread_exit",
		"on_ring_create",    "on_ring_complete",
		"on_ring_submit",    "on_ring_submit_before_6_4",
	};
	int err;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct bpf_program *program = kernel_side_program(side, names[i]);
		struct bpf_link *link = program ? bpf_program__attach(program) : NULL;

		if (!program)
			continue;
		if (!link) {
			error_set(error, "cannot attach '%s' to the scheduler: %s", names[i],
				  strerror(errno));
			return -errno;
		}
		side->links[side->link_cnt++] = link;
	}
	err = interrupt_programs_attach(&side->loaded, side->interrupt_links, &side->interrupt_link_cnt,
					error);
	return err || !side->sample_ns
		       ? err
		       : sample_events_open(&side->samples, kernel_side_program(side, "on_sample"),
					    side->sample_ns, error);
}

/* Reading the iterator to its end runs the program on every thread of the system. */
int kernel_side_seed(struct kernel_side *side, struct error *error)
{
	struct bpf_link *link = bpf_program__attach_iter(kernel_side_program(side, "seed_threads"), NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	int err = fd < 0 ? -errno : 0;
	ssize_t length = 1;
	char nothing[64];

	while (!err && length) {
		length = read(fd, nothing, sizeof(nothing));
		if (length < 0 && errno != EAGAIN && errno != EINTR)
			err = -errno;
	}
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	if (err)
		error_set(error, "cannot list the threads of the target: %s", strerror(-err));
	return err;
}

/* On a CPU that does not run (-ENXIO) there is nobody to be asked. */
int kernel_side_ask(const struct kernel_side *side)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .flags = BPF_F_TEST_RUN_ON_CPU);
	const struct bpf_program *program = kernel_side_program(side, "ask_current");
	int err = 0;

	if (!program)
		return 0;
	for (size_t cpu = 0; cpu < kernel_side_cpu_cnt(); cpu++) {
		options.cpu = (uint32_t)cpu;
		if (bpf_prog_test_run_opts(bpf_program__fd(program), &options) && errno != ENXIO)
			err = -errno;
	}
	return err;
}

void kernel_side_record(struct kernel_side *side)
{
	__atomic_store_n(&side->bpf->bss->phase, WIRE_PHASE_RECORDING, __ATOMIC_RELEASE);
}

void kernel_side_silence(struct kernel_side *side)
{
	__atomic_store_n(&side->bpf->bss->phase, WIRE_PHASE_STOPPED, __ATOMIC_RELEASE);
}

/*
 * Every program that began before has ended then: they run in read-side sections of RCU, for whose end this
 * command waits.
 */
bool kernel_side_is_silent(const struct kernel_side *side)
{
	return side->bpf->bss->phase == WIRE_PHASE_STOPPED &&
	       !syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

void kernel_side_stop(struct kernel_side *side)
{
	while (side->interrupt_link_cnt)
		bpf_link__destroy(side->interrupt_links[--side->interrupt_link_cnt]);
	sample_events_close(side->samples);
	side->samples = NULL;
	while (side->link_cnt)
		bpf_link__destroy(side->links[--side->link_cnt]);
}

void kernel_side_close(struct kernel_side *side)
{
	if (!side)
		return;
	kernel_side_stop(side);
	loaded_programs_release(&side->loaded);
	if (side->faults.has_thread)
		pthread_join(side->faults.thread, NULL);
	if (side->types_fd >= 0)
		close(side->types_fd);
	if (side->bpf)
		txtrace_bpf__destroy(side->bpf);
	free(side);
}
