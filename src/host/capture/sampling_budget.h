/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holds what sampling takes of vCPUs' threads against what it may take, look by look:
 *
 *	sampling_budget_add(&budget, &load);       for each thread: what it took since then
 *	sampling_budget_judge(&budget, &verdict);  ends the look
 *
 * One look that is too high changes nothing: a host that is a VM itself may have stood still in the
 * midst of a sample. Two in a row count, by the milder one.
 */
#ifndef HOST_CAPTURE_SAMPLING_BUDGET_H
#define HOST_CAPTURE_SAMPLING_BUDGET_H

/* Shares of a core: 0.02 is 2 % of its time. */
struct sampling_load {
	double adjustable; /* by events whose rate may be lowered */
	double fixed;	   /* by others */
};

struct sampling_look {
	double factor, worst;
};

struct sampling_budget {
	double share; /* that sampling may take of each thread */
	struct sampling_look now, before;
};

struct sampling_verdict {
	/*
	 * Of the rates as they are, what keeps the budget with some room, more than 0; 1: as they
	 * are.
	 */
	double factor;
	/*
	 * What it took of the thread that it took most of. With FACTOR 1: if more than the budget,
	 * no lower rate would help.
	 */
	double worst;
};

void sampling_budget_init(struct sampling_budget *ret, double share);
void sampling_budget_add(struct sampling_budget *budget, const struct sampling_load *load);
void sampling_budget_judge(struct sampling_budget *budget, struct sampling_verdict *ret);

#endif
