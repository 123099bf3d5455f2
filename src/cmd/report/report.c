/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfvisor report: shows a recording as a profile, flat or with call chains. */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/terminal.h"
#include "cmd/command.h"
#include "cmd/filter_options.h"
#include "cmd/pager.h"
#include "cmd/perf_habits.h"
#include "cmd/profile_options.h"
#include "cmd/recording.h"
#include "cmd/report/browse.h"
#include "cmd/report/report.h"
#include "cmd/values.h"
#include "output/branches_text.h"
#include "output/header/recording_header.h"
#include "output/report_json.h"
#include "output/report_text.h"
#include "output/view.h"
#include "profile/profile.h"

/* The keys used if the user named none. */
static bool has_tracepoints_only(const struct session *session)
{
	for (size_t i = 0; i < session->event_count; i++)
		if (session->attrs[i]->type != PERF_TYPE_TRACEPOINT)
			return false;
	return session->event_count > 0;
}

/* As perf: of tracepoints, what they say. */
static struct error *default_keys(const struct session *session, struct sample_texts *texts,
				  struct profile_keys *ret)
{
	enum profile_key trace;
	struct error *error;

	ret->count = 0;
	if (session->machines.count > 1)
		profile_keys_add(ret, PROFILE_VM);
	if (has_tracepoints_only(session)) {
		error = sample_texts_find_key(texts, "--sort", "", "trace", &trace);
		if (!error)
			profile_keys_add(ret, trace);
		return error;
	}
	/* The command of a guest's sample would be its vCPU thread, so the VM is more useful. */
	if (session->guest_samples && session->guest_processes)
		profile_keys_add(ret, PROFILE_GUEST_COMM);
	if (!session->guest_samples)
		profile_keys_add(ret, PROFILE_COMM);
	profile_keys_add(ret, PROFILE_DSO);
	profile_keys_add(ret, PROFILE_SYMBOL);
	return NULL;
}

/* Parses the argument of -g: perf's words, as far as they apply here. */
static struct error *parse_graph(const char *text, struct report_text_options *options)
{
	_cleanup_free_ char *copy = memory_strdup(text);
	char *rest = copy, *word;
	struct error *error = NULL;

	while (!error && (word = strsep(&rest, ","))) {
		if (!strcmp(word, "caller") || !strcmp(word, "callee"))
			options->caller = !strcmp(word, "caller");
		else if (!strcmp(word, "none"))
			options->chains = false;
		else if (strchr("0123456789.", *word) && *word)
			error = values_percent("-g", word, &options->min_chain_percent);
		else if (strcmp(word, "graph") && strcmp(word, "function") &&
			 strcmp(word, "percent"))
			error = error_hint(error_create(ERROR_USAGE, "-g: unknown word '%s'", word),
					  "the words are caller, callee, none, and the share below "
					  "which branches are left out, in percent of all samples, "
					  "as perf's graph; perfvisor fold folds stacks");
	}
	return error;
}

/* Whether -F says which columns there are; with + it names more. */
static bool names_all_fields(const struct report_config *config)
{
	return config->fields && *config->fields != '+';
}

static struct error *choose_keys(const struct report_config *config, const struct session *session,
				 struct sample_texts *texts, struct profile_keys *ret)
{
	if (config->sort)
		return profile_options_parse_keys(config->sort, texts, ret);
	if (!names_all_fields(config))
		return default_keys(session, texts, ret);
	return NULL;
}

/* The keys of --sort or the usual ones become columns, and columns of -F keys. */
static void join_keys(struct report_text_options *text, struct profile_options *options)
{
	struct report_columns *columns = &text->columns;
	bool first = true;

	for (size_t i = 0; i < options->keys.count; i++)
		report_columns_add(columns, REPORT_KEY, options->keys.items[i]);
	options->keys.count = 0;
	for (size_t i = 0; i < columns->count; i++) {
		first = first && columns->items[i].field == REPORT_KEY;
		if (first)
			profile_keys_add(&options->first, columns->items[i].key);
		if (columns->items[i].field == REPORT_KEY)
			profile_keys_add(&options->keys, columns->items[i].key);
	}
}

/* As perf, -n and the fields of "-F +…" come after the shares. */
static struct error *choose_columns(const struct report_config *config,
				    struct sample_texts *texts,
				    struct report_text_options *text,
				    struct profile_options *options)
{
	struct error *error = NULL;

