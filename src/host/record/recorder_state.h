/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by recorder.c and recorder_*.c. */
#ifndef HOST_RECORD_RECORDER_STATE_H
#define HOST_RECORD_RECORDER_STATE_H

#include "base/buffer.h"
#include "base/map.h"
#include "base/vector.h"
#include "host/record/guest_mode.h"
#include "host/record/guest_reader.h"
#include "host/record/host_maps.h"
#include "host/record/recorder.h"
#include "host/record/vm_scan.h"
#include "host/vm/vm.h"
#include "unwind/program/user.h"

/* Samples of each kind have their own id, created with the first such sample. */
enum recorder_kind { RECORDER_PLAIN, RECORDER_AT_EXIT, RECORDER_NESTED, RECORDER_KINDS };
/* For each kind and each way in which a chain may end. */
#define RECORDER_IDS (RECORDER_KINDS * PERFDATA_CHAIN_ENDS)

struct recorder_thread {
	size_t vm; /* index into inventory.vms */
	uint32_t pid, tid, vcpu;
	uint64_t vcpu_object; /* struct host_vcpu's */
	bool alive;
	uint64_t *ids; /* the file's, RECORDER_IDS per event; 0: none yet; NULL: no file yet */
	uint64_t *totals; /* of each id: what was counted under it; NULL: nothing so far */
};

/* A guest thread, as of its last sample. */
struct recorder_task {
	uint32_t file; /* the newest in which it was introduced: struct recorder's */
	struct gva at;
	uint32_t tgid;
	char comm[16];
};

struct recorder_code {
	struct gva start, end;
};

struct recorder_process {
	struct gva mm;	   /* 0: none was seen */
	uint64_t seen_ns;  /* time of the newest sample with it */
	uint64_t begin_ns; /* time of the first sample with it */
	bool replaced;	   /* another program had this pid before */
	uint64_t asked_ns; /* when its mappings were last asked for; 0: never */
	uint32_t file; /* the newest in which its mappings are: struct recorder's */
	VECTOR(struct recorder_code) code; /* what is in that file */
	/* the mappings of CODE, if they may have to be written again; paths are in kept_paths */
	VECTOR(struct guest_mapping) kept;
	/* For call chains: all of its code, as of the last answer, and the numbers of the files. */
	VECTOR(struct unwind_mapping) mappings;
	VECTOR(uint32_t) files;
	uint64_t entry_sp; /* SP when its program was entered; 0: not known */
};

struct recorder_vm {
	bool alive;
	bool named;
	bool all_threads; /* the threads of its vCPUs are not known */
	bool kernel_written; /* see write_guest_kernel() */
	/* time of the newest sample whose task was found; time last reported */
	uint64_t task_ns, told_ns;
	uint64_t mapping_bytes; /* of its processes' mappings in the file */
	uint64_t mapping_ns;	/* time of the first of them; 0: none yet */
	bool mappings_cut;
	struct guest_mode_vm guest_mode;
	struct unwind_table *unwind; /* NULL: not known, or not wanted */
	uint32_t unwind_version;     /* the version of samples that it is for */
	struct guest_image_code image; /* of a guest that is not Linux */
	/* by the file's number; NULL: none, or not yet */
	VECTOR(struct unwind_table *) file_unwind;
	VECTOR(bool) file_known; /* parallel: whether it will not change any more */
	struct map task_of, process_of; /* tid, tgid -> index */
	VECTOR(struct recorder_task) tasks;
	VECTOR(struct recorder_process) processes;
	size_t program_mappings; /* of all of its processes, for call chains */
	struct hot_code *hot; /* NULL: no samples yet, or code is not wanted */
	struct intern *kept_paths; /* of its processes' KEPT; NULL: none yet */
	size_t kept_bytes;	   /* of these mappings and paths */
};

/* With --overwrite: what was sampled in a part of the time, and stands alone. */
struct recorder_segment {
	struct buffer records;
	VECTOR(struct perfdata_vm_counts) counts; /* by VM; closed segments only */
	struct perfdata_vm_counts other;	  /* of no VM */
};

#define RECORDER_SEGMENTS 8

/* What waits for the mappings of the processes that were sampled (recorder_wait.c). */
struct recorder_waiting;
struct recorder_wait {
	bool enabled;
	struct recorder_waiting *first, *last;	  /* complete rounds, in order */
	VECTOR(struct recorder_waiting *) round;  /* the one at hand */
	VECTOR(struct recorder_waiting *) open;	  /* mappings without an answer */
	size_t bytes, most_bytes;
	uint64_t asked, late;
};

/* The newest samples, which are not in the file yet (recorder_hold.c). */
struct recorder_hold {
	size_t max_bytes; /* 0: samples go to the file at once */
	size_t bytes;	  /* of closed segments */
	struct recorder_segment closed[RECORDER_SEGMENTS + 2]; /* the oldest first */
	size_t closed_count;
	struct recorder_segment open;
	uint64_t overwritten; /* samples */
};

