#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What samples say besides where they were taken, of recordings that are built from text, since they
# need hardware that is not here: call chains by LBR, branches, memory accesses, registers.
# `perfvisor script` and `report` show what stock perf shows.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
build=$(realpath tests/cli/build_recording.py)
golden=$(realpath tests/golden/perfdata)
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here" || exit 1
status=0

complain() {
	echo "$*"
	status=1
}

cat >prog.c <<'PROGRAM'
int leaf(int x) { return x * 3 + 1; }
int middle(int x) { return leaf(x) + leaf(x + 1); }
int outer(int x) { return middle(x) + 7; }
int main(void) { return outer(3); }
PROGRAM
gcc -O0 -no-pie -o prog prog.c 2>gcc.err || { complain "gcc: $(cat gcc.err)"; exit 1; }
command -v perf >/dev/null || { echo 'there is no perf here'; exit 77; }
at() { # SYMBOL OFFSET
	printf '0x%x' $((0x$(nm prog | awk -v name="$1" '$3 == name { print $1 }') + $2))
}
text=$(readelf -lW prog | awk '$1 == "LOAD" && / R E / { print $3, $5, $2 }')
start="comm 77 prog
mmap 77 $text $here/prog"
kernel='kernel 0xffffffff81000000 0x1000'

compare() { # WHAT MINIMUM FILE ARGUMENTS…
	perf script -i "$3" "${@:4}" >perf.txt 2>perf.err
	"$perfvisor" script -i "$3" "${@:4}" >ours.txt 2>ours.err ||
		complain "$1 ${*:4}: $(cat ours.err)"
	[ "$(wc -l <perf.txt)" -ge "$2" ] ||
		complain "$1 ${*:4}: perf prints $(cat perf.txt perf.err)"
	cmp -s perf.txt ours.txt || complain "$1 ${*:4}: $(diff perf.txt ours.txt | head -n 6)"
}

# Chains of calls, as LBR records them: what the kernel walked is the kernel's part of them.
calls="$(at middle 23)>$(at leaf 0),$(at outer 13)>$(at middle 0),$(at main 14)>$(at outer 0)"
{
	echo event sample=IP,TID,TIME,PERIOD,CALLCHAIN,BRANCH_STACK \
		branch=USER,CALL_STACK,HW_INDEX
	echo "$start"
	echo "$kernel"
	for i in 1 2 3; do
		echo "sample pid=77 time=${i}000000 ip=$(at leaf 4) period=5" \
			"chain=USER,$(at leaf 4) branches=$calls"
		echo "sample pid=77 time=${i}100000 ip=$(at middle 9)" \
			"chain=USER,$(at middle 9),0x1234 branches=${calls#*,}"
		echo "sample pid=77 time=${i}200000 ip=0xffffffff92345678 misc=1" \
			"chain=KERNEL,0xffffffff92345678,0xffffffff92345600,USER,$(at outer 2)" \
			"branches=${calls##*,}"
	done
} | python3 "$build" lbr.data || complain 'lbr.data cannot be built'
compare lbr 40 lbr.data
compare lbr 40 lbr.data -F comm,time,ip,sym,symoff,brstack
"$perfvisor" fold -i lbr.data 2>fold.err | grep -q '^prog;main;outer;middle;leaf 15$' ||
	complain "fold: $("$perfvisor" fold -i lbr.data)"

# Branches.
unknown="0x7000>$(at outer 0):0xa"
steps="$(at outer 13)>$(at middle 0):0x42,$(at main 14)>$(at outer 0)"
{
	echo 'event sample=IP,TID,TIME,PERIOD,BRANCH_STACK branch=USER,ANY'
	echo "$start"
	for i in 1 2 3 4; do
		echo "sample pid=77 time=${i}000000 ip=$(at leaf 4) period=5" \
			"branches=$(at middle 23)>$(at leaf 0):0x101,$steps:0x6,$unknown"
		echo "sample pid=77 time=${i}100000 ip=$(at leaf 4) branches=$steps:0x400001"
	done
} | python3 "$build" branches.data || complain 'branches.data cannot be built'
compare branches 8 branches.data
for fields in comm,ip,sym,brstack comm,ip,sym,dso,brstack comm,brstacksym comm,dso,brstacksym \
	time,brstack; do
	compare branches 8 branches.data -F $fields
done

