#include "collector/sample/python_layout.h"

#include "base/util.h"

#include <string.h>

#define NONE COL_PYTHON_NONE

/* clang-format off */
static const struct col_python_layout layouts[] = {
	/*                            state              frame            code                          objects, text, bytes */
	{ 0x0309, COL_PYTHON_OBJECTS, 1,  24, NONE, 0, NONE, NONE,  32, 24, 104, NONE,  40, 104, 112, NONE, 120, 0,     8, 16, 32, 48, 72, 16, 32 },
	{ 0x030a, COL_PYTHON_OBJECTS, 2,  24, NONE, 0, NONE, NONE,  32, 24,  96, NONE,  40, 104, 112, NONE, 120, 0,     8, 16, 32, 48, 72, 16, 32 },
	{ 0x030b, COL_PYTHON_MARKED,  1, NONE, 56,  8,  160, NONE,  32, 48,  56,   68,  72, 112, 120,  128, 136, 184,   8, 16, 32, 48, 72, 16, 32 },
	{ 0x030c, COL_PYTHON_SHIMS,   1, NONE, 56,  0,  144, NONE,   0,  8,  56,   70,  68, 112, 120,  128, 136, 192,   8, 16, 32, 40, 56, 16, 32 },
	{ 0x030d, COL_PYTHON_SHIMS,   1,   72, NONE, 0, 160,    8,   0,  8,  56,   70,  68, 112, 120,  128, 136, 200,   8, 16, 32, 40, 56, 16, 32 },
};
/* clang-format on */

const struct col_python_layout *col_python_layout(uint16_t version)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(layouts); i++) {
		if (layouts[i].version == version)
			return &layouts[i];
	}
	return NULL;
}

/* struct _Py_DebugOffsets of 3.13, in words: which one is which. */
enum {
	WORD_COOKIE,
	WORD_VERSION,
	WORD_INTERPRETERS = 5,
	WORD_INTERPRETER_NEXT = 8,
	WORD_THREADS = 9,
	WORD_STATE_NEXT = 21,
	WORD_STATE_FRAME = 23,
	WORD_STATE_NATIVE_ID = 25,
	WORD_FRAME_PREVIOUS = 29,
	WORD_FRAME_CODE,
	WORD_FRAME_AT,
	WORD_FRAME_OWNER = 33,
	WORD_CODE_FILE = 35,
	WORD_CODE_NAME,
	WORD_CODE_QUALIFIED,
	WORD_CODE_TABLE,
	WORD_CODE_FIRST_LINE,
	WORD_CODE_START = 43,
	WORD_OBJECT_TYPE = 45,
	WORD_BYTES_LENGTH = 65,
	WORD_BYTES_START,
	WORD_TEXT_STATE = 68,
	WORD_TEXT_LENGTH,
	WORD_TEXT_ASCII,
	WORDS = 73,
};

bool col_python_published(const void *runtime, struct col_python_layout *layout,
			  struct col_python_runtime *out)
{
	const struct {
		uint16_t *to;
		int word;
		uint16_t max; /* what readers have space for */
	} rows[] = {
		{ &layout->state_next, WORD_STATE_NEXT, COL_PYTHON_NONE - 1 },
		{ &layout->state_frame, WORD_STATE_FRAME, COL_PYTHON_NONE - 1 },
		{ &layout->state_native_id, WORD_STATE_NATIVE_ID, COL_PYTHON_NONE - 1 },
		{ &layout->frame_previous, WORD_FRAME_PREVIOUS, COL_PYTHON_FRAME_BYTES - 8 },
		{ &layout->frame_code, WORD_FRAME_CODE, COL_PYTHON_FRAME_BYTES - 8 },
		{ &layout->frame_at, WORD_FRAME_AT, COL_PYTHON_FRAME_BYTES - 8 },
		{ &layout->frame_mark, WORD_FRAME_OWNER, COL_PYTHON_FRAME_BYTES - 1 },
		{ &layout->code_file, WORD_CODE_FILE, COL_PYTHON_CODE_BYTES - 8 },
		{ &layout->code_name, WORD_CODE_NAME, COL_PYTHON_CODE_BYTES - 8 },
		{ &layout->code_qualified, WORD_CODE_QUALIFIED, COL_PYTHON_CODE_BYTES - 8 },
		{ &layout->code_table, WORD_CODE_TABLE, COL_PYTHON_CODE_BYTES - 8 },
		{ &layout->code_first_line, WORD_CODE_FIRST_LINE, COL_PYTHON_CODE_BYTES - 8 },
		{ &layout->code_start, WORD_CODE_START, COL_PYTHON_NONE - 1 },
		{ &layout->object_type, WORD_OBJECT_TYPE, COL_PYTHON_HEAD_BYTES - 8 },
		{ &layout->bytes_length, WORD_BYTES_LENGTH, COL_PYTHON_HEAD_BYTES - 8 },
		{ &layout->bytes_start, WORD_BYTES_START, COL_PYTHON_HEAD_BYTES - 8 },
		{ &layout->text_state, WORD_TEXT_STATE, COL_PYTHON_HEAD_BYTES - 8 },
		{ &layout->text_length, WORD_TEXT_LENGTH, COL_PYTHON_HEAD_BYTES - 8 },
		{ &layout->text_ascii, WORD_TEXT_ASCII, COL_PYTHON_HEAD_BYTES - 8 },
	};
	uint64_t words[WORDS];

	memcpy(words, runtime, sizeof(words));
	if (memcmp(&words[WORD_COOKIE], "xdebugpy", 8) != 0 || words[WORD_VERSION] >> 16 != 0x030d)
		return false;
	for (size_t i = 0; i < WS_ARRAY_LEN(rows); i++) {
		if (words[rows[i].word] > rows[i].max)
			return false;
		*rows[i].to = (uint16_t)words[rows[i].word];
	}
	/* A text that is not ASCII has two words more. */
	layout->text_other = (uint16_t)(layout->text_ascii + 16);
	*out = (struct col_python_runtime){ words[WORD_INTERPRETERS], words[WORD_INTERPRETER_NEXT],
					    words[WORD_THREADS] };
	return true;
}
