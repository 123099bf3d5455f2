/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ways to the monitor in command lines as written by QEMU's manual, libvirt and Proxmox. */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "host/vm/qemu_monitor.h"

#define UUID "c7a5fdb2-cdaf-9455-926a-d65c16db1809"
#define LIBVIRT_MON "-mon|chardev=charmonitor,id=monitor,mode=control|"

/*
 * COMMAND's arguments are separated by '|'. EXPECTED: the sockets, each followed by a space, and
 * the uuid.
 */
static void expect(const char *command, const char *expected)
{
	size_t size = strlen(command);
	char *bytes = memory_dup(command, size);
	struct qemu_monitors monitors;
	struct buffer found;

	for (size_t i = 0; i < size; i++)
		if (bytes[i] == '|')
			bytes[i] = 0;
	qemu_monitors_find(&(struct vm_command){ bytes, size }, &monitors);
	buffer_init(&found, 100000);
	for (size_t i = 0; i < monitors.socket_count; i++)
		buffer_printf(&found, "%s ", monitors.sockets[i]);
	buffer_append_string(&found, monitors.libvirt_uuid);
	buffer_append_u8(&found, 0);
	assert_string_equal((char *)found.data, expected);
	buffer_deinit(&found);
	qemu_monitors_deinit(&monitors);
	free(bytes);
}

static void finds_sockets(void **state)
{
	(void)state;
	expect("qemu|-qmp|unix:/run/q.sock,server=on,wait=off|", "/run/q.sock ");
	expect("qemu|--qmp|unix:q.sock,server,nowait|-S", "q.sock ");
	expect("qemu|-qmp-pretty|unix:/a,,b,server=on|", "/a,b ");
	expect("qemu|-qmp|unix:path=/a,server=on|", "/a ");
	expect("qemu|-chardev|socket,id=m,path=/m,server=on|-mon|chardev=m,mode=control|", "/m ");
	expect("qemu|-mon|m,mode=control,pretty=on|-chardev|socket,path=/m,id=m,server=on,wait=off",
	       "/m ");
	expect("qemu|-qmp|chardev:m|-chardev|backend=socket,id=m,path=/m,server=on|", "/m ");
	expect("qemu|-qmp|unix:/1,server|-qmp|unix:/2,server=yes|", "/1 /2 ");
	/* Proxmox: the second socket is one that QEMU connects to. */
	expect("/usr/bin/kvm|-id|100|-chardev|socket,id=qmp,path=/var/run/qemu-server/100.qmp,"
	       "server=on,wait=off|-mon|chardev=qmp,mode=control|-chardev|socket,id=qmp-event,"
	       "path=/var/run/qmeventd.sock,reconnect=5|-mon|chardev=qmp-event,mode=control|",
	       "/var/run/qemu-server/100.qmp ");
}

static void finds_libvirt(void **state)
{
	(void)state;
	expect("/usr/bin/qemu-system-x86_64|-name|guest=web,debug-threads=on|-S|-uuid|" UUID
	       "|-no-user-config|-chardev|socket,id=charmonitor,fd=27,server=on,wait="
	       "off|" LIBVIRT_MON,
	       UUID);
	/* Before libvirt 4.1; the socket is libvirt's. */
	expect("/usr/bin/kvm|-uuid|" UUID
	       "|-chardev|socket,id=charmonitor,path=/var/lib/libvirt/qemu/"
	       "domain-1-web/monitor.sock,server,nowait|" LIBVIRT_MON,
	       UUID);
	/* <qemu:commandline> may add a socket. */
	expect("qemu|-uuid|" UUID "|" LIBVIRT_MON "-qmp|unix:/mine,server=on|", "/mine " UUID);
	expect("qemu|-uuid|" UUID "|-qmp|unix:/mine,server=on|", "/mine ");
}

static void finds_nothing(void **state)
{
	(void)state;
	expect("", "");
	expect("qemu", "");
	expect("qemu|-qmp", "");
	expect("qemu|-qmp|", "");
	expect("-qmp|unix:/a,server=on|", "");
	expect("qemu|-qmp|unix:,server=on|", "");
	expect("qemu|-qmp|tcp:localhost:4444,server=on|", "");
	expect("qemu|-qmp|unix:/a|-qmp|unix:/b,server=off|", "");
	/* Monitors for people. */
	expect("qemu|-monitor|unix:/a,server=on|", "");
	expect("qemu|-chardev|socket,id=m,path=/m,server=on|-mon|chardev=m|", "");
	expect("qemu|-chardev|socket,id=m,path=/m,server=on|-mon|chardev=m,mode=readline|", "");
	expect("qemu|-chardev|socket,id=n,path=/m,server=on|-mon|chardev=m,mode=control|", "");
	expect("qemu|-chardev|pipe,id=m,path=/m,server=on|-mon|chardev=m,mode=control|", "");
	/* UUIDs that would be passed to virsh. */
	expect("qemu|" LIBVIRT_MON, "");
	expect("qemu|" LIBVIRT_MON "-uuid|web|", "");
	expect("qemu|" LIBVIRT_MON "-uuid|c7a5fdb2-cdaf-9455-926a-d65c16db180'|", "");
	expect("qemu|" LIBVIRT_MON "-uuid|-7a5fdb2-cdaf-9455-926a-d65c16db1809|", "");
}

static void bounds_sockets(void **state)
{
	struct buffer command;
	struct qemu_monitors monitors;

	(void)state;
	buffer_init(&command, 1 << 20);
	buffer_append(&command, "qemu", 5);
	for (int i = 0; i < 1000; i++)
		buffer_append(&command, "-qmp\0unix:/a,server", 20);
	qemu_monitors_find(&(struct vm_command){ (char *)command.data, command.size }, &monitors);
	assert_int_equal(monitors.socket_count, QEMU_MONITOR_MAX_SOCKETS);
	qemu_monitors_deinit(&monitors);
	buffer_deinit(&command);
}

/* Otherwise each -mon would be compared with each -chardev of a command line of megabytes. */
static void bounds_chardevs(void **state)
{
	static const char socket[] = "-chardev\0socket,id=m,path=/m,server";
	static const char mon[] = "-mon\0m,mode=control", other[] = "-mon\0n,mode=control";
	struct buffer command;
	struct qemu_monitors monitors;

	(void)state;
	buffer_init(&command, 1 << 20);
	buffer_append(&command, "qemu", 5);
	buffer_append(&command, socket, sizeof(socket));
	for (int i = 0; i < 1000; i++)
		buffer_append(&command, other, sizeof(other));
	buffer_append(&command, mon, sizeof(mon));
	qemu_monitors_find(&(struct vm_command){ (char *)command.data, command.size }, &monitors);
	assert_int_equal(monitors.socket_count, 0);
	qemu_monitors_deinit(&monitors);
	buffer_deinit(&command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_sockets),
		cmocka_unit_test(finds_libvirt),
		cmocka_unit_test(finds_nothing),
		cmocka_unit_test(bounds_sockets),
		cmocka_unit_test(bounds_chardevs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
