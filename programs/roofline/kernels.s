; The kernels of the roofline benchmark. bench.c says what each one's turn is worth.
;
; In assembly, because a peak is a property of instructions: a compiler would choose others, or see that
; nobody reads the results and leave the work out. Nothing is stored.
;
; Arguments, the same for all:
;	0   buffer        address
;	8   turns         how often the body of the loop is run, by every wave
;	12  step          bytes: what a memory kernel adds from one load to the next
;	16  mask          bytes - 1 of the part of the buffer that is read (a power of two)
; Workgroups have 256 lanes, four waves. A wave's load is 1024 bytes: 16 per lane.

.set GFX90A, .amdgcn.gfx_generation_minor == 0 && .amdgcn.gfx_generation_stepping == 0xa
.set GFX940, .amdgcn.gfx_generation_minor == 4
.set FP64_MATRIX, GFX90A || GFX940

; ---- what kernels begin and end with ----

; s[4:5] buffer, s6 turns, s7 step, s8 mask; s2 is the workgroup
.macro begin name
	.protected	\name
	.globl		\name
	.p2align	8
	.type		\name, @function
\name:
	s_load_dwordx4	s[4:7], s[0:1], 0x0
	s_load_dword	s8, s[0:1], 0x10
.endm

; The loop around a body; a kernel has one.
.macro loop name
	s_waitcnt	lgkmcnt(0)
\name\()_turn:
.endm

; `split` is a line of its own where one file of registers holds both kinds.
.macro descriptor name, vgprs, accs, lds, split
	.section	.rodata, "a", @progbits
	.p2align	6
	.amdhsa_kernel \name
		.amdhsa_group_segment_fixed_size \lds
		.amdhsa_kernarg_size 24
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_sgpr 16
		.amdhsa_next_free_vgpr \vgprs + \accs
		\split
	.end_amdhsa_kernel
	.text
.endm

; Registers, accumulators, bytes of LDS.
.macro finish name, vgprs, accs=0, lds=0
	s_sub_u32	s6, s6, 1
	s_cmp_lg_u32	s6, 0
	s_cbranch_scc1	\name\()_turn
	s_endpgm
\name\()_end:
	.size		\name, \name\()_end - \name
	.if FP64_MATRIX
		descriptor \name, \vgprs, \accs, \lds, ".amdhsa_accum_offset \vgprs"
	.else
		descriptor \name, \vgprs, \accs, \lds
	.endif
.endm

.text

; ---- memory ----

; v0: where the lane's first 16 bytes are, in the part of the buffer that is read
.macro first_address
	s_lshl_b32	s9, s2, 12		; 4096 bytes per workgroup
	v_lshlrev_b32	v0, 4, v0
.endm

; Streams through the buffer: what was read is never read again. Eight loads of each wave are on their
; way, and half of them are waited for at a time.
begin hbm
	first_address
	s_waitcnt	lgkmcnt(0)
	s_add_u32	s4, s4, s9
	s_addc_u32	s5, s5, 0
	loop hbm
	.macro stream first
		global_load_dwordx4	v[\first:\first+3], v0, s[4:5]
		s_add_u32		s4, s4, s7
		s_addc_u32		s5, s5, 0
	.endm
	stream 4
	stream 8
	stream 12
	stream 16
	s_waitcnt	vmcnt(4)
	stream 20
	stream 24
	stream 28
	stream 32
	s_waitcnt	vmcnt(4)
finish hbm, 36

; Walks through a part of the buffer that L2 holds, and that is much larger than any L1. Waves begin at
; different places, and their strides keep them from meeting what their CU read before.
begin l2
	first_address
	s_waitcnt	lgkmcnt(0)
	v_add_u32	v0, s9, v0
	v_and_b32	v0, s8, v0
	loop l2
	.macro walk first
		global_load_dwordx4	v[\first:\first+3], v0, s[4:5]
		v_add_u32		v0, s7, v0
		v_and_b32		v0, s8, v0
	.endm
	walk 4
	walk 8
	walk 12
	walk 16
	s_waitcnt	vmcnt(4)
	walk 20
	walk 24
	walk 28
	walk 32
	s_waitcnt	vmcnt(4)