	if (!names_all_fields(config)) {
		text->columns.usual = true;
		if (text->children)
			report_columns_add(&text->columns, REPORT_CHILDREN, 0);
		report_columns_add(&text->columns, REPORT_OVERHEAD, 0);
		if (config->sample_counts)
			report_columns_add(&text->columns, REPORT_SAMPLES, 0);
		if (config->fields)
			error = report_columns_parse(config->fields + 1, texts, &text->columns);
	}
	join_keys(text, options);
	if (!error && config->widths)
		error = report_columns_set_widths(config->widths, &text->columns);
	text->separator = config->separator;
	text->hierarchy = config->hierarchy;
	if (!error && config->hierarchy &&
	    (config->fields || config->separator || config->widths || config->json))
		error = error_create(ERROR_USAGE, "--hierarchy excludes -F, -t, -w and --json");
	return error;
}

/* Chooses which chains to show, and how; the defaults are perf's. */
static struct error *choose_chains(const struct report_config *config,
				   const struct session *session, struct report_text_options *ret)
{
	struct error *error = NULL;

	/* In the browser, what is folded takes no room. */
	ret->min_chain_percent = config->browses ? 0 : 0.5;
	if (config->percent_limit) {
		error = values_percent("--percent-limit", config->percent_limit,
				       &ret->min_percent);
		ret->min_chain_percent = ret->min_percent;
	}
	ret->chains = profile_has_chains(session);
	if (config->hierarchy)
		ret->chains = false;
	ret->children = ret->chains && !config->no_children &&
			(!names_all_fields(config) ||
			 report_columns_have(&ret->columns, REPORT_CHILDREN));
	ret->caller = ret->children;
	if (!error && config->graph)
		error = parse_graph(config->graph, ret);
	if (!error && !profile_has_chains(session) &&
	    (config->children || config->graph ||
	     report_columns_have(&ret->columns, REPORT_CHILDREN)) &&
	    strcmp(config->graph ? config->graph : "", "none"))
		error = error_hint(error_create(ERROR_UNSUPPORTED,
						"the recording has no call chains"),
				   "'perf record -g' records them");
	return error;
}

/* Where a column shows them. */
static struct error *choose_ipc(const struct report_text_options *text,
				const struct session *session, bool *ret)
{
	*ret = report_columns_have(&text->columns, REPORT_IPC);
	if (!*ret || profile_has_ipc(session))
		return NULL;
	return error_hint(error_create(ERROR_UNSUPPORTED,
				       "-F ipc: no group of events in the recording has both "
				       "cycles and instructions"),
			  "perfvisor record -e '{cycles,instructions}' records one");
}

static struct error *report(const struct report_config *config, struct session *session,
			    const char *path, const struct pager *pager)
{
	struct profile_options options = { 0 };
	struct report_text_options text = { .path = path, .header = config->header,
					    .info = config->info,
					    .rows_only = config->quiet && !config->header,
					    .colour = pager->terminal && terminal_wants_colors() };
	_cleanup_profile_ struct profile *profile = NULL;
	_cleanup_sample_texts_ struct sample_texts *texts = sample_texts_create(session);
	_cleanup_(filter_deinit) struct filter filter = { 0 };
	struct error *error = NULL;

	if (names_all_fields(config))
		error = report_columns_parse(config->fields, texts, &text.columns);
	if (!error)
		error = choose_chains(config, session, &text);
	if (!error)
		error = choose_keys(config, session, texts, &options.keys);
	if (!error)
		error = choose_columns(config, texts, &text, &options);
	if (!error)
		error = choose_ipc(&text, session, &options.ipc);
	if (!error)
		error = values_time_quantum(config->time_quantum, &options.time_quantum_ns);
	if (!error)
		error = values_percentage(config->percentage, &options.absolute);
	if (!error)
		error = filter_options_build(&config->filters, session, &filter);
	if (!error) {
		options.filter = &filter;
		options.texts = sample_texts_found(texts);
		options.chains = text.children || text.chains;
		options.children = text.children;
		options.max_stack = config->max_stack;
		options.inlined = config->inlined && !config->no_inlined;
		profile = profile_create(session, &options);
		error = recording_symbols_error(session);
	}
	if (error)
		return error;
	recording_warn(session, path);
	recording_warn_if_empty(profile);
	recording_warn_if_cut(profile);
	if (config->json) {
		report_json_write(stdout, profile, &options.keys,
				  &(struct report_json_options){ .children = text.children,
								 .ipc = options.ipc,
								 .path = path });
		return NULL; /* main() checks stdout */
	}
	if (config->browses && report_browse(profile, &options, &text))
		return NULL;
	return report_text_write(pager->fd, profile, &text);
}

/* What can be wrong in any recording. */
static struct error *check_values(const struct report_config *config)
{
	struct report_text_options text = { 0 };
	struct report_columns columns = { .count = 0 };
	double percent;
	uint64_t ns;
	bool absolute;
	struct error *error = values_percent("--percent-limit", config->percent_limit, &percent);

