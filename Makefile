# SPDX-License-Identifier: BSD-2-Clause
#
#   make             build/txtrace, build/txtrace-bpf, build/libtxtrace.a, build/libtxtrace.so
#   make demo        sets the machine up, builds, traces the demo server, prints the report
#   make check       sets the machine up, builds, runs every test
#   make check-fast  what of it needs no kernel and no second build
#   make check-all   also what takes longer than 20 minutes: all steps of attaching, an hour of growth, a page of 50 million records, all kernels; run it before a release
#   make check-kernels   the kernel tests in Debian's kernels, in QEMU; writes the table of docs/kernels.md; KERNELS="5.10 newest" only these, KERNEL_JOBS=2 two at a time
#   make check-fresh both commands of README in a fresh Debian root, as root; FRESH_CHECK=check-fast, SUITE=bookworm, KEEP=1: tests/setup/check_fresh.sh
#   make lint        the rules of the tree
#   make fuzz        fuzzes every target for FUZZ_SECONDS=60; FUZZ_TARGETS="log batch" only these; fuzz-merge: what was found, into the tree
#   make bench       sets the machine up, builds, measures
#   make page-script  the script of the page for a browser, of its modules; needs esbuild 0.17.0
#   make trials      sets the machine up, builds, records real programs, prints txtrace's figures next to independent ones; TRIALS="redis nginx" only these
#   make setup       installs what the build lacks
#   make install     DESTDIR= PREFIX=/usr/local LIBDIR=$(PREFIX)/lib; uninstall
#   make clean
#
#   V=1              shows the commands           SANITIZE=address,undefined|thread   builds into build/sanitize-…
#   CI=true          warnings are errors          CROSS_COMPILE=aarch64-linux-gnu-    builds into build/aarch64-linux-gnu
#                                                 SYSROOT=FOLDER  with the headers and libraries of that root
#   OPTIMIZE=-O2     JOBS=2                       CC= CLANG= BPFTOOL= PKG_CONFIG= …   override the tools

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

CLANG      ?= clang
BPFTOOL    ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
PROTOC_C   ?= protoc-c
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
ifeq ($(origin OBJCOPY),undefined)
OBJCOPY := $(CROSS_COMPILE)objcopy
endif
PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
VERSION    := 0.1.0
# Of the library: the number of its SONAME. One more when programs that were built before would not work any more (docs/library.md, "Growth").
ABI        := 1

# A flavour of the build has a folder of its own. What is generated, the BPF programs and the programs that the tests trace do not depend on SANITIZE.
comma   := ,
SHARED  := build$(if $(CROSS_COMPILE),/$(CROSS_COMPILE:-=))
BUILD   := $(SHARED)$(if $(SANITIZE),/sanitize-$(subst $(comma),-,$(SANITIZE)))
GEN     := $(SHARED)/gen
MACHINE := $(or $(firstword $(subst -, ,$(CROSS_COMPILE))),$(shell uname -m))

# A relative SYSROOT is one from here; pkg-config finds nothing of this machine then.
ifneq ($(SYSROOT),)
SYSROOT_FLAG := --sysroot=$(SYSROOT)
PKG_CONFIG   := PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(MACHINE)-linux-gnu/pkgconfig $(PKG_CONFIG)
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' $(1) $(2))

# A build with a sanitizer is for its reports, which name functions and lines. With these flags it takes 60 %
# of the time. A fuzzer has to be fast.
OPTIMIZE ?= $(if $(SANITIZE:fuzzer%=),-O1,-O2)
DEBUG    := $(if $(SANITIZE),-g1,-g)
# What CPPFLAGS, CFLAGS and LDFLAGS of the environment or the command line say comes last.
ALL_CPPFLAGS := -Iinclude -Iuserspace -I$(GEN) -D_GNU_SOURCE -DTXTRACE_VERSION='"$(VERSION)"' $(CPPFLAGS)
WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla -Wpointer-arith -Wwrite-strings $(if $(CI),-Werror)
SANITIZE_FLAGS := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# gcc for x86 clears and copies structs of 100 bytes by "rep stos", which takes a third of what decoding an event takes; clang does not know these options.
STRATEGY     := vector_loop:256:noalign$(comma)libcall:-1:noalign
STORES       := -mmemset-strategy=$(STRATEGY) -mmemcpy-strategy=$(STRATEGY)
STORES       := $(shell $(CC) $(STORES) -x c -S -o - /dev/null >/dev/null 2>&1 && echo '$(STORES)')
# What goes into the library goes into the programs, too: hidden symbols make code for any address as quick as for a program's own.
ALL_CFLAGS   := -std=gnu11 $(SYSROOT_FLAG) $(OPTIMIZE) $(STORES) $(DEBUG) $(WARNINGS) -fno-strict-overflow -fPIC -fvisibility=hidden $(SANITIZE_FLAGS) $(CFLAGS)
# gcc's two shared runtimes do not share log_path: a report would end in the output that a test reads.
ALL_LDFLAGS  := $(SYSROOT_FLAG) $(SANITIZE_FLAGS) $(if $(findstring undefined,$(SANITIZE)),$(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)) $(LDFLAGS)

