# The programs that people type, their sub-commands and options, as --help shows them.
# shellcheck disable=SC2034 # for those who read this file
programs='wavescope rocprofv3 rocprofv3-avail rocpd rocpd2csv rocpd2otf2 rocpd2pftrace
	rocpd2summary rocprof-compute rocprof-sys-avail rocprof-sys-instrument rocprof-sys-run
	rocprof-sys-sample
	wavescope-roofline'

subs_of() {
	"$1" --help | awk '/^[^ ]/ { on = $0 == "Commands:" } on && /^  [^ ]/ { print $1 }'
}

# Long names, with their dashes; "Help:" is the last list of options.
options_of() {
	"$@" --help | awk '/^[^ ]/ { on = /:$/ && !last; last = last || /^Help:/ }
		on && /^  (-.,|   ) --/ { sub(/^ *(-., )?/, ""); print $1 }'
}
