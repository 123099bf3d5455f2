/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor symbols: a guest's kallsyms and modules, read from its memory. */
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "cmd/guest_command.h"
#include "output/json.h"

#define MAX_TEXT_BYTES ((size_t)64 << 20)

struct symbols_config {
	const char *vm;
	bool modules, json;
};

#define FIELD(name) offsetof(struct symbols_config, name)

static const struct option_spec symbols_options[] = {
	{ OPTION_STRING, 0, "vm", FIELD(vm), "NAME|PID", "the VM (optional if there is only one)",
	  0, 0, COMPLETE_VM, NULL },
	{ OPTION_FLAG, 0, "modules", FIELD(modules), NULL,
	  "list modules, in the format of /proc/modules" },
	{ OPTION_FLAG, 0, "json", FIELD(json), NULL, "print JSON" },
	{ 0 },
};

/* The guest chose these names: unprintable characters are escaped. Overwrites TEXT. */
static void print_text(struct buffer *text)
{
	_cleanup_buffer_ struct buffer line;
	char *at, *end, *stop;

	buffer_init(&line, MAX_TEXT_BYTES);
	buffer_append_u8(text, 0);
	stop = (char *)text->data + text->size - 1;
	for (at = (char *)text->data; at < stop; at = end + 1) {
		char separator;

		end = at + strcspn(at, "\n\t");
		separator = *end;
		*end = 0;
		utf8_append_escaped(&line, at);
		if (separator)
			buffer_append_u8(&line, separator);
		else if (end < stop)
			buffer_append_string(&line, "\\x00");
		if (separator == '\n' || end == stop) {
			fwrite(line.data, 1, line.size, stdout);
			buffer_clear(&line);
		}
	}
}

/* "ADDRESS TYPE NAME\t[MODULE]" */
static void write_symbol(struct json *json, char *line)
{
	char *name = line + strcspn(line, " ");
	char *module;

	if (!*name || !name[1] || name[2] != ' ')
		return;
	*name++ = 0;
	module = name + strcspn(name, "\t");
	json_open_object(json, NULL);
	json_string(json, "address", line);
	json_string(json, "type", (char[]){ name[0], 0 });
	if (*module) {
		*module++ = 0;
		module[strcspn(module, "]")] = 0;
	}
	json_string(json, "name", name + 2);
	json_string(json, "module", *module ? module + 1 : NULL);
	json_close(json);
}

/* "NAME BYTES REFERENCES USERS STATE ADDRESS…" */
static void write_module(struct json *json, char *line)
{
	char *words[6] = { 0 };
	char *rest;

	for (size_t i = 0; i < 6; i++)
		words[i] = strtok_r(i ? NULL : line, " ", &rest);
	if (!words[5])
		return;
	json_open_object(json, NULL);
	json_string(json, "name", words[0]);
	json_unsigned(json, "bytes", strtoull(words[1], NULL, 10));
	json_signed(json, "references", strtoll(words[2], NULL, 10));
	json_string(json, "used_by", words[3]);
	json_string(json, "state", words[4]);
	json_string(json, "address", words[5]);
	json_close(json);
}

static void print_json(struct buffer *text, bool modules)
{
	char *line = (char *)text->data, *end = line + text->size;
	struct json json;

	json_init(&json, stdout);
	json_open_array(&json, NULL);
	while (line < end) {
		char *line_end = memchr(line, '\n', end - line);

		if (!line_end)
			break;
		*line_end = 0;
		if (modules)
			write_module(&json, line);
		else
			write_symbol(&json, line);
		line = line_end + 1;
	}
	json_close(&json);
}

static struct error *print_symbols(const struct symbols_config *config, struct guest_view *view)
{
	_cleanup_buffer_ struct buffer text;
	struct error *error;

	buffer_init(&text, MAX_TEXT_BYTES);
	error = config->modules ? guest_view_modules(view, &text)
				: guest_view_kallsyms(view, &text);
	if (error)
		return error;
	if (config->json) {
		print_json(&text, config->modules);
		return NULL;
	}
	print_text(&text);
	return NULL;
}

static struct error *run_symbols(const struct command *command, int argc, char **argv,
				 int *ret_status)
{
	_cleanup_guest_view_ struct guest_view *view = NULL;
	struct symbols_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	(void)ret_status;
	if (error || help)
		return error;
	error = guest_command_open(config.vm, &view);
	return error ? error : print_symbols(&config, view);
}

const struct command command_symbols = {
	.name = "symbols",
	.summary = "Print a guest's kernel symbols, read from its memory",
	.arguments = "",
	.options = symbols_options,
	.examples = "  perfvisor symbols --vm web1 >kallsyms     # like its /proc/kallsyms\n"
		    "  perfvisor symbols --vm web1 --modules     # like its /proc/modules\n",
	.run = run_symbols,
};