# Counted, as perf counts them where there are any. Stock perf 6.1 crashes if --sort names a
# function.
rows() {
	awk '/%/ && !/^#/ { $1 = $1; print }' | LC_ALL=C sort
}
compare_rows() { # MINIMUM ARGUMENTS…
	perf report --stdio -i branches.data "${@:2}" 2>/dev/null | rows >perf.txt
	"$perfvisor" report -i branches.data "${@:2}" 2>ours.err >ours.txt ||
		complain "report: $(cat ours.err)"
	[ "$(wc -l <perf.txt)" -ge "$1" ] || complain "perf report ${*:2}: $(cat perf.txt)"
	rows <ours.txt | cmp -s perf.txt - || complain "report ${*:2}: $(diff perf.txt ours.txt)"
}
compare_rows 4
grep -q "^# Branches: 24 in samples of event 'cycles" ours.txt ||
	complain "report: $(head -n 3 ours.txt)"
compare_rows 4 --branch-stack
compare_rows 2 --sort dso_from,dso_to
compare_rows 2 --sort mispredict
compare_rows 1 --no-branch-stack --sort comm,dso,sym
"$perfvisor" report -i branches.data --sort symbol_to,mispredict >ours.txt 2>ours.err
grep -Eq '^ +33.33%  \[.\] middle +N$' ours.txt ||
	complain "--sort symbol_to: $(cat ours.txt ours.err)"
"$perfvisor" report -i lbr.data --branch-stack >ours.txt 2>ours.err
[ $? = 1 ] && grep -q 'the recording has no branches' ours.err ||
	complain "--branch-stack: $(cat ours.err)"
"$perfvisor" report -i branches.data --sort pid >ours.txt 2>ours.err
[ $? = 2 ] || complain "--sort pid of branches: $(cat ours.err)"

# A guest's chain, in the form that perfvisor writes it: perf prints its addresses, as we do.
guest="-2176,0xffffffff81000110,0xffffffff81000210,-2560,0x401130"
{
	echo 'event type=1 sample=IP,TID,TIME,PERIOD,CALLCHAIN'
	echo 'comm 77 qemu'
	for i in 1 2 3 4 5 6 7 8; do
		echo "sample pid=77 misc=4 time=${i}000000 ip=0xffffffff81000110" \
			"chain=KERNEL,0xffffffff81000110,0xffffffff81000210,USER,0x401130"
	done
} | tee guest.txt | python3 "$build" guest.data || complain 'guest.data cannot be built'
echo "ffffffff81000000 T _text" >kallsyms
compare guest 32 guest.data --guestkallsyms kallsyms -F ip
# symbols(1): stock perf takes such a file for its own recordings of guests.
printf 'ffffffff80000000 T %s\n' _text _stext everything >kallsyms
echo 'ffffffffa0000000 T _etext' >>kallsyms
perf kvm --guest --guestkallsyms kallsyms report -i "$golden/kvm.data" --stdio >perf.txt \
	2>/dev/null
grep -q '\[guest.kernel.kallsyms\] *\[g\] everything' perf.txt ||
	complain "perf kvm --guestkallsyms: $(grep % perf.txt)"
sed "s/chain=.*/chain=$guest/" guest.txt | python3 "$build" marks.data ||
	complain 'marks.data cannot be built'
# The host's functions are not the guest's, and both forms mean the same.
"$perfvisor" script -i guest.data >ours.txt 2>/dev/null
"$perfvisor" script -i marks.data 2>/dev/null | cmp -s - ours.txt ||
	complain 'the marks of guests mean something else'
grep -q 'kernel.kallsyms' ours.txt &&
	complain "a guest's chain is named from the host: $(head -n 4 ours.txt)"

# Memory and registers. Of 0x282805080041 and its like perf prints "(null)".
python3 - >memory.txt <<'SOURCES'
def source(op=1, lvl=1, snoop=1, lock=1, dtlb=1, num=0, remote=0, snoopx=0, blk=0, hops=0):
    return (op | lvl << 5 | snoop << 19 | lock << 24 | dtlb << 26 | num << 33 | remote << 37 |
            snoopx << 38 | blk << 40 | hops << 43)
values = [source(op=op) for op in (0, 1, 2, 4, 8, 16, 6)]
values += [source(lvl=1 << bit | more) for bit in range(14) for more in (0, 2, 4)]
values += [source(lvl=0)]
values += [source(num=num, remote=remote, lvl=lvl) for num in range(16) for remote in (0, 1)
           for lvl in (0, 1, 2)]
values += [source(hops=hops, num=4, remote=remote, lvl=2) for hops in range(1, 5)
           for remote in (0, 1)]
values += [source(snoop=snoop, snoopx=snoopx) for snoop in (0, 1, 2, 4, 6, 8, 16)
           for snoopx in range(4)]
