/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the time that sampling takes on vCPUs' threads with the budget, one look at a time:
 *
 *	sampling_budget_add(&budget, &load);       for each thread: the cost since the last look
 *	sampling_budget_judge(&budget, &verdict);  ends the look
 *
 * A single look that is too high changes nothing: if the host is a VM itself, it may have been
 * stopped in the middle of a sample. Two in a row count, with the lower value of the two.
 */
#ifndef HOST_CAPTURE_SAMPLING_BUDGET_H
#define HOST_CAPTURE_SAMPLING_BUDGET_H

/* Shares of a core: 0.02 is 2 % of its time. */
struct sampling_load {
	double adjustable; /* caused by events whose rate may be lowered */
	double fixed;	   /* caused by others */
};

struct sampling_look {
	double factor, worst;
};

struct sampling_budget {
	double share; /* the share that sampling may take on each thread */
	struct sampling_look now, before;
};

struct sampling_verdict {
	/*
	 * Factor for the current rates that stays within the budget with some room, more than 0; 1:
	 * no change.
	 */
	double factor;
	/*
	 * The cost on the thread where it was highest. If this exceeds the budget with FACTOR 1, a
	 * lower rate would not help.
	 */
	double worst;
};

void sampling_budget_init(struct sampling_budget *ret, double share);
void sampling_budget_add(struct sampling_budget *budget, const struct sampling_load *load);
void sampling_budget_judge(struct sampling_budget *budget, struct sampling_verdict *ret);

#endif
