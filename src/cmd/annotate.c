/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor annotate: the instructions of functions, with the share of samples of each. */
#include <inttypes.h>
#include <string.h>

#include "annotate/annotation_text.h"
#include "base/log.h"
#include "base/utf8.h"
#include "cmd/command.h"
#include "cmd/filter_options.h"
#include "cmd/pager.h"
#include "cmd/perf_habits.h"
#include "cmd/recording.h"
#include "cmd/values.h"
#include "output/stream.h"

#define TEXT_MAX_BYTES ((size_t)512 << 20)
#define NOTES_SHOWN 3 /* how many functions without code are named */
#define WORTH_A_NOTE 20 /* one of so many samples is in no function */

struct annotate_config {
	const char *input;
	const char *symbol;
	const char *percent_limit;
	bool stdio, sample_counts, print_lines, force;
	struct filter_options filters;
	struct kernel_source_options symbols;
};

/* Functions whose instructions are not shown. */
struct left_out {
	size_t functions, notes;
	struct error *first; /* of the only one that was asked for; owned */
};

static void note_left_out(const struct annotation *annotation, struct left_out *left_out,
			  struct error *error)
{
	char symbol[256], dso[256];

	utf8_printable(annotation_symbol(annotation), strlen(annotation_symbol(annotation)),
		       symbol, sizeof(symbol));
	utf8_printable(annotation_dso(annotation), strlen(annotation_dso(annotation)), dso,
		       sizeof(dso));
	error = error_prefix(error, "the code of %s of %s is not available", symbol, dso);
	left_out->functions++;
	if (!left_out->first) {
		left_out->first = error;
		return;
	}
	if (left_out->notes++ < NOTES_SHOWN)
		log_note("%s", error_message(error));
	error_destroy(error);
}

/* Whether the share of function INDEX of its event's samples is large enough. */
static bool is_large(const struct functions_samples *functions, size_t index, double min_percent)
{
	const struct function_samples *function = &functions->items.items[index];

	return 100.0 * function->period >=
	       min_percent * (double)functions->event_periods[function->event];
}

/* Function INDEX into STREAM. */
static void write_one(const struct annotate_config *config,
		      const struct functions_samples *functions, size_t index,
		      struct output_stream *stream, struct left_out *left_out)
{
	const struct annotation_text_options options = { .sample_counts = config->sample_counts,
							 .line_summary = config->print_lines };
	struct annotation annotation;
	struct error *error = annotation_make(functions, index, &annotation);

	if (error) {
		note_left_out(&annotation, left_out, error);
	} else {
		annotation_text_append(&stream->buffer, &annotation, &options);
		buffer_append_u8(&stream->buffer, '\n');
	}
	annotation_deinit(&annotation);
}

/* Nothing is shown: why. */
static struct error *explain_nothing(const struct annotate_config *config,
				     const struct functions_samples *functions)
{
	struct error *error;

	if (!functions->samples)
		return error_create(ERROR_NOT_FOUND, "no sample of the recording is selected");
	if (!config->symbol)
		return error_create(ERROR_NOT_FOUND, "no selected sample is in a function that "
						     "has a name");
	error = error_create(ERROR_NOT_FOUND, "no selected sample is in a function '%s'",
			     config->symbol);
	if (!strncmp(config->symbol, "0x", 2))
		return error_hint(error, "report shows addresses where functions have no names; "
					 "annotate needs a function's name");
	return error_hint(error, "'perfvisor report -s sym' lists the functions with samples");
}

/* Those of stripped programs, say, which annotate cannot show. */
static void note_nameless(const struct annotate_config *config,
			  const struct functions_samples *functions)
{
	uint64_t nameless = functions->samples;

	if (config->symbol)
		return;
	for (size_t i = 0; i < functions->items.count; i++)
		nameless -= functions->items.items[i].count;
	if (nameless * WORTH_A_NOTE >= functions->samples)
		log_note("%" PRIu64 " of %" PRIu64 " samples are in no function that has a name, "
			 "and are not shown", nameless, functions->samples);
}

static struct error *write_all(const struct annotate_config *config,
			       const struct functions_samples *functions, int fd)
{
	struct output_stream stream;
	struct left_out left_out = { 0 };
	double min_percent = 0;
	size_t written = 0;
	struct error *error = values_percent("--percent-limit", config->percent_limit,
					     &min_percent);

	if (error)
		return error;
	output_stream_init(&stream, fd);
	for (size_t i = 0; i < functions->items.count && output_stream_line(&stream); i++) {
		size_t before = left_out.functions;

		if (!is_large(functions, i, min_percent))
			continue;
		write_one(config, functions, i, &stream, &left_out);
		written += left_out.functions == before;
	}
	error = output_stream_finish(&stream);
	if (!error && functions->items.count)
		note_nameless(config, functions);
	if (!error && !written && left_out.first)
		return left_out.first;
	if (!error && !written && !functions->items.count)
		error = explain_nothing(config, functions);
	if (left_out.first)
		log_note("%s", error_message(left_out.first));
	if (left_out.notes > NOTES_SHOWN)
		log_note("the same is true of %zu other functions", left_out.notes - NOTES_SHOWN);
	error_destroy(left_out.first);
	return error;
}

