/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording whose guest samples belong to guest processes: which table or file names a sample,
 * which kernel was valid when, and what must stay without a name. The fixture so64 has functions
 * "label" at file offset 0x3c0 and "entry" at 0x3cf, and the build-id below (nm, readelf).
 */
#include "test.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "profile/fixture.h"
#include "output/script/script_text.h"

#define WEB 5000
#define DB 6000
#define FIXTURE "tests/fuzz/corpus/elf/so64"
#define FIRST_KERNEL 0xffffffff81000000ULL
#define SECOND_KERNEL 0xffffffff9c000000ULL
#define CODE 0x7f0000001000ULL /* where programs are mapped */
#define UNKNOWN UINT32_MAX

static const uint8_t fixture_id[20] = {
	0x0d, 0x05, 0x13, 0x51, 0xb5, 0x94, 0x54, 0x2e, 0x7f, 0x52,
	0x85, 0xca, 0xcb, 0x5a, 0x2d, 0x2f, 0xea, 0xbe, 0xa2, 0xed,
};
static const uint8_t other_id[20] = { 0x77, 0x01 };

static char guestmount[] = "/tmp/perfvisor-guestmount-XXXXXX";
static char *fixture_path; /* its path on the host */
static struct perfdata_inventory inventory;
static struct perfdata_writer *writer;
static uint64_t web_id, db_id;

static uint64_t now(void)
{
	return clock_ns + 5;
}

static void map_file(uint32_t machine_pid, uint32_t pid, const char *file, const uint8_t *build_id)
{
	struct perfdata_mapping mapping = { .pid = pid,
					    .tid = pid,
					    .start = CODE,
					    .length = 0x10000,
					    .prot = 5,
					    .misc = PERF_RECORD_MISC_GUEST_USER,
					    .path = file,
					    .build_id = build_id,
					    .build_id_bytes = build_id ? 20 : 0 };

	assert_no_error(perfdata_writer_guest_mmap2(writer, machine_pid, &mapping, now()));
}

static void start_process(uint32_t machine_pid, uint32_t pid, const char *comm, const char *file,
			  const uint8_t *build_id)
{
	assert_no_error(perfdata_writer_guest_process(writer, machine_pid, pid, 1, now()));
	assert_no_error(perfdata_writer_guest_comm(writer, machine_pid, pid, pid, comm, now()));
	map_file(machine_pid, pid, file, build_id);
}

static void user_samples(uint64_t id, uint32_t pid, uint64_t ip, size_t count)
{
	add_samples(writer, id, pid, pid, PERF_RECORD_MISC_GUEST_USER, ip, count);
}

static void kernel_samples(uint64_t id, uint32_t pid, uint64_t ip, size_t count)
{
	add_samples(writer, id, pid, pid, PERF_RECORD_MISC_GUEST_KERNEL, ip, count);
}

/* A table with a single function of 256 bytes at START. */
static void encode_function(uint64_t start, const char *name, struct buffer *ret)
{
	struct symbol_builder *builder = symbol_builder_create();
	struct symbol_table *table;

	symbol_builder_add(builder, start, start + 0x100, 'T', name, NULL);
	table = symbol_builder_finish(builder);
	buffer_init(ret, 1 << 20);
	symbol_table_encode(table, ret);
	symbol_table_destroy(table);
}

static void start(void)
{
	struct perfdata_event described = event();

	snprintf(path, sizeof(path), "/tmp/perfvisor-profile-XXXXXX");
	close(mkstemp(path));
	clock_ns = 1000;
	symbol_options = (struct kernel_source_options){ 0 };
	assert_no_error(perfdata_writer_create(path, &described, 1, 16, &writer));
	web_id = add_id(writer, WEB, 0);
	db_id = add_id(writer, DB, 0);
	perfdata_inventory_init(&inventory);
	inventory.guest = inventory.guest_sampled = inventory.guest_processes = true;
	perfdata_inventory_add(&inventory, WEB, "web", "qemu");
	perfdata_inventory_add(&inventory, DB, "db", "qemu");
}

