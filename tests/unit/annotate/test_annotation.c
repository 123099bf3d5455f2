/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of guests whose code is in the recording: which code belongs to which guest, kernel and
 * file, and at which instruction samples are shown. The code is eight instructions of two bytes.
 */
#include "test.h"

#include <elf.h>

#include "annotate/annotation_text.h"
#include "profile/fixture.h"
#include "symbol/code_pieces.h"

#define WEB 5000
#define DB 6000
#define KERNEL 0xffffffff81000000ULL
#define PROGRAM 0x7f0000001000ULL /* where the file is mapped, from its offset 0 on */

static const uint8_t code_bytes[16] = "\x89\xc1\x89\xc2\x89\xc3\x89\xc6\x89\xc7\x89\xc8\xeb\xf2"
				      "\x66\x90"; /* mov …; jmp to the start; nop */
static const uint8_t build_id[20] = { 0x11, 0x22 }, other_id[20] = { 0x33 };

static struct perfdata_inventory inventory;
static struct perfdata_writer *writer;
static uint64_t web_id, db_id;
static struct session *session;
static struct functions_samples functions;

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

/* A table with a function of SIZE bytes at START, and one after it. */
static void put_symbols(const struct perfdata_writer_symbols *head, uint64_t start, uint64_t size,
			const char *name)
{
	struct symbol_builder *builder = symbol_builder_create();
	struct perfdata_writer_symbols symbols = *head;
	struct symbol_table *table;
	struct buffer bytes;
	uint32_t number;

	symbol_builder_add(builder, start, start + size, 'T', name, NULL);
	symbol_builder_add(builder, start + size, start + 2 * size, 'T',
			   head->from_ns ? "later" : "next", NULL);
	table = symbol_builder_finish(builder);
	buffer_init(&bytes, 1 << 20);
	symbol_table_encode(table, &bytes);
	symbols.data = bytes.data;
	symbols.size = bytes.size;
	assert_no_error(perfdata_writer_symbols(writer, &symbols, &number));
	symbol_table_destroy(table);
	buffer_deinit(&bytes);
}

static void put_bytes(const struct perfdata_writer_symbols *head, const void *data, size_t size)
{
	struct perfdata_writer_symbols symbols = *head;
	uint32_t number;

	symbols.data = data;
	symbols.size = size;
	assert_no_error(perfdata_writer_symbols(writer, &symbols, &number));
}

/* SIZE bytes of the code, at ADDRESS. */
static void put_code(const struct perfdata_writer_symbols *head, uint64_t address, uint32_t size)
{
	struct buffer bytes;

	buffer_init(&bytes, 1 << 20);
	code_pieces_begin(&bytes, EM_X86_64, false);
	code_pieces_add(&bytes, &(struct code_piece){ address, code_bytes, size });
	put_bytes(head, bytes.data, bytes.size);
	buffer_deinit(&bytes);
}

static void put_program(uint32_t machine_pid, uint32_t pid, const uint8_t *id)
{
	struct perfdata_mapping mapping = { .pid = pid, .tid = pid, .start = PROGRAM,
					    .length = 0x10000, .prot = 5,
					    .misc = PERF_RECORD_MISC_GUEST_USER,
					    .path = "/bin/program", .build_id = id,
					    .build_id_bytes = 20 };

	assert_no_error(perfdata_writer_guest_process(writer, machine_pid, pid, 1, clock_ns));
	assert_no_error(perfdata_writer_guest_mmap2(writer, machine_pid, &mapping, clock_ns));
}

static void kernel_samples(uint64_t id, uint64_t ip, size_t count)
{
	add_samples(writer, id, 1, 1, PERF_RECORD_MISC_GUEST_KERNEL, ip, count);
}

static void finish(void)
{
	assert_no_error(perfdata_writer_finish(
		writer, &(struct perfdata_writer_features){ .inventory = &inventory }));
	perfdata_writer_destroy(take_pointer(writer));
	perfdata_inventory_deinit(&inventory);
}

/* Counts the samples of SYMBOL of the VM, 0: of any. */
static void open_and_count(const char *symbol, uint32_t vm_pid)
{
	struct function_choice choice = { .symbol = symbol };

	assert_no_error(session_open(path, &symbol_options, &session));
	if (vm_pid)
		choice.vm = session_find_machine(session, vm_pid);
	functions_samples_count(session, &choice, &functions);
}

