/*
 * file: configuration files of rocprof-sys: text, JSON and XML.
 *
 * Text has one setting per line:
 *
 *	# a comment
 *	$FREQ                   = 100             a variable of the file
 *	ROCPROFSYS_TRACE        = on              names in any case, with or without prefix
 *	sampling_freq           = $FREQ
 *	timemory_components     = wall_clock, peak_rss    blanks, ',' and ';' separate
 *	output_prefix           = "my run-"       quotes keep blanks, ',', ';', '#' and '$'
 *	tmpdir                  = $env:SCRATCH    a variable of the environment
 *	$env:OMP_NUM_THREADS    = 4               sets it for the program, unless it is set
 *	config_file             = more.cfg        another file, read here
 *
 * JSON is {"rocprofiler-systems": {"settings": {"ROCPROFSYS_TRACE": {"value": true}}}}; the
 * settings may be below "metadata", and a value may stand for its object. XML has the same
 * elements. The extension of a file says what it is; all but .json and .xml is text.
 *
 * Failure  the text begins with FILE:LINE, for JSON with FILE.
 */
#ifndef WS_SETTINGS_FILE_H
#define WS_SETTINGS_FILE_H

#include "settings/values.h"

#define SET_FILE_BYTES_MAX (16u << 20)
#define SET_FILE_DEPTH_MAX 16u /* of files that name each other */

/* What CONFIG_FILE names, unless SUPPRESS_CONFIG is on. Default files may be missing. */
enum ws_status set_from_files(struct set_values *values, struct ws_err *err);

/* One file, and those that it names. */
enum ws_status set_read_file(struct set_values *values, const char *path, struct ws_err *err);

/* Its contents, in the format of @path's extension; @path is for messages. */
enum ws_status set_read_text(struct set_values *values, const char *path, struct ws_str text,
			     struct ws_err *err);

#endif
