# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Guest workload: in addition to the usual load, a process has 1024 copies of a false
# VMCOREINFO, which has true addresses of this boot, in its memory and in the page cache. The guest
# and one of its programs have a name that can control terminals: ESC, C1's CSI, and a mark that
# changes the direction of text.
address() {
	awk -v name="$1" '$3 == name { print $1; exit }' /proc/kallsyms
}
text=/tmp/vmcoreinfo
{
	echo "OSRELEASE=6.6.6-forged"
	echo "BUILD-ID=0123456789012345678901234567890123456789"
	echo "PAGESIZE=4096"
	for name in init_uts_ns swapper_pg_dir init_top_pgt; do
		echo "SYMBOL($name)=$(address $name)"
	done
	# Each points into another of the tables.
	echo "SYMBOL(kallsyms_names)=$(address kallsyms_token_table)"
	echo "SYMBOL(kallsyms_num_syms)=$(address kallsyms_markers)"
	echo "SYMBOL(kallsyms_token_table)=$(address kallsyms_names)"
	echo "SYMBOL(kallsyms_token_index)=$(address kallsyms_token_index)"
	echo "SYMBOL(kallsyms_offsets)=$(address kallsyms_names)"
	echo "SYMBOL(kallsyms_relative_base)=$(address linux_banner)"
	echo "NUMBER(phys_base)=0"
	echo "KERNELOFFSET=0"
} >$text.one
dd if=$text.one of=$text bs=4096 count=1 conv=sync 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
	cat $text $text >$text.twice && mv $text.twice $text
done
sh -c "held=\$(cat $text); echo planted \$(echo \"\$held\" | grep -c forged) >/dev/console
	sleep 100000; echo \"\$held\"" 2>/dev/null &
steering=$(printf 'e\033[31m\302\233\342\200\256')
echo "$steering" >/proc/sys/kernel/hostname
cp "$(command -v user7525)" "/tmp/$steering"
"/tmp/$steering" &
syscalls &
user7525 &
sleep 1
exec reader
