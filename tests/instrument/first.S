/*
 * Functions with uncommon first instructions. Counting is done by the callers, because a counter
 * would be the first instruction. All return something that depends on every instruction.
 */
	.macro function name
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	.endm
	.macro end name
	.cfi_endproc
	.size \name, . - \name
	.endm

	.data
number:	.quad 40
address: .quad helper
	.text
	function helper
	leal 100(%rdi), %eax
	nop
	nop
	ret
	end helper

	/* a call is the first instruction; the stack is not aligned, which helper does not need */
	function first_call
	call helper
	addl $1, %eax
	ret
	end first_call

	/* push, then a call that ends behind the 5 bytes */
	function push_call
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	call helper
	popq %rbx
	.cfi_adjust_cfa_offset -8
	addl $2, %eax
	ret
	end push_call

	function indirect_call
	call *address(%rip)
	addl $3, %eax
	ret
	end indirect_call

	function rip_operand
	movl number(%rip), %eax
	addl %edi, %eax
	ret
	end rip_operand

	function rip_operand_immediate
	cmpl $39, number(%rip)
	seta %al
	movzbl %al, %eax
	addl %edi, %eax
	ret
	end rip_operand_immediate

	function short_branch
	testl %edi, %edi
	je 1f
	movl $11, %eax
	ret
1:	movl $12, %eax
	ret
	end short_branch

	/* a loop whose head is the first instruction: one call, many rounds */
	function loop_to_entry
	addl $1, %esi
	subl $1, %edi
	jg loop_to_entry
	movl %esi, %eax
	ret
	end loop_to_entry

	function with_endbr
	endbr64
	movl %edi, %eax
	addl $5, %eax
	ret
	end with_endbr

	/* only a jump: a tail call */
	function tail_jump
	jmp helper
	nop
	end tail_jump

	/* passes a value in the carry flag, and one in r11 */
	function keeps_flags
	adcl %edi, %edi
	leal (%rdi,%r11), %eax
	stc
	ret
	end keeps_flags

	function call_keeps_flags
	movl $1000, %r11d
	stc
	call keeps_flags
	adcl $0, %eax
	addl %r11d, %eax
	ret
	end call_keeps_flags

	/* refused: a branch of the function leads behind its first byte */
	function into_middle
	xorl %eax, %eax
1:	addl $1, %eax
	subl $1, %edi
	jg 1b
	ret
	end into_middle

	/* refused */
	function too_short
	leal (%rdi,%rdi), %eax
	ret
	end too_short

	/* refused: jrcxz has no long form */
	function has_loop
	jrcxz 1f
	movl $1, %eax
	ret
1:	movl $2, %eax
	ret
	end has_loop

	.section .note.GNU-stack, "", @progbits
