/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is read of guests' memory while they are recorded: kernels and their symbols as they were
 * over time, and the mappings of processes that samples were taken of. A thread of its own does the
 * reading; the recording does not wait for it.
 *
 * A guest whose kernel cannot be found (a unikernel, one that boots just now) is recorded all the
 * same, and said to be without names once. Times are of CLOCK_MONOTONIC, as samples'.
 */
#ifndef HOST_RECORD_GUEST_READER_H
#define HOST_RECORD_GUEST_READER_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/intern.h"
#include "host/capture/capture.h"
#include "host/inspect/guest_image.h"
#include "host/inspect/guest_view.h"

struct guest_reader;

struct guest_reader_options {
	bool kernel_only; /* nothing of guests' user space is read */
	bool unwind_data; /* wanted, for call chains */
	bool calls;	  /* of kernels wanted as well, for looking for stack pointers */
	bool emulated;	  /* VMs may be of QEMUs that do without KVM */
	/* of guests that are no Linux; NULL: none is known; borrowed */
	const struct guest_image *image;
};

/*
 * CAPTURE is told how to find the current task of each guest; it is borrowed, and must outlive the
 * reader.
 */
struct guest_reader *guest_reader_create(struct capture *capture,
					 const struct guest_reader_options *options);
void guest_reader_destroy(struct guest_reader *reader); /* takes NULL */

/* Puts VM number VM, process PID, on the list. LATE: it came while the recording ran. */
void guest_reader_add(struct guest_reader *reader, uint32_t vm, uint32_t pid, bool late);
/* Until each VM on the list has been looked at, SECONDS at most: false, they have not yet. */
bool guest_reader_wait(struct guest_reader *reader, double seconds);

/*
 * At TIME_NS, which never goes back for a VM, a sample found its task: the kernel that was read ran
 * then.
 */
void guest_reader_saw(struct guest_reader *reader, uint32_t vm, uint64_t time_ns);

/* Asks for the mappings of the process whose mm_struct is MM; TIME_NS comes back with them. */
struct guest_reader_process {
	uint32_t vm, tgid;
	struct gva mm;
	uint64_t time_ns;
	struct guest_mappings mappings; /* executable ones only */
	/* of each mapping: its file's number, the same wherever it is mapped; 0: none */
	uint32_t *files;
	struct intern *strings;		/* of their paths */
};
void guest_reader_ask(struct guest_reader *reader, uint32_t vm, uint32_t tgid, struct gva mm,
		      uint64_t time_ns);
/* False: no answer is there. RET is to be freed. Questions without an answer are dropped. */
bool guest_reader_take(struct guest_reader *reader, struct guest_reader_process *ret);
void guest_reader_process_deinit(struct guest_reader_process *process);

/*
 * A table of unwind data that is new, of VM's kernel and modules, for samples with that version. It
 * is there before the first of them, and the caller's from now on. False: there is none.
 */
bool guest_reader_take_unwind_table(struct guest_reader *reader, uint32_t *ret_vm,
				    uint32_t *ret_version, struct unwind_table **ret);

/* Likewise the unwind data of file number FILE, by file offsets. */
bool guest_reader_take_file_unwind_table(struct guest_reader *reader, uint32_t *ret_file,
					 struct unwind_table **ret);

/*
 * The code of the image that VM, which is no Linux, runs; RET's vector is the caller's. It is there
 * before the first sample with stacks of that VM. False: no news.
 */
bool guest_reader_take_image_code(struct guest_reader *reader, uint32_t *ret_vm,
				  struct guest_image_code *ret);

/* A symbol table that held from FROM_NS to UNTIL_NS; 0: from the beginning, to the end. */
struct guest_reader_kernel {
	uint32_t vm, pid;
	uint64_t from_ns, until_ns;
	struct buffer table; /* encoded, and checked (symbol/table.h) */
	char release[65], host_name[65];
};
/* The symbols of a file that a guest process has mapped, from the guest's memory. */
struct guest_reader_file {
	uint32_t vm, pid;
	char *path;
	struct guest_build_id build_id;
	struct buffer table; /* encoded, and checked; addresses are file offsets */
};

/*
 * Ends the thread, after VMs that nobody has looked at yet, for SECONDS at most. What it has read
 * is the reader's.
 */
void guest_reader_finish(struct guest_reader *reader, double seconds);
const struct guest_reader_kernel *guest_reader_kernels(const struct guest_reader *reader,
						       size_t *ret_count);
const struct guest_reader_file *guest_reader_files(const struct guest_reader *reader,
						   size_t *ret_count);

#endif
