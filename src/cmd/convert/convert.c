/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfvisor convert: writes a recording for other tools, in which a guest is an ordinary machine.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "cmd/command.h"
#include "cmd/convert/convert.h"
#include "cmd/errand.h"
#include "cmd/filter_options.h"
#include "cmd/recording.h"

struct convert_config {
	const char *input, *output;
	bool native, force;
	struct filter_options filters;
	struct kernel_source_options symbols;
};

static struct error *choose_vm(const struct session *session, const struct string_list *names,
			       struct machine **ret)
{
	struct machine_list chosen = { 0 };
	struct error *error = recording_select_vms(session, names, &chosen);

	if (!error && chosen.count > 1)
		error = error_create(ERROR_USAGE, "more than one VM is called '%s'",
				     names->items[0]);
	if (!error && chosen.count)
		*ret = session_find_machine(session, chosen.items[0]->pid);
	else if (!error && session->machines.count < 2)
		error = error_create(ERROR_NOT_FOUND, "the recording has no VM");
	else if (!error && session->machines.count > 2)
		error = recording_name_vms(session, error_create(ERROR_USAGE,
								 "only one VM can be converted at "
								 "a time: choose it with --vm"));
	else if (!error)
		*ret = session->machines.items[1];
	free(chosen.items);
	return error;
}

/* The input folder would be renamed to make room for the output. */
static struct error *check_output(const char *input, const char *output)
{
	char read[PATH_MAX], written[PATH_MAX];

	if (realpath(input, read) && realpath(output, written) && !strcmp(read, written))
		return error_create(ERROR_USAGE,
				    "'%s' is the recording to be converted: choose another "
				    "output with -o",
				    output);
	return NULL;
}

/* Other tools know files only by this table. */
static struct perfdata_writer_build_id *list_build_ids(const struct native *native)
{
	struct perfdata_writer_build_id *list =
		memory_calloc(native->files.count + 1, sizeof(*list));

	for (size_t i = 0; i < native->files.count; i++) {
		const struct native_file *file = &native->files.items[i];
		const struct dso_entry *entry = native->session->dsos.items.items[file->dso];

		list[i] = (struct perfdata_writer_build_id){
			.path = intern_string(native->session->strings, entry->path),
			.bytes = file->build_id,
			.size = file->build_id_bytes,
			.misc = PERF_RECORD_MISC_USER,
			.pid = UINT32_MAX,
		};
	}
	return list;
}

static struct error *write_features(const struct native *native, int argc, char **argv)
{
	const struct perfdata_reader *reader = native->session->reader;
	const struct perfdata_features *old = perfdata_reader_features(reader);
	const struct perfdata_inventory *inventory = perfdata_reader_inventory(reader);
	const struct perfdata_vm *vm =
		inventory ? perfdata_inventory_find(inventory, native->machine->pid) : NULL;
	_cleanup_free_ char **command_line = memory_calloc(argc + 1, sizeof(*command_line));
	_cleanup_free_ struct perfdata_writer_build_id *build_ids = list_build_ids(native);
	struct perfdata_writer_machine machine = {
		.hostname = vm && *vm->host_name ? vm->host_name : native->machine->name,
		.osrelease = vm ? vm->kernel_release : NULL,
		.arch = old->arch, .cpudesc = old->cpudesc, .cpuid = old->cpuid,
		.cpus = vm && vm->vcpus.count > native->vcpus ? vm->vcpus.count : native->vcpus,
		.memory_kb = vm ? vm->memory_bytes / 1024 : 0,
	};
	struct perfdata_writer_features features = { .machine = &machine, .argc = argc + 1,
						     .argv = command_line, .build_ids = build_ids,
						     .build_id_count = native->files.count };

	command_line[0] = (char *)"perfvisor";
	memcpy(command_line + 1, argv, argc * sizeof(*argv));
	return perfdata_writer_finish(native->writer, &features);
}

static void say_what_was_done(const struct native *native, const char *output)
{
	log_note("wrote %s: %llu samples of VM '%s'; read it with 'perf report -i %s', or "
		 "'perf --buildid-dir %s/debug report -i %s' to name functions of programs, too",
		 output, (unsigned long long)native->samples, native->machine->name, output, output,
		 output);
	if (native->machine->kernel_note)
		log_note("%s: name them with --guestkallsyms FILE (a copy of the guest's "
			 "/proc/kallsyms) or --guestvmlinux FILE", native->machine->kernel_note);
	recording_note_filtered(native->left_out, native->left_out + native->samples);
	if (native->nested)
		log_note("%llu of the samples are from a guest in the guest and have no symbols",
			 (unsigned long long)native->nested);
	if (native->other_boots)
		log_warning("the guest rebooted during the recording: %llu samples of another boot "
			    "were left out",
			    (unsigned long long)native->other_boots);
	if (!native->samples && !native->left_out)
		log_warning("the recording has no samples of VM '%s'", native->machine->name);
}

