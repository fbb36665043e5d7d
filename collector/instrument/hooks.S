/*
 * hooks: where instrumented code arrives (x86-64).
 *
 * A compiler that knows a function may rely on every register that the function does not
 * change, and assembly code passes values wherever it wants. So all registers and the flags are
 * kept. What is called here is compiled without vector registers (calls.c).
 *
 * The stack pointer at the entry of a function is the address of its return address. This is the
 * function's slot. The original return address is kept COL_CALLS_MIRROR bytes (64 TiB) below the
 * slot, and the slot gets the address of col_instrument_return. The unwind information of that
 * code tells unwinders where the original is, so that exceptions, thread cancellation and
 * backtraces work as before. They see one more frame per call.
 */
	.macro save register
	pushq %\register
	.cfi_adjust_cfa_offset 8
	.endm
	.macro restore register
	popq %\register
	.cfi_adjust_cfa_offset -8
	.endm

	/* 80 bytes. sahf does not restore the overflow flag: seto and an addition do. */
	.macro save_all
	save rax
	lahf
	seto %al
	save rax
	save rcx
	save rdx
	save rsi
	save rdi
	save r8
	save r9
	save r10
	save r11
	.endm
	.macro restore_all
	restore r11
	restore r10
	restore r9
	restore r8
	restore rdi
	restore rsi
	restore rdx
	restore rcx
	restore rax
	addb $127, %al
	sahf
	restore rax
	.endm

	.macro function name, visibility=hidden
	.globl \name
	.\visibility \name
	.type \name, @function
	.p2align 5
\name:
	.endm

	.text
	/* From the code of a function for elsewhere: its number was pushed above its slot. */
	function col_instrument_patched
	.cfi_startproc
	.cfi_adjust_cfa_offset 8
	save_all
	movl 80(%rsp), %edi
	leaq 88(%rsp), %rsi
	call col_calls_enter
	movq %rax, 80(%rsp)
	restore_all
	leaq 8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	/* Below the stack pointer, but nothing else is: the function has not begun. */
	notrack jmp *-8(%rsp)
	.cfi_endproc
	.size col_instrument_patched, . - col_instrument_patched

	/*
	 * Where instrumented functions return to. An unwinder looks up the byte before a return
	 * address, hence the nop. It identifies frames by their stack pointer, which is the same
	 * here and in the caller. As a "signal frame" this one is different; the address in the
	 * caller is then of an instruction, not behind one, hence the -1.
	 */
	.p2align 5
	.type return_frame, @function
return_frame:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa rsp, 0
	/* val_expression of the return address: *(CFA - 8 - 0x400000000000) - 1 */
	.cfi_escape 0x16, 16, 13, 0x0f, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xbf, 0xff, 0xff, 0x22, 0x06, 0x31, 0x1c
	nop
	function col_instrument_return
	leaq -8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	save_all
	leaq 80(%rsp), %rdi
	call col_calls_leave
	movq %rax, 80(%rsp)
	restore_all
	leaq 8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	/* Not a return: the processor predicts returns by calls, and has used this one's. */
	notrack jmp *-8(%rsp)
	.cfi_endproc
	.size col_instrument_return, . - col_instrument_return
	.size return_frame, . - return_frame

	/* __fentry__: called first thing, so that the slot is above our return address. */
	function col_instrument_fentry, globl
	.cfi_startproc
	save_all
	movq 80(%rsp), %rdi
	leaq 88(%rsp), %rsi
	call col_calls_compiled
	restore_all
	ret
	.cfi_endproc
	.size col_instrument_fentry, . - col_instrument_fentry

	/* mcount: called with the function's frame pointer set up. */
	function col_instrument_mcount, globl
	.cfi_startproc
	save_all
	movq 80(%rsp), %rdi
	leaq 8(%rbp), %rsi
	call col_calls_compiled
	restore_all
	ret
	.cfi_endproc
	.size col_instrument_mcount, . - col_instrument_mcount

	/*
	 * void col_instrument_keeping(void (*what)(void *), void *arg): a call of ordinary code, with
	 * vector and x87 registers kept: components 0 to 2 and 5 to 7 of XSAVE. They end below 2752.
	 */
	function col_instrument_keeping
	.cfi_startproc
	save rbp
	movq %rsp, %rbp
	.cfi_def_cfa_register rbp
	pushfq
	cld
	subq $2760, %rsp
	andq $-64, %rsp
	movq %rdi, %r8
	xorl %eax, %eax
	leaq 512(%rsp), %rdi
	movl $8, %ecx
	rep stosq
	movl $0xe7, %eax
	xorl %edx, %edx
	cmpb $0, col_instrument_has_xsave(%rip)
	je 1f
	xsave64 (%rsp)
	jmp 2f
1:	fxsave64 (%rsp)
2:	movq %rsi, %rdi
	call *%r8
	movl $0xe7, %eax
	xorl %edx, %edx
	cmpb $0, col_instrument_has_xsave(%rip)
	je 1f
	xrstor64 (%rsp)
	jmp 2f
1:	fxrstor64 (%rsp)
2:	leaq -8(%rbp), %rsp
	popfq
	popq %rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size col_instrument_keeping, . - col_instrument_keeping

	.section .note.GNU-stack, "", @progbits
