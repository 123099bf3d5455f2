/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capstone prints what objdump prints but for some habits: "movq" for mov, "$8" for $0x8, a target
 * without its name. att_text.c evens out those of x86.
 */
#include "annotate/instructions.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "annotate/att_text.h"
#include "annotate/vector_length.h"
#include "base/utf8.h"

#define TEXTS_MAX_BYTES ((size_t)256 << 20)
#define MNEMONIC_CELLS 6
#define TEXT_BYTES 256

struct decoding {
	csh handle;
	cs_arch arch;
	bool is_64_bit;
	instruction_namer *namer;
	void *context;
	struct instructions *ret;
};

static const struct {
	uint16_t machine;
	cs_arch arch;
	cs_mode mode;
} machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64 },
	{ EM_386, CS_ARCH_X86, CS_MODE_32 },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM },
	{ EM_PPC64, CS_ARCH_PPC, CS_MODE_64 },
};

/* capstone's callback: how many bytes at OFFSET are to be left out. */
static size_t skip_unknown(const uint8_t *code, size_t size, size_t offset, void *context)
{
	const struct decoding *decoding = context;
	size_t left = size - offset, length;

	if (decoding->arch != CS_ARCH_X86)
		return left < 4 ? left : 4;
	length = vector_length(code + offset, left, decoding->is_64_bit);
	return length ? length : 1;
}

static bool is_group(const cs_insn *instruction, uint8_t group)
{
	for (uint8_t i = 0; i < instruction->detail->groups_count; i++)
		if (instruction->detail->groups[i] == group)
			return true;
	return false;
}

/* Of x86 and arm64, capstone knows what jumps; of ppc64, branches begin with b. */
static enum instruction_kind kind_of(const struct decoding *decoding, const cs_insn *instruction)
{
	if (decoding->arch == CS_ARCH_PPC) {
		if (instruction->mnemonic[0] != 'b')
			return INSTRUCTION_PLAIN;
		return instruction->id == PPC_INS_BL || instruction->id == PPC_INS_BLA
			       ? INSTRUCTION_CALL : INSTRUCTION_JUMP;
	}
	if (decoding->arch == CS_ARCH_ARM64 && instruction->id == ARM64_INS_BL)
		return INSTRUCTION_CALL;
	if (is_group(instruction, CS_GRP_CALL) && decoding->arch == CS_ARCH_X86)
		return INSTRUCTION_CALL;
	return is_group(instruction, CS_GRP_JUMP) ? INSTRUCTION_JUMP : INSTRUCTION_PLAIN;
}

/* The last operand of a jump or a call, if it is an address. */
static bool find_target(const struct decoding *decoding, const cs_insn *instruction,
			uint64_t *ret)
{
	const cs_detail *detail = instruction->detail;

	switch (decoding->arch) {
	case CS_ARCH_X86:
		if (detail->x86.op_count != 1 || detail->x86.operands[0].type != X86_OP_IMM)
			return false;
		*ret = detail->x86.operands[0].imm;
		return true;
	case CS_ARCH_ARM64:
		if (!detail->arm64.op_count ||
		    detail->arm64.operands[detail->arm64.op_count - 1].type != ARM64_OP_IMM)
			return false;
		*ret = detail->arm64.operands[detail->arm64.op_count - 1].imm;
		return true;
	default:
		if (!detail->ppc.op_count ||
		    detail->ppc.operands[detail->ppc.op_count - 1].type != PPC_OP_IMM)
			return false;
		*ret = (uint64_t)detail->ppc.operands[detail->ppc.op_count - 1].imm;
		return true;
	}
}

/* What an operand relative to the instruction refers to: of x86-64 alone. */
static bool find_data(const struct decoding *decoding, const cs_insn *instruction, uint64_t *ret)
{
	const cs_x86 *x86 = &instruction->detail->x86;

	if (decoding->arch != CS_ARCH_X86)
		return false;
	for (uint8_t i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM &&
		    x86->operands[i].mem.base == X86_REG_RIP) {
			*ret = instruction->address + instruction->size +
			       x86->operands[i].mem.disp;
			return true;
		}
	return false;
}

/* "1139 <spin+0x10>" */
static void append_address(const struct decoding *decoding, uint64_t address)
{
	struct buffer *texts = &decoding->ret->texts;
	uint64_t offset = 0;
	const char *name = decoding->namer(decoding->context, address, &offset);

	buffer_printf(texts, "%" PRIx64, address);
	if (!name)
		return;
	buffer_append_string(texts, " <");
	utf8_append_escaped(texts, name);
	if (offset)
		buffer_printf(texts, "+0x%" PRIx64, offset);
	buffer_append_string(texts, ">");
}

/* The operands of a jump or a call whose last one is TARGET. */
static void append_jump(const struct decoding *decoding, const char *operands, uint64_t target)
{
	const char *comma = strrchr(operands, ',');

	if (comma)
		buffer_printf(&decoding->ret->texts, "%.*s, ", (int)(comma - operands), operands);
	append_address(decoding, target);
}

