/*
 * cfi: how to get from a frame to its caller, from a module's .eh_frame section.
 *
 * The section says for each instruction where the caller's registers are (DWARF call frame
 * information; System V ABI for x86-64, chapter 3.7). It is found through .eh_frame_hdr, a
 * sorted table of functions. A row of rules is made for one address (col_cfi_find), and
 * applied to a set of registers (col_cfi_step). Most rows fit into 64 bits
 * (col_cfi_pack), so that they can be cached.
 *
 * The bytes are those of mapped files, which may be damaged: nothing outside of the given
 * ranges is read, and everything else is read through a callback that can fail.
 *
 * Threads  pure functions.
 * Signals  any of it may run in a handler: no memory but the given one, no system calls.
 */
#ifndef WS_COLLECTOR_SAMPLE_CFI_H
#define WS_COLLECTOR_SAMPLE_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* Registers by their DWARF numbers of x86-64. */
enum col_cfi_register {
	COL_CFI_RBX = 3,
	COL_CFI_RBP = 6,
	COL_CFI_RSP = 7,
	COL_CFI_R12 = 12,
	COL_CFI_R13 = 13,
	COL_CFI_R14 = 14,
	COL_CFI_R15 = 15,
	COL_CFI_RIP = 16, /* the return address */
	COL_CFI_REGISTERS
};

struct col_cfi_regs {
	uint64_t value[COL_CFI_REGISTERS];
	uint32_t known; /* bit per register */
};

/* Memory that may be read: the parts of a file that are mapped. */
#define COL_CFI_RANGES 8u
struct col_cfi_ranges {
	struct {
		uintptr_t start, end;
	} range[COL_CFI_RANGES];
	uint32_t n;
};

enum col_cfi_how {
	COL_CFI_SAME, /* not changed; also: nothing is said */
	COL_CFI_UNDEFINED,
	COL_CFI_OFFSET,     /* saved at CFA + offset */
	COL_CFI_VAL_OFFSET, /* is CFA + offset */
	COL_CFI_REGISTER,   /* is in register `number`, + offset for the CFA */
	COL_CFI_EXPRESSION, /* saved where the expression says; for the CFA: its value */
	COL_CFI_VAL_EXPRESSION,
};

struct col_cfi_rule {
	uint32_t how;    /* enum col_cfi_how */
	uint32_t number; /* register, or bytes of the expression */
	union {
		int64_t offset;
		const uint8_t *expression;
	};
};

struct col_cfi_row {
	struct col_cfi_rule cfa; /* REGISTER or EXPRESSION */
	struct col_cfi_rule rules[COL_CFI_REGISTERS];
	bool signal; /* a frame that the kernel made: its caller was interrupted, not calling */
};

/* Memory for finding and applying a row; too much for the stack of a handler. */
#define COL_CFI_REMEMBERED 8u
struct col_cfi_work {
	struct col_cfi_row row, initial, remembered[COL_CFI_REMEMBERED];
	struct col_cfi_regs next;
	uint64_t stack[64]; /* of expressions */
};

/* 8 bytes at @at; false: they cannot be read. */
struct col_cfi_memory {
	bool (*read)(void *arg, uint64_t at, uint64_t *out);
	void *arg;
};

/* The row of @pc into work->row; @header: the module's .eh_frame_hdr. False: there is none. */
bool col_cfi_find(const struct col_cfi_ranges *ranges, uintptr_t header, uint64_t pc,
		  struct col_cfi_work *work);

enum col_cfi_result {
	COL_CFI_OK,
	COL_CFI_OUTERMOST, /* there is no caller */
	COL_CFI_FAILED,
};

/* From @regs to those of the caller, by work->row; rip is the return address. */
enum col_cfi_result col_cfi_step(struct col_cfi_work *work, struct col_cfi_memory memory,
				 struct col_cfi_regs *regs);

/*
 * A row in 64 bits, and the same step with it. 0: it does not fit, use the row.
 * Bits: 0 set; 1 CFA is rbp, else rsp; 2-7, 8-13, ... where rbx, rbp, r12 to r15 are
 * saved, in 8 bytes below the CFA, 0: unchanged; 38-62 offset of the CFA from its register, in
 * 8 bytes.
 */
uint64_t col_cfi_pack(const struct col_cfi_row *row);
enum col_cfi_result col_cfi_step_packed(uint64_t packed, struct col_cfi_memory memory,
					struct col_cfi_regs *regs);

#endif
