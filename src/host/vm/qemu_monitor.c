/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU's options for QMP, from its documentation and monitor_parse() (softmmu/vl.c):
 *
 *	-qmp unix:PATH[,server=on…]  (-qmp-pretty; "chardev:ID" instead of a socket)
 *	-chardev socket,id=ID,path=PATH[,…] -mon chardev=ID,mode=control
 *
 * libvirt starts QEMU with -chardev socket,id=charmonitor,fd=N (a path before libvirt 4.1), -mon
 * and -uuid, and keeps that socket open.
 */
#include "host/vm/qemu_monitor.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/progress.h"
#include "host/system/process.h"
#include "host/vm/qemu_text.h"
#include "host/vm/qmp.h"
#include "host/vm/virsh.h"

#define COMMAND_MAX_BYTES ((size_t)2 * 1024 * 1024)
#define LIBVIRT_CHARDEV "charmonitor"
#define MAX_CPUS_BYTES ((size_t)1 << 20)
#define MAX_CHARDEVS 16 /* each is looked for in all of the command line, which may be long */
#define CONNECT_NS 10000000000ull /* after this, no further sockets are tried */

struct qemu_monitor {
	struct qmp *qmp;		 /* NULL: virsh is used */
	char uuid[QEMU_UUID_BYTES + 1];
	bool own_session; /* libvirt's instance of this user, not the system's */
};

/* The value of KEY in LIST. FIRST: a first item without a key counts, too. */
static bool find_property(struct vm_span list, const char *key, bool first, struct vm_span *ret)
{
	struct vm_property property;
	bool found = false;

	for (; vm_property_next(&list, &property); first = false) {
		if (first && !property.value.text)
			*ret = property.key;
		else if (property.value.text && vm_span_is(property.key, key))
			*ret = property.value;
		else
			continue;
		found = true;
	}
	return found;
}

/* server=on, or just "server". Otherwise QEMU is a client of whoever listens at that path. */
static bool is_server(struct vm_span list)
{
	struct vm_property property;
	bool server = false;

	while (vm_property_next(&list, &property))
		if (vm_span_is(property.key, "server"))
			server = !property.value.text || vm_span_is(property.value, "on") ||
				 vm_span_is(property.value, "yes");
	return server;
}

/* Adds the path from a socket's options LIST. FIRST is as above. */
static void add_socket(struct qemu_monitors *monitors, struct vm_span list, bool first)
{
	struct vm_span path;

	if (find_property(list, "path", first, &path) && path.length && is_server(list) &&
	    monitors->socket_count < QEMU_MONITOR_MAX_SOCKETS)
		monitors->sockets[monitors->socket_count++] = vm_property_text(path);
}

/* Adds the path of -chardev socket,id=ID,path=PATH. */
static void add_chardev(const struct vm_command *command, struct vm_span id,
			struct qemu_monitors *monitors)
{
	struct vm_span list, value;
	size_t offset = 0;

	if (monitors->chardevs++ >= MAX_CHARDEVS)
		return;
	while (vm_command_next_option(command, "chardev", &offset, &list)) {
		bool its_own = find_property(list, "id", false, &value) &&
			       value.length == id.length &&
			       !memcmp(value.text, id.text, id.length);

		if (its_own && find_property(list, "backend", true, &value) &&
		    vm_span_is(value, "socket"))
			add_socket(monitors, list, false);
	}
}

static bool take_prefix(struct vm_span *span, const char *prefix)
{
	size_t length = strlen(prefix);

	if (span->length < length || memcmp(span->text, prefix, length))
		return false;
	span->text += length;
	span->length -= length;
	return true;
}

static void find_by_qmp_option(const struct vm_command *command, const char *option,
			       struct qemu_monitors *monitors)
{
	struct vm_span value;
	size_t offset = 0;

	while (vm_command_next_option(command, option, &offset, &value))
		if (take_prefix(&value, "chardev:"))
			add_chardev(command, value, monitors);
		else if (take_prefix(&value, "unix:"))
			add_socket(monitors, value, true);
}

/* True: one of the monitors is libvirt's. */
static bool find_by_mon_option(const struct vm_command *command, struct qemu_monitors *monitors)
{
	struct vm_span list, id, mode;
	size_t offset = 0;
	bool libvirt = false;

	while (vm_command_next_option(command, "mon", &offset, &list)) {
		if (!find_property(list, "mode", false, &mode) || !vm_span_is(mode, "control") ||
		    !find_property(list, "chardev", true, &id))
			continue;
		if (vm_span_is(id, LIBVIRT_CHARDEV))
			libvirt = true;
		else
			add_chardev(command, id, monitors);
	}
	return libvirt;
}

static bool is_uuid(struct vm_span text)
{
	if (text.length != QEMU_UUID_BYTES)
		return false;
	for (size_t i = 0; i < text.length; i++)
		if (!isxdigit((unsigned char)text.text[i]) && text.text[i] != '-')
			return false;
	return *text.text != '-';
}

void qemu_monitors_find(const struct vm_command *command, struct qemu_monitors *ret)
{
	struct vm_span uuid;
	size_t offset = 0;

	*ret = (struct qemu_monitors){ 0 };
	find_by_qmp_option(command, "qmp", ret);
	find_by_qmp_option(command, "qmp-pretty", ret);
	if (!find_by_mon_option(command, ret))
		return;
	while (vm_command_next_option(command, "uuid", &offset, &uuid))
		if (is_uuid(uuid))
			memcpy(ret->libvirt_uuid, uuid.text, QEMU_UUID_BYTES);
}