struct recorder {
	struct recorder_config config;
	struct capture *capture;
	struct perfdata_writer *writer; /* NULL until everything else has worked */
	/* of the file before, until the disk has taken it; NULL: there was none */
	struct perfdata_writer *previous;
	uint32_t file;		     /* counts the parts that stand alone, from 0 */
	uint64_t file_begin_ns;	     /* its samples are not older */
	struct map files_mapped;     /* hashes of guests' files that are mapped in this file */
	struct perfdata_vm_counts earlier; /* in files that are complete */
	struct recorder_hold hold;
	struct recorder_wait wait;
	struct host_kernel_symbols symbols;
	struct elf_client *elf; /* reads the host's files; NULL: they are not wanted */
	struct host_maps *maps;
	struct guest_mode guest_mode;
	struct perfdata_inventory inventory;
	VECTOR(struct recorder_vm) vms;         /* parallel to inventory.vms */
	VECTOR(struct recorder_thread) threads; /* by capture's number */
	struct map thread_of_tid;               /* tid -> the newest thread + 1 */
	uint64_t *host_ids;    /* per event, for records without a thread; 0: none yet */
	struct buffer records; /* encoded, not yet in the writer */
	struct buffer values;  /* of the group of the sample being encoded */
	uint64_t newest_ns;    /* time of the newest sample */
	int64_t clock_shift_ns; /* what the file's clock is ahead */
	struct error *error;   /* of the sink; reported by the next step */
	uint64_t code_due_ns; /* when code is to be asked for; 0: not known yet */
	uint64_t flushed_ns, scanned_ns, scan_cost_ns, full_scan_ns;
	bool scan_failed; /* a warning was printed */
	bool sampled;	  /* recorder_step() was called while events were enabled */
	uint64_t forks; /* forks on the host, at the last scan */
	uint64_t round_ns[2]; /* newest_ns at the end of the last two rounds, the older one first */
	struct vm_scan *scan;
	uint64_t scan_forks; /* forks on the host when the scan that runs began */
	struct guest_reader *reader; /* NULL: guest memory is not read */
	struct guest_image *image; /* NULL: none was given, or it is of no use */
	struct recorder_sp_counts sp_counts;
	struct recorder_chain *chain; /* scratch of recorder_chain(); NULL: no call chains */
};

/* Whether samples of the host may come, so that its files have to be known. */
bool recorder_writes_host(const struct recorder_config *config);
/* Hands the encoded records to the writer; an error is returned by the next step. */
void recorder_write_records(struct recorder *recorder);

#define RECORDER_RECORDS_BYTES (256u << 10) /* that many go to the writer at once */

/* Callbacks for the capture engine (host/capture/capture.h); CONTEXT is the recorder. */
void recorder_on_sample(void *context, size_t event, size_t thread,
			const struct perfdata_sample *sample, const struct capture_guest *guest,
			const uint64_t *counts);
void recorder_on_lost(void *context, size_t event, size_t thread, uint64_t count,
		      uint64_t time_ns);
void recorder_on_mappings(void *context, size_t thread, uint64_t time_ns,
			  const struct capture_guest *guest, const struct sampler_areas *areas);
/* The same, when it is their turn. */
void recorder_take_sample(struct recorder *recorder, size_t event, size_t thread,
			  const struct perfdata_sample *sample, const struct capture_guest *guest,
			  const uint64_t *counts);
void recorder_take_lost(struct recorder *recorder, size_t event, size_t thread, uint64_t count,
			uint64_t time_ns);
/* All of a round has been passed on; an error is returned by the next step. */
void recorder_complete_round(struct recorder *recorder);

/*
 * Has a sample or a loss wait for its turn, copying what it needs; false: nothing waits here. A
 * loss whose time is not known stays behind what came before it.
 */
bool recorder_wait_sample(struct recorder *recorder, size_t event, size_t thread,
			  const struct perfdata_sample *sample, const struct capture_guest *guest,
			  const uint64_t *counts);
bool recorder_wait_lost(struct recorder *recorder, size_t event, size_t thread, uint64_t count,
			uint64_t time_ns);
/* Takes over the ANSWER to a question about copied mappings; false: nothing waits for it. */
bool recorder_wait_answer(struct recorder *recorder, const struct guest_reader_process *answer);
/*
 * The round at hand is complete: passes on what need not wait, and completes the rounds that were.
 * False: nothing waits here.
 */
bool recorder_wait_round(struct recorder *recorder);
/* Passes on all that waits. */
void recorder_wait_end(struct recorder *recorder);
void recorder_wait_deinit(struct recorder *recorder);
/* The id for the thread's samples of that event, kind and end; 0: the file has no room for it. */
uint64_t recorder_id(struct recorder *recorder, struct recorder_thread *thread, size_t event,
		     enum recorder_kind kind, enum perfdata_chain_end chain_end);

/*
 * To be called before the first record and once per round: compares the file's clock with
 * CLOCK_MONOTONIC, of which all times in the recorder are. (recorder_clock.c)
 */
void recorder_read_clock(struct recorder *recorder);