static void finish(const struct perfdata_writer_symbols *symbols, size_t count)
{
	assert_no_error(perfdata_writer_finish(
		writer, &(struct perfdata_writer_features){ .inventory = &inventory,
							    .symbols = symbols,
							    .symbols_count = count }));
	perfdata_writer_destroy(take_pointer(writer));
	perfdata_inventory_deinit(&inventory);
}

static int make_folders(void **state)
{
	_cleanup_free_ char *command = NULL;

	(void)state;
	fixture_path = realpath(FIXTURE, NULL);
	if (!fixture_path || !mkdtemp(guestmount))
		return -1;
	/* The only build-id cache is empty. */
	setenv("PERF_BUILDID_DIR", guestmount, 1);
	setenv("DEBUGINFOD_CACHE_PATH", guestmount, 1);
	command = memory_printf("mkdir -p %s/%u/usr/lib && cp %s %s/%u/usr/lib/mounted.so && "
				"ln -s mounted.so %s/%u/usr/lib/link.so && "
				"ln -s %s %s/%u/usr/lib/escape.so && "
				"ln -s /usr/lib/mounted.so %s/%u/usr/lib/absolute.so && "
				"mkfifo %s/%u/usr/lib/fifo.so",
				guestmount, WEB, fixture_path, guestmount, WEB, guestmount, WEB,
				fixture_path, guestmount, WEB, guestmount, WEB, guestmount, WEB);
	return system(command);
}

static int remove_folders(void **state)
{
	_cleanup_free_ char *command = memory_printf("rm -rf %s", guestmount);

	(void)state;
	free(fixture_path);
	return system(command);
}

static int remove_recording(void **state)
{
	(void)state;
	more_fields = 0;
	return unlink(path);
}

/* The same pid in two guests, threads, a kernel thread, and unknown processes. */
static void processes_are_each_guests_own(void **state)
{
	struct opened opened;

	(void)state;
	start();
	start_process(WEB, 100, "nginx", "/usr/sbin/nginx", NULL);
	start_process(DB, 100, "postgres", "/usr/bin/postgres", NULL);
	assert_no_error(perfdata_writer_guest_comm(writer, WEB, 100, 101, "worker", now()));
	assert_no_error(perfdata_writer_guest_comm(writer, WEB, 20, 20, "kworker/0:1", now()));
	assert_no_error(perfdata_writer_comm(writer, WEB, 999, "CPU 0/KVM", now()));
	user_samples(web_id, 100, CODE, 90);
	add_samples(writer, web_id, 100, 101, PERF_RECORD_MISC_GUEST_USER, CODE, 80);
	user_samples(db_id, 100, CODE, 70);
	kernel_samples(web_id, 20, FIRST_KERNEL, 60);
	kernel_samples(web_id, UNKNOWN, FIRST_KERNEL, 50);
	user_samples(web_id, 999, CODE, 40); /* a pid of the guest, not of the host's thread */
	add_samples(writer, web_id, WEB, 999, PERF_RECORD_MISC_USER, CODE, 30);
	finish(NULL, 0);
	open_profile(&opened, "vm,gcomm,gpid,dso", 0);
	check_row(&opened, 0, "90 web|nginx|100|nginx");
	check_row(&opened, 1, "80 web|worker|100|nginx");
	check_row(&opened, 2, "70 db|postgres|100|postgres");
	check_row(&opened, 3, "60 web|kworker/0:1|20|[unknown]");
	check_row(&opened, 4, "50 web|[unknown]|-|[unknown]");
	check_row(&opened, 5, "40 web|[unknown]|999|[unknown]");
	check_row(&opened, 6, "30 web|[host]|-|[unknown]");
	assert_true(opened.session->guest_processes);
	close_profile(&opened);
	open_profile(&opened, "comm,pid", WEB); /* like stock perf */
	check_row(&opened, 0, "90 nginx|100");
	check_row(&opened, 4, "40 :999|999");
	check_row(&opened, 5, "30 CPU 0/KVM|5000");
	close_profile(&opened);
}

