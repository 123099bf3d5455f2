/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor completion: a bash completion script, made from the commands' option tables. Names of
 * VMs and files are other people's: they are data to the script (compgen -W would expand them), and
 * what it offers is quoted, so that nothing in a name is run when the line is.
 */
#include "cmd/command.h"

static void print_pattern(const struct command *command, const struct option_spec *option)
{
	printf("\t%s:--%s", command->name, option->name);
	if (option->short_name)
		printf("|%s:-%c", command->name, option->short_name);
	printf(") ");
}

/* The case that completes the argument of OPTION; nothing to offer is a case, too. */
static void print_argument_case(const struct command *command, const struct option_spec *option)
{
	print_pattern(command, option);
	switch (option->completion) {
	case COMPLETE_FILE:
		printf("_perfvisor_files -f");
		break;
	case COMPLETE_DIRECTORY:
		printf("_perfvisor_files -d");
		break;
	case COMPLETE_VM:
		printf("_perfvisor_vms");
		break;
	case COMPLETE_WORDS:
		printf("COMPREPLY=($(compgen -W '%s' -- \"$current\"))", option->words);
		break;
	case COMPLETE_NOTHING:
		printf("COMPREPLY=()");
		break;
	}
	printf("; return ;;\n");
}

static void print_argument_cases(void)
{
	printf("\tcase \"$command:$previous\" in\n");
	for (size_t i = 0; commands[i]; i++)
		for (size_t o = 0; commands[i]->options[o].type != OPTION_END; o++)
			if (commands[i]->options[o].type != OPTION_FLAG)
				print_argument_case(commands[i], &commands[i]->options[o]);
	printf("\tesac\n");
}

static void print_option_words(void)
{
	printf("\tcase \"$command\" in\n");
	for (size_t i = 0; commands[i]; i++) {
		printf("\t%s) words='--help", commands[i]->name);
		for (size_t o = 0; commands[i]->options[o].type != OPTION_END; o++)
			if (commands[i]->options[o].name)
				printf(" --%s", commands[i]->options[o].name);
		printf("' ;;\n");
	}
	printf("\tesac\n");
}

static void print_command_words(void)
{
	for (size_t i = 0; commands[i]; i++)
		printf("%s%s", i ? " " : "", commands[i]->name);
}

static void print_script(void)
{
	printf("# bash completion of perfvisor; made by 'perfvisor completion'\n"
	       "# KIND: files or folders; readline quotes them\n"
	       "_perfvisor_files() {\n"
	       "\tcompopt -o filenames 2>/dev/null\n"
	       "\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$current\")\n"
	       "}\n"
	       "# Names of VMs, but those that JSON escapes. In an open quote only those that\n"
	       "# need none.\n"
	       "_perfvisor_vms() {\n"
	       "\tlocal name quoted\n"
	       "\tCOMPREPLY=()\n"
	       "\twhile IFS= read -r name; do\n"
	       "\t\tprintf -v quoted %%q \"$name\"\n"
	       "\t\tif [[ $quoted == \"$current\"* || $name == \"$current\"* ]] ||\n"
	       "\t\t\t[[ $quoted == \"$name\" && $current == [\\\"\\']* &&\n"
	       "\t\t\t\t$name == \"${current:1}\"* ]]; then\n"
	       "\t\t\tCOMPREPLY+=(\"$quoted\")\n"
	       "\t\tfi\n"
	       "\tdone < <(perfvisor list --json 2>/dev/null |\n"
	       "\t\tsed -nE 's/.*\"name\": ?\"([^\"\\\\]*)\".*/\\1/p')\n"
	       "}\n"
	       "_perfvisor() {\n"
	       "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tlocal command=${COMP_WORDS[1]} words=\n"
	       "\tif [ \"$COMP_CWORD\" = 1 ] ||\n"
	       "\t\t[[ $COMP_CWORD = 2 && $command = help && $current != -* ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W '");
	print_command_words();
	printf("' -- \"$current\"))\n"
	       "\t\treturn\n"
	       "\tfi\n");
	print_argument_cases();
	print_option_words();
	printf("\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
	       "}\n"
	       "complete -o default -F _perfvisor perfvisor\n");
}

static struct error *run_completion(const struct command *command, int argc, char **argv,
				    int *ret_status)
{
	bool help;
	struct error *error = command_parse(command, NULL, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	print_script();
	return error;
}

static const struct option_spec completion_options[] = { { 0 } };

const struct command command_completion = {
	.name = "completion",
	.summary = "Print a completion script for bash",
	.arguments = "",
	.options = completion_options,
	.examples = "  eval \"$(perfvisor completion)\"   # complete in this shell\n",
	.run = run_completion,
};
