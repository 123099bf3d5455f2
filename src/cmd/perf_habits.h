/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf's options that perfvisor does not have: why, or what to use instead (docs/perf-options.md).
 * They stand at the end of a command's table. A letter that means something else there is left out.
 */
#ifndef CMD_PERF_HABITS_H
#define CMD_PERF_HABITS_H

#include "base/options.h"

#define PERF_ABSENT(letter, long_name, hint)                                                       \
	{ OPTION_ABSENT, letter, long_name, .help = hint }

#define PERF_NO_AUX "AUX data, such as Intel PT, are not decoded"
#define PERF_NO_CODE "nothing is disassembled"
#define PERF_NO_USE "there is nothing like it here; perf reads perfvisor's recordings, too"
#define PERF_BY_BUILD_ID                                                                           \
	"symbols are found by build-id; --guestkallsyms and the like provide those of guests"
#define PERF_DEMANGLES "functions of programs are demangled, those of kernels are not"
#define PERF_CHOOSE_VM "-p PID or --vm NAME chooses a VM"
#define PERF_NO_BRANCHES "-g records call chains; the host's branch records are not the guest's"
#define PERF_NO_MEMORY "precise samples of memory do not work in guests"
#define PERF_ALWAYS "samples always have it"
#define PERF_MODE "--mode of report chooses kernel or user"
#define PERF_HOST_EVENTS "what happens on the host besides samples is left to perf"
#define PERF_BUILD_IDS "build-ids are always recorded, in the MMAP2 records; no cache is written"
#define PERF_WRITING "how the file is written is not chosen here"