/* Without the flag, pid and tid are those of the vCPU's thread, not a guest process. */
static void vcpu_threads_are_no_processes(void **state)
{
	struct opened opened;

	(void)state;
	start();
	inventory.guest_processes = false;
	assert_no_error(perfdata_writer_comm(writer, WEB, WEB + 1, "CPU 0/KVM", now()));
	add_samples(writer, web_id, WEB, WEB + 1, PERF_RECORD_MISC_GUEST_USER, CODE, 5);
	finish(NULL, 0);
	open_profile(&opened, "comm,gcomm,gpid", 0);
	check_row(&opened, 0, "5 CPU 0/KVM|[unknown]|-");
	assert_false(opened.session->guest_processes);
	close_profile(&opened);
}

/* It has no inventory, but the guest's threads show that it has processes. */
static void a_killed_recording_has_processes(void **state)
{
	struct opened opened;
	uint64_t hosts_id;

	(void)state;
	start();
	hosts_id = add_id(writer, 0, PERFDATA_NO_VCPU);
	start_process(WEB, 100, "nginx", "/usr/sbin/nginx", NULL);
	assert_no_error(perfdata_writer_comm(writer, 100, 101, "of the host", now()));
	assert_no_error(perfdata_writer_comm(writer, WEB, 101, "CPU 0/KVM", now()));
	user_samples(web_id, 100, CODE, 5);
	add_samples(writer, web_id, 100, 101, PERF_RECORD_MISC_GUEST_USER, CODE, 3);
	/* From an event of the host, as perf inject writes it: the vCPU's thread. */
	add_samples(writer, hosts_id, WEB, 101, PERF_RECORD_MISC_GUEST_USER, CODE, 2);
	assert_no_error(perfdata_writer_flush(writer));
	perfdata_writer_destroy(take_pointer(writer));
	perfdata_inventory_deinit(&inventory);
	open_profile(&opened, "vm,gcomm,gpid,dso", 0);
	check_row(&opened, 0, "5 vm-5000|nginx|100|nginx");
	check_row(&opened, 1, "3 vm-5000|[unknown]|100|nginx");
	check_row(&opened, 2, "2 vm-5000|[unknown]|-|[unknown]");
	assert_true(opened.session->guest_processes);
	close_profile(&opened);
}

static void a_new_program_has_its_own_mappings(void **state)
{
	struct opened opened;

	(void)state;
	start();
	start_process(WEB, 7, "sh", "/bin/sh", NULL);
	user_samples(web_id, 7, CODE, 30);
	clock_ns += 100;
	assert_no_error(perfdata_writer_guest_process(writer, WEB, 7, 1, now()));
	clock_ns += 100;
	user_samples(web_id, 7, CODE, 20); /* nothing is mapped yet */
	start_process(WEB, 7, "cat", "/bin/cat", NULL);
	clock_ns += 100;
	user_samples(web_id, 7, CODE, 10);
	finish(NULL, 0);
	open_profile(&opened, "gcomm,dso", 0);
	check_row(&opened, 0, "30 sh|sh");
	check_row(&opened, 1, "20 [unknown]|[unknown]");
	check_row(&opened, 2, "10 cat|cat");
	close_profile(&opened);
}

/* Tables of files are found by build-id and by path, but never those of another guest. */
static void files_are_named_by_their_own_tables(void **state)
{
	struct buffer ours, theirs, everyones;
	struct opened opened;

	(void)state;
	start();
	start_process(WEB, 1, "by-path", "/bin/a", NULL);
	start_process(WEB, 2, "by-id", "/bin/moved", fixture_id);
	start_process(WEB, 3, "other-id", "/bin/b", other_id);
	start_process(DB, 4, "other-guest", "/bin/a", NULL);
	start_process(DB, 5, "other-guest-id", "/bin/b", fixture_id);
	start_process(DB, 6, "everyone", "/bin/common", NULL);
	for (uint32_t pid = 1; pid <= 3; pid++)
		user_samples(web_id, pid, CODE + 0x410, 70 - 10 * pid);
	for (uint32_t pid = 4; pid <= 6; pid++)
		user_samples(db_id, pid, CODE + 0x410, 70 - 10 * pid);
	encode_function(0x400, "ours", &ours);
	encode_function(0x400, "theirs", &theirs);
	encode_function(0x400, "everyones", &everyones);
	finish(
		(struct perfdata_writer_symbols[]){
			{ WEB, ours.data, ours.size, .kind = PERFDATA_SYMBOLS_FILE,
			  .path = "/bin/a" },
			{ WEB, theirs.data, theirs.size, .kind = PERFDATA_SYMBOLS_FILE,
			  .path = "/bin/b", .build_id = fixture_id, .build_id_bytes = 20 },
			{ 0, everyones.data, everyones.size, .kind = PERFDATA_SYMBOLS_FILE,
			  .path = "/bin/common" },
		},
		3);
	open_profile(&opened, "gcomm,dso,sym", 0);
	check_row(&opened, 0, "60 by-path|a|[u] ours");
	check_row(&opened, 1, "50 by-id|moved|[u] theirs");
	check_row(&opened, 2, "40 other-id|b|[u] 0x0000000000000410");
	check_row(&opened, 3, "30 other-guest|a|[u] 0x0000000000000410");
	check_row(&opened, 4, "20 other-guest-id|b|[u] 0x0000000000000410");
	check_row(&opened, 5, "10 everyone|common|[u] everyones");
	close_profile(&opened);
	buffer_deinit(&ours);
	buffer_deinit(&theirs);
	buffer_deinit(&everyones);
}

