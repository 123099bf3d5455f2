/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints one call chain of a guest, as text or as JSON. */
#include "cmd/stack/stack.h"

#include <inttypes.h>
#include <stdio.h>

#include "cmd/guest_command.h"
#include "guest/wire.h"

/* The kernel's own notation (%pB). */
static void print_place(const struct stack_listing *listing, const struct guest_place *place,
			bool user)
{
	const char *function = intern_string(listing->strings, place->function);
	const char *module = intern_string(listing->strings, place->module);
	char text[GUEST_PLACE_NAME_BYTES + 1];

	if (*function)
		printf("%s+%#" PRIx64 "/%#" PRIx64,
		       guest_command_printable(function, text, sizeof(text)), place->offset,
		       place->bytes);
	else
		printf("%#" PRIx64, place->address);
	if (*module)
		printf(user ? " (%s)" : " [%s]",
		       guest_command_printable(module, text, sizeof(text)));
}

static bool ends_in_user(const struct stack_listing *listing, const struct guest_stack *stack)
{
	return stack->frame_count &&
	       listing->stacks->frames.items[stack->first_frame + stack->frame_count - 1].user;
}

static void print_end(const struct stack_listing *listing, const struct guest_stack *stack)
{
	static const char *const reasons[UNWIND_ENDS] = {
		[UNWIND_CUT] = "the stack continues, at ",
		[UNWIND_NO_DATA] = "no unwind data for ",
		[UNWIND_UNREADABLE] = "points outside the stack, to ",
		[UNWIND_NO_REGISTERS] = "needs unknown registers: ",
		[UNWIND_REPLACED] = "return address replaced by ",
		[UNWIND_BAD] = "points backwards, to ",
		[UNWIND_TOO_DEEP] = "more frames than shown",
	};

	if (stack->end == UNWIND_COMPLETE)
		return;
	printf("        (%s", reasons[stack->end]);
	if (stack->end != UNWIND_TOO_DEEP)
		print_place(listing, &stack->end_at, ends_in_user(listing, stack));
	printf(")\n");
}

void stack_print_chain(const struct stack_listing *listing, const struct guest_stack *stack)
{
	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct guest_stack_frame *frame =
			&listing->stacks->frames.items[stack->first_frame + i];

		if (frame->waiting && listing->waiting_hidden)
			continue;
		printf("        ");
		print_place(listing, &frame->place, frame->user);
		printf("%s%s\n", frame->call || !i ? "" : " (interrupted)",
		       frame->guessed ? " (guessed)" : "");
	}
	print_end(listing, stack);
}

static void write_address(struct json *json, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, address);
	json_string(json, key, text);
}

static void write_frame(const struct stack_listing *listing, struct json *json,
			const struct guest_stack_frame *frame)
{
	const struct guest_place *place = &frame->place;
	const char *function = intern_string(listing->strings, place->function);
	const char *module = intern_string(listing->strings, place->module);

	json_open_object(json, NULL);
	write_address(json, "address", place->address);
	json_string(json, "function", *function ? function : NULL);
	json_unsigned(json, "offset", place->offset);
	json_unsigned(json, "bytes", place->bytes);
	json_string(json, "module", *module ? module : NULL);
	json_bool(json, "user", frame->user);
	json_bool(json, "interrupted", !frame->call);
	json_bool(json, "guessed", frame->guessed);
	json_bool(json, "waiting", frame->waiting);
	json_close(json);
}

void stack_write_chain(const struct stack_listing *listing, struct json *json,
		       const struct guest_stack *stack)
{
	static const char *const ends[UNWIND_ENDS] = {
		[UNWIND_COMPLETE] = "complete",
		[UNWIND_CUT] = "cut",
		[UNWIND_NO_DATA] = "no unwind data",
		[UNWIND_UNREADABLE] = "unreadable",
		[UNWIND_NO_REGISTERS] = "unknown registers",
		[UNWIND_REPLACED] = "replaced return address",
		[UNWIND_BAD] = "backwards",
		[UNWIND_TOO_DEEP] = "too deep",
	};

	json_string(json, "end", ends[stack->end]);
	if (stack->end_at.address)
		write_address(json, "end_address", stack->end_at.address);
	else
		json_null(json, "end_address");
	json_open_array(json, "frames");
	for (size_t i = 0; i < stack->frame_count; i++)
		write_frame(listing, json, &listing->stacks->frames.items[stack->first_frame + i]);
	json_close(json);
}
