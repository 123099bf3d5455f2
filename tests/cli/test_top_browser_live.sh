#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `perfvisor top` on a terminal, over a guest that runs one endless loop, in a QEMU without KVM: its
# samples come, and the recorder ends with the browser. What a recorder says is on the terminal when
# that is as before; so is the word of one that is killed.
. tests/cli/common.sh
. "$tests/looping_guest.sh"
. "$tests/tmux.sh"
trap 'in_tmux kill-server 2>/dev/null; kill "$guest"; wait; rm -rf "$here"' EXIT
name=looping-$$ # other tests have guests that loop, too
start_looping_guest "$name"

top() { # ARGUMENTS…
	enter_command "clear; $perfvisor top --engine qmp -p $guest --max-overhead 100 $*; \
echo status \$?"
}
# A guest that runs nothing but a loop at the BIOS's reset vector.
shows_guest() {
	shows '^[1-9][0-9]* samples in 0\.[0-9] s \([0-9]+/s\), 1 VM, cpu-clock'
	shows '^100\.0% guest kernel, 0\.0% guest user, 0\.0% lost'
	shows "^ *100\.00%  *$name .*0x0*fff0\$"
}
ends() { # STATUS
	shows "^status $1\$"
	! pgrep -f "top --engine qmp (-p $guest|--vm $name)" >left ||
		complain "left: $(ps -fp "$(xargs <left)")"
	is_sane
}

open_terminal 100 24
for key in q C-c; do
	top -v
	shows_guest
	press "$key"
	shows "^perfvisor: recording 1 VM \($name\)"
	ends 0
done
# By its name, which KVM does not know of.
enter_command "clear; $perfvisor top --engine qmp --vm $name --max-overhead 100; echo status \$?"
shows_guest
press q
ends 0
top --duration 1
shows '^[0-9]+ samples in '
ends 0
top
shows_guest
press w
shows ', PAUSED'
press w
hides 'PAUSED'
shows_guest
# Of the viewer's children, the recorder is the one that has the guest's threads in its sight.
viewer=$(pgrep -o -f "perfvisor top --engine qmp -p $guest")
for child in $(pgrep -P "$viewer"); do
	[ "$(pgrep -c -P "$child")" = 0 ] || kill -KILL "$child"
done
shows 'the recorder was ended by signal 9'
ends 1
exit $status