	if (!error)
		error = values_check_separator(config->separator);
	if (!error && config->graph)
		error = parse_graph(config->graph, &text);
	if (!error && config->widths)
		error = report_columns_set_widths(config->widths, &columns);
	if (!error)
		error = values_time_quantum(config->time_quantum, &ns);
	return error ? error : values_percentage(config->percentage, &absolute);
}

/*
 * No recording can be opened, because of CAUSE, which is taken. If --sort has a word that only a
 * recording with such a field would explain, that is worth saying, too.
 */
static struct error *check_sort(const struct report_config *config, struct error *cause)
{
	_cleanup_free_ char *copy = memory_strdup(config->sort ? config->sort : "");
	char *rest = copy, *word;
	struct branch_keys keys;
	struct error *error = branches_text_parse_keys(config->sort, &keys);
	bool known = !error;

	error_destroy(error);
	while (!known && (word = strsep(&rest, ","))) {
		enum profile_key key;

		if (view_parse_key(word, &key) || !strcmp(word, "trace"))
			continue;
		error = error_create(ERROR_USAGE,
				     "--sort: '%s' is no key, unless a recording has such a field; "
				     "%s", word, error_message(cause));
		error_destroy(cause);
		return error;
	}
	return cause;
}

static bool wants_branches(const struct report_config *config, const struct session *session)
{
	return !config->no_branches && (config->branches || branches_are_recorded(session));
}

/* Whether both ends are a terminal, as far as that is known before the walls are up. */
static bool can_browse(const struct report_config *config, const struct pager *pager)
{
	return pager->terminal && isatty(STDIN_FILENO) && !config->stdio && !config->json &&
	       !config->header_only && !config->separator;
}

static struct error *raise_walls(const struct report_config *config)
{
	if (config->browses)
		return recording_raise_walls_to_browse(config->input, &config->symbols);
	return recording_raise_walls(&config->input, 1, &config->symbols, NULL);
}

static struct error *open_and_report(struct report_config *config)
{
	_cleanup_session_ struct session *session = NULL;
	_cleanup_pager_ struct pager pager = { 0 };
	const char *path;
	struct error *error;

	if (!config->json || config->header_only)
		pager_start(&pager);
	config->browses = can_browse(config, &pager);
	error = raise_walls(config);
	if (error)
		return error;
	error = recording_open(config->input, &config->symbols, &path, &session);
	if (error)
		return check_sort(config, error);
	if (config->header_only)
		return recording_header_write(pager.fd, session, path, config->info);
	if (wants_branches(config, session))
		return report_branches(config, session, path, &pager);
	return report(config, session, path, &pager);
}

static struct error *run_report(const struct command *command, int argc, char **argv,
				int *ret_status)
{
	struct report_config config = { 0 };
	struct error *error;
	bool help;

	error = command_parse(command, &config, argc, argv, NULL, &help);
	if (config.inverted && !config.graph)
		config.graph = "caller";
	if (config.quiet)
		log_set_level(LOG_WARNING);
	if (!error && !help)
		error = check_values(&config);
	if (!error && !help)
		error = config.page ? report_page(&config, ret_status) : open_and_report(&config);
	filter_options_deinit(&config.filters);
	return error;
}