values += [source(dtlb=dtlb) for dtlb in (*range(32), 32, 34, 64, 68)]
values += [source(lock=lock) for lock in range(4)]
values += [source(blk=blk) for blk in range(8)]
for number, value in enumerate(values):
    print(f"sample pid=77 time={number}000 ip=0x401110 addr={value * 3:#x} data_src={value:#x} "
          f"weight={number * 1000 + 7} ins_lat={number} phys_addr={value * 5:#x} "
          f"data_page_size={4096 << number % 20} code_page_size={0 if number % 3 else 2 << 20} "
          f"uregs={','.join(str(number * 7 + i) for i in range(9))} "
          f"iregs={','.join(hex(number * 9 + i) for i in range(16))} cgroup=1")
SOURCES
{
	memory=WEIGHT_STRUCT,DATA_SRC,PHYS_ADDR,CGROUP,DATA_PAGE_SIZE,CODE_PAGE_SIZE
	echo "event sample=IP,TID,TIME,ADDR,PERIOD,$memory,REGS_USER,REGS_INTR" \
		'uregs=0x1ff iregs=0xff0ff'
	echo "$start"
	cat memory.txt
} | python3 "$build" memory.data || complain 'memory.data cannot be built'
memory=weight,ins_lat,ip,sym,iregs,uregs,phys_addr,data_page_size,code_page_size
for fields in addr data_src weight ins_lat iregs uregs phys_addr data_page_size code_page_size \
	comm,addr,data_src,$memory; do
	compare memory 200 memory.data -F $fields
done
"$perfvisor" script -i memory.data -F time,cgroup | grep -qx '    0.000001:  cgroup:1' ||
	complain 'no cgroup'

# What perf records here of it: addresses of page faults are in the program's files.
perf record -q -d -W --phys-data -e page-faults -c 1 -o faults.data ls -R /usr/share/doc \
	>/dev/null 2>&1
compare faults 20 faults.data -F comm,time,addr,ip,dso
compare faults 20 faults.data -F comm,time,addr,weight,phys_addr,data_src
if perf record -q --intr-regs=ax,bx,ip --user-regs=sp,ip -e cpu-clock -o registers.data \
	ls -R /usr/share/doc >/dev/null 2>&1; then
	compare registers 20 registers.data -F comm,time,ip,sym,iregs,uregs
else
	echo 'skipped: recorded registers, because perf cannot record them here'
fi

# What cannot be decoded is counted.
{
	echo 'event sample=IP,TID,TIME,PERIOD'
	echo "$start"
	echo "sample pid=77 time=1000 ip=$(at leaf 4)"
	echo 'auxtrace 4096'
	echo 'auxtrace 8192'
} | python3 "$build" aux.data || complain 'aux.data cannot be built'
"$perfvisor" report -i aux.data >out 2>err
[ "$(grep -c 'perfvisor: 12288 bytes of Intel PT trace data are not decoded' err)" = 1 ] ||
	complain "aux: $(cat err)"

# Control groups: of a known path, an unknown one, and none; a path is text from elsewhere.
python3 - >cgroups.txt <<'END'
print("event type=1 config=0 sample=IP,TID,TIME,PERIOD,CGROUP")
for number, path in (1, "/"), (77, "/machine.slice/web"), (78, "/machine.slice/d\x1b[31mb"):
    data = path.encode() + b"\0"
    print("record 19 0", number.to_bytes(8, "little").hex(),
          data.ljust((len(data) + 7) // 8 * 8, b"\0").hex())
print("comm 10 first")
for time, number in enumerate([1, 77, 77, 77, 78, 78, 5, 0, 77, 77, 5, 5, 5, 5, 5, 5]):
    print(f"sample pid=10 time={1000 + time} ip=0x400010 period=1000 cgroup={number}")
END
python3 "$build" cgroups.data <cgroups.txt || complain 'cgroups.data cannot be built'
perf report -i cgroups.data -s cgroup,comm --stdio -t';' 2>/dev/null | grep -v '^#' | grep . |
	sed 's/ *; */;/g; s/^ *//; s/ *$//; s/\x1b/\\x1b/' | sort >perf.txt
"$perfvisor" report -i cgroups.data -s cgroup,comm -t';' 2>ours.err | grep -v '^#' | grep . |
	sed 's/ *; */;/g; s/^ *//; s/ *$//' | sort >ours.txt
[ "$(wc -l <perf.txt)" = 5 ] || complain "perf's control groups: $(cat perf.txt)"
cmp -s perf.txt ours.txt || complain "cgroups: $(diff perf.txt ours.txt; cat ours.err)"
"$perfvisor" report -i cgroups.data -F cgroup,sample 2>/dev/null |
	grep -q '^ *unknown  *7$' || complain 'no column cgroup'
"$perfvisor" report -i aux.data -s cgroup 2>/dev/null | grep -q 'N/A' ||
	complain 'samples without a control group'
exit $status
