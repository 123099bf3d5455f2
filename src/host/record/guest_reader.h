/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads guest memory during a recording: kernels and their symbols over time, and the mappings of
 * sampled processes. This happens in a separate thread; the recording does not wait for it.
 *
 * A guest whose kernel cannot be found (a unikernel, or a guest that is booting) is recorded
 * anyway, and reported once as having no symbols. Times are those of CLOCK_MONOTONIC, as in
 * samples.
 */
#ifndef HOST_RECORD_GUEST_READER_H
#define HOST_RECORD_GUEST_READER_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/intern.h"
#include "host/capture/capture.h"
#include "host/inspect/guest_image.h"
#include "host/inspect/guest_view.h"
#include "host/record/hot_code.h"

struct guest_reader;

#define GUEST_READER_MAPPINGS 4096

struct guest_reader_options {
	bool kernel_only; /* do not read guests' user space */
	bool unwind_data; /* read it, for call chains */
	bool calls;	  /* also read kernels' call targets, to search for stack pointers */
	bool emulated;	  /* VMs may be QEMUs that do not use KVM */
	/* of guests that are not Linux; NULL: none; borrowed */
	const struct guest_image *image;
};

/*
 * The reader describes to CAPTURE how to find the current task of each guest. CAPTURE is borrowed
 * and must outlive the reader.
 */
struct guest_reader *guest_reader_create(struct capture *capture,
					 const struct guest_reader_options *options);
void guest_reader_destroy(struct guest_reader *reader); /* takes NULL */

/* Adds VM number VM, process PID. LATE: it appeared during the recording. */
void guest_reader_add(struct guest_reader *reader, uint32_t vm, uint32_t pid, bool late);
/*
 * Waits until each VM has been looked at, at most SECONDS. False: some have not been looked at yet.
 */
bool guest_reader_wait(struct guest_reader *reader, double seconds);

/* Waits until all questions so far are answered, and their files read, at most SECONDS. */
void guest_reader_settle(struct guest_reader *reader, double seconds);

/*
 * A sample at TIME_NS found its task, so the kernel that was read was running then. TIME_NS must
 * not decrease for a VM.
 */
void guest_reader_saw(struct guest_reader *reader, uint32_t vm, uint64_t time_ns);

/* Asks for the mappings of the process whose mm_struct is MM. TIME_NS is returned with them. */
struct guest_reader_process {
	uint32_t vm, tgid;
	struct gva mm;
	uint64_t time_ns;
	struct guest_mappings mappings; /* executable ones only, at most GUEST_READER_MAPPINGS */
	/* for each mapping: its file's number in the VM, one for all mappings of it; 0: none */
	uint32_t *files;
	struct intern *strings;		/* the paths */
	uint64_t entry_sp; /* SP when its program was entered; 0: not known */
	uint64_t question; /* that of guest_reader_ask_copied(); 0: of guest_reader_ask() */
};
void guest_reader_ask(struct guest_reader *reader, uint32_t vm, uint32_t tgid, struct gva mm,
		      uint64_t time_ns);
/*
 * The same of a process whose executable mappings are known: AREAS, as copied at TIME_NS while its
 * thread GUEST ran. It may have ended. The answer has this NUMBER, not 0, and comes in any case
 * unless the VM ends. False: there are too many questions.
 */
bool guest_reader_ask_copied(struct guest_reader *reader, uint32_t vm,
			     const struct capture_guest *guest, uint64_t time_ns,
			     const struct sampler_areas *areas, uint64_t number);
/* False: no answer yet. The caller frees RET. Questions without an answer are dropped. */
bool guest_reader_take(struct guest_reader *reader, struct guest_reader_process *ret);
void guest_reader_process_deinit(struct guest_reader_process *process);

/*
 * A new table of unwind data of VM's kernel and modules, for samples with *RET_VERSION. It is
 * available before the first of these samples. The caller must drop it. False: no new table.
 */
bool guest_reader_take_unwind_table(struct guest_reader *reader, uint32_t *ret_vm,
				    uint32_t *ret_version, struct unwind_table **ret);

/*
 * The same for the unwind data of file number FILE of VM, by file offset; NULL: it has none, or
 * they cannot be read. Nothing follows about this file.
 */
bool guest_reader_take_file_unwind_table(struct guest_reader *reader, uint32_t *ret_vm,
					 uint32_t *ret_file, struct unwind_table **ret);
/* Destroys a table of VM (takes NULL), so that the guest has room for another one. */
void guest_reader_drop_unwind_table(struct guest_reader *reader, uint32_t vm,
				    struct unwind_table *table);

/*
 * The code of the image that VM, which is not Linux, is running. The caller owns RET's vector. It
 * is available before the first sample with stacks of that VM. False: nothing new.
 */
bool guest_reader_take_image_code(struct guest_reader *reader, uint32_t *ret_vm,
				  struct guest_image_code *ret);

/* A symbol table that was valid from FROM_NS to UNTIL_NS; 0: since the beginning, until the end. */
struct guest_reader_kernel {
	uint32_t vm, pid;
	uint64_t from_ns, until_ns;
	struct buffer table; /* encoded, and checked (symbol/table.h) */
	char release[65], host_name[65];
	uint8_t build_id[20];
	size_t build_id_bytes; /* 0: not known */
};
/* The symbols of a file mapped by a guest process, read from guest memory. */
struct guest_reader_file {
	uint32_t vm, pid;
	char *path;
	struct guest_build_id build_id;
	struct buffer table; /* encoded, and checked; addresses are file offsets */
};

/* The code of functions, read from guest memory. */
struct guest_reader_code {
	uint32_t vm, pid;
	bool kernel;	  /* of the kernel that was there from FROM_NS on, else of a file: */
	uint64_t from_ns; /* as that of its symbol table */
	char *path;
	struct guest_build_id build_id;
	struct buffer pieces; /* encoded, and checked (symbol/code_pieces.h) */
};
/*
 * Asks for the code of the functions around PLACES. Each is read once; for a guest there is a limit
 * to all of it.
 */
void guest_reader_ask_code(struct guest_reader *reader, uint32_t vm,
			   const struct hot_place *places, size_t count);

/*
 * What has been read so far, also while the thread reads on: number NUMBER from 0 on, of which
 * nothing changes but until when a kernel held. False: there are not so many yet. What RET points
 * to is the reader's.
 */
bool guest_reader_kernel(struct guest_reader *reader, size_t number,
			 struct guest_reader_kernel *ret);
bool guest_reader_file(struct guest_reader *reader, size_t number, struct guest_reader_file *ret);
bool guest_reader_code(struct guest_reader *reader, size_t number, struct guest_reader_code *ret);
/* They are in the recording: their tables are not needed any more, nor a file's path. */
void guest_reader_drop_kernel(struct guest_reader *reader, size_t number);
void guest_reader_drop_file(struct guest_reader *reader, size_t number);
void guest_reader_drop_code(struct guest_reader *reader, size_t number);

/* Tables of guests that were left out because there was no room for them. */
uint64_t guest_reader_refused(struct guest_reader *reader);

/* Ends the thread, after VMs that nobody has looked at yet, for SECONDS at most. */
void guest_reader_finish(struct guest_reader *reader, double seconds);

#endif
