/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands and options for fish(1), which takes one at a time, with its help. */
#include "cmd/command.h"
#include "cmd/completion/completion.h"

/* In single quotes, fish gives a meaning to ' and \ alone. */
static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

/* -x: an argument that is no file; -r: any. */
static void print_argument(const struct option_spec *option)
{
	switch (option->completion) {
	case COMPLETE_FILE:
		printf(" -rF");
		break;
	case COMPLETE_DIRECTORY:
		printf(" -xa '(__fish_complete_directories)'");
		break;
	case COMPLETE_VM:
		printf(" -xa '(__perfvisor_vms)'");
		break;
	case COMPLETE_WORDS:
		printf(" -xa '(__perfvisor_words \"%s\")'", option->words);
		break;
	case COMPLETE_NOTHING:
		printf(" -x");
		break;
	}
}

static void print_option(const struct command *command, const struct option_spec *option)
{
	printf("complete -c perfvisor -n '__perfvisor_uses %s'", command->name);
	if (option->name)
		printf(" -l %s", option->name);
	if (option->short_name)
		printf(" -s %c", option->short_name);
	if (option->type != OPTION_FLAG)
		print_argument(option);
	printf(" -d ");
	print_quoted(option->help);
	putchar('\n');
}

static void print_command(const struct command *command)
{
	printf("complete -c perfvisor -n __perfvisor_starts -fa %s -d ", command->name);
	print_quoted(command->summary);
	printf("\ncomplete -c perfvisor -n '__perfvisor_uses help' -fa %s\n", command->name);
	if (command->words)
		printf("complete -c perfvisor -n '__perfvisor_uses %s' -fa '%s'\n", command->name,
		       command->words);
	for (size_t o = 0; option_is_listed(&command->options[o]); o++)
		print_option(command, &command->options[o]);
}

/* fish quotes what it inserts, except for a ~ that comes first: such a VM is left out. */
void completion_print_fish(void)
{
	printf("function __perfvisor_vms\n\t" COMPLETION_VM_LIST);
	print_quoted("/\"name\": ?\"~/d; " COMPLETION_VM_SED);
	printf("\nend\n");
	for (size_t i = 0; commands[i]; i++)
		print_command(commands[i]);
	printf("complete -c perfvisor -n __perfvisor_starts -f\n"
	       "complete -c perfvisor -l help -d 'Show its options'\n");
}
