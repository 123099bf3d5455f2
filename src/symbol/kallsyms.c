/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/kallsyms and /proc/modules (kernel/kallsyms.c, kernel/module/procfs.c):
 *
 * 	ffffffff81000000 T _text
 * 	ffffffffc0a4d010 t bpf_dummy_init_member\t[bpf_testmod]
 *
 * 	bpf_testmod 405504 0 - Live 0xffffffffc0a3f000 (OE)
 *
 * Symbols have the types that stock perf takes (T, W, D and B in either case), and names with a
 * leading '$' (ARM's mapping symbols) are left out as in perf, so that both tools name an address
 * alike. Symbols at address 0 are left out.
 *
 * The text may come from a guest: a line is only accepted if all of it is well-formed. Lines that
 * are not are counted, and if they outnumber the good ones, the text is rejected.
 */
#include "symbol/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files/file.h"

#define ADDRESS_MAX_DIGITS 16
#define MODULES_LINE_WORDS 6

/* The rest of a line. */
struct line {
	const char *at;
	const char *end;
};

/* The next line in [*AT, END), without its newline; false after the last. */
static bool next_line(const char **at, const char *end, struct line *ret)
{
	const char *newline;

	if (*at == end)
		return false;
	newline = memchr(*at, '\n', end - *at);
	ret->at = *at;
	ret->end = newline ? newline : end;
	*at = newline ? newline + 1 : end;
	if (ret->end > ret->at && ret->end[-1] == '\r')
		ret->end--;
	return true;
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* A word: at least one byte, no control characters; consumes the space after it. */
static bool take_word(struct line *line, const char **ret_word, size_t *ret_bytes)
{
	const char *start = line->at;
	const char *at = start;

	while (at < line->end && (unsigned char)*at > ' ' && *at != 0x7f)
		at++;
	if (at == start || (at < line->end && !is_space(*at)))
		return false;
	*ret_word = start;
	*ret_bytes = at - start;
	while (at < line->end && is_space(*at))
		at++;
	line->at = at;
	return true;
}

/* A word that is a number in BASE (10 or 16), without overflow. */
static bool take_number(struct line *line, unsigned base, uint64_t *ret)
{
	const char *at = line->at;
	uint64_t value = 0;

	for (; at < line->end && !is_space(*at); at++) {
		unsigned char letter = *at | 0x20;
		unsigned digit = *at >= '0' && *at <= '9' ? *at - '0'
				 : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10U
								  : base;

		if (digit >= base || at - line->at >= ADDRESS_MAX_DIGITS)
			return false;
		value = value * base + digit;
	}
	if (at == line->at)
		return false;
	while (at < line->end && is_space(*at))
		at++;
	line->at = at;
	*ret = value;
	return true;
}

struct kallsyms_line {
	uint64_t address;
	char type;
	const char *name; /* not terminated */
	size_t name_bytes;
	const char *module; /* without brackets, not terminated; NULL: none */
	size_t module_bytes;
};

static bool parse_line(struct line line, struct kallsyms_line *ret)
{
	const char *type;
	size_t bytes;

	if (!take_number(&line, 16, &ret->address) || !take_word(&line, &type, &bytes) ||
	    bytes != 1 || !take_word(&line, &ret->name, &ret->name_bytes) ||
	    ret->name_bytes >= KALLSYMS_MAX_NAME_BYTES)
		return false;
	ret->type = *type;
	ret->module = NULL;
	ret->module_bytes = 0;
	if (line.at == line.end)
		return true;
	if (!take_word(&line, &ret->module, &bytes) || line.at != line.end || bytes < 3 ||
	    bytes >= KALLSYMS_MAX_NAME_BYTES || ret->module[0] != '[' ||
	    ret->module[bytes - 1] != ']')
		return false;
	ret->module++;
	ret->module_bytes = bytes - 2;
	return true;
}

static bool is_wanted(const struct kallsyms_line *line)
{
	char type = line->type & ~0x20;

	return (type == 'T' || type == 'W' || type == 'D' || type == 'B') && line->name[0] != '$';
}

static const char *terminate(char *buffer, const char *text, size_t bytes)
{
	memcpy(buffer, text, bytes);
	buffer[bytes] = 0;
	return buffer;
}

static bool passes(const struct kallsyms_filter *filter, const char *module)
{
	if (!module)
		return filter->core;
	if (filter->no_generated && (!strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11)))
		return false;
	return filter->modules && (!filter->only_module || !strcmp(module, filter->only_module));
}

/* False if the builder is full. */
static bool add_line(const struct kallsyms_line *line, const struct kallsyms_filter *filter,
		     struct symbol_builder *builder)
{
	char name[KALLSYMS_MAX_NAME_BYTES];
	char buffer[KALLSYMS_MAX_NAME_BYTES];
	const char *module = NULL;

	if (line->module)
		module = terminate(buffer, line->module, line->module_bytes);
	return !passes(filter, module) ||
	       symbol_builder_add(builder, line->address + filter->delta, 0, line->type,
				  terminate(name, line->name, line->name_bytes), module);
}

static struct error *check_counts(const struct kallsyms_counts *counts, const char *name)
{
	size_t good = counts->symbols + counts->not_wanted;

	if (counts->bad_lines > good + counts->zero_lines || !(good + counts->zero_lines))
		return error_hint(error_create(ERROR_BAD_DATA,
					       "'%s' is not in the format of /proc/kallsyms", name),
				  "use a copy of the guest's file: each line has an address, a "
				  "type and a name");
	if (!counts->symbols && counts->zero_lines)
		return error_hint(
			error_create(ERROR_PERMISSION,
				     "all addresses in '%s' are 0: it was read without permission",
				     name),
			"read it as root, if need be after 'sysctl kernel.kptr_restrict=0'");
	if (!counts->symbols)
		return error_create(ERROR_NOT_FOUND, "'%s' has no code symbols", name);
	return NULL;
}

static const struct kallsyms_filter take_all = { .core = true, .modules = true };

static struct error *parse(const char *text, size_t size, const char *name,
			   const struct kallsyms_filter *filter, struct symbol_builder *builder,
			   struct kallsyms_counts *ret_counts)
{
	struct kallsyms_counts counts = { 0 };
	const char *end = text + size;
	struct kallsyms_line parsed;
	struct line line;

	while (next_line(&text, end, &line)) {
		if (!parse_line(line, &parsed)) {
			counts.bad_lines++;
		} else if (!parsed.address) {
			counts.zero_lines++;
		} else if (!is_wanted(&parsed)) {
			counts.not_wanted++;
		} else {
			counts.symbols++;
			if (!add_line(&parsed, filter, builder))
				return error_create(ERROR_BAD_DATA, "'%s' has too many symbols",
						    name);
		}
	}
	if (ret_counts)
		*ret_counts = counts;
	return check_counts(&counts, name);
}

struct error *kallsyms_parse(const char *text, size_t size, const char *name,
			     struct symbol_builder *builder, struct kallsyms_counts *ret_counts)
{
	return parse(text, size, name, &take_all, builder, ret_counts);
}

/* "name size users used-by state 0xaddress [taints]" */
static bool parse_module_line(struct line line, struct kallsyms_line *ret, uint64_t *ret_bytes)
{
	const char *word;
	size_t bytes;

	if (!take_word(&line, &ret->name, &ret->name_bytes) ||
	    ret->name_bytes >= KALLSYMS_MAX_NAME_BYTES || !take_number(&line, 10, ret_bytes))
		return false;
	for (int i = 2; i < MODULES_LINE_WORDS - 1; i++)
		if (!take_word(&line, &word, &bytes))
			return false;
	if (line.end - line.at < 3 || line.at[0] != '0' || line.at[1] != 'x')
		return false;
	line.at += 2;
	return take_number(&line, 16, &ret->address) && *ret_bytes <= UINT64_MAX - ret->address;
}

struct error *kallsyms_parse_modules(const char *text, size_t size, const char *name,
				     struct symbol_builder *builder,
				     struct kallsyms_counts *ret_counts)
{
	char buffer[KALLSYMS_MAX_NAME_BYTES];
	struct kallsyms_counts counts = { 0 };
	const char *end = text + size;
	struct kallsyms_line parsed;
	struct line line;
	uint64_t bytes;

	while (next_line(&text, end, &line)) {
		if (!parse_module_line(line, &parsed, &bytes)) {
			counts.bad_lines++;
		} else if (!parsed.address) {
			counts.zero_lines++;
		} else {
			counts.symbols++;
			symbol_builder_add_module(builder,
						  terminate(buffer, parsed.name, parsed.name_bytes),
						  parsed.address, parsed.address + bytes);
		}
	}
	if (ret_counts)
		*ret_counts = counts;
	if (counts.bad_lines > counts.symbols + counts.zero_lines)
		return error_hint(error_create(ERROR_BAD_DATA,
					       "'%s' is not in the format of /proc/modules", name),
				  "use a copy of the guest's file: it has a line for each module, "
				  "with its address");
	return NULL;
}

struct error *kallsyms_add(const char *root, const char *kallsyms, const char *modules,
			   const struct kallsyms_filter *filter, struct symbol_builder *builder)
{
	_cleanup_buffer_ struct buffer text;
	struct error *error;

	buffer_init(&text, KALLSYMS_MAX_BYTES);
	error = file_read_below(root, kallsyms, &text);
	if (!error)
		error = parse((const char *)text.data, text.size, kallsyms, filter, builder, NULL);
	if (error || !modules)
		return error;
	buffer_clear(&text);
	error = file_read_below(root, modules, &text);
	if (error)
		return error;
	return kallsyms_parse_modules((const char *)text.data, text.size, modules, builder, NULL);
}

struct error *kallsyms_load(const char *root, const char *kallsyms, const char *modules,
			    struct symbol_table **ret)
{
	_cleanup_symbol_builder_ struct symbol_builder *builder = symbol_builder_create();
	struct error *error = kallsyms_add(root, kallsyms, modules, &take_all, builder);

	if (error)
		return error;
	*ret = symbol_builder_finish(take_pointer(builder));
	return NULL;
}

static struct error *open_stream(const char *root, const char *path, FILE **ret)
{
	int fd;
	struct error *error = file_open(root, path, &fd);

	if (error)
		return error;
	*ret = fdopen(fd, "r");
	if (*ret)
		return NULL;
	close(fd);
	return error_system(errno, "could not open '%s'", path);
}

/*
 * Finds the address in the first line that PARSE_ONE accepts and whose name is NAME. Reads no
 * further: the kernel generates these files while they are read, which is slow.
 */
static struct error *find_name(const char *root, const char *path, const char *name,
			       bool (*parse_one)(struct line line, struct kallsyms_line *ret),
			       uint64_t *ret)
{
	_cleanup_fclose_ FILE *file = NULL;
	size_t name_bytes = strlen(name), read_bytes = 0;
	char text[2 * KALLSYMS_MAX_NAME_BYTES];
	bool is_start = true;
	struct error *error = open_stream(root, path, &file);

	if (error)
		return error;
	while (read_bytes < KALLSYMS_MAX_BYTES && fgets(text, sizeof(text), file)) {
		size_t bytes = strlen(text);
		bool is_whole = is_start && bytes && text[bytes - 1] == '\n';
		struct line line = { text, text + bytes - is_whole };
		struct kallsyms_line parsed;

		/* The rest of a line that is too long does not count as a line. */
		is_start = bytes && text[bytes - 1] == '\n';
		read_bytes += bytes + 1;
		if (is_whole && parse_one(line, &parsed) && parsed.name_bytes == name_bytes &&
		    !memcmp(parsed.name, name, name_bytes) && parsed.address) {
			*ret = parsed.address;
			return NULL;
		}
	}
	return error_create(ERROR_NOT_FOUND, "'%s' has no address for '%s'", path, name);
}

struct error *kallsyms_find_symbol(const char *root, const char *kallsyms, const char *name,
				   uint64_t *ret)
{
	return find_name(root, kallsyms, name, parse_line, ret);
}

static bool parse_module_address(struct line line, struct kallsyms_line *ret)
{
	uint64_t bytes;

	return parse_module_line(line, ret, &bytes);
}

struct error *kallsyms_find_module(const char *modules, const char *name, uint64_t *ret)
{
	return find_name(NULL, modules, name, parse_module_address, ret);
}
