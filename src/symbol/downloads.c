/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The client's library is loaded when DEBUGINFOD_URLS is set, as elfutils' own tools do it: it
 * brings thirty others, for TLS and more, which no other run needs to load and to trust.
 */
#include "symbol/downloads.h"

#include <stdlib.h>

#if HAVE_DEBUGINFOD

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"

#define SILENCE_NS 30000000000ULL
#define LONGEST_NS 600000000000ULL
#define MAX_FAILURES 2

/* Of the library. */
static struct {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
	__typeof__(debuginfod_find_executable) *find_executable;
	__typeof__(debuginfod_set_progressfn) *set_progressfn;
	__typeof__(debuginfod_set_user_data) *set_user_data;
	__typeof__(debuginfod_get_user_data) *get_user_data;
} library;

struct downloads {
	debuginfod_client *client; /* NULL: the server has it */
	struct progress progress;
	uint64_t begun_ns, moved_ns; /* of the current file: when the last bytes came */
	long bytes;
	unsigned int failures;
};

/*
 * Called by the client a few times a second: DONE bytes of ALL, or something else while ALL is not
 * known. Anything but 0 ends the download.
 */
static int watch(debuginfod_client *client, long done, long all)
{
	struct downloads *downloads = library.get_user_data(client);
	uint64_t now = clock_monotonic_ns();

	if (all > 0 && done != downloads->bytes) {
		downloads->bytes = done;
		downloads->moved_ns = now;
	}
	if (all > 0 && progress_due(&downloads->progress))
		progress_show(&downloads->progress,
			      "downloading debugging information: %ld of %ld kB", done / 1000,
			      all / 1000);
	return now - downloads->moved_ns > SILENCE_NS || now - downloads->begun_ns > LONGEST_NS;
}

/* The same for a process that has raised its walls: questions and answers, one message each. */
struct question {
	uint8_t build_id[64];
	uint32_t bytes;
	uint32_t kind; /* enum download_kind */
};
struct answer {
	int32_t failure; /* errno; 0: there is a path */
	char path[PATH_MAX];
};

/* The socket of the process that downloads for this one; -1: there is none. */
static int server = -1;

static bool is_wanted(void)
{
	const char *urls = secure_getenv(DEBUGINFOD_URLS_ENV_VAR);

	return urls && *urls;
}

/* Whatever asks may have been taken over: only a build-id is taken from it. */
static void answer_question(struct downloads *downloads, const struct question *question,
			    struct answer *ret)
{
	char *path = NULL;
	int fd;

	*ret = (struct answer){ .failure = EINVAL };
	if (!question->bytes || question->bytes > sizeof(question->build_id))
		return;
	downloads->begun_ns = downloads->moved_ns = clock_monotonic_ns();
	downloads->bytes = 0;
	fd = question->kind == DOWNLOAD_DEBUGINFO
		     ? library.find_debuginfo(downloads->client, question->build_id,
						 question->bytes, &path)
		     : library.find_executable(downloads->client, question->build_id,
						  question->bytes, &path);
	progress_end(&downloads->progress);
	ret->failure = fd < 0 ? -fd : 0;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && strlen(path) >= sizeof(ret->path))
		ret->failure = ENAMETOOLONG;
	else if (fd >= 0)
		memcpy(ret->path, path, strlen(path) + 1);
	free(path);
}

