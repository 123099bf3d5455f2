/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of tinyvm: guest memory (memory.c), the unikernel's ELF (image.c), the vCPUs
 * (vcpu.c), options and life of the VM (tinyvm.c). Functions that return int return 0, or
 * -1 after complain() has told the user why.
 */
#ifndef TINYVM_H
#define TINYVM_H

#include <linux/kvm.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guestabi.h"

#define MEBIBYTE (1ull << 20)

/* One line "tinyvm: ..." (or "NAME: ...") on stderr. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

enum { SLOT_LOW, SLOT_STACKS, SLOT_COUNT };

struct memory_slot {
	uint64_t gpa;
	uint64_t size_bytes;
	uint8_t *host; /* size_bytes, read and write, populated when touched */
};

struct memory {
	struct memory_slot slots[SLOT_COUNT];
	unsigned levels; /* of the page tables: 4 or 5 */
	uint64_t root_gpa;
	uint64_t next_table_gpa;
};

enum {
	PAGE_WRITE = 1,
	PAGE_EXECUTE = 2,
	PAGE_USER = 4,
};

/* size_bytes: of all slots together. The identity and the stacks are mapped on return. */
int memory_init(struct memory *memory, uint64_t size_bytes, unsigned vcpu_count, bool la57);
void memory_deinit(struct memory *memory);
int memory_register(const struct memory *memory, int vm_fd);

/* NULL if the size bytes at gpa are not all in one slot. */
void *memory_at(const struct memory *memory, uint64_t gpa, uint64_t size_bytes);

/*
 * Maps one page of 4 KiB; both addresses aligned. A page of tables or a page mapped before is
 * an error.
 */
int memory_map(struct memory *memory, uint64_t gva, uint64_t gpa, unsigned page_flags);

/* One past the highest address of a vCPU's stack. */
uint64_t memory_stack_end_gva(const struct memory *memory, unsigned vcpu_index);

struct image {
	uint64_t entry_gva;
	uint64_t areas_gva; /* vcpu_areas: MAX_VCPUS of struct vcpu_area */
	uint64_t areas_gpa; /* all of it inside the low slot */
};

/* Loads and maps the ELF file's segments. */
int image_load(const char *path, struct memory *memory, struct image *ret);

struct vm;

struct vcpu {
	struct vm *vm;
	unsigned index;
	int fd;
	struct kvm_run *run;
	size_t run_bytes;
	pthread_t thread;
	bool started;
};

struct vm {
	int kvm_fd;
	int fd;
	int stop_fd; /* an eventfd: readable for good once the VM is to end */
	atomic_bool stop;
	atomic_bool failed;
	struct memory memory;
	struct image image;
	unsigned vcpu_count;
	struct vcpu vcpus[MAX_VCPUS];
};

/* Creates the vCPU with the registers of the unikernel's entry; destroy takes it half made. */
int vcpu_create(struct vm *vm, unsigned index, const struct kvm_cpuid2 *cpuid);
void vcpu_destroy(struct vcpu *vcpu);

/* Starts the thread tinyvm-vcpuN; a failure there sets vm->failed and stops the VM. */
int vcpu_start(struct vcpu *vcpu);

/* Makes every vCPU thread leave its loop; from any thread. */
void vm_stop(struct vm *vm);

#endif