#define PERF_ABSENT_RECORD                                                                         \
	PERF_ABSENT(0, "all-cpus", "-a records every VM, on whatever CPU it runs"),                \
	PERF_ABSENT('u', "uid", PERF_CHOOSE_VM), PERF_ABSENT('G', "cgroup", PERF_CHOOSE_VM),       \
	PERF_ABSENT('b', "branch-any", PERF_NO_BRANCHES),                                          \
	PERF_ABSENT('j', "branch-filter", PERF_NO_BRANCHES),                                       \
	PERF_ABSENT(0, "compression-level", "-z compresses; it takes no level"),                   \
	PERF_ABSENT(0, "switch-output-event",                                                      \
		    "--switch-output switches at a signal, a size or a time"),                     \
	PERF_ABSENT(0, "timestamp-filename", "--switch-output gives files a time as suffix"),      \
	PERF_ABSENT(0, "tail-synthesize", "what names samples is written before them"),            \
	PERF_ABSENT(0, "group", "-e '{cycles,instructions}' makes a group"),                       \
	PERF_ABSENT(0, "per-thread", "every vCPU's thread has its events"),                        \
	PERF_ABSENT('i', "no-inherit", "every vCPU's thread has its events; none inherits them"),  \
	PERF_ABSENT('S', "snapshot", PERF_NO_AUX), PERF_ABSENT(0, "aux-sample", PERF_NO_AUX),      \
	PERF_ABSENT('I', "intr-regs", "-g records call chains; registers are not kept"),           \
	PERF_ABSENT(0, "user-regs", "-g records call chains; registers are not kept"),             \
	PERF_ABSENT('d', "data", PERF_NO_MEMORY), PERF_ABSENT(0, "phys-data", PERF_NO_MEMORY),     \
	PERF_ABSENT(0, "data-page-size", PERF_NO_MEMORY),                                          \
	PERF_ABSENT(0, "code-page-size", PERF_NO_MEMORY),                                          \
	PERF_ABSENT('W', "weight", PERF_NO_MEMORY), PERF_ABSENT(0, "transaction", PERF_NO_MEMORY), \
	PERF_ABSENT('P', "period", PERF_ALWAYS), PERF_ABSENT('T', "timestamp", PERF_ALWAYS),       \
	PERF_ABSENT(0, "sample-cpu", PERF_ALWAYS),                                                 \
	PERF_ABSENT(0, "sample-identifier", PERF_ALWAYS),                                          \
	PERF_ABSENT('R', "raw-samples", "tracepoints always have their fields"),                   \
	PERF_ABSENT('s', "stat", "only samples are recorded"),                                     \
	PERF_ABSENT('n', "no-samples", "only samples are recorded"),                               \
	PERF_ABSENT(0, "all-kernel", PERF_MODE), PERF_ABSENT(0, "all-user", PERF_MODE),            \
	PERF_ABSENT(0, "kernel-callchains", PERF_MODE),                                            \
	PERF_ABSENT(0, "user-callchains", PERF_MODE),                                              \
	PERF_ABSENT(0, "namespaces", PERF_HOST_EVENTS),                                            \
	PERF_ABSENT(0, "all-cgroups", PERF_HOST_EVENTS),                                           \
	PERF_ABSENT(0, "switch-events", PERF_HOST_EVENTS),                                         \
	PERF_ABSENT(0, "no-bpf-event", PERF_HOST_EVENTS),                                          \
	PERF_ABSENT(0, "off-cpu", PERF_HOST_EVENTS),                                               \
	PERF_ABSENT('B', "no-buildid", PERF_BUILD_IDS),                                            \
	PERF_ABSENT('N', "no-buildid-cache", PERF_BUILD_IDS),                                      \
	PERF_ABSENT(0, "buildid-all", PERF_BUILD_IDS),                                             \
	PERF_ABSENT(0, "buildid-mmap", PERF_BUILD_IDS),                                            \
	PERF_ABSENT(0, "kcore", "the guests' symbols are in the recording"),                       \
	PERF_ABSENT(0, "vmlinux", "--guestvmlinux provides a guest's kernel"),                     \
	PERF_ABSENT(0, "affinity", PERF_WRITING), PERF_ABSENT(0, "aio", PERF_WRITING),             \
	PERF_ABSENT(0, "mmap-flush", PERF_WRITING), PERF_ABSENT(0, "no-buffering", PERF_WRITING),  \
	PERF_ABSENT('r', "realtime", PERF_WRITING), PERF_ABSENT(0, "threads", PERF_WRITING),       \
	PERF_ABSENT(0, "num-thread-synthesize", PERF_WRITING),                                     \
	PERF_ABSENT(0, "synth", PERF_WRITING), PERF_ABSENT(0, "proc-map-timeout", PERF_WRITING),   \
	PERF_ABSENT(0, "running-time", PERF_NO_USE), PERF_ABSENT(0, "strict-freq", PERF_NO_USE),   \
	PERF_ABSENT(0, "exclude-perf", "only threads of vCPUs are sampled"),                       \
	PERF_ABSENT(0, "timestamp-boundary", "the header always has the first and last time"),     \
	PERF_ABSENT(0, "dry-run", "perfvisor doctor tries what a recording needs"),                \
	PERF_ABSENT(0, "clang-opt", "perfvisor compiles nothing"),                                 \
	PERF_ABSENT(0, "clang-path", "perfvisor compiles nothing"),                                \
	PERF_ABSENT(0, "debuginfod", "DEBUGINFOD_URLS is set for report and script")

#define PERF_ABSENT_READING                                                                        \
	PERF_ABSENT('v', "verbose", "notes are on standard error without it"),                     \
	PERF_ABSENT('D', "dump-raw-trace", "perf report -D dumps perfvisor's recordings, too"),    \
	PERF_ABSENT(0, "stitch-lbr", PERF_NO_AUX), PERF_ABSENT(0, "itrace", PERF_NO_AUX),          \
	PERF_ABSENT(0, "full-source-path", "the key or field srcline shows where code is from"),   \
	PERF_ABSENT(0, "show-on-off-events", "--time chooses a time"),                             \
	PERF_ABSENT(0, "switch-on", "--time chooses a time"),                                      \
	PERF_ABSENT(0, "switch-off", "--time chooses a time"),                                     \
	PERF_ABSENT('k', "vmlinux", PERF_BY_BUILD_ID),                                             \
	PERF_ABSENT(0, "kallsyms", PERF_BY_BUILD_ID),                                              \
	PERF_ABSENT(0, "symfs", PERF_BY_BUILD_ID), PERF_ABSENT(0, "demangle", PERF_DEMANGLES),     \
	PERF_ABSENT(0, "demangle-kernel", PERF_DEMANGLES)

