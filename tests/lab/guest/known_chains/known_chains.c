// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module for lab guests whose call chains are known: by these functions, none of which is
 * inlined, and by what the guest's own unwinder says at their innermost ones (known_traces, which
 * is read from the host).
 *
 * write(fd, page, CALL) on /dev/known_chains makes one of enum call's. The page that the device
 * maps is there only once it was faulted in; known_calls.c gives it back each time. A timer
 * interrupts all this.
 */
#include <linux/hrtimer.h>
#include <linux/kallsyms.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#define KNOWN static __attribute__((noipa))
#define ROUNDS 40000 /* of an innermost function */
#define TIMER_ROUNDS 40000
#define TIMER_NS (2 * NSEC_PER_MSEC)
#define TRACE_EVERY 16 /* calls */

/* What known_calls.c writes, and an index of known_traces. */
enum call { CALL_PROCESS, CALL_MASKED, CALL_DEEP, CALL_COPY, CALL_TOUCH, CALL_TIMER, CALLS };

#define TRACE_MAX 124
#define TRACES 16 /* different ones of a call: there are several ways to a fault handler */

struct known_trace {
	u64 count;
	u64 addresses[TRACE_MAX]; /* innermost first, the first in known_note() */
};

static struct known_trace known_traces[CALLS][TRACES];
static atomic_t calls[CALLS];
static DEFINE_RAW_SPINLOCK(traces_lock);
static u64 sink;
static struct page *page;
static struct hrtimer timer;

static bool is_entry(u64 address)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)(unsigned long)address);
	return strncmp(name, "asm_", 4) == 0;
}

/* What a timer interrupts may be anything. */
static u64 count_to_entry(const struct known_trace *trace)
{
	u64 i;

	for (i = 0; i < trace->count; i++)
		if (is_entry(trace->addresses[i]))
			return i + 1;
	return trace->count;
}

static void keep(enum call call, const struct known_trace *trace)
{
	unsigned int i;

	for (i = 0; i < TRACES; i++) {
		struct known_trace *kept = &known_traces[call][i];

		if (!kept->count)
			*kept = *trace;
		if (kept->count == trace->count &&
		    !memcmp(kept->addresses, trace->addresses, trace->count * sizeof(u64)))
			return;
	}
}

KNOWN void known_note(enum call call)
{
	static struct known_trace trace; /* under the lock */
	unsigned long flags;

	if (atomic_inc_return(&calls[call]) % TRACE_EVERY)
		return;
	raw_spin_lock_irqsave(&traces_lock, flags);
	trace.count = stack_trace_save((unsigned long *)trace.addresses, TRACE_MAX, 0);
	if (call == CALL_TIMER)
		trace.count = count_to_entry(&trace);
	keep(call, &trace);
	raw_spin_unlock_irqrestore(&traces_lock, flags);
}

