# SPDX-License-Identifier: BSD-2-Clause
#
#   make             build/txtrace, build/txtrace-bpf
#   make demo        sets the machine up, builds, traces the demo server, prints the report
#   make check       sets the machine up, builds, runs every test
#   make bench       measures; prints the figures of docs/benchmarks.md
#   make install     DESTDIR= PREFIX=/usr/local
#
#   V=1              shows the commands           SANITIZE=address,undefined|thread   builds into build/sanitize-…
#   CROSS_COMPILE=   as in the kernel             CC= CLANG= BPFTOOL= PKG_CONFIG=     override the tools

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
PREFIX     ?= /usr/local
VERSION    := 0.1.0

BUILD := build
ifneq ($(SANITIZE),)
comma := ,
BUILD := build/sanitize-$(subst $(comma),-,$(SANITIZE))
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' $(1) $(2))

OPTIMIZE ?= -O2
CPPFLAGS += -Iinclude -Iuserspace -I$(BUILD)/gen -D_GNU_SOURCE -DTXTRACE_VERSION='"$(VERSION)"'
WARNINGS := -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wshadow -Wvla -Wpointer-arith -Wwrite-strings $(if $(CI),-Werror)
CFLAGS   += -std=gnu11 $(OPTIMIZE) -g $(WARNINGS) -fno-strict-overflow $(SANITIZE_FLAGS)
LDFLAGS  += $(SANITIZE_FLAGS)

pkg = $(shell $(PKG_CONFIG) $(1) $(2))
LOG_LIBS     = $(call pkg,--libs,libzstd liblz4)
EXPORT_LIBS  = $(call pkg,--libs,libprotobuf-c)
RECORD_LIBS  = $(call pkg,--libs,libbpf libelf) -lz

# ---- sources: a folder is a module; a file in it is part of it ----

# No module of the first group knows libbpf; ring and attach alone include it.
PURE_FOLDERS   := base event merge attribute log analyze export cli
RECORD_FOLDERS := ring attach record
sources = $(foreach folder,$(1),$(sort $(wildcard userspace/$(folder)/*.c)))
objects = $(patsubst %.c,$(BUILD)/%.o,$(1))

PURE_OBJECTS   := $(call objects,$(call sources,$(PURE_FOLDERS))) $(BUILD)/gen/perfetto.pb-c.o
RECORD_OBJECTS := $(call objects,$(call sources,$(RECORD_FOLDERS)))

BPF_SOURCES := $(sort $(wildcard bpf/*.bpf.c))
BPF_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(BPF_SOURCES))
SKELETON    := $(BUILD)/gen/txtrace_bpf.skel.h

PROGRAM_SOURCES := $(sort $(wildcard tests/programs/*.c))
PROGRAMS        := $(patsubst tests/programs/%.c,$(BUILD)/programs/%,$(PROGRAM_SOURCES))
UNIT_SOURCES    := $(sort $(wildcard tests/unit/test_*.c))
UNITS           := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(UNIT_SOURCES))

.PHONY: all clean programs units
all: $(BUILD)/txtrace $(BUILD)/txtrace-bpf
programs: $(PROGRAMS)
units: $(UNITS)

# ---- programs ----

$(BUILD)/txtrace: $(BUILD)/userspace/main/txtrace.o $(BUILD)/libpure.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LOG_LIBS) $(EXPORT_LIBS) -lm

$(BUILD)/txtrace-bpf: $(BUILD)/userspace/main/txtrace_bpf.o $(BUILD)/librecord.a $(BUILD)/libpure.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(RECORD_LIBS) $(LOG_LIBS) $(EXPORT_LIBS) -lm

$(BUILD)/libpure.a: $(PURE_OBJECTS)
$(BUILD)/librecord.a: $(RECORD_OBJECTS)
$(BUILD)/%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/%.o: %.c | $(BUILD)/gen/perfetto.pb-c.h
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Only these see the skeleton.
$(call objects,$(call sources,ring attach record)): | $(SKELETON)

# ---- generated ----

$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h &: userspace/export/%.proto
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(PROTOC_C) --proto_path=$(<D) --c_out=$(@D) $<

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -w -c -o $@ $<

BPF_ARCH := $(shell uname -m | sed 's/x86_64/x86/;s/aarch64/arm64/')
BPF_CFLAGS := -target bpf -mcpu=v2 -O2 -g -Wall -Wextra $(if $(CI),-Werror) -D__TARGET_ARCH_$(BPF_ARCH) -Iinclude -Ivmlinux -Ibpf

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/gen/txtrace_bpf.o: $(BPF_OBJECTS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKELETON): $(BUILD)/gen/txtrace_bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name txtrace_bpf > $@

# ---- test programs ----

# Targets of the tracer: they see include/txtrace.h and nothing else of ours, and no sanitizer.
$(BUILD)/programs/%: tests/programs/%.c
	$(call say,PROGRAM,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g $(WARNINGS) -D_GNU_SOURCE -Iinclude -MMD -MP -MF $@.d -o $@ $< -pthread -lm

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/librecord.a $(BUILD)/libpure.a
	$(call say,UNIT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -Itests $(CFLAGS) $(LDFLAGS) -MMD -MP -MF $@.d -o $@ $^ $(RECORD_LIBS) $(LOG_LIBS) $(EXPORT_LIBS) -lcmocka -lm

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
