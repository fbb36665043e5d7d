#!/bin/sh
# Collects what a tracer wrote in the model's folder, and copies it to the folder that madengine was started
# in, which is the one above.
#
#   trace.sh rocprof | rpd | rocm_trace_lite
set -e

complain() {
	echo "post_scripts/trace.sh: $*" >&2
	exit 1
}

# copy FOLDER WHERE: as hard links where the file system has them, since traces are large
copy() { cp -Rlf "$1" "$2" 2>/dev/null || cp -Rf "$1" "$2"; }

# hand_over FOLDER
hand_over() {
	chmod -R a+rw "$1" 2>/dev/null || :
	copy "$1" ..
}

# any NAME...: the first of these files that exists
any() {
	for file; do
		if [ -e "$file" ]; then
			echo "$file"
			return
		fi
	done
	return 1
}

# The CSV files of one name, of all processes and passes, as one: the header once.
# joined NAME FILE...
joined() {
	name=$1
	shift
	[ ! -e "$1" ] || awk 'FNR > 1 || NR == 1' "$@" >"$name"
}

# rocprof_output/<time of the run>/ as the profiling guide shows it
make_dated() {
	dated=$out/$(date +%Y%m%d_%H%M%S)
	find "$out" -name '*_results.db' -o -name '*_trace.csv' >"$out/.found"
	if [ -s "$out/.found" ]; then
		mkdir -p "$dated"
		while read -r file; do
			case $file in
			*_results.db)
				# what passes have in common is in the first
				case $file in
				*/pmc_1/* | */pass_1/*) copy "$file" "$dated/${file##*/}" ;;
				*/pmc_[0-9]*/* | */pass_[0-9]*/*) ;;
				*) copy "$file" "$dated/${file##*/}" ;;
				esac
				;;
			esac
		done <"$out/.found"
		for kind in kernel hip_api hsa_api memory_copy memory_allocation scratch_memory marker_api rccl_api; do
			grep -e "_${kind}_trace.csv$" "$out/.found" | grep -v -e '/pmc_[0-9]*/' -e '/pass_[0-9]*/' >"$out/.kind" ||
				grep -e "_${kind}_trace.csv$" "$out/.found" | grep -e '/pmc_1/' -e '/pass_1/' >"$out/.kind" || continue
			set --
			while read -r file; do
				set -- "$@" "$file"
			done <"$out/.kind"
			joined "$dated/${kind}_trace.csv" "$@"
		done
	fi
	rm -f "$out/.found" "$out/.kind"
	# trace.json: of the process with the most events
	largest=$(find "$out" -name '*_results.json' -exec ls -S {} + 2>/dev/null | head -n 1)
	[ -z "$largest" ] || copy "$largest" "$out/trace.json"
}