/* The file at the guest's path on the host is a different file, unless its build-id is the same. */
static void host_files_need_the_build_id(void **state)
{
	struct opened opened;

	(void)state;
	start();
	start_process(WEB, 1, "no-id", fixture_path, NULL);
	start_process(WEB, 2, "other-id", fixture_path, other_id);
	start_process(WEB, 3, "same-id", fixture_path, fixture_id);
	for (uint32_t pid = 1; pid <= 3; pid++)
		user_samples(web_id, pid, CODE + 0x3c0, 40 - 10 * pid);
	finish(NULL, 0);
	open_profile(&opened, "gcomm,sym", 0);
	check_row(&opened, 0, "30 no-id|[u] 0x00000000000003c0");
	check_row(&opened, 1, "20 other-id|[u] 0x00000000000003c0");
	check_row(&opened, 2, "10 same-id|[u] label");
	close_profile(&opened);
}

/* The table of a stripped file may be incomplete; the rest comes from the file, if available. */
static void files_complete_the_recording(void **state)
{
	struct buffer part;
	struct opened opened;

	(void)state;
	start();
	start_process(WEB, 1, "program", fixture_path, fixture_id);
	user_samples(web_id, 1, CODE + 0x200, 30); /* in no function of the file */
	user_samples(web_id, 1, CODE + 0x3cf, 20);
	user_samples(web_id, 1, CODE + 0x300, 10);
	encode_function(0x200, "recorded", &part);
	finish(&(struct perfdata_writer_symbols){ WEB, part.data, part.size,
						  .kind = PERFDATA_SYMBOLS_FILE,
						  .path = fixture_path },
	       1);
	open_profile(&opened, "sym", 0);
	check_row(&opened, 0, "30 [u] recorded");
	check_row(&opened, 1, "20 [u] entry");
	check_row(&opened, 2, "10 [u] 0x0000000000000300");
	close_profile(&opened);
	buffer_deinit(&part);
}

/* Build-ids from the header, for mappings that were recorded without. */
static void listed_build_ids_are_each_machines_own(void **state)
{
	struct perfdata_writer_build_id build_ids[] = {
		{ fixture_path, other_id, 20, PERF_RECORD_MISC_USER, UINT32_MAX },
		{ fixture_path, fixture_id, 20, PERF_RECORD_MISC_GUEST_USER, WEB },
	};
	struct opened opened;

	(void)state;
	start();
	start_process(WEB, 1, "listed", fixture_path, NULL);
	start_process(DB, 2, "not-listed", fixture_path, NULL);
	user_samples(web_id, 1, CODE + 0x3cf, 20);
	user_samples(db_id, 2, CODE + 0x3cf, 10);
	assert_no_error(perfdata_writer_finish(
		writer, &(struct perfdata_writer_features){ .inventory = &inventory,
							    .build_ids = build_ids,
							    .build_id_count = 2 }));
	perfdata_writer_destroy(take_pointer(writer));
	perfdata_inventory_deinit(&inventory);
	open_profile(&opened, "gcomm,sym", 0);
	check_row(&opened, 0, "20 listed|[u] entry");
	check_row(&opened, 1, "10 not-listed|[u] 0x00000000000003cf");
	close_profile(&opened);
}

