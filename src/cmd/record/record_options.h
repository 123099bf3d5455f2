/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of option tables for what is sampled and how: the same for record and top. The config begins
 * with a struct record_options.
 */
#ifndef CMD_RECORD_RECORD_OPTIONS_H
#define CMD_RECORD_RECORD_OPTIONS_H

#include "cmd/record/record.h"

#define RECORD_OPTION(type_, short_, name_, field, argument_, help_, ...)                          \
	{                                                                                          \
		.type = type_, .short_name = short_, .name = name_,                                \
		.offset = offsetof(struct record_options, field), .argument = argument_,           \
		.help = help_, __VA_ARGS__                                                         \
	}

/* Whom, and at which events. */
#define RECORD_CHOICE_OPTIONS                                                                      \
	RECORD_OPTION(OPTION_STRINGS, 0, "vm", vms, "NAME|PID",                                    \
	       "record this VM (may be repeated)",                                                 \
	       .completion = COMPLETE_VM),                                                         \
	RECORD_OPTION(OPTION_STRINGS, 'p', "pid", pids, "PID", "record the VM of this process",    \
	       .completion = COMPLETE_VM),                                                         \
	RECORD_OPTION(OPTION_UNSIGNEDS, 't', "tid", tids, "TID",                                   \
	       "record the vCPU with this thread (may be repeated)", .min = 1, .max = INT32_MAX),  \
	RECORD_OPTION(OPTION_STRING, 0, "vcpu", vcpu_text, "LIST",                                 \
	       "record only the vCPUs with these numbers, such as 0-3,7"),                         \
	RECORD_OPTION(OPTION_STRING, 'C', "cpu", cpu_text, "LIST",                                 \
	       "take samples only on these CPUs of the host, such as 0-3,7"),                      \
	RECORD_OPTION(OPTION_FLAG, 'a', "all", all, NULL,                                          \
	       "record every VM, also those that start later (the default)"),                      \
	RECORD_OPTION(OPTION_FLAG, 0, "guest", guest, NULL,                                        \
	       "record samples of guests (the default)"),                                          \
	RECORD_OPTION(OPTION_FLAG, 0, "host", host, NULL,                                          \
	       "record samples of the host, on the vCPUs' threads"),                               \
	RECORD_OPTION(OPTION_STRINGS, 'e', "event", events, "EVENT",                               \
	       "what to sample, in perf's syntax"),                                                \
	RECORD_OPTION(OPTION_STRINGS_AFTER, 0, "filter", filters, "FILTER",                        \
	       "take only hits of the tracepoint before it with these fields, such as "            \
	       "'vcpu_id == 0'",                                                                   \
	       .other_offset = offsetof(struct record_options, events)),                           \
	RECORD_OPTION(OPTION_STRING, 'F', "freq", frequency_text, "HZ",                            \
	       "samples per second and vCPU, or max (default: 999, or 49 with --engine qmp)"),     \
	RECORD_OPTION(OPTION_UNSIGNED, 'c', "count", count, "COUNT",                               \
	       "take a sample every COUNT events",                                                 \
	       .min = 1)

/* With call chains; how; how long. */
#define RECORD_HOW_OPTIONS                                                                         \
	RECORD_OPTION(OPTION_FLAG, 'g', NULL, callchains, NULL, "record call chains, too"),        \
	RECORD_OPTION(OPTION_STRING, 0, "call-graph", call_graph, "MODE[,SIZE]",                   \
	       "the same, in perf's syntax: fp, or dwarf with a --stack-size",                     \
	       .completion = COMPLETE_WORDS, .words = "dwarf fp", .fallback = "dwarf"),            \
	RECORD_OPTION(OPTION_UNSIGNED, 0, "stack-size", stack_bytes, "BYTES",                      \
	       "how much of a guest's user stack to copy (default: 8192)", .min = 1,               \
	       .max = RECORD_MAX_STACK_BYTES),                                                     \
	RECORD_OPTION(OPTION_STRING, 0, "unwind", unwind, "MODE",                                  \
	       "exact (the default), or scan: guess callers where a chain breaks off, and mark "   \
	       "them",                                                                             \
	       .completion = COMPLETE_WORDS, .words = "exact scan"),                               \
	RECORD_OPTION(OPTION_STRING, 0, "engine", engine, "ENGINE",                                \
	       "how to take samples: auto (the default), or qmp, which asks QEMU and pauses the "  \
	       "guest",                                                                            \
	       .completion = COMPLETE_WORDS, .words = "auto qmp"),                                 \
	RECORD_OPTION(OPTION_PERCENT, 0, "max-overhead", max_overhead, "PERCENT",                  \
	       "the share of a core that samples may take from a vCPU before -F is lowered "       \
	       "(default: 2, qmp: 10)"),                                                           \
	RECORD_OPTION(OPTION_SECONDS, 0, "duration", duration_s, "S", "end after S seconds")

/* Rings, symbols, what of guests is read. */
#define RECORD_GUEST_OPTIONS                                                                       \
	RECORD_OPTION(OPTION_STRING, 'm', "mmap-pages", mmap_pages, "PAGES",                       \
	       "size of each ring for samples: a number of pages, or a size such as 512K"),        \
	RECORD_OPTION(OPTION_STRING, 0, "guestkallsyms", guestkallsyms, "FILE",                    \
	       "symbols of the guest's kernel: a copy of its /proc/kallsyms",                      \
	       .completion = COMPLETE_FILE),                                                       \
	RECORD_OPTION(OPTION_STRING, 0, "guestmodules", guestmodules, "FILE",                      \
	       "a copy of its /proc/modules",                                                      \
	       .completion = COMPLETE_FILE),                                                       \
	RECORD_OPTION(OPTION_STRING, 0, "guestvmlinux", guestvmlinux, "FILE",                      \
	       "its vmlinux, or a unikernel's ELF file", .completion = COMPLETE_FILE),             \
	RECORD_OPTION(OPTION_STRING, 0, "guestmount", guestmount, "DIR",                           \
	       "guests' root folders, mounted at DIR/PID (the VM's pid)",                          \
	       .completion = COMPLETE_DIRECTORY),                                                  \
	RECORD_OPTION(OPTION_FLAG, 0, "no-memory", no_memory, NULL,                                \
	       "never read guest memory: guest kernels then need the options above"),              \
	RECORD_OPTION(OPTION_FLAG, 0, "kernel-only", kernel_only, NULL,                            \
	       "do not read guests' user space, and record no guest processes")

#endif