/* The events as the file has them, with their groups; names are borrowed (recorder_groups.c). */
void recorder_describe_events(const struct recorder *recorder, struct perfdata_event *ret);
/*
 * Puts COUNTS, of the group of EVENT, into SAMPLE, until the next call; does nothing if COUNTS is
 * NULL. False: the file has no room for the ids of the group's events.
 */
bool recorder_put_values(struct recorder *recorder, struct recorder_thread *thread, size_t event,
			 enum recorder_kind kind, enum perfdata_chain_end chain_end,
			 const uint64_t *counts, struct perfdata_sample *sample);

/*
 * Notes that a sample of VM number VM was taken while this task ran. Returns the task's process,
 * valid until the next sample; NULL: the pid belongs to another process by now, or the process has
 * ended.
 */
struct recorder_process *recorder_note_task(struct recorder *recorder, size_t vm,
					    const struct capture_guest *guest,
					    const struct perfdata_sample *sample);
/* Once per round: reports to the reader what was seen, and writes the mappings that it has read. */
void recorder_exchange_with_reader(struct recorder *recorder);
/* Writes the mappings in ANSWER. */
void recorder_take_answer(struct recorder *recorder, const struct guest_reader_process *answer);
void recorder_forget_processes(struct recorder_vm *vm);
/* From now on, tasks and processes are written again when they are seen. */
void recorder_begin_part(struct recorder *recorder);

/*
 * Unwinds the stacks of a guest sample of VM number VM. SAMPLE gets the chain, valid until the next
 * call. *RET_USER_IP is where user code was left, if the chain contains any. Returns why the chain
 * ends. GUEST NULL: only the address is known; PROCESS NULL: no mappings are known.
 */
enum perfdata_chain_end recorder_chain(struct recorder *recorder, size_t vm,
				       const struct capture_guest *guest,
				       const struct recorder_process *process,
				       struct perfdata_sample *sample, uint64_t *ret_user_ip);
struct recorder_chain *recorder_chain_create(void);
/* Takes the tables that the reader has read since the last call. */
void recorder_take_unwind_tables(struct recorder *recorder);
/* Those of VM number VM; before the reader is destroyed. */
void recorder_forget_unwind_tables(struct recorder *recorder, size_t vm);
/* Whether the unwind data of file number FILE have been read, or cannot be. */
bool recorder_knows_file(const struct recorder_vm *vm, uint32_t file);
/* Sets what PROCESS of VM has mapped, for chains of its code. */
void recorder_set_program(struct recorder_vm *vm, struct recorder_process *process,
			  const struct guest_reader_process *answer);
/* Asks for the process's mappings if they do not contain the code at IP yet. */
void recorder_want_mappings(struct recorder *recorder, size_t vm, uint32_t tgid,
			    struct recorder_process *process, uint64_t ip, uint64_t time_ns);

/* A guest sample of VM number VM; SAMPLE's misc and ip count (recorder_code.c). */
void recorder_note_code(struct recorder *recorder, size_t vm, const struct capture_guest *guest,
			const struct perfdata_sample *sample);
/* Asks for code if it is time, or if this is the LAST time. */
void recorder_ask_code(struct recorder *recorder, bool last);
void recorder_forget_code(struct recorder_vm *vm);

/* The writer in the form that was asked for; samples can be written when all is introduced. */
struct error *recorder_open_writer(struct recorder *recorder) MUST_CHECK;
struct error *recorder_introduce_all(struct recorder *recorder) MUST_CHECK;
/* What is known of the guests by now, for the inventory. */
void recorder_name_guests(struct recorder *recorder);

/*
 * With --overwrite, samples are held: begins that, ends a round, writes what is held to the file,
 * gives it up.
 */
void recorder_hold_begin(struct recorder *recorder);
void recorder_hold_end_round(struct recorder *recorder);
struct error *recorder_hold_write(struct recorder *recorder) MUST_CHECK;
void recorder_hold_deinit(struct recorder *recorder);
/* Adds the counts of what is held. */
void recorder_hold_add_counts(const struct recorder *recorder, struct perfdata_vm_counts *sum);

/* Assigns ids in the file to a thread's events, and writes the records that introduce it. */
struct error *recorder_introduce_thread(struct recorder *recorder, size_t thread) MUST_CHECK;
struct error *recorder_introduce_vm(struct recorder *recorder, size_t vm) MUST_CHECK;

/* The first look: finds the requested VMs, without their threads. */
struct error *recorder_find_vms(struct recorder *recorder, struct host_vms *ret) MUST_CHECK;
/* Adds the wanted VMs in FOUND that are not there yet, and their threads. */
struct error *recorder_add_vms(struct recorder *recorder, const struct host_vms *found) MUST_CHECK;
/* How many threads FOUND would add, to prepare for them. */
size_t recorder_count_threads(const struct recorder *recorder, const struct host_vms *found);
/* Looks for VMs and threads that came or went, if it is time. */
struct error *recorder_rescan(struct recorder *recorder) MUST_CHECK;

#endif