static void guestmount_is_the_guests_root(void **state)
{
	struct opened opened;

	(void)state;
	start();
	start_process(WEB, 1, "mounted", "/usr/lib/mounted.so", NULL);
	start_process(WEB, 2, "same-id", "/usr/lib/mounted.so", fixture_id);
	start_process(WEB, 3, "other-id", "/usr/lib/mounted.so", other_id);
	start_process(WEB, 4, "link", "/usr/lib/link.so", NULL);
	start_process(WEB, 5, "absolute", "/usr/lib/absolute.so", NULL);
	start_process(WEB, 6, "escape", "/usr/lib/escape.so", NULL);
	start_process(WEB, 7, "dots", "/../../usr/../../../usr/lib/mounted.so", NULL);
	start_process(WEB, 8, "fifo", "/usr/lib/fifo.so", NULL);
	start_process(DB, 9, "other-guest", "/usr/lib/mounted.so", NULL);
	for (uint32_t pid = 1; pid <= 8; pid++)
		user_samples(web_id, pid, CODE + 0x3cf, 100 - 10 * pid);
	user_samples(db_id, 9, CODE + 0x3cf, 10);
	finish(NULL, 0);
	symbol_options.guestmount = guestmount;
	open_profile(&opened, "gcomm,sym", 0);
	check_row(&opened, 0, "90 mounted|[u] entry");
	check_row(&opened, 1, "80 same-id|[u] entry");
	check_row(&opened, 2, "70 other-id|[u] 0x00000000000003cf");
	check_row(&opened, 3, "60 link|[u] entry");
	check_row(&opened, 4, "50 absolute|[u] entry");
	check_row(&opened, 5, "40 escape|[u] 0x00000000000003cf");
	check_row(&opened, 6, "30 dots|[u] entry");
	check_row(&opened, 7, "20 fifo|[u] 0x00000000000003cf");
	check_row(&opened, 8, "10 other-guest|[u] 0x00000000000003cf");
	close_profile(&opened);
}

/* A reboot: the old kernel's table ends, and another begins later, at other addresses. */
static void kernels_hold_for_their_time(void **state)
{
	struct buffer first, second, everyones;
	struct perfdata_writer_symbols symbols[3];
	struct opened opened;
	uint64_t end, beginning;

	(void)state;
	start();
	kernel_samples(web_id, 0, FIRST_KERNEL + 0x10, 30);
	end = clock_ns + 10; /* the time of the next sample */
	kernel_samples(web_id, 0, FIRST_KERNEL + 0x10, 20);
	kernel_samples(web_id, 0, SECOND_KERNEL + 0x20, 7);
	beginning = clock_ns + 10;
	kernel_samples(web_id, 0, SECOND_KERNEL + 0x20, 15);
	kernel_samples(web_id, 0, FIRST_KERNEL + 0x10, 5);
	kernel_samples(db_id, 0, FIRST_KERNEL + 0x10, 3);
	encode_function(FIRST_KERNEL, "do_idle", &first);
	encode_function(SECOND_KERNEL, "do_idle", &second);
	encode_function(FIRST_KERNEL, "of_everyone", &everyones);
	symbols[0] =
		(struct perfdata_writer_symbols){ WEB, first.data, first.size, .until_ns = end };
	symbols[1] = (struct perfdata_writer_symbols){ WEB, second.data, second.size,
						       .from_ns = beginning };
	symbols[2] = (struct perfdata_writer_symbols){ 0, everyones.data, everyones.size };
	finish(symbols, 3);
	open_profile(&opened, "vm,dso,sym", 0);
	check_row(&opened, 0, "45 web|[guest.kernel.kallsyms]|[g] do_idle");
	check_row(&opened, 1, "25 web|[unknown]|[g] 0xffffffff81000010");
	check_row(&opened, 2, "7 web|[unknown]|[g] 0xffffffff9c000020");
	check_row(&opened, 3, "3 db|[guest.kernel.kallsyms]|[g] of_everyone");
	assert_int_equal(opened.profile->events[0].rows.count, 4);
	close_profile(&opened);
	buffer_deinit(&first);
	buffer_deinit(&second);
	buffer_deinit(&everyones);
}

