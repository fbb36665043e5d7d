#!/bin/sh
# vcopy on the software GPU, from profile to report: what a person with the kernel's listing and
# a pocket calculator gets for speed of light, instruction mix, wavefronts and L2.
. "$WS_SOURCE/tests/cmd/rocprof-compute/lib.sh"
need_tracing

profile --output-directory w -- "$vcopy" -n 262144 -b 256
rc_is 0
run rocprof-compute analyze -p w
rc_is 0
# HIP 5.7 releases to the system at the end of a kernel, HIP 5.2 to the agent
case $(readlink -f "$(ldd "$vcopy" | sed -n 's/.*libamdhip64.so.5 => \([^ ]*\).*/\1/p')") in
*.so.5.[0-6].*) written_back=no ;;
*) written_back=yes ;;
esac
cat >check.py <<'P'
import csv, re, sys

n, block = 262144, 256
waves, nbytes = n // 64, n * 8
written = nbytes if sys.argv[2] == "yes" else 0 # what is written fits L2: it leaves by a release to the system
first = next(csv.DictReader(open("w/pmc_perf_0.csv")))
ns = int(first["End_Timestamp"]) - int(first["Start_Timestamp"])
cells = {}
for line in open(sys.argv[1]):
    parts = [p.strip() for p in line.strip("│ \n").split("│")]
    if re.fullmatch(r"\d+\.\d+\.\d+", parts[0]):
        cells[parts[0]] = [p for p in parts[2:]]
wrong = 0

def value(id):
    return float(next(c for c in cells[id] if re.fullmatch(r"-?[\d.]+", c)))

def check(id, expected, tolerance=0.0, digits=0.005):
    global wrong
    if abs(value(id) - expected) > abs(expected) * tolerance + digits:
        print(f"{id}: {value(id)}, not {expected}")
        wrong += 1

# wavefronts: the launch, and the listing's 24 instructions
check("7.1.0", n)
check("7.1.1", block)
check("7.1.2", waves)
check("7.1.8", 0)
check("7.2.0", ns)
check("7.2.2", 24)
# instruction mix, per wave: 10 vector (7 of them integer arithmetic), a load and a store of
# vectors, 4 scalar loads, 3 scalar, 1 branch; the rest are waits and the end
for id, each in (("10.1.0", 10), ("10.1.1", 2), ("10.1.2", 0), ("10.1.3", 0), ("10.1.4", 3),
                 ("10.1.5", 4), ("10.1.6", 1), ("10.2.0", 7), ("10.2.12", 0), ("10.3.1", 1),
                 ("10.3.2", 1), ("10.3.4", 0)):
    check(id, each * waves)
# speed of light: operations and bytes by nanoseconds; peaks of 104 CUs at 1700 MHz
check("2.1.0", 0)
check("2.1.1", 64 * 7 * waves / ns)
check("2.1.13", 64)
check("2.1.18", 50) # each line of 128 bytes is looked up by its halves, and the second hits
check("2.1.19", 2 * 2 * nbytes / ns) # so it counts twice, there and back
check("2.1.22", nbytes / ns, 0.01)
check("2.1.23", written / ns, 0.01)
peak = 1700 * 104 * 64 * 2 / 1000
if f"{peak:.2f}" not in cells["2.1.1"]:
    print("2.1.1: no peak of", peak, cells["2.1.1"])
    wrong += 1
# L2: writes come in halves of lines, reads in lines; reads go to memory, writes stay until a release
check("17.3.3", nbytes / 64)
check("17.3.2", nbytes / 128, 0.15)
check("17.3.4", 0)
check("17.3.10", written / 128)
check("17.2.1", 100, 0.001)
check("17.2.2", 0, digits=0.05)
if value("17.3.1") != value("17.3.2") + value("17.3.3"):
    print("17.3.1 is not reads and writes")
    wrong += 1
if value("17.3.8") + value("17.3.9") != value("17.3.1"):
    print("17.3.8 and 17.3.9 are not all requests")
    wrong += 1
# No table is without values that hardware would fill: only what the kernel does not do is missing.
empty = {id for id, c in cells.items() if "N/A" in c and not id.startswith("4.")} # peaks: not measured
idle = {"2.1.17", "11.2.8", "12.1.3", "12.2.2", "12.2.3", "17.2.11", # LDS, MFMA, atomics
        "17.2.5", "17.2.6", "17.2.7", "17.2.8", "17.2.10"} # writes to memory
no_peak = {"2.1.24", "2.1.25", "2.1.30"}
not_modelled = {"15.4.2"} # TD_SPI_STALL
blocks = {id.split(".")[0] for id in cells}
missing = {"2", "5", "6", "7", "10", "11", "12", "13", "14", "15", "16", "17", "18"} - blocks
if missing or empty - idle - no_peak - not_modelled:
    print("blocks without tables:", missing, "rows without values:", sorted(empty))
    wrong += 1
sys.exit(wrong != 0)
P
"${PYTHON:-python3}" check.py "$out" $written_back || fail "not what the listing says"

# A sample of it says so, where it is profiled and where it is read; what is exact stays exact.
WAVESCOPE_SAMPLE_WAVES=1024
export WAVESCOPE_SAMPLE_WAVES
profile --output-directory part -b 7.1 -- "$vcopy" -n 262144 -b 256
unset WAVESCOPE_SAMPLE_WAVES
rc_is 0
is "$(cell part/sysinfo.csv vbios 1)" "software GPU (wavescope), sampled" "what counted"
run rocprof-compute analyze -p part -b 7.1
rc_is 0
out_has "part is sampled: only a part of each kernel's workgroups was counted"
grep -q '7.1.2 .*Total Wavefronts .* 4096.00 ' "$out" || fail "waves of the sample, scaled"
