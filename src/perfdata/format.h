/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The on-disk format of perf.data: constants and layouts shared by the reader and the writer.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.[ch],
 * tools/lib/perf/include/perf/event.h.
 *
 * The file form: struct format_header, the attrs (each a perf_event_attr and a section that lists
 * its ids), the records, and after them one format_section per feature bit that is set, in the
 * order of the bits. The pipe form: struct format_pipe_header, then only records. A directory
 * recording: the file form as DIR/data, and the plain records of more threads in DIR/data.0,
 * DIR/data.1 … without any header.
 */
#ifndef PERFDATA_FORMAT_H
#define PERFDATA_FORMAT_H

#include <linux/perf_event.h>
#include <stdint.h>

/* "PERFILE2" in a little-endian file, "2ELIFREP" in a big-endian one. */
#define FORMAT_MAGIC 0x32454c4946524550ULL
/* "PERFFILE": before Linux 3.5 (2012). Does not show the byte order. */
#define FORMAT_MAGIC_OLD 0x454c494646524550ULL

#define FORMAT_FEATURE_BITS 256

struct format_section {
	uint64_t offset; /* from the start of the file */
	uint64_t size;
};

struct format_header {
	uint64_t magic;
	uint64_t size;	    /* of this header */
	uint64_t attr_size; /* of one entry of attrs: a perf_event_attr and a format_section */
	struct format_section attrs;
	struct format_section data; /* size 0: the recorder never finished */
	struct format_section event_types; /* no longer used */
	uint64_t features[FORMAT_FEATURE_BITS / 64];
};

struct format_pipe_header {
	uint64_t magic;
	uint64_t size; /* of this header: 16 for the pipe form */
};

enum format_feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7, /* u32 available, u32 online */
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10, /* u64 kB */
	FEATURE_CMDLINE = 11,	/* u32 count, strings */
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_TOPOLOGY = 13,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_BRANCH_STACK = 15, /* empty, as are AUXTRACE's and STAT's for readers of text */
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC = 17, /* u32 count; for each: string, u32 leader, u32 events */
	FEATURE_AUXTRACE = 18,
	FEATURE_STAT = 19,
	FEATURE_CACHE = 20,
	FEATURE_SAMPLE_TIME = 21, /* u64 first, u64 last */
	FEATURE_MEM_TOPOLOGY = 22,
	FEATURE_CLOCKID = 23,	 /* u64 resolution in ns */
	FEATURE_DIR_FORMAT = 24, /* u64 version */
	FEATURE_BPF_PROG_INFO = 25,
	FEATURE_BPF_BTF = 26,
	FEATURE_COMPRESSED = 27,  /* u32 version, type, level, ratio, mmap_len */
	FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_CLOCK_DATA = 29, /* u32 version, u32 clockid, u64 time of day, u64 its time then */
	FEATURE_HYBRID_TOPOLOGY = 30,
	FEATURE_PMU_CAPS = 31,

	/*
	 * perfvisor's own. perf knows no features above HEADER_LAST_FEATURE (about 32) and stops
	 * there, so it ignores these sections. As the last ones in the order of the bits, they do
	 * not shift those that it knows (perf_header__process_sections()).
	 * docs/perfvisor-sections.md describes their contents.
	 */
	FEATURE_INVENTORY = 240,
	FEATURE_SYMBOLS = 241,
};

#define FORMAT_DIRECTORY_VERSION 1
#define FORMAT_CLOCK_DATA_VERSION 1
/* In FEATURE_GROUP_DESC, of a group without a name. */
#define FORMAT_GROUP_WITHOUT_NAME "{anon_group}"

/* A string in a feature: u32 length, then length bytes, terminated and zero-padded. */
#define FORMAT_STRING_ALIGNMENT 64

/* Records of perf's user space; the kernel's are below 64. */
enum format_record {
	RECORD_USER_FIRST = 64,
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE = 65,
	RECORD_HEADER_TRACING_DATA = 66, /* u32 size; size bytes follow the record */
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71, /* u64 size; size bytes follow the record */
	RECORD_AUXTRACE_ERROR = 72,
	RECORD_THREAD_MAP = 73,
	RECORD_CPU_MAP = 74,
	RECORD_STAT_CONFIG = 75,
	RECORD_STAT = 76,
	RECORD_STAT_ROUND = 77,
	RECORD_EVENT_UPDATE = 78,
	RECORD_TIME_CONV = 79,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_FINISHED_INIT = 82,
	RECORD_COMPRESSED2 = 83, /* u64 size of the compressed bytes, the bytes, padding */
};

/* RECORD_ID_INDEX: u64 count, count entries, then (since 6.0) count guest entries. */
struct format_id_entry {
	uint64_t id;
	uint64_t index; /* of the ring buffer */
	uint64_t cpu;	/* all ones: any */
	uint64_t tid;	/* all ones: any */
};

struct format_id_guest_entry {
	uint64_t machine_pid; /* 0: the host */
	uint64_t vcpu;	      /* all ones: unknown */
};

/* RECORD_EVENT_UPDATE: u64 what, u64 id, data. */
#define FORMAT_EVENT_UPDATE_NAME 2

/*
 * A piece of a note, which is perfvisor's own: RECORD_EVENT_UPDATE with a WHAT that perf does not
 * know, so that it passes over it (perf_event__process_event_update()), and id 0, which is the
 * first event's. A piece is struct format_note_piece and its bytes. docs/perfvisor-sections.md says
 * what notes there are. The bytes of WHAT read "PVISNOTE" in big-endian order.
 */
#define FORMAT_EVENT_UPDATE_NOTE 0x505649534e4f5445ULL

struct format_note_piece {
	uint32_t kind;	 /* enum format_note, or of a feature: its bit */
	uint32_t number; /* of this piece, from 0 on */
	uint32_t pieces; /* of the note */
	uint32_t bytes;	 /* of this piece; up to 7 more fill up the record */
};

enum format_note {
	NOTE_INVENTORY = FORMAT_FEATURE_BITS, /* what is new in the VM inventory */
	NOTE_SYMBOLS,			      /* a symbol table */
	NOTE_SYMBOLS_END,		      /* when a kernel's table ceased to hold */
	NOTE_END,			      /* of the recording: it was not cut off */
};

/* How the table of NOTE_SYMBOLS is stored. */
enum format_table_coding {
	TABLE_PLAIN,	 /* as it is */
	TABLE_ZSTD,	 /* a zstd frame */
	TABLE_ZSTD_LIKE, /* a zstd frame whose prefix is another table, which is not of this kind */
	TABLE_SAME,	 /* not at all: it is another table once more */
};

/* Both a record of the pipe form and an entry of FEATURE_BUILD_ID; followed by the path. */
struct format_build_id {
	struct perf_event_header header;
	int32_t pid; /* of the machine, -1: the host */
	uint8_t bytes[20];
	uint8_t size; /* valid with FORMAT_MISC_BUILD_ID_SIZE, otherwise all 20 bytes count */
	uint8_t reserved[3];
};
#define FORMAT_MISC_BUILD_ID_SIZE (1U << 15)

#endif