# Asked when something is linked, not when this file is read: the set-up may have yet to install it.
pkg = $(shell $(PKG_CONFIG) $(1) $(2))
LOG_LIBS     = $(call pkg,--libs,libzstd liblz4) -pthread
EXPORT_LIBS  = $(call pkg,--libs,libprotobuf-c zlib libcbor)
SQL_LIBS     = $(call pkg,--libs,sqlite3)
TOP_LIBS     = $(call pkg,--libs,ncursesw tinfo)
# libiberty is not needed: without it, Rust names stay as the compiler wrote them. It has no pkg-config file.
LIBIBERTY   := $(shell printf '\043include <libiberty/demangle.h>\nint main(void) { return !rust_demangle_callback; }\n' | \
	$(CC) $(SYSROOT_FLAG) -x c -o /dev/null - -liberty >/dev/null 2>&1 && echo -liberty)
# libmicrohttpd and libcurl are not among them: who needs them loads them (base/http_library.h, base/curl_library.h).
RECORD_LIBS  = $(call pkg,--libs,libbpf libdw libelf libseccomp) -lz $(LIBIBERTY) -pthread

# ---- sources: a folder is a module; a file in it, or in a folder in it, is part of it ----

# No module of the first group knows libbpf; ring and attach alone include it.
PURE_FOLDERS   := base event merge attribute log analyze export import sql fleet otlp cli
RECORD_FOLDERS := ring attach record
# What the library's functions can need: of the first group, log and what it may include.
LIBRARY_FOLDERS := base log
sources = $(foreach folder,$(1),$(sort $(wildcard userspace/$(folder)/*.c userspace/$(folder)/*/*.c)))
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