static void append_text(const struct decoding *decoding, const cs_insn *instruction,
			const struct instruction *known)
{
	struct buffer *texts = &decoding->ret->texts;
	char mnemonic[TEXT_BYTES], operands[TEXT_BYTES];
	uint64_t data;

	snprintf(mnemonic, sizeof(mnemonic), "%s", instruction->mnemonic);
	snprintf(operands, sizeof(operands), "%s", instruction->op_str);
	if (decoding->arch == CS_ARCH_X86 && instruction->id)
		att_text_tidy(instruction, cs_insn_name(decoding->handle, instruction->id),
			      mnemonic, operands, sizeof(operands));
	if (*operands || known->target)
		buffer_printf(texts, "%-*s ", MNEMONIC_CELLS, mnemonic);
	else
		buffer_append_string(texts, mnemonic);
	if (known->target)
		append_jump(decoding, operands, known->target);
	else
		buffer_append_string(texts, operands);
	if (instruction->id && find_data(decoding, instruction, &data)) {
		buffer_append_string(texts, "        # ");
		append_address(decoding, data);
	}
	buffer_append_u8(texts, 0);
}

static void take(const struct decoding *decoding, const cs_insn *instruction)
{
	struct instruction known = { .address = instruction->address,
				     .bytes = instruction->size,
				     .text = decoding->ret->texts.size };
	uint64_t target;

	if (instruction->id)
		known.kind = kind_of(decoding, instruction);
	if (known.kind != INSTRUCTION_PLAIN && find_target(decoding, instruction, &target))
		known.target = target;
	append_text(decoding, instruction, &known);
	if (!decoding->ret->texts.overflow)
		vector_append(&decoding->ret->items, known);
}

/*
 * UD1, with which kernels mark warnings (Linux 7.2), has an operand, which capstone 4 takes for the
 * next instruction, and calls it ud2b. Returns its bytes, which are at NEXT.
 */
static size_t left_of_ud1(const struct decoding *decoding, cs_insn *instruction,
			  const uint8_t *next, size_t size)
{
	static const uint8_t opcode[] = { 0x0f, 0xb9 };

	if (decoding->arch != CS_ARCH_X86 || !size || instruction->size < sizeof(opcode) ||
	    memcmp(instruction->bytes + instruction->size - sizeof(opcode), opcode,
		   sizeof(opcode)))
		return 0;
	memcpy(instruction->mnemonic, "ud1", sizeof("ud1"));
	size = operand_length(next, size) < size ? operand_length(next, size) : size;
	return size;
}

static struct error *decode_all(struct decoding *decoding, const struct instruction_code *code)
{
	cs_opt_skipdata skip = { .mnemonic = ".byte", .callback = skip_unknown,
				 .user_data = decoding };
	const uint8_t *bytes = code->bytes;
	size_t size = code->size < INSTRUCTIONS_MAX_BYTES ? code->size : INSTRUCTIONS_MAX_BYTES;
	uint64_t address = code->address;
	cs_insn *instruction;

	cs_option(decoding->handle, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(decoding->handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	cs_option(decoding->handle, CS_OPT_SKIPDATA_SETUP, (size_t)&skip);
	if (decoding->arch == CS_ARCH_X86)
		cs_option(decoding->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	instruction = cs_malloc(decoding->handle);
	if (!instruction)
		return error_create(ERROR_SYSTEM, "there is no memory for instructions");
	while (cs_disasm_iter(decoding->handle, &bytes, &size, &address, instruction)) {
		size_t more = left_of_ud1(decoding, instruction, bytes, size);

		bytes += more;
		size -= more;
		address += more;
		instruction->size += more;
		take(decoding, instruction);
	}
	cs_free(instruction, 1);
	return NULL;
}

struct error *instructions_decode(const struct instruction_code *code, instruction_namer *namer,
				  void *context, struct instructions *ret)
{
	struct decoding decoding = { .namer = namer, .context = context, .ret = ret,
				     .is_64_bit = code->machine == EM_X86_64 };
	struct error *error;
	cs_mode mode = CS_MODE_LITTLE_ENDIAN;

	*ret = (struct instructions){ 0 };
	buffer_init(&ret->texts, TEXTS_MAX_BYTES);
	decoding.arch = CS_ARCH_MAX;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == code->machine) {
			decoding.arch = machines[i].arch;
			mode = machines[i].mode;
		}
	if (code->big_endian)
		mode |= CS_MODE_BIG_ENDIAN;
	if (decoding.arch == CS_ARCH_MAX || cs_open(decoding.arch, mode, &decoding.handle))
		return error_create(ERROR_UNSUPPORTED,
				    "instructions of its machine (%u in ELF files) are not known",
				    code->machine);
	error = decode_all(&decoding, code);
	cs_close(&decoding.handle);
	return error;
}

void instructions_deinit(struct instructions *instructions)
{
	vector_deinit(&instructions->items);
	buffer_deinit(&instructions->texts);
}

size_t instructions_find(const struct instructions *instructions, uint64_t address)
{
	size_t low = 0, high = instructions->items.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct instruction *at = &instructions->items.items[middle];

		if (address < at->address)
			high = middle;
		else if (address - at->address >= at->bytes)
			low = middle + 1;
		else
			return middle;
	}
	return instructions->items.count;
}
