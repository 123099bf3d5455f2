/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files (and things like files) that a recording's mappings name, with their symbols,
 * which are loaded when the first address in them is looked up.
 */
#ifndef SESSION_DSOS_H
#define SESSION_DSOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vector.h"
#include "symbol/dso.h"

enum dso_kind {
	DSO_FILE,   /* table addresses are file offsets */
	DSO_KERNEL, /* table addresses are addresses; so are a kernel module's */
	DSO_SYMBOL, /* one function that the kernel made ("bpf_prog_…"): named like the dso */
	DSO_PLAIN,  /* no file: addresses as they are, no symbols ("[stack]", "[JIT] tid 7") */
};

struct dso_entry {
	enum dso_kind kind;
	uint32_t guest;	     /* pid of the VMM whose guest has the file; 0: the host has it */
	uint32_t path;	     /* strings of the session: as perf script shows it */
	uint32_t short_name; /* as perf report shows it */
	uint8_t build_id[20];
	uint8_t build_id_bytes; /* 0: not known */
	bool loaded, searched;
	struct symbol_table *table; /* owned; NULL: no symbols */
	struct symbol_table *found; /* of a guest's file, behind those of the recording; likewise */
	char *reason; /* why there are no symbols; owned, NULL: no reason */
};

struct dsos {
	struct intern *strings; /* borrowed */
	const char *cache; /* of build-ids, that came with the recording; borrowed, NULL: none */
	VECTOR(struct dso_entry *) items;
	struct map by_key; /* hash of path and build-id -> place in items + 1 */
};

void dsos_init(struct dsos *dsos, struct intern *strings);
void dsos_deinit(struct dsos *dsos);

struct dso_names {
	const char *path;
	const uint8_t *build_id; /* NULL: not known */
	uint8_t build_id_bytes;
	uint32_t guest; /* as above */
};

/* The number of the dso of a user mapping or kernel mapping, added if it is new. */
uint32_t dsos_add_file(struct dsos *dsos, const struct dso_names *names);
/* Likewise of the kernel: PATH "[kernel.kallsyms]_text", "[ext4]" or a module's .ko file. */
uint32_t dsos_add_kernel(struct dsos *dsos, const struct dso_names *names);
/* A function that the kernel made while it ran: a BPF program, a trampoline. */
uint32_t dsos_add_symbol(struct dsos *dsos, const char *name);
/* A dso without a file behind it, shown as NAME. */
uint32_t dsos_add_plain(struct dsos *dsos, const char *name);
/* The dso of executable memory of PID that no file backs: "[JIT] tid PID". */
uint32_t dsos_add_jit(struct dsos *dsos, uint32_t pid);

/* True if mappings of PATH are memory without a file. */
bool dsos_is_anonymous(const char *path);

/* Loads the symbols of one of the host's, if that was not tried yet. */
void dsos_load(struct dsos *dsos, struct dso_entry *entry);

#endif
