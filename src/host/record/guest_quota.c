/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Charges are rare, one per table, so shares are computed anew for each.
 *
 * A question takes milliseconds, but a guest can make it take as long as the cage is allowed to
 * compute. It then waits several times as long, so that others get most of the time.
 */
#include "host/record/guest_quota.h"

#include <unistd.h>

#define MEMORY_SHARE 16 /* all guests may hold that part of the host's memory, */
#define MIN_ALL_BYTES ((size_t)512 << 20) /* and at least this */
#define ONE_BYTES ((size_t)256 << 20) /* a kernel's tables take 15 MB, a browser's 100 MB */

#define HALF_LIFE_NS 8000000000ull
#define LONG_NS 500000000ull
#define REST_SHARE 4

void guest_quotas_init(struct guest_quotas *quotas)
{
	long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
	size_t bytes = pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : 0;

	*quotas = (struct guest_quotas){ .one_bytes = ONE_BYTES,
					 .all_bytes = bytes / MEMORY_SHARE };
	if (quotas->all_bytes < MIN_ALL_BYTES)
		quotas->all_bytes = MIN_ALL_BYTES;
}

void guest_quotas_deinit(struct guest_quotas *quotas)
{
	vector_deinit(&quotas->guests);
}

void guest_quotas_begin(struct guest_quotas *quotas, uint32_t vm)
{
	while (quotas->guests.count <= vm)
		vector_append(&quotas->guests, (struct guest_quota){ 0 });
	quotas->there_count += !quotas->guests.items[vm].there;
	quotas->guests.items[vm].there = true;
}

void guest_quotas_end(struct guest_quotas *quotas, uint32_t vm)
{
	quotas->there_count -= quotas->guests.items[vm].there;
	quotas->guests.items[vm].there = false;
}

static size_t above(size_t bytes, size_t share)
{
	return bytes > share ? bytes - share : 0;
}

bool guest_quotas_charge(struct guest_quotas *quotas, uint32_t vm, size_t bytes)
{
	struct guest_quota *quota = &quotas->guests.items[vm];
	size_t half = quotas->all_bytes / 2;
	size_t share = half / (quotas->there_count ? quotas->there_count : 1), over = 0;

	if (bytes > quotas->one_bytes || quota->held_bytes > quotas->one_bytes - bytes) {
		quota->refused++;
		return false;
	}
	for (size_t i = 0; i < quotas->guests.count; i++)
		over += above(quotas->guests.items[i].held_bytes + (i == vm ? bytes : 0), share);
	if (quota->held_bytes + bytes > share && over > half) {
		quota->refused++;
		return false;
	}
	quota->held_bytes += bytes;
	return true;
}

void guest_quotas_release(struct guest_quotas *quotas, uint32_t vm, size_t bytes)
{
	quotas->guests.items[vm].held_bytes -= bytes;
}

static uint64_t spent_of(const struct guest_turn *turn, uint64_t now_ns)
{
	uint64_t halves = (now_ns - turn->at_ns) / HALF_LIFE_NS;

	return halves < 64 ? turn->spent_ns >> halves : 0;
}

void guest_turn_spend(struct guest_turn *turn, uint64_t now_ns, uint64_t cost_ns)
{
	turn->spent_ns = spent_of(turn, now_ns) + cost_ns;
	turn->at_ns = now_ns;
	if (cost_ns >= LONG_NS)
		turn->rests_until_ns = now_ns + REST_SHARE * cost_ns;
}

bool guest_turn_is_before(const struct guest_turn *left, const struct guest_turn *right,
			  uint64_t now_ns)
{
	return spent_of(left, now_ns) < spent_of(right, now_ns);
}
