/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of sampling is proportional to its rate: the factor is budget / cost, less a tenth. */
#include "host/capture/sampling_budget.h"

#define AIM 0.9

static const struct sampling_look nothing = { .factor = 1 };

void sampling_budget_init(struct sampling_budget *ret, double share)
{
	*ret = (struct sampling_budget){ .share = share, .now = nothing, .before = nothing };
}

void sampling_budget_add(struct sampling_budget *budget, const struct sampling_load *load)
{
	double total = load->adjustable + load->fixed, left = AIM * budget->share - load->fixed;

	if (total > budget->now.worst)
		budget->now.worst = total;
	if (total > budget->share && left > 0 && left / load->adjustable < budget->now.factor)
		budget->now.factor = left / load->adjustable;
}

void sampling_budget_judge(struct sampling_budget *budget, struct sampling_verdict *ret)
{
	const struct sampling_look *now = &budget->now, *before = &budget->before;

	ret->factor = now->factor > before->factor ? now->factor : before->factor;
	ret->worst = now->worst < before->worst ? now->worst : before->worst;
	/* What was seen at the old rate does not apply to the new one. */
	budget->before = ret->factor < 1 ? nothing : budget->now;
	budget->now = nothing;
}
