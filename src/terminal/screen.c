/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ncurses, and the signals that concern a terminal. All of them are blocked, except while a key is
 * waited for: what a handler would interrupt is never half done. ncurses leaves handlers alone that
 * were there before it. Within the walls (src/walls), which the caller has raised, a process cannot
 * send signals to others, but can stop itself.
 */
#include "terminal/screen.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <term.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/terminal.h"

#define ESCAPE_MS 25	 /* a key's further bytes come within that */
#define MAX_EMPTY_READS 64 /* in succession: the terminal has nothing more to say */

static const int watched[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH };

#define WATCHED (sizeof(watched) / sizeof(*watched))

/* What ncurses has once, too: the screen. */
static struct {
	SCREEN *screen;
	sigset_t before; /* the signals that were blocked */
	struct sigaction actions[WATCHED];
	volatile sig_atomic_t ends, stops, resumes;
	int ended_by;
	unsigned int empty_reads;
	bool colours;
} the;

static void on_signal(int number)
{
	if (number == SIGTSTP)
		the.stops = 1;
	else if (number == SIGCONT || number == SIGWINCH)
		the.resumes = 1;
	else
		the.ends = number;
}

bool screen_can_open(void)
{
	int problem;
	bool can;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || terminal_is_dumb() ||
	    setupterm(NULL, STDOUT_FILENO, &problem) != OK)
		return false;
	can = cursor_address && clear_screen;
	del_curterm(cur_term);
	return can;
}

static void watch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked;

	sigemptyset(&action.sa_mask);
	sigemptyset(&blocked);
	for (size_t i = 0; i < WATCHED; i++) {
		sigaction(watched[i], NULL, &the.actions[i]);
		/* What the parent had ignored, as nohup does, stays ignored. */
		if (the.actions[i].sa_handler != SIG_IGN)
			sigaction(watched[i], &action, NULL);
		sigaddset(&blocked, watched[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, &the.before);
}

static void forget_signals(void)
{
	for (size_t i = 0; i < WATCHED; i++)
		sigaction(watched[i], &the.actions[i], NULL);
	sigprocmask(SIG_SETMASK, &the.before, NULL);
}

static void choose_colours(void)
{
	the.colours = terminal_wants_colors() && has_colors() && start_color() == OK;
	if (!the.colours)
		return;
	use_default_colors();
	init_pair(LOOK_HOT, COLOR_RED, -1);
	init_pair(LOOK_WARM, COLOR_GREEN, -1);
}

bool screen_open(void)
{
	setlocale(LC_CTYPE, "");
	watch_signals();
	the.screen = newterm(NULL, stdout, stdin);
	if (!the.screen) {
		forget_signals();
		return false;
	}
	the.ends = the.stops = the.resumes = the.ended_by = 0;
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	choose_colours();
	return true;
}

/* The shell goes on in the last line; not all terminals have a second screen to leave. */
static void leave(void)
{
	screen_set_look(LOOK_PLAIN);
	move(LINES - 1, 0);
	clrtoeol();
	refresh();
	endwin();
}

void screen_close(void)
{
	curs_set(1);
	leave();
	forget_signals();
	delscreen(the.screen);
	the.screen = NULL;
}

int screen_signal(void)
{
	return the.ended_by;
}

static void fit(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

/* Ctrl-Z: the terminal is the shell's until the process continues. */
static void stop(void)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, own;
	sigset_t only;

	the.stops = 0;
	leave();
	sigaction(SIGTSTP, &plain, &own);
	sigemptyset(&only);
	sigaddset(&only, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &only, NULL); /* stops here */
	sigprocmask(SIG_BLOCK, &only, NULL);
	sigaction(SIGTSTP, &own, NULL);
	reset_prog_mode();
	the.resumes = 1;
}

/* True: *RET_KEY. */
static bool read_key(wint_t *ret_key, bool *ret_special)
{
	int kind = get_wch(ret_key);

	*ret_special = kind == KEY_CODE_YES;
	if (kind == ERR)
		return false;
	the.empty_reads = 0;
	return true;
}

/* The time until DUE_NS; NULL: it never comes. */
static const struct timespec *time_until(uint64_t due_ns, struct timespec *ret)
{
	uint64_t now = clock_monotonic_ns(), ns = due_ns > now ? due_ns - now : 0;

	*ret = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	return due_ns == SCREEN_NEVER ? NULL : ret;
}

/* True: something else than keys has come. */
static bool take_others(struct screen_others *others, const struct pollfd *inputs)
{
	bool ready = clock_monotonic_ns() >= others->due_ns;

	for (size_t i = 0; i < SCREEN_INPUTS; i++) {
		others->ready[i] = inputs[i].revents;
		ready |= others->ready[i];
	}
	return ready;
}

/* Waits for signals, bytes and OTHERS. False: the terminal is gone. */
static bool wait_for_bytes(struct screen_others *others, bool *ret_others)
{
	struct pollfd inputs[1 + SCREEN_INPUTS] = { { .fd = STDIN_FILENO, .events = POLLIN } };
	struct timespec time;
	int ready;

	for (size_t i = 0; i < SCREEN_INPUTS; i++)
		inputs[1 + i] = (struct pollfd){ .fd = others->fds[i], .events = POLLIN };
	ready = ppoll(inputs, 1 + SCREEN_INPUTS, time_until(others->due_ns, &time), &the.before);
	if (ready < 0)
		return errno == EINTR;
	*ret_others = take_others(others, inputs + 1);
	/* At its end it is always readable. */
	the.empty_reads += inputs[0].revents != 0;
	return !(inputs[0].revents & (POLLHUP | POLLERR | POLLNVAL)) &&
	       the.empty_reads < MAX_EMPTY_READS;
}

enum screen_event screen_wait(struct screen_others *others, wint_t *ret_key, bool *ret_special)
{
	struct screen_others none = { .fds = { -1, -1 }, .due_ns = SCREEN_NEVER };
	bool other = false;

	for (;;) {
		if (the.ends) {
			the.ended_by = the.ends == SIGINT ? 0 : the.ends;
			return SCREEN_END;
		}
		if (the.stops)
			stop();
		if (the.resumes) {
			the.resumes = 0;
			reset_prog_mode();
			fit();
			return SCREEN_RESIZE;
		}
		if (read_key(ret_key, ret_special))
			return SCREEN_KEY;
		if (other)
			return SCREEN_OTHER;
		if (!wait_for_bytes(others ? others : &none, &other))
			return SCREEN_END;
	}
}

void screen_set_look(enum screen_look look)
{
	static const attr_t plain[] = { [LOOK_TITLE] = A_REVERSE, [LOOK_CURSOR] = A_REVERSE,
					[LOOK_HOT] = A_BOLD, [LOOK_FAINT] = A_DIM };
	bool pair = the.colours && (look == LOOK_HOT || look == LOOK_WARM);

	if (pair)
		attr_set(A_NORMAL, look, NULL);
	else
		attr_set(plain[look], 0, NULL);
}