static const struct option_spec report_options[] = {
	RECORDING_INPUT_OPTION(struct report_config, input),
	{ OPTION_FLAG, 0, "stdio", offsetof(struct report_config, stdio), NULL,
	  "print text, also on a terminal, where a browser is the default" },
	{ OPTION_FLAG, 0, "json", offsetof(struct report_config, json), NULL,
	  "print JSON" },
	{ OPTION_STRING, 0, "html", offsetof(struct report_config, page), "FILE",
	  "write a page for a browser to FILE; - is standard output",
	  .completion = COMPLETE_FILE },
	{ OPTION_STRING, 's', "sort", offsetof(struct report_config, sort), "KEYS",
	  "what to count by, separated by commas: vm, vcpu, comm, pid, tid, gcomm, gpid, dso, "
	  "mode, sym, srcline, cpu, time, cgroup; trace and fields of tracepoints",
	  .completion = COMPLETE_WORDS,
	  .words = "vm vcpu comm pid tid gcomm gpid dso mode sym srcline cpu time cgroup trace" },
	{ OPTION_STRING, 'F', "fields", offsetof(struct report_config, fields), "FIELDS",
	  "the columns, separated by commas: overhead, overhead_children, sample, period, ipc and "
	  "keys; "
	  "with a leading +, in addition to the usual ones",
	  .completion = COMPLETE_WORDS,
	  .words = "overhead overhead_children sample period ipc vm vcpu comm pid tid gcomm gpid "
		   "dso mode sym srcline cpu time cgroup trace" },
	{ OPTION_FLAG, 'n', "show-nr-samples", offsetof(struct report_config, sample_counts), NULL,
	  "a column with the number of samples" },
	{ OPTION_FLAG, 0, "header", offsetof(struct report_config, header), NULL,
	  "also print the recording's header" },
	{ OPTION_FLAG, 0, "header-only", offsetof(struct report_config, header_only), NULL,
	  "show nothing else" },
	{ OPTION_FLAG, 'I', "show-info", offsetof(struct report_config, info), NULL,
	  "in the header, also show the topology of CPUs and memory, and the caches" },
	{ OPTION_STRING, 0, "time-quantum", offsetof(struct report_config, time_quantum), "TIME",
	  "the length of a bucket of the key time, in s, ms, us or ns (default: 100ms)" },
	{ OPTION_FLAG, 0, "hierarchy", offsetof(struct report_config, hierarchy), NULL,
	  "show the keys as levels of a tree, each with its share; without call chains" },
	{ OPTION_STRING, 't', "field-separator", offsetof(struct report_config, separator),
	  "CHARACTER", "separates columns, which are not padded; in names it becomes a point" },
	{ OPTION_STRING, 'w', "column-widths", offsetof(struct report_config, widths), "WIDTHS",
	  "of the columns in their order, separated by commas; 0: as wide as needed" },
	{ OPTION_STRING, 'g', "call-graph", offsetof(struct report_config, graph), "WORDS",
	  "how to show call chains, separated by commas: caller, callee or none, and the share in "
	  "percent below which branches are left out (default: caller,0.5)",
	  .completion = COMPLETE_WORDS, .words = "caller callee none", .fallback = "caller" },
	{ OPTION_FLAG, 'G', "inverted", offsetof(struct report_config, inverted), NULL,
	  "the same as -g caller" },
	{ OPTION_UNSIGNED, 0, "max-stack", offsetof(struct report_config, max_stack), "FRAMES",
	  "how many functions of a call chain to count, innermost first (default: 1024)",
	  .min = 1, .max = UINT16_MAX },
	{ OPTION_FLAG, 0, "children", offsetof(struct report_config, children), NULL,
	  "count a sample for all functions in its call chain (the default if there are chains)" },
	{ OPTION_FLAG, 0, "no-children", offsetof(struct report_config, no_children), NULL,
	  "count a sample only for the function in which it was taken" },
	{ OPTION_STRING, 0, "percent-limit", offsetof(struct report_config, percent_limit),
	  "PERCENT", "leave out rows, and branches of chains, with a smaller share" },
	{ OPTION_FLAG, 'b', "branch-stack", offsetof(struct report_config, branches), NULL,
	  "count the branches before samples (as it is if the recording has them)" },
	{ OPTION_FLAG, 0, "no-branch-stack", offsetof(struct report_config, no_branches), NULL,
	  "count where samples were taken, not the branches before them" },
	{ OPTION_STRING, 0, "percentage", offsetof(struct report_config, percentage), "WORD",
	  "of what is shown where samples are filtered out: relative, of what is left (default); "
	  "absolute, of all",
	  .completion = COMPLETE_WORDS, .words = "relative absolute" },
	RECORDING_INLINE_OPTIONS(struct report_config, inlined, no_inlined),
	FILTER_OPTIONS(struct report_config, filters),
	RECORDING_SYMBOL_OPTIONS(struct report_config, symbols),
	{ OPTION_FLAG, 'q', "quiet", offsetof(struct report_config, quiet), NULL,
	  "print rows, warnings and errors only: no header, no notes" },
	{ OPTION_FLAG, 'f', "force", offsetof(struct report_config, force), NULL,
	  "replace the FILE of --html even if it is no perfvisor page; recordings of other users "
	  "are read without it" },
	PERF_ABSENT_REPORT,
	{ 0 },
};

const struct command command_report = {
	.name = "report",
	.summary = "Show a recording as a profile",
	.arguments = "",
	.options = report_options,
	.examples =
		"  perfvisor report                           # the newest recording here\n"
		"  perfvisor report --sort vm,mode            # which VM, kernel or user\n"
		"  perfvisor report --vm web1 --sort vcpu,sym # one VM, by vCPU\n"
		"  perfvisor report --sort vm,gcomm,gpid      # the processes of each guest\n"
		"  perfvisor report --no-children -g callee,1 # hot functions and who calls them\n"
		"  perfvisor report -n -t, -g none >web.csv   # for a spreadsheet\n"
		"  perfvisor report --html page.html          # a page for a browser\n",
	.run = run_report,
};
