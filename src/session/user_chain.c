/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's part begins at the registers that the program had when it entered the kernel, or
 * when it was sampled (perf_get_regs_user() in Linux). It is walked with the call frame information
 * of the files that were mapped at that time. These files are found like those with symbols
 * (symbol/dso.h), by build-id or else by path, and each is read once. Each thread that walks
 * remembers which mapping a page belongs to; the result depends on the sample and the files alone.
 *
 * Limits: little-endian stacks, walked on little-endian machines; the architectures in
 * unwind/sample/registers.c. For others the chain is the sampled address alone.
 */
#include "session/user_chain.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>

#include "arch/arch.h"
#include "base/memory.h"
#include "session/chain.h"
#include "unwind/sample/link_walk.h"
#include "unwind/sample/registers.h"

#define PAGE_SHIFT 12
#define PAGES 1024
#define FRAMES_MAX 1024
#define ARM64_ADDRESS_BITS ((1ULL << 48) - 1) /* above: a signature (PAC) */

/* The mapping that a page of an address space belongs to, at times in [from, until). */
struct page {
	uint64_t number, from, until; /* until 0: an empty entry */
	uint64_t stamp;		      /* the session's */
	uint32_t space, dso;
	bool mapped; /* false: nothing is mapped there */
	struct unwind_mapping mapping; /* the page alone */
};

struct user_chains {
	struct session *session;
	const struct arch *arch; /* of the recording; NULL: its registers are not known */
	VECTOR(uint64_t) words;	 /* of the chain */
	/* Of the current sample: */
	struct space *space;
	uint64_t time;
	struct unwind_frame frames[FRAMES_MAX];
	struct page pages[PAGES];
};

/* Without a copy of the stack, the program's part was recorded, even if there are registers. */
static bool has_user(const struct perf_event_attr *attr)
{
	const uint64_t wanted =
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;

	return (attr->sample_type & wanted) == wanted;
}

/* A recording that does not name its architecture is assumed to have this machine's, as in perf. */
static const struct arch *arch_of(const struct session *session)
{
	const char *name = perfdata_reader_features(session->reader)->arch;
	struct utsname own;

	if (!*name && !uname(&own))
		return arch_find(own.machine);
	/* i486 to i686 */
	if (name[0] == 'i' && !strcmp(name + 2, "86"))
		return &arch_i386;
	return arch_find(name);
}

static bool has_stacks(const struct session *session)
{
	for (size_t i = 0; i < perfdata_reader_event_count(session->reader); i++)
		if (has_user(session->attrs[i]))
			return true;
	return false;
}

const char *user_chains_unknown_arch(const struct session *session)
{
	if (!has_stacks(session) || arch_of(session))
		return NULL;
	return perfdata_reader_features(session->reader)->arch;
}

struct user_chains *user_chains_create(struct session *session)
{
	struct user_chains *chains;

	if (!has_stacks(session))
		return NULL;
	chains = memory_calloc(1, sizeof(*chains));
	chains->session = session;
	chains->arch = arch_of(session);
	return chains;
}

void user_chains_destroy(struct user_chains *chains)
{
	if (!chains)
		return;
	vector_deinit(&chains->words);
	free(chains);
}

/* The entry of a dso whose unwind data are loaded. Entries do not move. */
static struct dso_entry *load_dso(const struct user_chains *chains, uint32_t dso)
{
	struct session *session = chains->session;
	struct dso_entry *entry;

	pthread_mutex_lock(&session->lock);
	entry = session->dsos.items.items[dso];
	if (!entry->frames_loaded) {
		if (entry->kind == DSO_FILE && !entry->build_id_bytes && !entry->loaded)
			session_set_build_id(session, entry);
		dsos_load_frames(&session->dsos, entry);
	}
	pthread_mutex_unlock(&session->lock);
	return entry;
}

/* Whether ARCH can run code that has these tables: 32-bit programs run on 64-bit machines. */
static bool is_of(const struct arch *arch, const struct file_tables *tables)
{
	return tables->machine == arch->elf_machine ||
	       (tables->machine == EM_386 && arch->elf_machine == EM_X86_64);
}

static void take_tables(const struct user_chains *chains, uint32_t dso,
			struct unwind_mapping *mapping)
{
	const struct file_tables *tables = &load_dso(chains, dso)->frames;

	if (!is_of(chains->arch, tables))
		return;
	mapping->table = tables->eh_frame ? tables->eh_frame : tables->debug_frame;
	mapping->more = tables->eh_frame ? tables->debug_frame : NULL;
}

static void fill_page(const struct user_chains *chains, uint64_t address, struct page *page)
{
	struct space_lookup found = space_find(chains->space, address, chains->time);
	uint64_t start = address & -(1ULL << PAGE_SHIFT), end = start + (1ULL << PAGE_SHIFT);

	*page = (struct page){ .number = address >> PAGE_SHIFT,
			       .space = chains->space->number,
			       .from = found.from,
			       .until = found.until,
			       .stamp = chains->session->stamp };
	if (chains->session->unaligned) { /* a page may belong to several mappings */
		start = address;
		end = address + 1;
		page->until = 0;
	}
	if (!found.mapping || found.mapping->dso == SPACE_UNMAPPED)
		return;
	page->mapped = true;
	page->dso = found.mapping->dso;
	page->mapping = (struct unwind_mapping){
		.start = GVA(start),
		.end = GVA(end),
		.offset = start - found.mapping->start + found.mapping->file_offset,
	};
	take_tables(chains, page->dso, &page->mapping);
}

