/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formats, from QEMU's sources and from QEMU 7.2 itself:
 *
 * "info mtree -f" (mtree_print_flatview() in softmmu/memory.c, now system/memory.c) prints each
 * view of memory once, with the address spaces that use it:
 *
 *	FlatView #2
 *	 AS "memory", root: system
 *	 AS "cpu-memory-0", root: system
 *	 Root memory region: system
 *	  0000000000000000-00000000000bffff (prio 0, ram): pc.ram KVM
 *
 * "memory" is what vCPUs see outside of SMM. Types are ram, rom, romd (flash that is read like
 * ROM), ramd (a device's memory) and i/o, with the prefix "nv-" if the content is kept. The end is
 * inclusive. Since QEMU 4.2, "KVM" is printed where KVM has a slot.
 *
 * "gpa2hva" (hmp_gpa2hva()): "Host virtual address for 0xc0000 (pc.rom) is 0x7f8267e00000".
 *
 * "info registers -a" (hmp_info_registers(), x86_cpu_dump_state()): for each vCPU a line "CPU#0",
 * followed by "RAX=… RBX=…", "R8 =…", "RIP=… CPL=0 II=0 A20=1 SMM=0 HLT=0", "GS =0000
 * ffff8ace1ec00000 …", "CR0=80050033 CR2=… CR3=… CR4=…" and "EFER=0000000000000d01". In 32-bit code
 * it is "EAX=…" and "EIP=…", without R8 and above. It does not show whether a vCPU runs a nested
 * guest, nor the GS base that is not in use. Lines end with \r\n.
 *
 * "info cpus" (hmp_info_cpus()): "* CPU #0: thread_id=4711"; before QEMU 2.12 with more in between.
 * "info status": "VM status: running".
 */
#include "host/vm/qemu_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "guest/memory/memory.h"

#define MAX_ADDRESS_BITS 52 /* of physical addresses on x86-64 */
/*
 * What was seen of a vCPU: a bit for each general register, and one for its mode. 32-bit code has
 * no R8 and above.
 */
#define SEEN_MODE (1u << HOST_VM_REGISTERS)
#define SEEN_ALL (SEEN_MODE | 1u << (HOST_VM_REGISTERS - 1) | 0xff)
#define LINE_BYTES 512 /* longer lines are cut: region names are at the end */

struct text {
	const char *next, *end;
	char line[LINE_BYTES];
};

/* Puts the next line, without its end, into TEXT->line. */
static bool next_line(struct text *text)
{
	size_t left = text->end - text->next, length;
	const char *newline;

	if (!left)
		return false;
	newline = memchr(text->next, '\n', left);
	length = newline ? (size_t)(newline - text->next) : left;
	left = length < LINE_BYTES - 1 ? length : LINE_BYTES - 1;
	memcpy(text->line, text->next, left);
	text->line[left] = 0;
	text->line[strcspn(text->line, "\r")] = 0;
	text->next = newline ? newline + 1 : text->end;
	return true;
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Parses hexadecimal digits at *TEXT and moves it past them. */
static bool take_hex(const char **text, uint64_t *ret)
{
	size_t digits = strspn(*text, "0123456789abcdefABCDEF");

	if (!digits || digits > 16)
		return false;
	*ret = strtoull(*text, NULL, 16);
	*text += digits;
	return true;
}

/* The value after NAME, which is at the start of LINE or follows a space. */
static bool find_register(const char *line, const char *name, uint64_t *ret)
{
	const char *at = strstr(line, name);

	if (!at || (at > line && at[-1] != ' '))
		return false;
	at += strlen(name);
	return take_hex(&at, ret);
}

static bool is_memory(const char *type)
{
	static const char *const types[] = { "ram)", "rom)", "romd)" };

	if (starts_with(type, "nv-"))
		type += 3;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (starts_with(type, types[i]))
			return true;
	return false;
}

/* "  START-END (prio N, TYPE): …"; false: another line, or not memory. END is inclusive. */
static bool parse_range(const char *line, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t start, end;

	line += strspn(line, " ");
	if (!take_hex(&line, &start) || *line++ != '-' || !take_hex(&line, &end) || end < start ||
	    !starts_with(line, " (prio "))
		return false;
	line = strchr(line, ',');
	if (!line || line[1] != ' ' || !is_memory(line + 2))
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}

/* Appends the whole pages of a range; KVM has no slots for parts of a page. */
static struct error *append_range(struct host_vm_memory *memory, uint64_t start, uint64_t end)
{
	const struct host_vm_slot *last =
		memory->slots.count ? &memory->slots.items[memory->slots.count - 1] : NULL;
	uint64_t first_page = start / GUEST_PAGE_BYTES + (start % GUEST_PAGE_BYTES != 0);
	uint64_t end_page =
		end / GUEST_PAGE_BYTES + (end % GUEST_PAGE_BYTES == GUEST_PAGE_BYTES - 1);

	if (end >> MAX_ADDRESS_BITS || (last && start < last->start.value + last->bytes))
		return error_create(ERROR_BAD_DATA, "QEMU's memory ranges are malformed");
	if (memory->slots.count >= QEMU_TEXT_MAX_RANGES)
		return error_create(ERROR_BAD_DATA, "QEMU has more than %d ranges of memory",
				    QEMU_TEXT_MAX_RANGES);
	if (end_page > first_page)
		vector_append(&memory->slots,
			      (struct host_vm_slot){ GPA(first_page * GUEST_PAGE_BYTES),
						     (end_page - first_page) * GUEST_PAGE_BYTES });
	return NULL;
}

struct error *qemu_text_ranges(const char *bytes, size_t size, struct host_vm_memory *memory)
{
	struct text text = { bytes, bytes + size };
	struct error *error = NULL;
	bool wanted = false;

	while (!error && next_line(&text)) {
		uint64_t start, end;

		if (starts_with(text.line, "FlatView #")) {
			if (memory->slots.count)
				break;
			wanted = false;
		} else if (starts_with(text.line, " AS \"memory\", root: ")) {
			wanted = true;
		} else if (wanted && parse_range(text.line, &start, &end)) {
			error = append_range(memory, start, end);
		}
	}
	if (!error && !memory->slots.count)
		error = error_create(ERROR_BAD_DATA, "QEMU lists no guest memory");
	return error;
}

/* "Host virtual address for 0xGPA (NAME) is 0xHVA"; names may contain anything. */
static bool parse_address(const char *line, uint64_t *ret_gpa, uint64_t *ret_hva)
{
	static const char start[] = "Host virtual address for 0x", middle[] = " is 0x";
	const char *at = NULL;
	uint64_t gpa;

	if (!starts_with(line, start))
		return false;
	line += strlen(start);
	if (!take_hex(&line, &gpa))
		return false;
	for (const char *next = line; (next = strstr(next, middle)); next++)
		at = next + strlen(middle);
	if (!at || !take_hex(&at, ret_hva) || *at)
		return false;
	*ret_gpa = gpa;
	return true;
}

/* Takes the next answer if it is about GPA; otherwise TEXT does not move. */
static bool take_address(struct text *text, uint64_t gpa, uint64_t *ret_hva)
{
	const char *before = text->next;
	uint64_t its_gpa;

	while (next_line(text)) {
		if (parse_address(text->line, &its_gpa, ret_hva)) {
			if (its_gpa == gpa)
				return true;
			text->next = before;
			return false;
		}
		before = text->next;
	}
	return false;
}

struct error *qemu_text_addresses(const char *bytes, size_t size, struct host_vm_memory *memory)
{
	struct text text = { bytes, bytes + size };
	size_t kept = 0;

	for (size_t i = 0; i < memory->slots.count; i++) {
		struct host_vm_slot slot = memory->slots.items[i];
		uint64_t last_page = slot.bytes - GUEST_PAGE_BYTES, hva;

		if (!take_address(&text, slot.start.value, &slot.hva))
			continue;
		if (!take_address(&text, slot.start.value + last_page, &hva) ||
		    hva - slot.hva != last_page || slot.hva > UINT64_MAX - slot.bytes ||
		    slot.hva % GUEST_PAGE_BYTES)
			return error_create(ERROR_BAD_DATA,
					    "guest memory changed while QEMU was asked");
		memory->slots.items[kept++] = slot;
	}
	memory->slots.count = kept;
	return kept ? NULL
		    : error_create(ERROR_BAD_DATA, "QEMU does not report where guest memory is");
}

static void take_general(const char *line, struct host_vm_registers *registers, uint32_t *seen)
{
	static const char *const names[HOST_VM_REGISTERS][2] = {
		{ "RAX=", "EAX=" }, { "RCX=", "ECX=" }, { "RDX=", "EDX=" }, { "RBX=", "EBX=" },
		{ "RSP=", "ESP=" }, { "RBP=", "EBP=" }, { "RSI=", "ESI=" }, { "RDI=", "EDI=" },
		{ "R8 =", "R8 =" }, { "R9 =", "R9 =" }, { "R10=", "R10=" }, { "R11=", "R11=" },
		{ "R12=", "R12=" }, { "R13=", "R13=" }, { "R14=", "R14=" }, { "R15=", "R15=" },
		{ "RIP=", "EIP=" },
	};

	for (size_t i = 0; i < HOST_VM_REGISTERS; i++)
		if (find_register(line, names[i][0], &registers->registers[i]) ||
		    find_register(line, names[i][1], &registers->registers[i]))
			*seen |= 1u << i;
}

/* The base follows the selector. */
static void take_gs(const char *line, struct host_vm_registers *registers)
{
	uint64_t selector;

	if (!starts_with(line, "GS ="))
		return;
	line += strlen("GS =");
	if (take_hex(&line, &selector) && *line++ == ' ')
		take_hex(&line, &registers->gs_base);
}

/* A vCPU in SMM runs firmware code, in memory of its own. */
static void take_mode(const char *line, struct host_vm_registers *registers, uint32_t *seen)
{
	uint64_t level, halted, smm;

	if (!find_register(line, "CPL=", &level) || !find_register(line, "HLT=", &halted) ||
	    !find_register(line, "SMM=", &smm) || smm)
		return;
	registers->user = level == 3;
	registers->halted = halted;
	*seen |= SEEN_MODE;
}

/* The control registers are in one line, EFER in a later one, which is the vCPU's last. */
static bool take_registers(const char *line, struct host_vm_registers *registers, uint32_t *seen)
{
	struct arch_mmu *mmu = &registers->mmu;
	uint64_t cr0, cr3, cr4, efer;

	take_general(line, registers, seen);
	take_gs(line, registers);
	take_mode(line, registers, seen);
	if (find_register(line, "CR0=", &cr0) && find_register(line, "CR3=", &cr3) &&
	    find_register(line, "CR4=", &cr4)) {
		mmu->arch = &arch_x86_64;
		mmu->x86.cr0 = cr0;
		mmu->x86.cr3 = cr3;
		mmu->x86.cr4 = cr4;
		return false;
	}
	if (!mmu->arch || !find_register(line, "EFER=", &efer))
		return false;
	mmu->x86.efer = efer;
	registers->has_state = (*seen & SEEN_ALL) == SEEN_ALL;
	return true;
}

struct error *qemu_text_registers(const char *bytes, size_t size, struct host_vm_memory *memory)
{
	struct text text = { bytes, bytes + size };
	struct host_vm_registers registers = { 0 };
	uint32_t seen = 0;

	while (memory->registers.count < QEMU_TEXT_MAX_VCPUS && next_line(&text)) {
		const char *number = text.line + strlen("CPU#");

		if (starts_with(text.line, "CPU#")) {
			registers = (struct host_vm_registers){ 0 };
			registers.vcpu = strtoul(number, NULL, 10);
			seen = 0;
		} else if (take_registers(text.line, &registers, &seen)) {
			vector_append(&memory->registers, registers);
			registers = (struct host_vm_registers){ 0 };
			seen = 0;
		}
	}
	if (!memory->registers.count)
		return error_create(ERROR_UNSUPPORTED, "QEMU prints no registers of x86-64 vCPUs");
	return NULL;
}

/* "* CPU #0: thread_id=4711"; the star marks the current one. */
static bool parse_cpu(const char *line, struct host_vcpu *ret)
{
	static const char thread[] = "thread_id=";
	unsigned long number, tid;
	char *end;

	line += strspn(line, "* ");
	if (!starts_with(line, "CPU #"))
		return false;
	errno = 0;
	number = strtoul(line + strlen("CPU #"), &end, 10);
	line = *end == ':' ? strstr(end, thread) : NULL;
	if (!line)
		return false;
	tid = strtoul(line + strlen(thread), &end, 10);
	if (errno || number >= QEMU_TEXT_MAX_VCPUS || !tid || tid > INT32_MAX)
		return false;
	*ret = (struct host_vcpu){ .number = number, .tid = tid };
	return true;
}

struct error *qemu_text_cpus(const char *bytes, size_t size, struct host_vm *vm)
{
	struct text text = { bytes, bytes + size };
	struct host_vcpu vcpu;

	while (vm->vcpus.count < QEMU_TEXT_MAX_VCPUS && next_line(&text))
		if (parse_cpu(text.line, &vcpu))
			vector_append(&vm->vcpus, vcpu);
	return vm->vcpus.count
		       ? NULL
		       : error_create(ERROR_BAD_DATA,
				      "QEMU does not print the threads of its vCPUs");
}

bool qemu_text_runs(const char *bytes, size_t size)
{
	struct text text = { bytes, bytes + size };

	return next_line(&text) && starts_with(text.line, "VM status: running");
}