# Instructions by class, from all counter files. A counter that several passes collected counts once.
make_histogram() {
	find "$out" -path '*/pmc_*' -name '*counter_collection.csv' | sort >"$out/.counted"
	[ -s "$out/.counted" ] || find "$out" -name '*counter_collection.csv' | sort >"$out/.counted"
	[ ! -s "$out/.counted" ] || awk '
		# the fields of a CSV line, from 1
		function split_csv(line, fields,    n, i, c, quoted, field) {
			n = 0; field = ""; quoted = 0
			for (i = 1; i <= length(line); i++) {
				c = substr(line, i, 1)
				if (c == "\"") quoted = !quoted
				else if (c == "," && !quoted) { fields[++n] = field; field = "" }
				else field = field c
			}
			fields[++n] = field
			return n
		}
		function add(class, pattern,    name, found) {
			for (name in sum)
				if (name ~ pattern) { total[class] += sum[name]; found = 1 }
			return found
		}
		BEGIN { n_files = 0 }
		{ paths[++n_files] = $0 }
		END {
			for (p = 1; p <= n_files; p++) {
				path = paths[p]
				pass = match(path, /\/pmc_[0-9]+\//) ? substr(path, RSTART, RLENGTH) : "/"
				name_at = value_at = 0
				while ((getline line < path) > 0) {
					n = split_csv(line, field)
					if (!name_at) {
						for (i = 1; i <= n; i++) {
							if (field[i] == "Counter_Name") name_at = i
							if (field[i] == "Counter_Value") value_at = i
						}
						if (!name_at || !value_at) break
						continue
					}
					name = field[name_at]
					if (!(name in first)) first[name] = pass
					if (first[name] == pass) sum[name] += field[value_at]
				}
				close(path)
			}
			# the count of a class where there is one, else that of its parts
			n = split("VALU SALU VMEM SMEM WAITCNT BRANCH", class, " ")
			split("^SQ_INSTS_VALU$ ^SQ_INSTS_SALU$ ^SQ_INSTS_VMEM$ ^SQ_INSTS_SMEM$ ^SQ_WAIT_INST_ANY$ ^SQ_INSTS_BRANCH$", whole, " ")
			split("^SQ_INSTS_VALU_ ^SQ_INSTS_SALU_ ^SQ_INSTS_VMEM_ ^SQ_INSTS_SMEM_ ^SQ_WAIT_INST_ ^SQ_INSTS_BRANCH_", part, " ")
			for (i = 1; i <= n; i++)
				if (add(class[i], whole[i]) || add(class[i], part[i]))
					text = text (text ? "," : "") sprintf("\n  \"%s\": %.0f", class[i], total[class[i]])
			if (text) printf "{%s\n}\n", text
		}' "$out/.counted" >"$out/instruction_histogram.json"
	rm -f "$out/.counted"
	[ -s "$out/instruction_histogram.json" ] || rm -f "$out/instruction_histogram.json"
}

profiler_files() {
	find "$1" -maxdepth 4 \( -name '*_results.*' -o -name '*.pftrace' -o -name '*_trace.csv' -o \
		-name '*counter_collection.csv' \) | head -n 1
}

collect_rocprof() {
	out=rocprof_output
	elsewhere=
	mkdir -p "$out"
	for file in results* rocprofv3-*; do
		[ ! -e "$file" ] || mv "$file" "$out/"
	done
	for folder in */; do
		folder=${folder%/}
		[ "$folder" != "$out" ] || continue
		[ -n "$(profiler_files "$folder")" ] || continue
		if [ "$folder" = "$(uname -n)" ]; then
			mv "$folder" "$out/" # without -d
			continue
		fi
		# -d of a command of the user's own
		elsewhere=yes
		if any "$folder"/*_results.db "$folder"/*_trace.csv >/dev/null; then
			copy "$folder" "$out/"
		fi
		hand_over "$folder"
	done
	if [ -z "$(find "$out" -type f | head -n 1)" ]; then
		rmdir "$out"
		[ -z "$elsewhere" ] || return 0
		complain "there is no output of the profiler: it recorded nothing; its messages are in the log"
	fi
	make_histogram
	make_dated
	# last, so that nothing is read twice
	for base in agent_info domain_stats kernel_stats kernel_trace hip_api_trace counter_collection; do
		file=$out/rocprofv3_output_$base.csv
		[ ! -e "$file" ] || continue
		find "$out" -maxdepth 4 -name "*$base.csv" ! -path "$dated/*" | sort >"$out/.found"
		# of counters those of all passes, of everything else the first
		[ $base = counter_collection ] || sed -i 1q "$out/.found"
		set --
		while read -r found; do
			set -- "$@" "$found"
		done <"$out/.found"
		[ $# -eq 0 ] || joined "$file" "$@"
	done
	rm -f "$out/.found"
	hand_over "$out"
}

collect_rpd() {
	mkdir -p rpd_output
	[ ! -e trace.rpd ] || mv trace.rpd rpd_output/
	[ -s rpd_output/trace.rpd ] || complain "there is no trace.rpd: rpd recorded nothing; its messages are in the log"
	if converter=$(any rocmProfileData/tools/rpd2tracing.py); then
		python3 "$converter" rpd_output/trace.rpd rpd_output/trace.json ||
			echo "post_scripts/trace.sh: warning: rpd2tracing.py could not convert trace.rpd" >&2
	fi
	hand_over rpd_output
}

collect_rocm_trace_lite() {
	out=${RTL_WRAPPER_OUTPUT_DIR:-rocm_trace_lite_output}
	trace=${RTL_WRAPPER_TRACE_DB:-$out/trace.db}
	[ -s "$trace" ] || complain "there is no $trace: rocm-trace-lite recorded nothing; its messages are in the log"
	if [ ! -e "$out/trace.json" ] && [ -e "$out/trace.json.gz" ]; then
		gzip -dkf "$out/trace.json.gz"
	fi
	hand_over "$out"
}

case ${1:-} in
rocprof | rpd | rocm_trace_lite) "collect_$1" ;;
*) complain "no tracer '${1:-}': rocprof, rpd or rocm_trace_lite" ;;
esac