static const struct page *find_page(struct user_chains *chains, uint64_t address)
{
	uint64_t number = address >> PAGE_SHIFT;
	struct page *page = &chains->pages[(number ^ chains->space->number * 31) % PAGES];

	if (page->number != number || page->space != chains->space->number ||
	    chains->time < page->from || chains->time >= page->until ||
	    page->stamp != chains->session->stamp)
		fill_page(chains, address, page);
	return page;
}

static const struct unwind_mapping *find_mapping(void *context, uint64_t address)
{
	const struct page *page = find_page(context, address);

	return page->mapped ? &page->mapping : NULL;
}

static bool read_registers(const struct user_chains *chains, const struct session_sample *sample,
			   struct sample_registers *ret)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	const struct perf_event_attr *attr = chains->session->attrs[sample->decoded.event_index];
	struct sample_registers_source source = { .words = fields->user_registers,
						  .mask = attr->sample_regs_user,
						  .abi = fields->user_abi,
						  .swap = perfdata_reader_swap(
							  chains->session->reader) };

	return chains->arch && sample_registers_read(chains->arch, &source, ret);
}

/* Begins the chain: the recorded part, then the mark of user code. */
static void begin_words(struct user_chains *chains, const struct perfdata_sample *fields)
{
	chains->words.count = 0;
	vector_reserve(&chains->words, fields->callchain_count + 1);
	if (fields->callchain_count)
		memcpy(chains->words.items, fields->callchain,
		       fields->callchain_count * sizeof(uint64_t));
	chains->words.count = fields->callchain_count;
	vector_append(&chains->words, PERF_CONTEXT_USER);
}

/* Counts a chain that ended because there is no data for the code at ADDRESS. */
static void note_cut(struct user_chains *chains, uint64_t address)
{
	const struct page *page = find_page(chains, address);

	if (page->mapped)
		__atomic_fetch_add(&load_dso(chains, page->dso)->cut_chains, 1, __ATOMIC_RELAXED);
}

static void walk(struct user_chains *chains, const struct perfdata_sample *fields,
		 const struct sample_registers *registers, struct unwind_chain *chain)
{
	struct unwind_program program = { .find = find_mapping, .context = chains };
	struct unwind_stack stack = { .start = GVA(registers->walk.sp),
				      .bytes = fields->user_stack_bytes,
				      .data = fields->user_stack,
				      .end = GVA(UINT64_MAX) };
	bool arm64 = chains->arch->elf_machine == EM_AARCH64;

	if (arm64 || chains->arch->elf_machine == EM_PPC64)
		unwind_run_link(&program, &registers->walk, registers->link,
				arm64 ? ARM64_ADDRESS_BITS : UINT64_MAX, &stack, chain);
	else
		unwind_run_user(&program, &registers->walk, &stack, 1, chain);
	if (chain->end == UNWIND_NO_DATA)
		note_cut(chains, chain->end_at);
}

static void append_frames(struct user_chains *chains, const struct unwind_chain *chain)
{
	for (size_t i = 0; i < chain->count; i++) {
		const struct unwind_frame *frame = &chain->frames[i];

		if (!frame->address)
			break; /* the outermost frame is marked as such */
		vector_append(&chains->words,
			      frame->address - (frame->kind == UNWIND_FRAME_CALL));
	}
}

static bool can_walk(const struct perfdata_sample *fields, const struct sample_registers *registers)
{
	return registers->complete && fields->user_stack &&
	       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

/* False: not even the program's address is known. */
static bool make_words(struct user_chains *chains, const struct context *context,
		       const struct session_sample *sample)
{
	const struct perfdata_sample *fields = &sample->decoded.sample;
	struct unwind_chain chain = { .frames = chains->frames, .capacity = FRAMES_MAX };
	struct sample_registers registers;
	bool read = read_registers(chains, sample, &registers);

	if (!read && context->cpumode != PERF_RECORD_MISC_USER)
		return false;
	begin_words(chains, fields);
	if (!read || !can_walk(fields, &registers)) {
		vector_append(&chains->words, read ? registers.walk.ip : fields->ip);
		return true;
	}
	chains->space = context->user_space;
	chains->time = sample->time;
	walk(chains, fields, &registers, &chain);
	append_frames(chains, &chain);
	return true;
}

uint64_t user_chains_complete(struct user_chains *chains, const struct context *context,
			      struct session_sample *sample)
{
	struct perfdata_sample *fields = &sample->decoded.sample;
	uint64_t recorded = fields->callchain_count;

	if (!chains || !has_user(chains->session->attrs[sample->decoded.event_index]) ||
	    !fields->user_registers || !context->user_space || cpumode_is_guest(context->cpumode) ||
	    !make_words(chains, context, sample))
		return USER_CHAINS_NOTHING;
	fields->callchain = chains->words.items;
	fields->callchain_count = chains->words.count;
	return recorded;
}