#define PERF_ABSENT_REPORT                                                                         \
	PERF_ABSENT(0, "group", "each event of a group has rows of its own"),                      \
	PERF_ABSENT(0, "group-sort-idx", "each event of a group has rows of its own"),             \
	PERF_ABSENT(0, "tui", "on a terminal, report opens its browser without it"),               \
	PERF_ABSENT(0, "branch-history", "--branch-stack counts branches"),                        \
	PERF_ABSENT(0, "total-cycles", "--branch-stack counts branches"),                          \
	PERF_ABSENT(0, "source", PERF_NO_CODE), PERF_ABSENT(0, "asm-raw", PERF_NO_CODE),           \
	PERF_ABSENT(0, "objdump", PERF_NO_CODE), PERF_ABSENT(0, "prefix", PERF_NO_CODE),           \
	PERF_ABSENT('M', "disassembler-style", PERF_NO_CODE),                                      \
	PERF_ABSENT(0, "prefix-strip", PERF_NO_CODE),                                              \
	PERF_ABSENT(0, "disable-order", "samples are counted in any order"),                       \
	PERF_ABSENT('p', "parent", "-S and --symbol-filter choose functions"),                     \
	PERF_ABSENT('x', "exclude-other", "-S and --symbol-filter choose functions"),              \
	PERF_ABSENT(0, "ignore-callees", "-S and --symbol-filter choose functions"),               \
	PERF_ABSENT(0, "show-ref-call-graph", PERF_NO_USE),                                        \
	PERF_ABSENT(0, "mem-mode", "script -F addr,data_src,weight prints accesses of memory"),    \
	PERF_ABSENT('T', "threads", "-s pid,tid counts by threads"),                               \
	PERF_ABSENT(0, "tasks", "script --show-task-events prints tasks"),                         \
	PERF_ABSENT(0, "mmaps", "script --show-mmap-events prints mappings"),                      \
	PERF_ABSENT(0, "stats", "report prints how many samples each event has"), \
	PERF_ABSENT(0, "pretty", "--stdio prints text, and --json JSON"),                          \
	PERF_ABSENT(0, "raw-trace", "-s trace and fields of tracepoints are keys"),                \
	PERF_ABSENT(0, "show-cpu-utilization", "-s mode shows kernel and user, guest and host"),   \
	PERF_ABSENT('U', "hide-unresolved", "-s dso shows where functions without a name are"),    \
	PERF_ABSENT(0, "skip-empty", "events without samples have no rows"),               \
	PERF_ABSENT(0, "samples", "script prints samples, of --vm, --comms, -S and others"),       \
	PERF_ABSENT(0, "socket-filter", "-C chooses CPUs"),                                        \
	PERF_ABSENT(0, "ns", "--time-quantum takes ns; script --ns prints nanoseconds"),           \
	PERF_ABSENT(0, "percent-type", PERF_NO_CODE),                                              \
	PERF_ABSENT(0, "stdio-color", "text has no colours"),                                      \
	PERF_ABSENT(0, "show-total-period", "-F +period"),                                         \
	PERF_ABSENT('m', "modules", PERF_BY_BUILD_ID),                                             \
	PERF_ABSENT(0, "ignore-vmlinux", PERF_BY_BUILD_ID),                                        \
	PERF_ABSENT('e', "event", "each event has rows of its own"), PERF_ABSENT_READING

#define PERF_SCRIPTS "perf's scripts can read perfvisor's recordings with perf"

