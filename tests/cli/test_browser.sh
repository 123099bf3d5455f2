#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The browser of `perfvisor report`, in a real terminal: what stands on the screen after keys.
# Shares are those of the chains that write_chains reports to have written.
. tests/cli/common.sh
. "$tests/tmux.sh"
programs=$(dirname "$perfvisor")/tests/unit
"$programs/write_chains" vm.data programs >truth || exit 1

# What share of all samples the lines of truth have that match, as a report prints it.
share() { # PATTERN
	awk -F'\t' -v pattern="$1" '{ all += $1 } $0 ~ pattern { part += $1 }
		END { printf "%.2f%%", 100 * part / all }' truth
}
browse() { # ARGUMENTS…
	enter_command "clear; $perfvisor report $*"
	shows '\? help  q quit'
}
leave() {
	press q
	shows '^ready>$'
}
# Rows of the screen, without what marks what can be unfolded.
rows() {
	screen | grep -E '^ +[0-9.]+%' | sed -E 's/% [-+] /% /; s/ +/ /g; s/^ | $//g'
}

vfs_read=$(share 'web <1>.*server.*kernel vfs_read$')
open_terminal 80 24
browse -i vm.data --no-children
shows '^vm.data: [0-9]+ samples of cpu-clock'
shows "^ *${vfs_read//./\\.} \\+ web <1> +server .*vfs_read"
lines=$("$perfvisor" report -i vm.data --no-children -g none --stdio | grep -vc '^#\|^$')
shows "1/$lines\$"
press Down
shows " 2/$lines\$"
press End
shows "$lines/$lines\$"
press Home j k
shows " 1/$lines\$"

# Its callers, from the innermost on; each calls the next only.
press Enter
shows "^ +- +${vfs_read//./\\.} do_syscall_64\$"
shows '^ +entry_SYSCALL_64$|^ +- +entry_SYSCALL_64$'
shows '^ +app_main$'
press Enter
hides '^ +app_main$'
press r + # the other way round
shows 'callers first'
shows "^ +- +${vfs_read//./\\.} app_main\$"
press -- -
hides '% app_main$'

# Filters and searches.
press / V F S
shows 'show only: VFS_'
shows ' 1/2$'
press Enter
shows "with 'VFS'"
press Escape
shows " 1/$lines\$"
press F n o t _ Enter
hides ' 1/'
shows '\[g\] not_utf8'
press n N
press / z z z z Enter
shows ' 0/0$'
press + e c z n v v Escape
shows " 1/$lines\$"

# Groups, and looking closer.
db=$(share '^[0-9]*	db	')
press v
shows 'by VM'
shows "^ *${db//./\\.} \\+ db *\$"
press Down e
shows "^ *${db//./\\.}   \\+ server .*vfs_read|^ *${db//./\\.}   - server .*vfs_read"
press z
shows 'VM db'
shows '^ *100.00% \+ db'
press P
shows "^ *${db//./\\.} \\+ db"
press P v
shows '^ *100.00% \+ db +server .*vfs_read'
press BSpace
shows " 1/$lines\$"
press z
shows '^Show only:'
press j Enter
shows 'Guest Command server'
press Left # there is nothing above the first row
shows " 1/$lines\$"
press P
shows '^shares are of all samples here'
press P
press p
shows "^ *$(share '	server	') \\+ server"
press p d
shows "^ *$(share 'user app_main$') \\+ app"
press d m
shows "^ *$(share 'user app_main$') \\+ guest user"
press m f
shows "^ *$(share 'kernel vfs_read$') \\+ \\[g\\] vfs_read *\$"
press f V
shows 'not counted by that: --sort vcpu'
leave

# What the lines before a report say, and the keys.
browse -i vm.data -s vcpu,sym
press i
shows '^# Totals: 120 samples'
press q
hides '^# Totals'
press '?'
shows '^Enter +unfold or fold'
press End
press q V
shows 'by vCPU'
shows "$(share '^[0-9]*	[^	]*	0	') \\+ 0 *\$"
leave
is_sane
exit $status