static void close_all(void)
{
	functions_samples_deinit(&functions);
	session_close(session);
	unlink(path);
}

/* The instruction at OFFSET has so many samples. */
static void check_at(const struct annotation *annotation, uint64_t offset, uint64_t count)
{
	size_t index = instructions_find(&annotation->instructions,
					 annotation->code.address + offset);

	assert_true(index < annotation->instructions.items.count);
	assert_int_equal(annotation->items[index].count, count);
}

/* Of the only function that was counted. */
static void check_has_code(uint64_t address, size_t instructions)
{
	struct annotation annotation;

	assert_int_equal(functions.items.count, 1);
	assert_no_error(annotation_make(&functions, 0, &annotation));
	assert_int_equal(annotation.code.address, address);
	assert_int_equal(annotation.instructions.items.count, instructions);
	annotation_deinit(&annotation);
}

static void check_has_none(void)
{
	struct annotation annotation;

	assert_int_equal(functions.items.count, 1);
	assert_error(annotation_make(&functions, 0, &annotation), ERROR_NOT_FOUND);
	annotation_deinit(&annotation);
}

static const struct perfdata_writer_symbols web_kernel = { .machine_pid = WEB };
static const struct perfdata_writer_symbols web_code = { .machine_pid = WEB,
							 .kind = PERFDATA_CODE_KERNEL };

static void samples_are_at_their_instructions(void **state)
{
	_cleanup_buffer_ struct buffer text;
	struct annotation annotation;

	(void)state;
	start();
	put_symbols(&web_kernel, KERNEL, 16, "spin");
	put_code(&web_code, KERNEL, 16);
	kernel_samples(web_id, KERNEL, 1);
	kernel_samples(web_id, KERNEL + 2, 20);
	kernel_samples(web_id, KERNEL + 12, 3);
	kernel_samples(web_id, KERNEL + 13, 4); /* inside of the jump */
	kernel_samples(web_id, KERNEL + 16, 50); /* in the next function */
	finish();
	open_and_count("spin", 0);
	assert_int_equal(functions.items.count, 1);
	assert_int_equal(functions.samples, 78);
	assert_no_error(annotation_make(&functions, 0, &annotation));
	assert_int_equal(annotation.samples->count, 28);
	assert_int_equal(annotation.instructions.items.count, 8);
	check_at(&annotation, 0, 1);
	check_at(&annotation, 2, 20);
	check_at(&annotation, 4, 0);
	check_at(&annotation, 12, 7);
	assert_int_equal(annotation.outside, 0);
	assert_false(annotation.code.cut);
	assert_int_equal(annotation_hottest(&annotation), 1);
	assert_float_equal(annotation_percent(&annotation, 6), 25, 1e-9);
	assert_int_equal(annotation.instructions.items.items[6].target, KERNEL);
	buffer_init(&text, 1 << 20);
	annotation_text_append(&text, &annotation, &(struct annotation_text_options){ 0 });
	buffer_append_u8(&text, 0);
	assert_non_null(strstr((char *)text.data,
			       "   71.43 : ffffffff81000002:   mov    %eax,%edx"));
	assert_non_null(strstr((char *)text.data, "jmp    ffffffff81000000 <spin>"));
	assert_non_null(strstr((char *)text.data, "code of the guest's memory, VM web"));
	annotation_deinit(&annotation);
	close_all();
}

static void code_is_that_of_its_guest(void **state)
{
	(void)state;
	start();
	put_symbols(&web_kernel, KERNEL, 16, "spin");
	put_symbols(&(struct perfdata_writer_symbols){ .machine_pid = DB }, KERNEL, 16, "spin");
	put_code(&web_code, KERNEL, 16);
	kernel_samples(web_id, KERNEL, 1);
	kernel_samples(db_id, KERNEL, 1);
	finish();
	open_and_count("spin", WEB);
	check_has_code(KERNEL, 8);
	functions_samples_deinit(&functions);
	session_close(session);
	open_and_count("spin", DB);
	check_has_none();
	close_all();
}