#define PERF_ABSENT_SCRIPT                                                                         \
	PERF_ABSENT(0, "show-round-events", PERF_NO_USE),                                          \
	PERF_ABSENT('d', "debug-mode", PERF_NO_USE),                                               \
	PERF_ABSENT(0, "dump-unsorted-raw-trace",                                                  \
		    "perf script -D dumps perfvisor's recordings, too"),                           \
	PERF_ABSENT('g', "gen-script", PERF_SCRIPTS), PERF_ABSENT('s', "script", PERF_SCRIPTS),    \
	PERF_ABSENT('l', "list", PERF_SCRIPTS), PERF_ABSENT(0, "dlarg", PERF_SCRIPTS),             \
	PERF_ABSENT(0, "dlfilter", PERF_SCRIPTS), PERF_ABSENT(0, "list-dlfilters", PERF_SCRIPTS),  \
	PERF_ABSENT(0, "call-ret-trace", PERF_NO_AUX), PERF_ABSENT(0, "call-trace", PERF_NO_AUX),  \
	PERF_ABSENT(0, "graph-function", PERF_NO_AUX), PERF_ABSENT(0, "insn-trace", PERF_NO_CODE), \
	PERF_ABSENT(0, "max-blocks", PERF_NO_CODE), PERF_ABSENT(0, "xed", PERF_NO_CODE),           \
	PERF_ABSENT('a', "all-cpus", PERF_SCRIPTS),                                                \
	PERF_ABSENT(0, "addr-range", "-S 0xADDRESS takes samples at an address"),                  \
	PERF_ABSENT('L', "Latency", "-F chooses what is printed"),                                 \
	PERF_ABSENT(0, "per-event-dump", "the field event names the event of each sample"),        \
	PERF_ABSENT(0, "stop-bt", "--max-stack limits call chains"),                               \
	PERF_ABSENT(0, "show-kernel-path", PERF_BY_BUILD_ID),                                      \
	PERF_ABSENT(0, "guest-code", "--guestvmlinux names what a guest runs"), PERF_ABSENT_READING

#define PERF_TOP_CODE "annotate shows the instructions of a recording's functions"
#define PERF_TOP_VIEW "'perfvisor record -o - | perfvisor report -i -' has other views"

#define PERF_ABSENT_TOP                                                                            \
	PERF_ABSENT('f', "count-filter", "--percent-limit leaves out rows with few samples"),      \
	PERF_ABSENT('u', "uid", PERF_CHOOSE_VM),                                                   \
	PERF_ABSENT('G', "cgroup", PERF_CHOOSE_VM),                                                \
	PERF_ABSENT('b', "branch-any", PERF_NO_BRANCHES),                                          \
	PERF_ABSENT('j', "branch-filter", PERF_NO_BRANCHES),                                       \
	PERF_ABSENT(0, "stitch-lbr", PERF_NO_BRANCHES),                                            \
	PERF_ABSENT('K', "hide_kernel_symbols", "--mode user shows programs alone"),               \
	PERF_ABSENT('U', "hide_user_symbols", "--mode kernel shows kernels alone"),                \
	PERF_ABSENT('k', "vmlinux", PERF_BY_BUILD_ID),                                             \
	PERF_ABSENT(0, "kallsyms", PERF_BY_BUILD_ID),                                              \
	PERF_ABSENT(0, "ignore-vmlinux", PERF_BY_BUILD_ID),                                        \
	PERF_ABSENT(0, "demangle-kernel", PERF_DEMANGLES),                                         \
	PERF_ABSENT('D', "dump-symtab", "perfvisor symbols writes the tables of guests"),          \
	PERF_ABSENT(0, "source", PERF_TOP_CODE),                                                   \
	PERF_ABSENT(0, "asm-raw", PERF_TOP_CODE),                                                  \
	PERF_ABSENT(0, "sym-annotate", PERF_TOP_CODE),                                             \
	PERF_ABSENT(0, "objdump", PERF_TOP_CODE),                                                  \
	PERF_ABSENT('M', "disassembler-style", PERF_TOP_CODE),                                     \
	PERF_ABSENT(0, "prefix", PERF_TOP_CODE),                                                   \
	PERF_ABSENT(0, "prefix-strip", PERF_TOP_CODE),                                             \
	PERF_ABSENT(0, "no-inherit", "every vCPU's thread has its events; none inherits them"),    \
	PERF_ABSENT('r', "realtime", PERF_WRITING),                                                \
	PERF_ABSENT(0, "overwrite", PERF_WRITING),                                                 \
	PERF_ABSENT(0, "num-thread-synthesize", PERF_WRITING),                                     \
	PERF_ABSENT(0, "proc-map-timeout", PERF_WRITING),                                          \
	PERF_ABSENT(0, "namespaces", PERF_HOST_EVENTS),                                            \
	PERF_ABSENT(0, "all-cgroups", PERF_HOST_EVENTS),                                           \
	PERF_ABSENT(0, "no-bpf-event", PERF_HOST_EVENTS),                                          \
	PERF_ABSENT(0, "group", "each event of a group has rows of its own"),                      \
	PERF_ABSENT(0, "group-sort-idx", "each event of a group has rows of its own"),             \
	PERF_ABSENT('w', "column-widths", PERF_TOP_VIEW),                                          \
	PERF_ABSENT(0, "fields", PERF_TOP_VIEW),                                                   \
	PERF_ABSENT(0, "hierarchy", PERF_TOP_VIEW),                                                \
	PERF_ABSENT(0, "max-stack", PERF_TOP_VIEW),                                                \
	PERF_ABSENT(0, "percentage", PERF_TOP_VIEW),                                               \
	PERF_ABSENT(0, "ignore-callees", PERF_TOP_VIEW),                                           \
	PERF_ABSENT(0, "raw-trace", PERF_TOP_VIEW),                                                \
	PERF_ABSENT(0, "show-total-period", PERF_TOP_VIEW),                                        \
	PERF_ABSENT(0, "tui", "on a terminal, top opens its browser without it"),                  \
	PERF_ABSENT(0, "force", "recordings of other users are read without it"),                  \
	PERF_ABSENT(0, "show-on-off-events", PERF_NO_USE),                                         \
	PERF_ABSENT(0, "switch-on", PERF_NO_USE),                                                  \
	PERF_ABSENT(0, "switch-off", PERF_NO_USE)