/* If tables overlap, the last one counts: the same kernel with another module. */
static void the_newest_table_counts(void **state)
{
	struct buffer old, new;
	struct perfdata_writer_symbols symbols[40];
	struct opened opened;

	(void)state;
	start();
	kernel_samples(web_id, 0, FIRST_KERNEL + 0x10, 30); /* from time 1010 on */
	kernel_samples(web_id, 0, FIRST_KERNEL + 0x10, 10); /* from time 1310 on */
	encode_function(FIRST_KERNEL, "old_name", &old);
	encode_function(FIRST_KERNEL, "new_name", &new);
	for (size_t i = 0; i < 39; i++) /* too many for a linear search */
		symbols[i] =
			(struct perfdata_writer_symbols){ WEB, old.data, old.size, .from_ns = i };
	symbols[39] = (struct perfdata_writer_symbols){ WEB, new.data, new.size, .from_ns = 1310 };
	finish(symbols, 40);
	open_profile(&opened, "sym", 0);
	check_row(&opened, 0, "30 [g] old_name");
	check_row(&opened, 1, "10 [g] new_name");
	close_profile(&opened);
	buffer_deinit(&old);
	buffer_deinit(&new);
}

static void nested_guests_have_no_names(void **state)
{
	struct buffer kernel, file;
	struct perfdata_writer_symbols symbols[2];
	struct opened opened;
	struct buffer text;
	uint64_t nested, at_exit;

	(void)state;
	start();
	nested = add_id(writer, WEB, 0);
	at_exit = add_id(writer, WEB, 0);
	perfdata_inventory_add_special(&inventory, nested, PERFDATA_NESTED);
	perfdata_inventory_add_special(&inventory, at_exit, PERFDATA_AT_EXIT);
	start_process(WEB, 50, "qemu", "/usr/bin/qemu", NULL);
	kernel_samples(nested, 50, FIRST_KERNEL + 0x10, 20);
	kernel_samples(nested, 50, FIRST_KERNEL + 0x20, 20);
	user_samples(nested, 50, CODE, 14);
	kernel_samples(at_exit, 50, FIRST_KERNEL + 0x10, 10);
	kernel_samples(web_id, 50, FIRST_KERNEL + 0x10, 5);
	user_samples(web_id, 50, CODE, 3);
	encode_function(FIRST_KERNEL, "do_idle", &kernel);
	encode_function(0, "main", &file);
	symbols[0] = (struct perfdata_writer_symbols){ WEB, kernel.data, kernel.size };
	symbols[1] = (struct perfdata_writer_symbols){ WEB, file.data, file.size,
						       .kind = PERFDATA_SYMBOLS_FILE,
						       .path = "/usr/bin/qemu" };
	finish(symbols, 2);
	open_profile(&opened, "gcomm,dso,sym", 0);
	check_row(&opened, 0, "40 qemu|[nested guest]|[g] [nested guest]");
	check_row(&opened, 1, "15 qemu|[guest.kernel.kallsyms]|[g] do_idle");
	check_row(&opened, 2, "14 qemu|[nested guest]|[u] [nested guest]");
	check_row(&opened, 3, "3 qemu|qemu|[u] main");
	assert_int_equal(opened.profile->totals.guest_kernel, 55);
	assert_int_equal(opened.profile->totals.guest_user, 17);
	assert_int_equal(opened.profile->totals.nested, 54);
	assert_int_equal(opened.profile->totals.at_exit, 10);
	buffer_init(&text, 4096);
	view_append_totals(&text, &opened.profile->totals);
	buffer_append_u8(&text, 0);
	assert_string_equal((const char *)text.data,
			    "72 samples: host not sampled, 55 guest kernel, 17 guest user (54 of "
			    "both nested, 10 at an exit), 0 lost, 0 unattributed");
	buffer_deinit(&text);
	close_profile(&opened);
	buffer_deinit(&kernel);
	buffer_deinit(&file);
}