static void native_deinit(struct native *native)
{
	perfdata_writer_destroy(native->writer);
	symbol_table_destroy(native->kernel);
	free(native->boot_starts);
	free(native->events);
	map_deinit(&native->ids);
	vector_deinit(&native->files);
	map_deinit(&native->file_of_dso);
	filter_deinit(&native->filter);
}

/* The folder that is written, and the process that will put it in its place. */
struct output {
	const char *path;
	char *beside, *file;
	bool complete;
	struct errand errand;
};

static struct error *put_folder(void *context)
{
	struct output *output = context;
	struct error *error = perfdata_directory_put(output->beside, output->path);

	output->complete = true;
	return error ? error_prefix(error, "the new recording is in '%s'", output->beside) : NULL;
}

static void remove_folder(void *context)
{
	const struct output *output = context;

	if (!output->complete)
		perfdata_directory_remove(output->beside);
}

static void output_deinit(struct output *output)
{
	errand_end(&output->errand);
	free(output->beside);
	free(output->file);
}

static struct error *output_begin(const struct convert_config *config, struct output *ret)
{
	struct errand_work work = { put_folder, remove_folder, ret };
	const char *input = recording_input(config->input);
	struct error *error;

	ret->path = config->output ? config->output : "perf.data.native";
	error = input ? check_output(input, ret->path) : NULL;
	if (!error && !config->force)
		error = perfdata_check_replaceable(ret->path, "name another with -o, or --force");
	if (!error)
		error = perfdata_directory_create_beside(ret->path, &ret->beside, &ret->file);
	return error ? error : errand_start(&work, &ret->errand);
}

static struct error *convert_to(struct native *native, const struct convert_config *config,
				const struct output *output)
{
	struct error *error = choose_vm(native->session, &config->filters.vms, &native->machine);

	if (!error)
		error = filter_options_build(&config->filters, native->session, &native->filter);
	if (!error)
		error = native_choose_kernel(native);
	if (!error)
		error = native_write_records(native, output->file);
	if (!error)
		error = native_write_symbols(native, output->beside);
	return error;
}

static struct error *convert(const struct convert_config *config, int argc, char **argv,
			     int *ret_status)
{
	_cleanup_(output_deinit) struct output output = { 0 };
	_cleanup_session_ struct session *session = NULL;
	_cleanup_(native_deinit) struct native native = { 0 };
	const char *path;
	struct error *error = output_begin(config, &output);

	map_init(&native.file_of_dso);
	map_init(&native.ids);
	if (!error)
		error = recording_raise_walls(&config->input, 1, &config->symbols, output.beside);
	if (!error)
		error = recording_open(config->input, &config->symbols, &path, &session);
	native.session = session;
	if (!error)
		error = convert_to(&native, config, &output);
	if (!error)
		error = write_features(&native, argc, argv);
	if (error)
		return error;
	if (!errand_do(&output.errand)) {
		*ret_status = 1;
		return NULL;
	}
	recording_warn_of_damage(session, path);
	say_what_was_done(&native, output.path);
	return NULL;
}

static struct error *run_convert(const struct command *command, int argc, char **argv,
				 int *ret_status)
{
	struct convert_config config = { 0 };
	bool help;
	struct error *error = command_parse(command, &config, argc, argv, NULL, &help);

	if (!error && !help && !config.native)
		error = error_hint(error_create(ERROR_USAGE, "convert needs an output format"),
				   "--native makes a recording in which the guest is an ordinary "
				   "machine");
	if (!error && !help)
		error = convert(&config, argc, argv, ret_status);
	filter_options_deinit(&config.filters);
	return error;
}

static const struct option_spec convert_options[] = {
	RECORDING_INPUT_OPTION(struct convert_config, input),
	{ OPTION_FLAG, 0, "native", offsetof(struct convert_config, native), NULL,
	  "convert to a recording that looks as if it had been made inside the guest, for stock "
	  "perf and others" },
	{ OPTION_STRING, 'o', "output", offsetof(struct convert_config, output), "DIR",
	  "the folder to write (default: perf.data.native)", .completion = COMPLETE_FILE },
	{ OPTION_FLAG, 0, "force", offsetof(struct convert_config, force), NULL,
	  "convert even if DIR or DIR.old is not a recording" },
	FILTER_VM_OPTION(struct convert_config, filters,
			 "the VM; required if the recording has several"),
	FILTER_SAMPLE_OPTIONS(struct convert_config, filters, 'c', 'C'),
	RECORDING_SYMBOL_OPTIONS(struct convert_config, symbols),
	{ 0 },
};

const struct command command_convert = {
	.name = "convert",
	.summary = "Convert a guest's samples into an ordinary recording, for other tools",
	.arguments = "",
	.options = convert_options,
	.examples =
		"  perfvisor convert --native          # then: perf report -i perf.data.native\n"
		"  perfvisor convert --native --vm web -o web.data  # one of several VMs\n",
	.run = run_convert,
};