/* After a module was loaded the function is the same; after a reboot another one is there. */
static void code_is_that_of_its_kernel(void **state)
{
	uint64_t loaded, booted;

	(void)state;
	start();
	kernel_samples(web_id, KERNEL, 1);
	loaded = clock_ns + 5;
	clock_ns += 10;
	kernel_samples(web_id, KERNEL, 2);
	booted = clock_ns + 5;
	clock_ns += 10;
	kernel_samples(web_id, KERNEL, 3);
	put_symbols(&(struct perfdata_writer_symbols){ .machine_pid = WEB, .until_ns = loaded },
		    KERNEL, 16, "spin");
	put_symbols(&(struct perfdata_writer_symbols){ .machine_pid = WEB, .from_ns = loaded,
						       .until_ns = booted }, KERNEL, 16, "spin");
	put_symbols(&(struct perfdata_writer_symbols){ .machine_pid = WEB, .from_ns = booted },
		    KERNEL, 16, "other");
	put_code(&web_code, KERNEL, 16);
	finish();
	open_and_count("spin", 0);
	assert_int_equal(functions.items.count, 2);
	for (size_t i = 0; i < 2; i++) {
		struct annotation annotation;

		assert_no_error(annotation_make(&functions, i, &annotation));
		annotation_deinit(&annotation);
	}
	functions_samples_deinit(&functions);
	session_close(session);
	open_and_count("other", 0);
	check_has_none();
	close_all();
}

static void code_is_that_of_its_file(void **state)
{
	const struct perfdata_writer_symbols symbols = { .machine_pid = WEB,
							 .kind = PERFDATA_SYMBOLS_FILE,
							 .path = "/bin/program",
							 .build_id = build_id,
							 .build_id_bytes = 20 };
	struct perfdata_writer_symbols code = symbols, others = symbols;

	(void)state;
	code.kind = PERFDATA_CODE_FILE;
	others.build_id = other_id;
	start();
	put_program(WEB, 1, build_id);
	put_program(WEB, 2, other_id);
	put_symbols(&symbols, 0x400, 16, "in_file");
	put_symbols(&others, 0x400, 16, "in_other");
	put_code(&code, 0x400, 16);
	add_samples(writer, web_id, 1, 1, PERF_RECORD_MISC_GUEST_USER, PROGRAM + 0x404, 9);
	add_samples(writer, web_id, 2, 2, PERF_RECORD_MISC_GUEST_USER, PROGRAM + 0x404, 9);
	finish();
	open_and_count("in_file", 0);
	check_has_code(0x400, 8);
	functions_samples_deinit(&functions);
	session_close(session);
	open_and_count("in_other", 0);
	check_has_none();
	close_all();
}

/* Samples beyond the code that there is are said to be there. */
static void code_may_be_cut(void **state)
{
	struct annotation annotation;

	(void)state;
	start();
	put_symbols(&web_kernel, KERNEL, 16, "spin");
	put_code(&web_code, KERNEL, 6);
	kernel_samples(web_id, KERNEL, 1);
	kernel_samples(web_id, KERNEL + 8, 2);
	finish();
	open_and_count("spin", 0);
	assert_no_error(annotation_make(&functions, 0, &annotation));
	assert_true(annotation.code.cut);
	assert_int_equal(annotation.outside, 2);
	assert_int_equal(annotation.instructions.items.count, 3);
	annotation_deinit(&annotation);
	close_all();
}

/* Pieces of all lengths and places, and a function that is as large as memory. */
static void hostile_code_is_left_out(void **state)
{
	static const uint64_t piece[] = { 0x505653434f444531ULL, EM_X86_64, KERNEL,
					  0xffffffffffffffffULL };

	(void)state;
	start();
	put_symbols(&web_kernel, KERNEL, 1ULL << 30, "vast");
	put_bytes(&web_code, piece, sizeof(piece));
	put_bytes(&web_code, "x", 1);
	put_bytes(&web_code, "", 0);
	put_code(&web_code, KERNEL - 8, 8); /* ends where the function begins */
	put_code(&web_code, UINT64_MAX - 15, 16);
	kernel_samples(web_id, KERNEL + 4, 1);
	finish();
	open_and_count("vast", 0);
	check_has_none();
	close_all();

	start();
	put_symbols(&web_kernel, KERNEL, 1ULL << 30, "vast");
	put_code(&web_code, KERNEL - 8, 16);
	kernel_samples(web_id, KERNEL + 4, 1);
	finish();
	open_and_count("vast", 0);
	check_has_code(KERNEL, 4);
	close_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_at_their_instructions),
		cmocka_unit_test(code_is_that_of_its_guest),
		cmocka_unit_test(code_is_that_of_its_kernel),
		cmocka_unit_test(code_is_that_of_its_file),
		cmocka_unit_test(code_may_be_cut),
		cmocka_unit_test(hostile_code_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