PROTOS         := $(sort $(wildcard userspace/export/*.proto))
PROTO_SOURCES  := $(patsubst userspace/export/%.proto,$(GEN)/%.pb-c.c,$(PROTOS))
PROTO_HEADERS  := $(PROTO_SOURCES:.c=.h)
VIEW_FILES     := $(patsubst %,userspace/cli/view/page/%,page.html bundle.js uplot/uPlot.min.css style.css)
VIEW_ASSETS    := $(GEN)/view_assets.h
LIBRARY_OBJECTS := $(call objects,$(call sources,$(LIBRARY_FOLDERS)))
PURE_OBJECTS   := $(call objects,$(call sources,$(PURE_FOLDERS))) $(patsubst $(GEN)/%.c,$(BUILD)/gen/%.o,$(PROTO_SOURCES))
RECORD_OBJECTS := $(call objects,$(call sources,$(RECORD_FOLDERS)))
MAIN_OBJECTS   := $(call objects,$(call sources,main))

# In this order: libbpf 1.1's linker loses the offset of a map that is declared extern before it is defined.
BPF_SOURCES := $(patsubst %,bpf/%.bpf.c,emit label steal thread_clock process_target block_reason uring wait_end cpu_watch interrupt stack mark_ring sched entered span_filter span foreign otel symbol \
	socket empty)
BPF_OBJECTS := $(patsubst %.c,$(SHARED)/%.o,$(BPF_SOURCES))
SKELETON    := $(GEN)/txtrace_bpf.skel.h

PROGRAM_SOURCES := $(sort $(wildcard tests/programs/*.c))
PROGRAMS        := $(patsubst tests/programs/%.c,$(SHARED)/programs/%,$(PROGRAM_SOURCES))
PLUGINS         := $(patsubst tests/programs/plugins/%.c,$(SHARED)/programs/%.so,$(sort $(wildcard tests/programs/plugins/*.c)))
UNIT_SOURCES    := $(sort $(wildcard tests/unit/*/test_*.c))
UNITS           := $(patsubst %.c,$(BUILD)/unit/%,$(notdir $(UNIT_SOURCES)))
BENCHES         := $(patsubst tests/bench/%.c,$(BUILD)/bench/%,$(filter-out %.bpf.c,$(sort $(wildcard tests/bench/*.c))))
BPF_BENCHES     := $(patsubst tests/bench/%.bpf.c,$(BUILD)/bench/%,$(sort $(wildcard tests/bench/*.bpf.c)))
ACCOUNT         := $(BUILD)/account/sched_account
FUZZERS         := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
CLI_HELPERS     := $(patsubst tests/cli/%.c,$(BUILD)/cli/%,$(sort $(wildcard tests/cli/*.c)))

.PHONY: all lib programs units benches fuzzers help look setup demo check check-fast check-all check-kernels check-fresh lint bench trials fuzz fuzz-merge page-script install uninstall clean FORCE
all: $(BUILD)/txtrace $(BUILD)/txtrace-bpf lib
lib: $(BUILD)/libtxtrace.a $(BUILD)/libtxtrace.so
programs: $(PROGRAMS) $(PLUGINS)
units: $(UNITS) $(CLI_HELPERS) $(ACCOUNT) $(BUILD)/replay
benches: $(BENCHES)
fuzzers: $(FUZZERS)

help:
	@sed -n '/^#/!q;s/^# \{0,3\}//;3,$$p' $(firstword $(MAKEFILE_LIST))

# ---- what a file is made with ----

# $(eval $(call line,FILE,VALUE)): a file that holds a line and is rewritten when the line has changed, and only then. So what depends on the file
# depends on the value.
define line
$(1): $(if $(subst x$(strip $(2))x,,x$(strip $(file <$(1)))x),FORCE)
	@mkdir -p $$(@D) && printf '%s\n' '$(subst ','\'',$(strip $(2)))' > $$@
endef

$(eval $(call line,$(BUILD)/flags.line,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS)))
$(eval $(call line,$(BUILD)/link.line,$(CC) $(ALL_LDFLAGS)))
$(eval $(call line,$(BUILD)/pure.line,$(AR) $(PURE_OBJECTS)))
$(eval $(call line,$(BUILD)/record.line,$(AR) $(RECORD_OBJECTS)))
$(eval $(call line,$(BUILD)/log.line,$(AR) $(LIBRARY_OBJECTS)))
$(eval $(call line,$(BUILD)/libiberty.line,$(LIBIBERTY)))

# The first build looks at the machine; what is missing is said at once, not by whoever stumbles over it.
$(BUILD)/flags.line $(SHARED)/bpf.line: | $(if $(wildcard $(BUILD)/flags.line),,look)
look:
	@tests/setup/install.sh --look build || true

# ---- programs ----

inputs = $(filter %.c %.o %.a,$^)

$(BUILD)/txtrace: $(BUILD)/userspace/main/txtrace.o $(BUILD)/libpure.a $(BUILD)/link.line
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(inputs) $(LOG_LIBS) $(EXPORT_LIBS) $(SQL_LIBS) $(TOP_LIBS) -lm

$(BUILD)/txtrace-bpf: $(BUILD)/userspace/main/txtrace_bpf.o $(BUILD)/librecord.a $(BUILD)/libpure.a $(BUILD)/link.line
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(inputs) $(RECORD_LIBS) $(LOG_LIBS) $(EXPORT_LIBS) -lm

$(BUILD)/libpure.a: $(PURE_OBJECTS) $(BUILD)/pure.line
$(BUILD)/librecord.a: $(RECORD_OBJECTS) $(BUILD)/record.line
$(BUILD)/liblog.a: $(LIBRARY_OBJECTS) $(BUILD)/log.line
$(BUILD)/%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(inputs)

$(BUILD)/userspace/attach/code/rust_name.o: ALL_CPPFLAGS += $(if $(LIBIBERTY),-DWITH_LIBIBERTY)
$(BUILD)/userspace/attach/code/rust_name.o: $(BUILD)/libiberty.line
$(BUILD)/%.o: %.c $(BUILD)/flags.line
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# ---- the library: what the functions of txtrace/log.h need ----

# The linker finds that out, in one object. All symbols but those functions are then local to it, in the static library, too.
LIBRARY_HEADERS   := include/txtrace/log_record.h include/txtrace/log.h
LIBRARY_FUNCTIONS := $(shell sed -nE 's/^[a-z].*[ *](txtrace_[a-z0-9_]+)[\x28].*/\1/p' $(LIBRARY_HEADERS))
SONAME            := libtxtrace.so.$(ABI)
LIBRARY_FILE      := libtxtrace.so.$(VERSION)

$(eval $(call line,$(BUILD)/library.line,$(LIBRARY_FUNCTIONS) $(OBJCOPY) $(SONAME) $(LIBRARY_FILE)))

$(BUILD)/libtxtrace.o: $(BUILD)/liblog.a $(BUILD)/library.line $(BUILD)/flags.line
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -fsanitize=%,$(ALL_CFLAGS)) $(if $(findstring -flto,$(ALL_CFLAGS)),$(if $(findstring clang,$(CC)),,-flinker-output=nolto-rel)) \
		-r -nostdlib -Wl,--build-id=none $(addprefix -Wl$(comma)-u$(comma),$(LIBRARY_FUNCTIONS)) -o $@ $(inputs)
	$(Q)$(OBJCOPY) --localize-hidden $@

$(BUILD)/libtxtrace.a: $(BUILD)/libtxtrace.o $(BUILD)/log.line

# A sanitizer's runtime is the program's business.
$(BUILD)/$(LIBRARY_FILE): $(BUILD)/libtxtrace.o $(BUILD)/link.line $(BUILD)/library.line
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -static-lib%,$(ALL_LDFLAGS)) -shared -Wl,-soname,$(SONAME) $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) \
		-o $@ $(inputs) $(LOG_LIBS)

$(BUILD)/libtxtrace.so: $(BUILD)/$(LIBRARY_FILE)
	$(Q)ln -sf $(LIBRARY_FILE) $(BUILD)/$(SONAME) && ln -sf $(SONAME) $@ && touch -h $@

# Only these see what is generated; the first build has no .d file yet that would say so.
$(call objects,$(call sources,export)): | $(PROTO_HEADERS)
$(BUILD)/userspace/cli/view/view_page.o: | $(VIEW_ASSETS)
$(RECORD_OBJECTS): | $(SKELETON)

# ---- generated ----

# The files of a page as strings. Its script is in the tree; make page-script makes it of its modules.
$(VIEW_ASSETS): userspace/cli/view/assets.sh $(VIEW_FILES)
	$(call say,PAGE,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$< $(VIEW_FILES) >$@.new && mv $@.new $@

page-script:
	$(Q)userspace/cli/view/bundle.sh >userspace/cli/view/page/bundle.js.new && mv userspace/cli/view/page/bundle.js.new userspace/cli/view/page/bundle.js

$(GEN)/%.pb-c.c $(GEN)/%.pb-c.h &: userspace/export/%.proto
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=$(<D) --c_out=$(@D) $<

$(BUILD)/gen/%.o: $(GEN)/%.c $(BUILD)/flags.line
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -w -MMD -MP -c -o $@ $<

BPF_ARCH := $(patsubst x86_64,x86,$(patsubst aarch64,arm64,$(MACHINE)))
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter $(if $(CI),-Werror) -D__TARGET_ARCH_$(BPF_ARCH) \
	-Iinclude -Ivmlinux -Ibpf -idirafter $(SYSROOT)/usr/include/$(MACHINE)-linux-gnu

$(eval $(call line,$(SHARED)/bpf.line,$(CLANG) $(BPFTOOL) $(BPF_CFLAGS) $(BPF_OBJECTS)))

$(SHARED)/%.bpf.o: %.bpf.c $(SHARED)/bpf.line
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(GEN)/txtrace_bpf.o: $(BPF_OBJECTS) $(SHARED)/bpf.line
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen object $@ $(inputs)

$(SKELETON): $(GEN)/txtrace_bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name txtrace_bpf > $@

# ---- test programs ----

# Targets of the tracer: they see include/txtrace.h and nothing else of ours, and no sanitizer.
PROGRAM_CFLAGS := -std=gnu11 $(SYSROOT_FLAG) -O2 -g $(WARNINGS) -D_GNU_SOURCE -Iinclude
$(eval $(call line,$(SHARED)/programs.line,$(CC) $(PROGRAM_CFLAGS)))

$(SHARED)/programs/%: tests/programs/%.c $(SHARED)/programs.line
	$(call say,PROGRAM,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PROGRAM_CFLAGS) -MMD -MP -MF $@.d -o $@ $< -pthread -lm

$(SHARED)/programs/%.so: tests/programs/plugins/%.c $(SHARED)/programs.line
	$(call say,PLUGIN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(PROGRAM_CFLAGS) -fPIC -shared -MMD -MP -MF $@.d -o $@ $<

vpath test_%.c $(sort $(dir $(UNIT_SOURCES)))

$(BUILD)/unit/%: %.c $(BUILD)/librecord.a $(BUILD)/libpure.a $(BUILD)/flags.line $(BUILD)/link.line
	$(call say,UNIT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -Itests $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $(inputs) $(RECORD_LIBS) $(LOG_LIBS) $(EXPORT_LIBS) $(SQL_LIBS) $(TOP_LIBS) -lcmocka -lm

# What the tests of the command line need, such as make_log, which writes a log from a text.
$(BUILD)/cli/%: tests/cli/%.c $(BUILD)/libpure.a $(BUILD)/flags.line $(BUILD)/link.line
	$(call say,HELPER,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $(inputs) $(LOG_LIBS) $(EXPORT_LIBS) $(SQL_LIBS) $(TOP_LIBS) -lm

# A fuzz target with libFuzzer's main where SANITIZE names it (clang), else with one that takes files.
IS_FUZZING := $(findstring fuzzer,$(SANITIZE))
$(BUILD)/fuzz/%: tests/fuzz/%.c $(if $(IS_FUZZING),,tests/fuzz/corpus_main.c) $(BUILD)/librecord.a $(BUILD)/libpure.a $(BUILD)/flags.line $(BUILD)/link.line
	$(call say,FUZZER,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(if $(IS_FUZZING),-DWITH_LIBFUZZER -fsanitize=fuzzer) -Itests $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $(inputs) \
		$(RECORD_LIBS) $(LOG_LIBS) $(EXPORT_LIBS) $(SQL_LIBS) $(TOP_LIBS) -lm

# What the tests of tests/e2e know of the scheduler's own account.
$(ACCOUNT): tests/account/sched_account.c $(BUILD)/account/sched_account_bpf.skel.h $(BUILD)/librecord.a $(BUILD)/libpure.a $(BUILD)/flags.line $(BUILD)/link.line
	$(call say,HELPER,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -I$(@D) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $(inputs) $(RECORD_LIBS) $(LOG_LIBS)

$(BUILD)/account/%_bpf.skel.h: $(BUILD)/account/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(BUILD)/account/%.bpf.o: tests/account/%.bpf.c $(SHARED)/bpf.line
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

# Attributes a recorded stream, without the kernel.
$(BUILD)/replay: tests/replay/replay.c $(BUILD)/libpure.a $(BUILD)/flags.line $(BUILD)/link.line
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $(inputs) $(LOG_LIBS) $(EXPORT_LIBS) $(SQL_LIBS) $(TOP_LIBS) -lm

# With BPF programs of their own where NAME.bpf.c is there: those measure the floor, programs that do nothing.
$(BPF_BENCHES): $(BUILD)/bench/%: $(BUILD)/bench/%_bpf.skel.h
$(BENCHES): $(BUILD)/bench/%: tests/bench/%.c $(BUILD)/librecord.a $(BUILD)/libpure.a $(BUILD)/flags.line $(BUILD)/link.line
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) -I$(@D) $(ALL_CFLAGS) $(ALL_LDFLAGS) -MMD -MP -MF $@.d -o $@ $(inputs) $(RECORD_LIBS) $(LOG_LIBS) $(EXPORT_LIBS) $(SQL_LIBS) $(TOP_LIBS) -lm

$(BUILD)/bench/%_bpf.skel.h: $(BUILD)/bench/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(BUILD)/bench/%.bpf.o: tests/bench/%.bpf.c $(SHARED)/bpf.line
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

# ---- what is run ----

JOBS ?= $(shell nproc)

setup:
	@tests/setup/install.sh build

demo:
	@tests/setup/install.sh demo
	@tests/demo.sh

check check-fast check-all:
	@tests/setup/install.sh check
	@tests/setup/trace_processor.sh
	@tests/setup/profile_readers.sh
	@tests/setup/bcs.sh
	@tests/setup/kubernetes_types.sh
	@JOBS=$(JOBS) tests/run_check.sh $(patsubst check-%,--%,$(filter check-%,$@))

# Downloads kernels and a QEMU into build/kernels; installs none of them.
check-kernels:
	@tests/setup/install.sh check
	@$(MAKE) --no-print-directory -j$(JOBS) all programs
	@tests/kernels/all_kernels.sh $(KERNELS)

# Makes a root with mmdebstrap, and runs make in it.
check-fresh:
	@tests/setup/check_fresh.sh

lint:
	@tests/setup/install.sh check
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@tests/run tests/lint

# With clang's libFuzzer, in a build of its own.
FUZZ_BUILD := CC=$(CLANG) SANITIZE=fuzzer-no-link,address,undefined

fuzz fuzz-merge:
	@tests/setup/install.sh fuzz
	@$(MAKE) --no-print-directory -j$(JOBS) $(SHARED)/txtrace
	@$(MAKE) --no-print-directory -j$(JOBS) $(FUZZ_BUILD) fuzzers
	@tests/fuzz/fuzz_all.sh $(if $(filter fuzz-merge,$@),--merge)

bench:
	@tests/setup/install.sh bench
	@$(MAKE) --no-print-directory -j$(JOBS) all programs benches $(BUILD)/cli/trust
	@tests/bench/run.sh

# Sources of what is marked come from Debian's archive, and are built in build/trials.
trials:
	@tests/setup/install.sh trials
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@tests/trials/trials.sh $(TRIALS)

# ---- installation ----

MAN_PAGES := $(sort $(wildcard docs/*.1))
SERVICE_FILE := lib/systemd/system/txtrace.service
# from:to:mode
INSTALLED := $(BUILD)/txtrace:bin/txtrace:755 $(BUILD)/txtrace-bpf:bin/txtrace-bpf:755 \
	include/txtrace.h:include/txtrace.h:644 $(foreach header,$(LIBRARY_HEADERS),$(header):$(header):644) LICENSE:share/doc/txtrace/LICENSE:644 docs/commands.schema.json:share/doc/txtrace/commands.schema.json:644 docs/check.schema.json:share/doc/txtrace/check.schema.json:644 \
	$(BUILD)/libtxtrace.a:lib/libtxtrace.a:644 $(BUILD)/$(LIBRARY_FILE):lib/$(LIBRARY_FILE):755 \
	docs/service/txtrace.conf:share/doc/txtrace/txtrace.conf:644 docs/service/txtrace.service:$(SERVICE_FILE):644 \
	$(foreach file,$(sort $(wildcard share/txtrace/*/*)),$(file):$(file):644) \
	$(foreach page,$(MAN_PAGES),$(page):share/man/man1/$(notdir $(page)):644)
# what it names:link
INSTALLED_LINKS := $(LIBRARY_FILE):lib/$(SONAME) $(SONAME):lib/libtxtrace.so
PKG_CONFIG_FILE := lib/pkgconfig/txtrace.pc
part      = $(word $(1),$(subst :, ,$(2)))
# lib/… stands for a place in LIBDIR, but for systemd's
installed = "$(DESTDIR)$(if $(filter-out lib/systemd/%,$(filter lib/%,$(1))),$(LIBDIR)/$(1:lib/%=%),$(PREFIX)/$(1))"

# It knows where the library will be: made when it is installed.
define pkg_config_text
prefix=$(PREFIX)
libdir=$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))
includedir=$${prefix}/include

Name: txtrace
Description: reads the span logs of txtrace
Version: $(VERSION)
Requires.private: libzstd liblz4
Cflags: -I$${includedir}
Libs: -L$${libdir} -ltxtrace
Libs.private: -pthread
endef
export pkg_config_text

install: all
	$(Q)$(foreach file,$(INSTALLED),install -D -m $(call part,3,$(file)) $(call part,1,$(file)) $(call installed,$(call part,2,$(file))) &&) true
	$(Q)$(foreach link,$(INSTALLED_LINKS),ln -sf $(call part,1,$(link)) $(call installed,$(call part,2,$(link))) &&) true
	$(Q)sed -i 's,@PREFIX@,$(PREFIX),' $(call installed,$(SERVICE_FILE))
	$(Q)install -d $(call installed,$(dir $(PKG_CONFIG_FILE)))
	$(Q)printf '%s\n' "$$pkg_config_text" >$(call installed,$(PKG_CONFIG_FILE)) && chmod 644 $(call installed,$(PKG_CONFIG_FILE))

uninstall:
	$(Q)rm -f $(foreach file,$(INSTALLED) $(INSTALLED_LINKS),$(call installed,$(call part,2,$(file)))) $(call installed,$(PKG_CONFIG_FILE))

clean:
	rm -rf build

-include $(patsubst %.o,%.d,$(PURE_OBJECTS) $(RECORD_OBJECTS) $(MAIN_OBJECTS) $(BPF_OBJECTS)) $(addsuffix .d,$(PROGRAMS) $(PLUGINS) $(UNITS) $(CLI_HELPERS) $(FUZZERS) $(BENCHES) $(ACCOUNT) $(BUILD)/replay)
