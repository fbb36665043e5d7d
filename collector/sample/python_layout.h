/*
 * python_layout: where the interpreter keeps what a handler reads, per version of CPython.
 *
 * Offsets are those of the releases' headers on 64-bit machines (Include/internal). 3.13
 * publishes its own, at the beginning of _PyRuntime; these are used, so that its free-threaded
 * build is covered, too.
 */
#ifndef WS_COLLECTOR_SAMPLE_PYTHON_LAYOUT_H
#define WS_COLLECTOR_SAMPLE_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* How frames are linked. */
enum col_python_frames_kind {
	COL_PYTHON_OBJECTS, /* to 3.10: frame objects; each is a call of the interpreter */
	COL_PYTHON_MARKED,  /* 3.11: the first frame of such a call is marked */
	COL_PYTHON_SHIMS,   /* from 3.12: behind it is a frame that is none */
};

struct col_python_layout {
	uint16_t version; /* 0x030b: 3.11 */
	uint8_t kind;     /* enum col_python_frames_kind */
	uint8_t unit;     /* OBJECTS: bytes per unit of the frame's position */
	/* thread state: its frame, or (to 3.12) a structure that points to it; 0xffff: no such */
	uint16_t state_frame, state_holder, holder_frame, state_native_id, state_next;
	/* frame */
	uint16_t frame_code, frame_previous, frame_at, frame_mark;
	/* code */
	uint16_t code_first_line, code_file, code_name, code_qualified, code_table, code_start;
	/* objects: type; text: length, state, size of the head where all is ASCII, and otherwise */
	uint16_t object_type, text_length, text_state, text_ascii, text_other;
	uint16_t bytes_length, bytes_start;
};
#define COL_PYTHON_NONE 0xffffu
/* So much is read of a code object, of a frame from 3.11 on, and of other objects. */
#define COL_PYTHON_CODE_BYTES 160u
#define COL_PYTHON_FRAME_BYTES 80u
#define COL_PYTHON_HEAD_BYTES 64u
#define COL_PYTHON_SHIM 3u /* owner of a frame that is none */

/* NULL: this version is not known. */
const struct col_python_layout *col_python_layout(uint16_t version);

/* From 3.13 on: the interpreters, from what @runtime publishes. */
struct col_python_runtime {
	uint64_t first_interpreter, next_interpreter, first_thread; /* offsets */
};
bool col_python_published(const void *runtime, struct col_python_layout *layout,
			  struct col_python_runtime *out);

#endif
