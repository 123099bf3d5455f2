#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The author of a program chooses the names of its functions, of those that are inlined, of its
# source file and of itself. None of them can control the terminal of whoever reads a recording.
set -u
perfvisor=$(realpath "${PERFVISOR:-build/release/perfvisor}")
tests=$(realpath tests/cli)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
perf record -q -e cpu-clock -o try.data true 2>/dev/null ||
	{ echo "perf cannot record here"; exit 77; }

cat >program.c <<'END'
volatile unsigned long sum;
static inline __attribute__((always_inline)) void INLINED_NAMEXXXX(void)
{
	for (unsigned long i = 0; i < 1000; i++)
		sum += i * i;
}
__attribute__((noinline)) void FUNCTION_NAMEXX(void)
{
	for (int i = 0; i < 100; i++)
		INLINED_NAMEXXXX();
}
int main(void)
{
	for (int i = 0; i < 3000; i++)
		FUNCTION_NAMEXX();
	return 0;
}
END
cp program.c SOURCE_NAME.c
name=$(printf 'prog\033[31m')
gcc -g -O1 -fno-omit-frame-pointer -o "$name" SOURCE_NAME.c || exit 1
python3 - "$name" <<'END' || exit 1
import sys

with open(sys.argv[1], "r+b") as file:
    data = file.read()
    for old, new in ((b"FUNCTION_NAMEXX", b"FUN\x1b[31m\xc2\x9b\xe2\x80\xae\n\x9b"),
                     (b"INLINED_NAMEXXXX", b"INL\x1b[32m\xc2\x9b\xf3\xa0\x80\x81ZZ"),
                     (b"SOURCE_NAME.c", b"SO\x1b[33m\xc2\x9bAA.c")):
        if old not in data or len(old) != len(new):
            sys.exit(f"{old} is not in the program")
        data = data.replace(old, new)
    file.seek(0)
    file.write(data)
END
perf record -q -e cpu-clock -F 2000 --call-graph fp -o data "./$name" 2>/dev/null || exit 1
python3 - "$perfvisor" "$tests" <<'END'
import subprocess
import sys

perfvisor, tests = sys.argv[1:]
sys.path.insert(0, tests)
from steering import find_steering

# And which of the names each must show, so that there was something to escape.
commands = (
    ("report", "FUN"), ("report --json", "FUN"), ("report -s comm,dso,sym", "FUN prog"),
    ("report -g caller --inline", "FUN INL"), ("report -s srcline,sym", "FUN SO"),
    ("script", "FUN prog"), ("script --inline -F comm,ip,sym,dso,srcline", "FUN INL SO"),
    ("fold", "FUN prog"), ("flamegraph -o -", "FUN"), ("export -f json", "FUN"),
    ("export -f speedscope", "FUN"), ("export -f csv", "FUN"),
)
failed = False
for command, names in commands:
    first, *options = command.split()
    done = subprocess.run([perfvisor, first, "-i", "data", *options], capture_output=True)
    # The lines of CSV end with CR and LF: RFC 4180.
    out = done.stdout.replace(b"\r\n", b"\n")
    found = find_steering(out) or find_steering(done.stderr)
    missing = [name for name in names.split() if name.encode() not in out]
    if done.returncode or found or missing:
        failed = True
        print(f"{command}: status {done.returncode}, prints {found!r}, does not show {missing}: "
              f"{done.stderr[:200]}")
print(f"{len(commands)} commands")
sys.exit(failed)
END