finish l2, 36

; All waves read the same 4 KiB, again and again.
begin l1
	v_and_b32	v0, 63, v0
	v_lshlrev_b32	v0, 4, v0
	loop l1
	global_load_dwordx4	v[4:7], v0, s[4:5]
	global_load_dwordx4	v[8:11], v0, s[4:5] offset:1024
	global_load_dwordx4	v[12:15], v0, s[4:5] offset:2048
	global_load_dwordx4	v[16:19], v0, s[4:5] offset:3072
	s_waitcnt	vmcnt(4)
	global_load_dwordx4	v[20:23], v0, s[4:5]
	global_load_dwordx4	v[24:27], v0, s[4:5] offset:1024
	global_load_dwordx4	v[28:31], v0, s[4:5] offset:2048
	global_load_dwordx4	v[32:35], v0, s[4:5] offset:3072
	s_waitcnt	vmcnt(4)
finish l1, 36

; 1024 bytes per read and wave, without bank conflicts: eight lanes cover the 32 banks.
begin lds
	v_lshlrev_b32	v0, 4, v0
	s_mov_b32	m0, -1
	loop lds
	ds_read_b128	v[4:7], v0
	ds_read_b128	v[8:11], v0
	ds_read_b128	v[12:15], v0
	ds_read_b128	v[16:19], v0
	s_waitcnt	lgkmcnt(4)
	ds_read_b128	v[20:23], v0
	ds_read_b128	v[24:27], v0
	ds_read_b128	v[28:31], v0
	ds_read_b128	v[32:35], v0
	s_waitcnt	lgkmcnt(4)
finish lds, 36, 0, 4096

; ---- vector arithmetic ----

; Sixteen chains, four times: values stay near one, so that no instruction meets a special case.
.macro chains op, a, b
	.irp v, 8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38
		\op	v[\v], \a, v[\v], \b
	.endr
.endm
.macro chains_of_pairs op, a, b
	.irp v, 8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38
		\op	v[\v:\v+1], \a, v[\v:\v+1], \b
	.endr
.endm

begin fp32
	v_mov_b32	v2, 0.5
	.irp v, 8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38
		v_mov_b32	v[\v], 1.0
	.endr
	loop fp32
	.rept 4
		chains v_fma_f32, v2, v2
	.endr
finish fp32, 40

; packed: two results per lane and instruction
begin fp16
	v_mov_b32	v2, 0x38003800		; 0.5, 0.5
	.irp v, 8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38
		v_mov_b32	v[\v], 0x3c003c00
	.endr
	loop fp16
	.rept 4
		chains v_pk_fma_f16, v2, v2
	.endr
finish fp16, 40

begin fp64
	v_mov_b32	v2, 0
	v_mov_b32	v3, 0x3fe00000		; 0.5
	.irp v, 8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38
		v_mov_b32	v[\v], 0
		v_mov_b32	v[\v+1], 0x3ff00000
	.endr
	loop fp64
	.rept 4
		chains_of_pairs v_fma_f64, v[2:3], v[2:3]
	.endr
finish fp64, 40

; What compilers make of a * b + c: in 16 bits for bytes,
begin int8
	v_mov_b32	v2, 3
	loop int8
	.rept 4
		chains v_mad_u16, v2, v2
	.endr
finish int8, 40

; by the 32 x 32 + 64 multiply-add for 32 bits,
begin int32
	v_mov_b32	v2, 3
	v_mov_b32	v3, 5
	loop int32
	.rept 4
		.irp v, 8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38
			v_mad_u64_u32	v[\v:\v+1], vcc, v2, v3, v[\v:\v+1]
		.endr
	.endr
