/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of call frame instructions (DWARF 4, 6.4.2 and 7.23): they change the rules for
 * registers and CFA, and advance through the code. Of all registers, only SP, BP, BX and the return
 * address are tracked.
 *
 * DW_CFA_restore_state restores CFA, too, as GCC intends and other readers do. Each instruction
 * takes at least a byte, so a program always ends.
 */
#include "base/dwarf.h"
#include "unwind/table/cfi.h"

#define MAX_REMEMBERED 32 /* compilers make one or two */

struct machine {
	const struct cfi_section *section;
	const struct cfi_abi *abi;
	const struct cfi_cie *cie;
	const struct cfi_state *initial; /* NULL: running the CIE's own program, which creates it */
	struct cursor cursor;
	struct cfi_state state, remembered[MAX_REMEMBERED];
	size_t remembered_count;
	uint64_t location;
};

/* NULL: the register is not tracked. */
static struct cfi_rule *rule_of(const struct cfi_abi *abi, struct cfi_state *state, uint64_t column)
{
	return column == abi->bp   ? &state->bp
	       : column == abi->sp ? &state->sp
	       : column == abi->ip ? &state->ip
	       : column == abi->bx ? &state->bx
				   : NULL;
}

/* Whether functions preserve the register for their callers. */
static bool is_kept(const struct cfi_abi *abi, uint64_t column)
{
	return column == abi->bp || column == abi->bx;
}

static void set_rule(struct machine *machine, uint64_t column, enum cfi_rule_kind kind,
		     int64_t offset)
{
	struct cfi_rule *rule = rule_of(machine->abi, &machine->state, column);

	if (rule)
		*rule = (struct cfi_rule){ .kind = kind, .offset = offset };
}

static void restore_rule(struct machine *machine, uint64_t column)
{
	struct cfi_state initial = { 0 };
	struct cfi_rule *rule;

	if (machine->initial)
		initial = *machine->initial;
	rule = rule_of(machine->abi, &initial, column);
	if (rule)
		set_rule(machine, column, rule->kind, rule->offset);
}

/* A scaled offset from CFA, in units given by the CIE; hostile ones wrap around. */
static int64_t scaled(const struct machine *machine, uint64_t factored)
{
	return (int64_t)(factored * (uint64_t)machine->cie->data_align);
}

static void set_cfa_register(struct machine *machine, uint64_t column)
{
	struct cfi_state *state = &machine->state;

	if (state->cfa_expression)
		machine->cursor.failed = true;
	state->cfa_base = column == machine->abi->sp   ? UNWIND_BASE_SP
			  : column == machine->abi->bp ? UNWIND_BASE_BP
			  : column < machine->abi->general_count
				  ? UNWIND_BASE_GENERAL + machine->abi->general[column]
				  : UNWIND_BASE_OTHER;
}

static void set_cfa_offset(struct machine *machine, int64_t offset)
{
	if (machine->state.cfa_expression)
		machine->cursor.failed = true;
	machine->state.cfa_offset = offset;
}

static void set_cfa(struct machine *machine, uint64_t column, int64_t offset)
{
	machine->state.cfa_expression = false;
	set_cfa_register(machine, column);
	set_cfa_offset(machine, offset);
}

static void remember(struct machine *machine)
{
	if (machine->remembered_count == MAX_REMEMBERED)
		machine->cursor.failed = true;
	else
		machine->remembered[machine->remembered_count++] = machine->state;
}

static void recall(struct machine *machine)
{
	if (!machine->remembered_count)
		machine->cursor.failed = true;
	else
		machine->state = machine->remembered[--machine->remembered_count];
}

static void advance(struct machine *machine, uint64_t factored)
{
	machine->location += factored * machine->cie->code_align;
}