/* Until the process that asks has ended. */
static void serve(struct downloads *downloads, int socket)
{
	struct question question;
	struct answer answer;

	signal(SIGINT, SIG_IGN); /* that process ends, and then this one */
	while (read(socket, &question, sizeof(question)) == sizeof(question)) {
		answer_question(downloads, &question, &answer);
		if (write(socket, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

static bool load_library(void)
{
	static const struct {
		const char *name;
		void *function; /* its pointer in library */
	} functions[] = {
		{ "debuginfod_begin", &library.begin },
		{ "debuginfod_end", &library.end },
		{ "debuginfod_find_debuginfo", &library.find_debuginfo },
		{ "debuginfod_find_executable", &library.find_executable },
		{ "debuginfod_set_progressfn", &library.set_progressfn },
		{ "debuginfod_set_user_data", &library.set_user_data },
		{ "debuginfod_get_user_data", &library.get_user_data },
	};
	void *handle = dlopen(DEBUGINFOD_SONAME, RTLD_LAZY);
	bool complete = handle;

	for (size_t i = 0; complete && i < sizeof(functions) / sizeof(*functions); i++) {
		void *symbol = dlsym(handle, functions[i].name);

		memcpy(functions[i].function, &symbol, sizeof(symbol));
		complete = symbol;
	}
	if (complete)
		return true;
	log_warning("nothing is downloaded from DEBUGINFOD_URLS: %s", dlerror());
	library.begin = NULL;
	return false;
}

static struct downloads *create_client(void)
{
	struct downloads *downloads;

	if (!library.begin && !load_library()) /* begin is NULL until all are there */
		return NULL;
	downloads = memory_calloc(1, sizeof(*downloads));
	downloads->client = library.begin();
	if (!downloads->client) {
		free(downloads);
		return NULL;
	}
	library.set_user_data(downloads->client, downloads);
	library.set_progressfn(downloads->client, watch);
	return downloads;
}

struct error *downloads_start(void)
{
	struct downloads *downloads;
	int ends[2];
	pid_t pid;

	if (!is_wanted() || server >= 0)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return error_system(errno, "could not create a socket");
	pid = fork();
	if (!pid) {
		close(ends[0]);
		downloads = create_client();
		if (downloads)
			serve(downloads, ends[1]);
		_exit(1);
	}
	close(ends[1]);
	server = ends[0];
	return pid < 0 ? error_create(ERROR_SYSTEM, "could not start a process") : NULL;
}

struct downloads *downloads_create(void)
{
	if (!is_wanted())
		return NULL;
	return server >= 0 ? memory_calloc(1, sizeof(struct downloads)) : create_client();
}

void downloads_destroy(struct downloads *downloads)
{
	if (!downloads)
		return;
	if (downloads->client)
		library.end(downloads->client);
	free(downloads);
}

static void note_failure(struct downloads *downloads, int reason)
{
	if (++downloads->failures == MAX_FAILURES)
		log_warning("nothing more is downloaded from DEBUGINFOD_URLS, because two "
			    "downloads failed: %s",
			    reason == EINTR ? "the server is too slow" : strerror(reason));
}

static void ask_server(const struct question *question, struct answer *ret)
{
	*ret = (struct answer){ .failure = EPIPE };
	if (write(server, question, sizeof(*question)) != sizeof(*question) ||
	    read(server, ret, sizeof(*ret)) != sizeof(*ret))
		ret->failure = EPIPE;
	ret->path[sizeof(ret->path) - 1] = 0;
}

char *downloads_get(struct downloads *downloads, const uint8_t *build_id, size_t bytes,
		    enum download_kind kind)
{
	struct question question = { .bytes = bytes, .kind = kind };
	struct answer answer;

	if (!downloads || downloads->failures == MAX_FAILURES || !bytes ||
	    bytes > sizeof(question.build_id))
		return NULL;
	memcpy(question.build_id, build_id, bytes);
	if (downloads->client)
		answer_question(downloads, &question, &answer);
	else
		ask_server(&question, &answer);
	if (!answer.failure)
		return memory_strdup(answer.path);
	if (answer.failure != ENOENT)
		note_failure(downloads, answer.failure);
	return NULL;
}

#else

#include "base/log.h"

struct error *downloads_start(void)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");

	if (urls && *urls)
		log_note("DEBUGINFOD_URLS has no effect: perfvisor was built without debuginfod");
	return NULL;
}

struct downloads *downloads_create(void)
{
	return NULL;
}

void downloads_destroy(struct downloads *downloads)
{
	(void)downloads;
}

char *downloads_get(struct downloads *downloads, const uint8_t *build_id, size_t bytes,
		    enum download_kind kind)
{
	(void)downloads, (void)build_id, (void)bytes, (void)kind;
	return NULL;
}

#endif