finish int32, 40

; and with two more products for the upper half of 64 bits.
begin int64
	v_mov_b32	v2, 3
	v_mov_b32	v3, 5
	loop int64
	.rept 4
		.irp v, 8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38
			v_mad_u64_u32	v[\v:\v+1], vcc, v2, v3, v[\v:\v+1]
			v_mul_lo_u32	v4, v2, v3
			v_mul_lo_u32	v5, v3, v2
			v_add3_u32	v[\v+1], v[\v+1], v4, v5
		.endr
	.endr
finish int64, 40

; ---- matrices ----

; Two chains of accumulators, eight instructions of each. All inputs are zero: the unit does not care.
.macro matrix name, op, ab, accs
	begin \name
	.irp v, 0,1,2,3,4,5,6,7
		v_mov_b32	v[\v], 0
	.endr
	.set acc, 0
	.rept 2 * \accs
		v_accvgpr_write_b32	a[acc], 0
		.set acc, acc + 1
	.endr
	s_nop	7	; until the matrix unit may read them
	loop \name
	.rept 8
		\op	a[0:\accs-1], v[0:\ab-1], v[4:4+\ab-1], a[0:\accs-1]
		\op	a[\accs:2*\accs-1], v[0:\ab-1], v[4:4+\ab-1], a[\accs:2*\accs-1]
	.endr
	finish \name, 8, 2*\accs
.endm
matrix		mfma_f32,	v_mfma_f32_32x32x2f32,		1, 16
.if FP64_MATRIX
	matrix	mfma_f64,	v_mfma_f64_16x16x4f64,		2, 8
.endif
.ifndef GFX950
	matrix	mfma_f16,	v_mfma_f32_32x32x8f16,		2, 16
	.if FP64_MATRIX
		matrix	mfma_bf16,	v_mfma_f32_32x32x8bf16_1k,	2, 16
	.else
		matrix	mfma_bf16,	v_mfma_f32_32x32x4bf16,		1, 16
	.endif
	.if GFX940
		matrix	mfma_i8,	v_mfma_i32_32x32x16_i8,		2, 16
		matrix	mfma_f8,	v_mfma_f32_32x32x16_fp8_fp8,	2, 16
	.else
		matrix	mfma_i8,	v_mfma_i32_32x32x8i8,		1, 16
	.endif
.else

; As above, of 32 x 32, in words: LLVM 15 does not know the instructions of gfx950. The matrices are v[0:7] and
; v[8:15], or a part of that. Formats of f8f6f4: 0 fp8, 2 fp6, 4 fp4.
.macro words name, op, format_a=0, format_b=0
	begin \name
	.irp v, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
		v_mov_b32	v[\v], 0
	.endr
	.set acc, 0
	.rept 32
		v_accvgpr_write_b32	a[acc], 0
		.set acc, acc + 1
	.endr
	s_nop	7
	loop \name
	.rept 8
		.long	0xd3808000 | \op << 16 | \format_a << 8
		.long	0x100 | 0x108 << 9 | 0x100 << 18 | \format_b << 29
		.long	0xd3808010 | \op << 16 | \format_a << 8
		.long	0x100 | 0x108 << 9 | 0x110 << 18 | \format_b << 29
	.endr
	finish \name, 16, 32
.endm
	words	mfma_f16,	0x55		; v_mfma_f32_32x32x16_f16
	words	mfma_bf16,	0x37		; v_mfma_f32_32x32x16_bf16
	words	mfma_i8,	0x38		; v_mfma_i32_32x32x32_i8
	words	mfma_f8,	0x2e		; v_mfma_f32_32x32x64_f8f6f4
	words	mfma_f6,	0x2e, 2, 2
	words	mfma_f4,	0x2e, 4, 4
	words	mfma_f6f4,	0x2e, 2, 4
.endif

	.fill 64, 4, 0xbf800000	; s_nop: the instruction cache reads ahead