/* Instructions that change one register's rule; false: OP is not one of them. */
static bool run_register(struct machine *machine, uint8_t op, uint64_t column)
{
	struct cursor *cursor = &machine->cursor;
	struct cfi_rule rule;

	switch (op) {
	case DW_CFA_offset_extended:
		set_rule(machine, column, CFI_AT_CFA, scaled(machine, cfi_uleb(cursor)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_rule(machine, column, CFI_AT_CFA, scaled(machine, cfi_sleb(cursor)));
		return true;
	case DW_CFA_restore_extended:
		restore_rule(machine, column);
		return true;
	case DW_CFA_undefined:
		set_rule(machine, column, CFI_NONE, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(machine, column, is_kept(machine->abi, column) ? CFI_SAME : CFI_OTHER, 0);
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		cfi_uleb(cursor);
		set_rule(machine, column, CFI_OTHER, 0);
		return true;
	case DW_CFA_expression:
		rule = cfi_take_rule(machine->abi, cursor, cfi_uleb(cursor));
		set_rule(machine, column, rule.kind, rule.offset);
		return true;
	case DW_CFA_val_expression:
		cursor_skip(cursor, cfi_uleb(cursor));
		set_rule(machine, column, CFI_OTHER, 0);
		return true;
	}
	return false;
}

static bool run_cfa(struct machine *machine, uint8_t op)
{
	struct cursor *cursor = &machine->cursor;
	uint64_t column;

	switch (op) {
	case DW_CFA_def_cfa:
		column = cfi_uleb(cursor);
		set_cfa(machine, column, cfi_uleb(cursor));
		return true;
	case DW_CFA_def_cfa_sf:
		column = cfi_uleb(cursor);
		set_cfa(machine, column, scaled(machine, cfi_sleb(cursor)));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa_register(machine, cfi_uleb(cursor));
		return true;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(machine, cfi_uleb(cursor));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_offset(machine, scaled(machine, cfi_sleb(cursor)));
		return true;
	case DW_CFA_def_cfa_expression:
		cfi_take_cfa(machine->abi, cursor, cfi_uleb(cursor), &machine->state);
		return true;
	}
	return false;
}

static bool run_other(struct machine *machine, uint8_t op)
{
	struct cursor *cursor = &machine->cursor;

	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		machine->location = cfi_address(machine->section, cursor, machine->cie->encoding);
		return true;
	case DW_CFA_advance_loc1:
		advance(machine, cursor_u8(cursor));
		return true;
	case DW_CFA_advance_loc2:
		advance(machine, cursor_u16(cursor));
		return true;
	case DW_CFA_advance_loc4:
		advance(machine, cursor_u32(cursor));
		return true;
	case DW_CFA_remember_state:
		remember(machine);
		return true;
	case DW_CFA_restore_state:
		recall(machine);
		return true;
	case DW_CFA_GNU_window_save: /* arm64: the return address is signed from here on */
		return machine->abi->link;
	case DW_CFA_GNU_args_size: /* of arguments on the stack: CFA already includes them */
		cfi_uleb(cursor);
		return true;
	}
	return false;
}

/* Runs one instruction; false: malformed or unknown. */
static bool run(struct machine *machine)
{
	uint8_t byte = cursor_u8(&machine->cursor), low = byte & 0x3f;

	switch (byte & 0xc0) {
	case DW_CFA_advance_loc:
		advance(machine, low);
		break;
	case DW_CFA_offset:
		set_rule(machine, low, CFI_AT_CFA, scaled(machine, cfi_uleb(&machine->cursor)));
		break;
	case DW_CFA_restore:
		restore_rule(machine, low);
		break;
	default:
		if (!run_other(machine, byte) && !run_cfa(machine, byte) &&
		    !run_register(machine, byte, cfi_uleb(&machine->cursor)))
			return false;
	}
	return !machine->cursor.failed;
}

static struct cursor open_program(const struct cfi_section *section,
				  const struct cfi_program *program)
{
	struct cursor cursor = cursor_make(section->data, program->end, false);

	cursor.offset = program->offset;
	return cursor;
}

bool cfi_initial_state(const struct cfi_section *section, const struct cfi_cie *cie,
		       struct cfi_state *ret)
{
	struct machine machine = { .section = section,
				   .abi = cfi_abi(section),
				   .cie = cie,
				   .cursor = open_program(section, &cie->program) };

	while (cursor_left(&machine.cursor))
		if (!run(&machine))
			return false;
	*ret = machine.state;
	return true;
}

void cfi_make_rows(const struct cfi_section *section, const struct cfi_cie *cie,
		   const struct cfi_state *initial, const struct cfi_fde *fde,
		   void (*add)(void *context, uint64_t address, const struct unwind_row *row),
		   void *context)
{
	struct machine machine = { .section = section,
				   .abi = cfi_abi(section),
				   .cie = cie,
				   .initial = initial,
				   .cursor = open_program(section, &fde->program),
				   .state = *initial,
				   .location = fde->start };
	struct unwind_row row;

	while (cursor_left(&machine.cursor)) {
		uint64_t location = machine.location;

		row = cfi_row(machine.abi, &machine.state, cie->signal);
		if (!run(&machine) || machine.location < location) {
			row = (struct unwind_row){ .type = UNWIND_ROW_UNDEFINED };
			add(context, location, &row);
			return;
		}
		if (machine.location == location)
			continue;
		cfi_settle(&machine.state);
		add(context, location, &row);
		if (machine.location >= fde->end)
			return;
	}
	row = cfi_row(machine.abi, &machine.state, cie->signal);
	add(context, machine.location, &row);
}