void qemu_monitors_deinit(struct qemu_monitors *monitors)
{
	for (size_t i = 0; i < monitors->socket_count; i++)
		free(monitors->sockets[i]);
}

/* Connects to the first socket that answers, or else returns the first one's error. */
static struct error *connect_one(uint32_t pid, const struct qemu_monitors *monitors,
				 struct qmp **ret)
{
	uint64_t begin_ns = clock_monotonic_ns();
	struct error *first = NULL;

	for (size_t i = 0; i < monitors->socket_count; i++) {
		struct error *error;

		if (i && (interrupt_requested() || clock_monotonic_ns() - begin_ns > CONNECT_NS))
			break;
		error = qmp_connect(pid, monitors->sockets[i], ret);

		if (!error) {
			error_destroy(first);
			return NULL;
		}
		if (first)
			error_destroy(error);
		else
			first = error;
	}
	return first;
}

/* True for a user other than root: that user's own instance of libvirt has started the process. */
static bool is_users_own(uint32_t pid)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	return geteuid() && !stat(path, &status) && status.st_uid == geteuid();
}

/* An error unless "info cpus" of the domain lists threads, all of which are PID's. */
static struct error *check_domain(uint32_t pid, const char *uuid)
{
	static const char *const commands[] = { "info cpus" };
	_cleanup_buffer_ struct buffer answer;
	struct host_vm vm = { .pid = pid };
	struct error *error;
	bool all;

	buffer_init(&answer, MAX_CPUS_BYTES);
	error = virsh_ask(is_users_own(pid), uuid, commands, 1, &answer);
	if (!error)
		error = qemu_text_cpus((const char *)answer.data, answer.size, &vm);
	all = !error && vm.vcpus.count;
	for (size_t i = 0; i < vm.vcpus.count; i++)
		all = all && host_process_has_thread(pid, vm.vcpus.items[i].tid);
	vector_deinit(&vm.vcpus);
	if (error || all)
		return error;
	return error_create(ERROR_UNSUPPORTED,
			    "the libvirt domain on its command line is another process");
}

static struct error *open_found(uint32_t pid, const struct qemu_monitors *monitors,
				struct qemu_monitor *monitor)
{
	struct error *error = connect_one(pid, monitors, &monitor->qmp);

	if (monitor->qmp)
		return NULL;
	if (*monitors->libvirt_uuid) {
		error_destroy(error);
		error = monitors->checked ? NULL : check_domain(pid, monitors->libvirt_uuid);
		if (error)
			return error;
		memcpy(monitor->uuid, monitors->libvirt_uuid, sizeof(monitor->uuid));
		monitor->own_session = is_users_own(pid);
		return NULL;
	}
	return error ? error
		     : error_create(ERROR_UNSUPPORTED,
				    "its command line has no QMP socket, and libvirt did not start "
				    "it");
}

void qemu_monitors_of(uint32_t pid, struct qemu_monitors *ret)
{
	_cleanup_buffer_ struct buffer command;

	buffer_init(&command, COMMAND_MAX_BYTES);
	host_process_command_line(pid, &command);
	qemu_monitors_find(&(struct vm_command){ (const char *)command.data, command.size }, ret);
}

bool qemu_monitors_exist(uint32_t pid)
{
	struct qemu_monitors monitors;
	bool exist;

	qemu_monitors_of(pid, &monitors);
	exist = monitors.socket_count || *monitors.libvirt_uuid;
	qemu_monitors_deinit(&monitors);
	return exist;
}

void qemu_monitors_check(uint32_t pid, struct qemu_monitors *monitors)
{
	struct error *error = NULL;

	if (*monitors->libvirt_uuid)
		error = check_domain(pid, monitors->libvirt_uuid);
	if (error)
		*monitors->libvirt_uuid = 0;
	error_destroy(error);
	monitors->checked = true;
}

struct error *qemu_monitor_open_by(uint32_t pid, const struct qemu_monitors *monitors,
				   struct qemu_monitor **ret)
{
	_cleanup_qemu_monitor_ struct qemu_monitor *monitor = memory_calloc(1, sizeof(*monitor));
	struct error *error = open_found(pid, monitors, monitor);

	if (error)
		return error;
	*ret = take_pointer(monitor);
	return NULL;
}

struct error *qemu_monitor_open(uint32_t pid, struct qemu_monitor **ret)
{
	struct qemu_monitors monitors;
	struct error *error;

	qemu_monitors_of(pid, &monitors);
	error = qemu_monitor_open_by(pid, &monitors, ret);
	qemu_monitors_deinit(&monitors);
	return error;
}

void qemu_monitor_close(struct qemu_monitor *monitor)
{
	if (!monitor)
		return;
	qmp_close(monitor->qmp);
	free(monitor);
}

struct error *qemu_monitor_ask(struct qemu_monitor *monitor, const char *const *commands,
			       size_t count, struct buffer *ret)
{
	struct error *error = NULL;

	if (!monitor->qmp)
		return virsh_ask(monitor->own_session, monitor->uuid, commands, count, ret);
	for (size_t i = 0; i < count && !error; i++)
		error = qmp_ask(monitor->qmp, commands[i], ret);
	return error;
}
