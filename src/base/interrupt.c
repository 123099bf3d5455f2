/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signal flag: one of the two globals of the program (the other is the log level). */
#include "base/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught_signal;

static void on_signal(int signal_number)
{
	caught_signal = signal_number;
}

void interrupt_install(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	/* SA_RESETHAND: the second Ctrl-C is for a user who has run out of patience. */
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}

bool interrupt_requested(void)
{
	return caught_signal != 0;
}

int interrupt_signal(void)
{
	return caught_signal;
}
