/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program's part begins at the registers that the kernel kept when the program entered it, or
 * when it was sampled (perf_get_regs_user() in Linux).
 */
#include "session/user_chain.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>

#include "arch/arch.h"
#include "base/memory.h"
#include "session/chain.h"
#include "unwind/sample/registers.h"

struct user_chains {
	struct session *session;
	const struct arch *arch; /* of the recording; NULL: none whose registers are known */
	VECTOR(uint64_t) words;	 /* of the chain */
};

static bool has_user(const struct perf_event_attr *attr)
{
	const uint64_t wanted = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;

	return (attr->sample_type & wanted) == wanted;
}

/* A recording that does not say is taken to be of this machine, as perf takes it. */
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

struct user_chains *user_chains_create(struct session *session)
{
	size_t events = perfdata_reader_event_count(session->reader);
	struct user_chains *chains;
	bool any = false;

	for (size_t i = 0; i < events; i++)
		any |= has_user(session->attrs[i]);
	if (!any)
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

/* The words of the chain of SAMPLE and the mark behind which the program's are. */
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

void user_chains_complete(struct user_chains *chains, const struct context *context,
			  struct session_sample *sample)
{
	struct perfdata_sample *fields = &sample->decoded.sample;
	struct sample_registers registers;
	uint64_t ip = fields->ip;

	if (!chains || !has_user(chains->session->attrs[sample->decoded.event_index]) ||
	    !fields->user_registers || !context->user_space || cpumode_is_guest(context->cpumode))
		return;
	if (read_registers(chains, sample, &registers))
		ip = registers.walk.ip;
	else if (context->cpumode != PERF_RECORD_MISC_USER)
		return;
	begin_words(chains, fields);
	vector_append(&chains->words, ip);
	fields->callchain = chains->words.items;
	fields->callchain_count = chains->words.count;
}