#define PERF_CAPSTONE "a library disassembles; no program is started"
#define PERF_SOURCE_NAMES "of files of source code, the name without folders is shown"

#define PERF_ABSENT_ANNOTATE                                                                       \
	PERF_ABSENT(0, "source", "source lines and their text are shown where they are known"),    \
	PERF_ABSENT('M', "disassembler-style", "instructions are in AT&T syntax"),                 \
	PERF_ABSENT(0, "asm-raw", PERF_CAPSTONE),                                                  \
	PERF_ABSENT(0, "objdump", PERF_CAPSTONE),                                                  \
	PERF_ABSENT(0, "percent-type", "shares are those of the function's period"),               \
	PERF_ABSENT(0, "show-total-period",                                                        \
		    "-n shows samples; otherwise there are shares of the period"),                 \
	PERF_ABSENT(0, "group", "each event of a group has tables of its own"),                    \
	PERF_ABSENT(0, "tui", "the key a in the browser of report shows a function"),              \
	PERF_ABSENT(0, "stdio-color", "text has no colours"),                                      \
	PERF_ABSENT(0, "skip-missing", "functions without code are always skipped, with a note"),  \
	PERF_ABSENT('P', "full-paths", PERF_SOURCE_NAMES),                                         \
	PERF_ABSENT(0, "prefix", PERF_SOURCE_NAMES),                                               \
	PERF_ABSENT(0, "prefix-strip", PERF_SOURCE_NAMES),                                         \
	PERF_ABSENT('k', "vmlinux", PERF_BY_BUILD_ID),                                             \
	PERF_ABSENT('m', "modules", PERF_BY_BUILD_ID),                                             \
	PERF_ABSENT(0, "ignore-vmlinux", PERF_BY_BUILD_ID),                                        \
	PERF_ABSENT(0, "symfs", PERF_BY_BUILD_ID),                                                 \
	PERF_ABSENT(0, "demangle", PERF_DEMANGLES),                                                \
	PERF_ABSENT(0, "demangle-kernel", PERF_DEMANGLES),                                         \
	PERF_ABSENT(0, "itrace", PERF_NO_AUX),                                                     \
	PERF_ABSENT('D', "dump-raw-trace", "perf annotate -D dumps perfvisor's recordings, too"),  \
	PERF_ABSENT('q', "quiet", "notes are on standard error"),                                  \
	PERF_ABSENT('v', "verbose", "notes are on standard error without it")

#endif