static __always_inline void spin(u64 x, unsigned int rounds)
{
	while (rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	WRITE_ONCE(sink, x);
}

KNOWN int known_process_leaf(int x)
{
	known_note(CALL_PROCESS);
	spin(x, ROUNDS);
	return x;
}

/* A frame of a size that is known at run time only is told by the frame pointer. */
KNOWN int known_process_3(int x)
{
	volatile int *space = __builtin_alloca(8 * x + 24);

	space[x] = known_process_leaf(x + 1);
	return space[x] + 1;
}

KNOWN int known_process_2(int x)
{
	volatile int space[50];

	space[x] = known_process_3(x + 1);
	return space[x] + 1;
}

KNOWN int known_process_1(int x)
{
	return known_process_2(x + 1) + 1;
}

KNOWN int known_masked_leaf(int x)
{
	unsigned long flags;

	local_irq_save(flags);
	known_note(CALL_MASKED);
	spin(x, ROUNDS);
	local_irq_restore(flags);
	return x;
}

KNOWN int known_masked_1(int x)
{
	return known_masked_leaf(x + 1) + 1;
}

KNOWN int known_deep_leaf(int x)
{
	known_note(CALL_DEEP);
	spin(x, ROUNDS);
	return x;
}

/* A hundred, which differ in their frames. */
#define DEEP(number, next)                                                                         \
	KNOWN int known_deep_##number(int x)                                                       \
	{                                                                                          \
		volatile int space[(1##number % 7 + 1) * 2];                                       \
                                                                                                   \
		space[0] = known_deep_##next(x + 1);                                               \
		return space[0] + 1;                                                               \
	}
#define DEEP_TEN(ten, next)                                                                        \
	DEEP(ten##9, next) DEEP(ten##8, ten##9) DEEP(ten##7, ten##8) DEEP(ten##6, ten##7)          \
	DEEP(ten##5, ten##6) DEEP(ten##4, ten##5) DEEP(ten##3, ten##4) DEEP(ten##2, ten##3)        \
	DEEP(ten##1, ten##2) DEEP(ten##0, ten##1)
DEEP_TEN(9, leaf)
DEEP_TEN(8, 90)
DEEP_TEN(7, 80)
DEEP_TEN(6, 70)
DEEP_TEN(5, 60)
DEEP_TEN(4, 50)
DEEP_TEN(3, 40)
DEEP_TEN(2, 30)
DEEP_TEN(1, 20)
DEEP_TEN(0, 10)

/* The copy faults, and known_fault() is behind that exception. */
KNOWN int known_copy_2(const char __user *from)
{
	volatile int left;
	char byte;

	left = copy_from_user(&byte, from, sizeof(byte));
	return left ? -EFAULT : 0;
}

KNOWN int known_copy_1(const char __user *from)
{
	return known_copy_2(from) + 1;
}

KNOWN int known_fault_leaf(enum call call)
{
	known_note(call);
	spin(call, ROUNDS);
	return call;
}

KNOWN int known_fault_1(enum call call)
{
	return known_fault_leaf(call) + 1;
}

KNOWN vm_fault_t known_fault(struct vm_fault *vmf)
{
	bool user = vmf->flags & FAULT_FLAG_USER;

	if (known_fault_1(user ? CALL_TOUCH : CALL_COPY) == 0)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

KNOWN int known_timer_leaf(int x)
{
	known_note(CALL_TIMER);
	spin(x, TIMER_ROUNDS);
	return x;
}

KNOWN int known_timer_1(int x)
{
	return known_timer_leaf(x + 1) + 1;
}

KNOWN enum hrtimer_restart known_timer(struct hrtimer *of)
{
	known_timer_1(1);
	hrtimer_forward_now(of, ns_to_ktime(TIMER_NS));
	return HRTIMER_RESTART;
}

KNOWN ssize_t known_write(struct file *file, const char __user *from, size_t call, loff_t *at)
{
	volatile int done = -EINVAL;

	switch (call) {
	case CALL_PROCESS:
		done = known_process_1(1);
		break;
	case CALL_MASKED:
		done = known_masked_1(1);
		break;
	case CALL_DEEP:
		done = known_deep_00(1);
		break;
	case CALL_COPY:
		done = known_copy_1(from);
		break;
	}
	return done < 0 ? done : (ssize_t)call;
}

static const struct vm_operations_struct known_vm_ops = { .fault = known_fault };

static int known_mmap(struct file *file, struct vm_area_struct *area)
{
	area->vm_ops = &known_vm_ops;
	return 0;
}

static const struct file_operations known_operations = {
	.owner = THIS_MODULE,
	.write = known_write,
	.mmap = known_mmap,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "known_chains",
	.fops = &known_operations,
};

static void start_timer(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, known_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = known_timer;
#endif
	hrtimer_start(&timer, ns_to_ktime(TIMER_NS), HRTIMER_MODE_REL);
}

static int __init known_chains_init(void)
{
	int error;

	page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	error = misc_register(&device);
	if (error) {
		__free_page(page);
		return error;
	}
	start_timer();
	return 0;
}

static void __exit known_chains_exit(void)
{
	hrtimer_cancel(&timer);
	misc_deregister(&device);
	__free_page(page);
}

module_init(known_chains_init);
module_exit(known_chains_exit);
MODULE_DESCRIPTION("Known call chains for perfvisor's tests");
MODULE_LICENSE("GPL v2");
