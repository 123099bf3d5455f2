/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes through record's --control. */
#include <assert.h>
#include <string.h>

#include "cmd/record/control_text.h"
#include "fuzz.h"

static void check(const struct control_command *command)
{
	size_t length = strlen(command->text);

	assert(length < CONTROL_COMMAND_BYTES);
	if (command->argument)
		assert(command->argument > command->text &&
		       command->argument <= command->text + length);
	assert(!command->malformed || command->argument);
	assert(command->verb != CONTROL_UNKNOWN || !command->argument);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_text text = { .length = 0 };
	struct control_command command;

	for (size_t i = 0; i < size; i++)
		if (control_text_take(&text, (char)data[i], &command))
			check(&command);
	if (control_text_end(&text, &command))
		check(&command);
	assert(!control_text_end(&text, &command));
	return 0;
}