static void chain_sample(uint64_t id, uint32_t pid, const uint64_t *chain, size_t count)
{
	struct perfdata_event described = event();
	struct perfdata_sample sample = { .id = id,
					  .ip = chain[1],
					  .time_ns = clock_ns += 10,
					  .pid = pid,
					  .tid = pid,
					  .period = 1000,
					  .callchain = chain,
					  .callchain_count = count,
					  .misc = PERF_RECORD_MISC_GUEST_KERNEL };
	_cleanup_buffer_ struct buffer record;

	buffer_init(&record, UINT16_MAX);
	assert_true(perfdata_sample_encode(&described.attr, &sample, &record));
	assert_no_error(perfdata_writer_append(writer, record.data, record.size));
}

/* The recording in the format of `perfvisor script`. */
static void print_script(char *ret, size_t size)
{
	_cleanup_session_ struct session *session = NULL;
	_cleanup_close_ int fd = memfd_create("script", MFD_CLOEXEC);
	struct script_counts counts;
	ssize_t bytes;

	assert_no_error(session_open(path, &symbol_options, &session));
	assert_no_error(
		script_text_write(fd, session, &(struct script_fields){ 0 }, NULL, &counts));
	bytes = pread(fd, ret, size - 1, 0);
	assert_true(bytes > 0 && bytes < (ssize_t)size - 1);
	ret[bytes] = 0;
}

/* From the guest's kernel into the guest's process; neither for a nested guest. */
static void call_chains_go_through_the_guest(void **state)
{
	const uint64_t chain[] = { PERF_CONTEXT_GUEST_KERNEL, FIRST_KERNEL + 0x10,
				   PERF_CONTEXT_GUEST_USER, CODE + 0x420 };
	struct buffer kernel, file;
	struct perfdata_writer_symbols symbols[2];
	uint64_t nested;
	char text[4096];

	(void)state;
	more_fields = PERF_SAMPLE_CALLCHAIN;
	start();
	nested = add_id(writer, WEB, 0);
	perfdata_inventory_add_special(&inventory, nested, PERFDATA_NESTED);
	start_process(WEB, 50, "qemu", "/usr/bin/qemu", NULL);
	chain_sample(web_id, 50, chain, 4);
	chain_sample(nested, 50, chain, 4);
	encode_function(FIRST_KERNEL, "do_idle", &kernel);
	encode_function(0x400, "run", &file);
	symbols[0] = (struct perfdata_writer_symbols){ WEB, kernel.data, kernel.size };
	symbols[1] = (struct perfdata_writer_symbols){ WEB, file.data, file.size,
						       .kind = PERFDATA_SYMBOLS_FILE,
						       .path = "/usr/bin/qemu" };
	finish(symbols, 2);
	print_script(text, sizeof(text));
	assert_non_null(strstr(text, "\tffffffff81000010 do_idle+0x10 ([guest.kernel.kallsyms])\n"
				     "\t             420 run+0x20 (/usr/bin/qemu)\n\n"));
	assert_non_null(strstr(text, "\tffffffff81000010 [nested guest]+0x0 ([nested guest])\n"
				     "\t    7f0000001420 [nested guest]+0x0 ([nested guest])\n\n"));
	buffer_deinit(&kernel);
	buffer_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(processes_are_each_guests_own, remove_recording),
		cmocka_unit_test_teardown(vcpu_threads_are_no_processes, remove_recording),
		cmocka_unit_test_teardown(a_killed_recording_has_processes, remove_recording),
		cmocka_unit_test_teardown(a_new_program_has_its_own_mappings, remove_recording),
		cmocka_unit_test_teardown(files_are_named_by_their_own_tables, remove_recording),
		cmocka_unit_test_teardown(host_files_need_the_build_id, remove_recording),
		cmocka_unit_test_teardown(files_complete_the_recording, remove_recording),
		cmocka_unit_test_teardown(listed_build_ids_are_each_machines_own, remove_recording),
		cmocka_unit_test_teardown(guestmount_is_the_guests_root, remove_recording),
		cmocka_unit_test_teardown(kernels_hold_for_their_time, remove_recording),
		cmocka_unit_test_teardown(the_newest_table_counts, remove_recording),
		cmocka_unit_test_teardown(nested_guests_have_no_names, remove_recording),
		cmocka_unit_test_teardown(call_chains_go_through_the_guest, remove_recording),
	};

	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