static struct error *annotate(const struct annotate_config *config, struct session *session,
			      const char *path, const struct pager *pager)
{
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct function_choice choice = { .symbol = config->symbol, .filter = &filter };
	struct functions_samples functions;
	struct error *error = filter_options_build(&config->filters, session, &filter);

	if (error)
		return error;
	functions_samples_count(session, &choice, &functions);
	error = recording_symbols_error(session);
	recording_warn(session, path);
	if (!error)
		error = write_all(config, &functions, pager->fd);
	functions_samples_deinit(&functions);
	return error;
}

static struct error *open_and_annotate(const struct annotate_config *config)
{
	_cleanup_session_ struct session *session = NULL;
	_cleanup_pager_ struct pager pager = { 0 };
	const char *path;
	struct error *error;

	pager_start(&pager);
	error = recording_raise_walls(&config->input, 1, &config->symbols, NULL);
	if (!error)
		error = recording_open(config->input, &config->symbols, &path, &session);
	return error ? error : annotate(config, session, path, &pager);
}

/* The function, which may be named as an argument, and what can be wrong in any recording. */
static struct error *check(struct annotate_config *config, const struct string_list *functions)
{
	double percent;

	if (functions->count > 1 || (functions->count && config->symbol))
		return error_create(ERROR_USAGE, "annotate takes one function, not also '%s'",
				    functions->items[functions->count - 1]);
	if (functions->count)
		config->symbol = functions->items[0];
	return values_percent("--percent-limit", config->percent_limit, &percent);
}

static struct error *run_annotate(const struct command *command, int argc, char **argv,
				  int *ret_status)
{
	struct annotate_config config = { 0 };
	struct string_list functions = { 0 };
	struct error *error;
	bool help;

	(void)ret_status;
	error = command_parse_mixed(command, &config, argc, argv, &functions, &help);
	if (!error && !help)
		error = check(&config, &functions);
	if (!error && !help)
		error = open_and_annotate(&config);
	filter_options_deinit(&config.filters);
	vector_deinit(&functions);
	return error;
}

static const struct option_spec annotate_options[] = {
	RECORDING_INPUT_OPTION(struct annotate_config, input),
	{ OPTION_STRING, 's', "symbol", offsetof(struct annotate_config, symbol), "SYMBOL",
	  "the function to show, like the argument; without one, all that have samples" },
	{ OPTION_FLAG, 0, "stdio", offsetof(struct annotate_config, stdio), NULL,
	  "print text, which is the default" },
	{ OPTION_STRING, 0, "percent-limit", offsetof(struct annotate_config, percent_limit),
	  "PERCENT", "leave out functions with a smaller share of the samples" },
	{ OPTION_FLAG, 'n', "show-nr-samples", offsetof(struct annotate_config, sample_counts),
	  NULL, "show how many samples an instruction has, instead of its share" },
	{ OPTION_FLAG, 'l', "print-line", offsetof(struct annotate_config, print_lines), NULL,
	  "also show the source lines with the most samples, first" },
	FILTER_VM_OPTION(struct annotate_config, filters, "only this VM; may be repeated"),
	FILTER_THREAD_OPTIONS(struct annotate_config, filters, 'c', 'C'),
	FILTER_NAMED_PLACE_OPTIONS(struct annotate_config, filters, 'd'),
	RECORDING_SYMBOL_OPTIONS(struct annotate_config, symbols),
	RECORDING_FORCE_OPTION(struct annotate_config, force),
	PERF_ABSENT_ANNOTATE,
	{ 0 },
};

const struct command command_annotate = {
	.name = "annotate",
	.summary = "Show a function's instructions with their samples, like perf annotate",
	.arguments = "[SYMBOL]",
	.options = annotate_options,
	.examples =
		"  perfvisor annotate memcpy           # where in memcpy were the samples?\n"
		"  perfvisor annotate --vm web1 --mode kernel --percent-limit 5  # the hottest "
		"functions\n"
		"  perfvisor annotate -d libc.so.6 -l  # with the hottest source lines first\n",
	.run = run_annotate,
};
