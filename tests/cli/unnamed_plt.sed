# Stock perf names no entries of a PLT if the file defines no function (dso__load() of
# tools/perf/util/symbol.c in Linux 6.1: only "if (ret > 0)"). perfvisor does. addr2line, which perf
# itself starts, is such a program, and recordings of the whole system may contain it.
s/[^ ]+@plt(\+0x[0-9a-f]+)?( \([^ )]*addr2line\))$/[unknown]\2/
