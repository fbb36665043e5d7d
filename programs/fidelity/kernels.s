; The kernels of 'wavescope fidelity': what they execute is written here, so what hardware counts follows.
; known.c says what that is.
;
; Arguments, the same for all but vcopy: 0 buffer, 8 a, 12 b, 16 c, 20 d.
;
; gfx942 and gfx950 are assembled as gfx940, the last one that LLVM 15 knows (gpu/embed.py); GFX950 is defined
; for the latter. kernels_mi300.s has what only they execute, kernels_vcopy.s the copy.

.set GFX90A, .amdgcn.gfx_generation_minor == 0 && .amdgcn.gfx_generation_stepping == 0xa
.set GFX940, .amdgcn.gfx_generation_minor == 4
.set FP64_MATRIX, GFX90A || GFX940

; ---- what kernels begin and end with ----

.macro begin name
	.protected	\name
	.globl		\name
	.p2align	8
	.type		\name, @function
\name:
.endm

; s[4:5] buffer, s[6:9] a to d, s2 workgroup
.macro arguments
	s_load_dwordx4	s[4:7], s[0:1], 0x0
	s_load_dwordx2	s[8:9], s[0:1], 0x10
	s_waitcnt	lgkmcnt(0)
.endm

; `split` is a line of its own where one file of registers holds both kinds.
.macro descriptor name, vgprs, accs, sgprs, lds, split
	.section	.rodata, "a", @progbits
	.p2align	6
	.amdhsa_kernel \name
		.amdhsa_group_segment_fixed_size \lds
		.amdhsa_kernarg_size 64
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_sgpr \sgprs
		.amdhsa_next_free_vgpr \vgprs + \accs
		\split
	.end_amdhsa_kernel
	.text
.endm

.macro finish name, vgprs=8, accs=0, sgprs=16, lds=0
	s_endpgm
\name\()_end:
	.size		\name, \name\()_end - \name
	.if FP64_MATRIX
		descriptor \name, \vgprs, \accs, \sgprs, \lds, ".amdhsa_accum_offset \vgprs"
	.else
		descriptor \name, \vgprs, \accs, \sgprs, \lds
	.endif
.endm

.text

.include "kernels_vcopy.s"

; ---- one instruction, 64 times ----

.macro repeat name, insn:vararg
	begin \name
	.rept 64
		\insn
	.endr
	finish \name, 20
.endm

repeat add_f16,		v_add_f16	v1, v2, v3
repeat sub_f16,		v_sub_f16	v1, v2, v3
repeat mul_f16,		v_mul_f16	v1, v2, v3
repeat fma_f16,		v_fma_f16	v1, v2, v3, v4
repeat rcp_f16,		v_rcp_f16	v1, v2
repeat sqrt_f16,	v_sqrt_f16	v1, v2
repeat exp_f16,		v_exp_f16	v1, v2
repeat pk_add_f16,	v_pk_add_f16	v1, v2, v3
repeat pk_mul_f16,	v_pk_mul_f16	v1, v2, v3
repeat pk_fma_f16,	v_pk_fma_f16	v1, v2, v3, v4
repeat add_f32,		v_add_f32	v1, v2, v3
repeat sub_f32,		v_sub_f32	v1, v2, v3
repeat mul_f32,		v_mul_f32	v1, v2, v3
repeat fma_f32,		v_fma_f32	v1, v2, v3, v4
repeat fmac_f32,	v_fmac_f32	v1, v2, v3
repeat rcp_f32,		v_rcp_f32	v1, v2
repeat rsq_f32,		v_rsq_f32	v1, v2
repeat sqrt_f32,	v_sqrt_f32	v1, v2
repeat exp_f32,		v_exp_f32	v1, v2
repeat log_f32,		v_log_f32	v1, v2
repeat sin_f32,		v_sin_f32	v1, v2
repeat cos_f32,		v_cos_f32	v1, v2
repeat add_f64,		v_add_f64	v[2:3], v[4:5], v[6:7]
repeat mul_f64,		v_mul_f64	v[2:3], v[4:5], v[6:7]
repeat fma_f64,		v_fma_f64	v[2:3], v[4:5], v[6:7], v[8:9]
repeat rcp_f64,		v_rcp_f64	v[2:3], v[4:5]
repeat sqrt_f64,	v_sqrt_f64	v[2:3], v[4:5]
repeat add_u32,		v_add_u32	v1, v2, v3
repeat mul_lo_u32,	v_mul_lo_u32	v1, v2, v3
repeat and_b32,		v_and_b32	v1, v2, v3
repeat lshlrev_b32,	v_lshlrev_b32	v1, v2, v3
repeat cmp_u32,		v_cmp_eq_u32	vcc, v2, v3
repeat mad_u64_u32,	v_mad_u64_u32	v[2:3], vcc, v4, v5, v[6:7]
repeat cmp_u64,		v_cmp_eq_u64	vcc, v[2:3], v[4:5]
repeat cvt_f32_i32,	v_cvt_f32_i32	v1, v2
repeat cvt_f16_f32,	v_cvt_f16_f32	v1, v2
repeat cvt_f64_f32,	v_cvt_f64_f32	v[2:3], v4
repeat mov_b32,		v_mov_b32	v1, v2
repeat lshlrev_b64,	v_lshlrev_b64	v[2:3], v4, v[6:7]
repeat cndmask_b32,	v_cndmask_b32	v1, v2, v3, vcc
.if FP64_MATRIX
	repeat pk_add_f32,	v_pk_add_f32	v[2:3], v[4:5], v[6:7]
	repeat pk_mul_f32,	v_pk_mul_f32	v[2:3], v[4:5], v[6:7]
	repeat pk_fma_f32,	v_pk_fma_f32	v[2:3], v[4:5], v[6:7], v[8:9]
.endif

; ---- matrix instructions, 16 of each ----

.macro matrix name, accs, op, a, b
	begin \name
	.rept 16
		\op	a[0:\accs-1], \a, \b, a[0:\accs-1]
	.endr
	finish \name, 8, 32
.endm

matrix mfma_32x32x8f16,		16, v_mfma_f32_32x32x8f16,	v[0:1], v[2:3]
matrix mfma_16x16x16f16,	4,  v_mfma_f32_16x16x16f16,	v[0:1], v[2:3]
matrix mfma_4x4x4f16,		4,  v_mfma_f32_4x4x4f16,	v[0:1], v[2:3]
.if !GFX940
	matrix mfma_32x32x4bf16, 16, v_mfma_f32_32x32x4bf16,	v0, v2
.endif
matrix mfma_32x32x2f32,		16, v_mfma_f32_32x32x2f32,	v0, v2
matrix mfma_16x16x4f32,		4,  v_mfma_f32_16x16x4f32,	v0, v2
matrix mfma_32x32x4f16,		32, v_mfma_f32_32x32x4f16,	v[0:1], v[2:3]
matrix mfma_16x16x4f16,		16, v_mfma_f32_16x16x4f16,	v[0:1], v[2:3]
.if !GFX940
	matrix mfma_32x32x2bf16, 32, v_mfma_f32_32x32x2bf16,	v0, v2
	matrix mfma_16x16x8bf16, 4, v_mfma_f32_16x16x8bf16,	v0, v2
	matrix mfma_4x4x2bf16,	4,  v_mfma_f32_4x4x2bf16,	v0, v2
.endif
matrix mfma_32x32x1f32,		32, v_mfma_f32_32x32x1f32,	v0, v2
matrix mfma_16x16x1f32,		16, v_mfma_f32_16x16x1f32,	v0, v2
matrix mfma_4x4x1f32,		4,  v_mfma_f32_4x4x1f32,	v0, v2
matrix mfma_32x32x4i8,		32, v_mfma_i32_32x32x4i8,	v0, v2
matrix mfma_4x4x4i8,		4,  v_mfma_i32_4x4x4i8,		v0, v2
.if !GFX940
	matrix mfma_32x32x8i8,	16, v_mfma_i32_32x32x8i8,	v0, v2
	matrix mfma_16x16x16i8,	4,  v_mfma_i32_16x16x16i8,	v0, v2
.endif
.if FP64_MATRIX
	matrix mfma_32x32x8bf16_1k, 16, v_mfma_f32_32x32x8bf16_1k, v[0:1], v[2:3]
	matrix mfma_16x16x16bf16_1k, 4, v_mfma_f32_16x16x16bf16_1k, v[0:1], v[2:3]
	matrix mfma_4x4x4bf16_1k, 4, v_mfma_f32_4x4x4bf16_1k,	v[0:1], v[2:3]
	matrix mfma_16x16x4f64,	8,  v_mfma_f64_16x16x4f64,	v[0:1], v[2:3]
	matrix mfma_4x4x4f64,	2,  v_mfma_f64_4x4x4f64,	v[0:1], v[2:3]
.endif

; ---- scalar instructions ----

; loads: 5, 4, 3, 2, 1 of 1, 2, 4, 8, 16 dwords; 10 sums, 6 branches, 3 s_nop, a barrier
begin scalar_mix
	.rept 5
		s_load_dword	s8, s[0:1], 0x0
	.endr
	.rept 4
		s_load_dwordx2	s[8:9], s[0:1], 0x0
	.endr
	.rept 3
		s_load_dwordx4	s[8:11], s[0:1], 0x0
	.endr
	.rept 2
		s_load_dwordx8	s[8:15], s[0:1], 0x0
	.endr
	s_load_dwordx16	s[16:31], s[0:1], 0x0
	s_waitcnt	lgkmcnt(0)
	.rept 10
		s_add_u32	s8, s9, s10
	.endr
	.rept 6
		s_cbranch_scc0	1f	; taken or not, it counts
1:
	.endr
	.rept 3
		s_nop	0
	.endr
	s_barrier
finish scalar_mix, 8, 0, 32

; ---- lanes switched off ----

; half of them for 64 additions, then all for 16
begin half_of_the_lanes
	s_mov_b32	exec_hi, 0
	.rept 64
		v_add_f32	v1, v2, v3
	.endr
	s_mov_b32	exec_hi, -1
	.rept 16
		v_add_f32	v1, v2, v3
	.endr
finish half_of_the_lanes

; ---- vector memory ----

; v0: the lane's number in the grid, of workgroups of 64
.macro number
	s_lshl_b32	s10, s2, 6
	v_add_u32	v0, s10, v0
.endm

; lane n reads at n * a
.macro reader name, op, to
	begin \name
	arguments
	number
	v_mul_lo_u32	v0, v0, s6
	\op		\to, v0, s[4:5]
	s_waitcnt	vmcnt(0)
	finish \name
.endm
reader read_x1, global_load_dword, v1
reader read_x2, global_load_dwordx2, v[2:3]
reader read_x4, global_load_dwordx4, v[2:5]

; lane n writes at n * a
.macro writer name, op, from
	begin \name
	arguments
	number
	v_mul_lo_u32	v0, v0, s6
	\op		v0, \from, s[4:5]
	finish \name
.endm
writer write_x1, global_store_dword, v1
writer write_x2, global_store_dwordx2, v[2:3]
writer write_x4, global_store_dwordx4, v[2:5]

; lane n reads in line n * a & b of 64 bytes: all over the place, and each line once if a is odd
begin read_random
	arguments
	number
	v_mul_lo_u32	v0, v0, s6
	v_and_b32	v0, s7, v0
	v_lshlrev_b32	v0, 6, v0
	global_load_dword v1, v0, s[4:5]
	s_waitcnt	vmcnt(0)
finish read_random

; A wave reads parts of 8 KiB: the one of its number, then the one a behind it (round, b: how many parts
; there are - 1), c times in all.
begin read_again
	arguments
	v_lshlrev_b32	v0, 4, v0
read_again_turn:
	s_and_b32	s10, s2, s7
	s_lshl_b32	s10, s10, 13
	v_add_u32	v1, s10, v0
	.rept 8
		global_load_dwordx4 v[4:7], v1, s[4:5]
		v_add_u32	v1, 0x400, v1
	.endr
	s_waitcnt	vmcnt(0)
	s_add_u32	s2, s2, s6
	s_sub_u32	s8, s8, 1
	s_cmp_lg_u32	s8, 0
	s_cbranch_scc1	read_again_turn
finish read_again

; ---- streams: lane n has the dwords n, n + a, n + 2 a, ...: b of them, one after the other ----

.macro stream name, op:vararg
	begin \name
	arguments
	number
	v_lshlrev_b32	v0, 2, v0
	s_lshl_b32	s6, s6, 2
\name\()_turn:
	\op
	v_add_u32	v0, s6, v0
	s_sub_u32	s7, s7, 1
	s_cmp_lg_u32	s7, 0
	s_cbranch_scc1	\name\()_turn
	s_waitcnt	vmcnt(0)
	finish \name
.endm
stream stream_read,	global_load_dword	v1, v0, s[4:5]
stream stream_write,	global_store_dword	v0, v1, s[4:5]
stream stream_add,	global_atomic_add	v0, v2, s[4:5]

; ---- atomics, on the dword of the lane's number times a ----

.macro atomic name, op:vararg
	begin \name
	arguments
	v_mul_lo_u32	v0, v0, s6
	\op
	s_waitcnt	vmcnt(0)
	finish \name
.endm
atomic atomic_add,		global_atomic_add	v0, v2, s[4:5]
.if GFX940	; what glc is called there
	atomic atomic_add_return, global_atomic_add	v1, v0, v2, s[4:5] sc0
.else
	atomic atomic_add_return, global_atomic_add	v1, v0, v2, s[4:5] glc
.endif
.if FP64_MATRIX
	atomic atomic_add_f64,	global_atomic_add_f64	v0, v[2:3], s[4:5]
.endif

; ---- flat: a lane whose number & a is b has its dword in LDS, the others have theirs in the buffer ----

.macro flat name, op:vararg
	begin \name
	arguments
	v_and_b32	v1, s6, v0
	v_cmp_eq_u32	s[12:13], s7, v1
	v_lshlrev_b32	v0, 2, v0
	s_getreg_b32	s10, hwreg(HW_REG_SH_MEM_BASES, 16, 16)
	s_lshl_b32	s10, s10, 16
	v_mov_b32	v3, s5
	v_add_co_u32	v2, vcc, s4, v0
	v_addc_co_u32	v3, vcc, 0, v3, vcc
	v_mov_b32	v4, s10
	v_cndmask_b32	v2, v2, v0, s[12:13]
	v_cndmask_b32	v3, v3, v4, s[12:13]
	\op
	s_waitcnt	vmcnt(0) & lgkmcnt(0)
	finish \name, 8, 0, 16, 256
.endm
flat flat_load,		flat_load_dword		v1, v[2:3]
flat flat_store,	flat_store_dword	v[2:3], v0
flat flat_add,		flat_atomic_add		v[2:3], v0

; ---- LDS, at the address that the buffer has for the lane ----

.macro local name, op:vararg
	begin \name
	arguments
	v_lshlrev_b32	v0, 2, v0
	global_load_dword v0, v0, s[4:5]
	s_mov_b32	m0, -1
	s_waitcnt	vmcnt(0)
	\op
	s_waitcnt	lgkmcnt(0)
	finish \name, 8, 0, 16, 16384
.endm
local lds_read_b32,	ds_read_b32	v1, v0
local lds_read_b64,	ds_read_b64	v[2:3], v0
local lds_read_b128,	ds_read_b128	v[4:7], v0
local lds_write_b32,	ds_write_b32	v0, v1
local lds_add_u32,	ds_add_u32	v0, v1
local lds_add_rtn_u32,	ds_add_rtn_u32	v1, v0, v2

; ---- scratch: four dwords of each lane, written and read ----

; `enable` is what turns scratch on; `buffer` a line of its own where it has a descriptor.
.macro scratch_descriptor name, enable, buffer, split
	.section	.rodata, "a", @progbits
	.p2align	6
	.amdhsa_kernel \name
		.amdhsa_kernarg_size 64
		.amdhsa_private_segment_fixed_size 16
		\enable
		\buffer
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_next_free_sgpr 16
		.amdhsa_next_free_vgpr 8
		\split
	.end_amdhsa_kernel
	.text
.endm

.macro buffer_descriptor name, split
	scratch_descriptor \name, ".amdhsa_system_sgpr_private_segment_wavefront_offset 1", ".amdhsa_user_sgpr_private_segment_buffer 1", "\split"
.endm

; with 16 bytes of scratch per lane
.macro finish_scratch name
	s_endpgm
\name\()_end:
	.size		\name, \name\()_end - \name
	.if GFX940
		scratch_descriptor \name, ".amdhsa_enable_private_segment 1", "", ".amdhsa_accum_offset 8"
	.elseif GFX90A
		buffer_descriptor \name, ".amdhsa_accum_offset 8"
	.else
		buffer_descriptor \name
	.endif
.endm

begin scratch
.if GFX940
	.rept 4
		scratch_store_dword	off, v1, off
		scratch_store_dword	off, v1, off offset:4
	.endr
	s_waitcnt	vmcnt(0)
	.rept 4
		scratch_load_dword	v2, off, off offset:4
	.endr
.else
	.rept 4
		buffer_store_dword	v1, off, s[0:3], s7
		buffer_store_dword	v1, off, s[0:3], s7 offset:4
	.endr
	s_waitcnt	vmcnt(0)
	.rept 4
		buffer_load_dword	v2, off, s[0:3], s7 offset:4
	.endr
.endif
	s_waitcnt	vmcnt(0)
finish_scratch scratch

; ---- instructions of the other kinds; known_kinds.c has their counts ----

; 8 branches of every sort, 6 scalar instructions, a vector one without lanes; what is jumped over does not count
begin branches
	s_mov_b64	exec, 0
	s_cbranch_execz	1f
	.rept 20
		v_mov_b32	v1, v2
	.endr
1:	v_mov_b32	v1, v2
	s_mov_b64	exec, -1
	s_branch	2f
	s_nop		0
2:	s_mov_b64	vcc, -1
	s_cbranch_vccz	3f
	s_cbranch_vccnz	3f
	s_nop		0
3:	s_getpc_b64	s[4:5]
branches_here:
	s_add_u32	s4, s4, branches_there - branches_here
	s_addc_u32	s5, s5, 0
	s_setpc_b64	s[4:5]
	s_nop		0
branches_there:
	s_call_b64	s[6:7], 4f
	s_branch	5f
	s_nop		0
4:	s_setpc_b64	s[6:7]
5:
finish branches

; 16 lanes: 8 instructions of four quad-cycles, 8 of one; none: 4 of four
begin few_lanes
	s_mov_b64	exec, 0xffff
	.rept 8
		v_rcp_f32	v1, v2
	.endr
	.rept 8
		v_fma_f32	v1, v2, v3, v4
	.endr
	s_mov_b64	exec, 0
	.rept 4
		v_rcp_f32	v1, v2
	.endr
	s_mov_b64	exec, -1
finish few_lanes

; 5 vector instructions and a load are left out, 3 are not
begin skipped
	s_setvskip	-1, 0
	.rept 5
		v_mov_b32	v1, v2
	.endr
	global_load_dword v1, v[2:3], off
	s_setvskip	0, 0
	.rept 3
		v_mov_b32	v1, v2
	.endr
finish skipped

; 2 messages to nobody, and the end, which is one as well; 2 barriers, 3 that need no unit
begin messages
	.rept 2
		s_sendmsg	15
		s_barrier
	.endr
	s_setprio	1
	s_sleep		1
	s_waitcnt	0
finish messages

; besides the arguments: 3 clocks, 2 invalidations, 2 stores, 4 atomics
begin scalar_memory
	arguments
	.rept 3
		s_memtime	s[10:11]
	.endr
	.rept 2
		s_dcache_inv
	.endr
	.rept 2
		s_store_dword	s6, s[4:5], 0x0
	.endr
	.rept 3
		s_atomic_add	s6, s[4:5], 0x40
	.endr
	s_atomic_add	s6, s[4:5], 0x40 glc
	s_waitcnt	lgkmcnt(0)
finish scalar_memory

; 2 loads, 3 stores, 2 atomics and one that returns, of neighbouring dwords
begin buffers
	arguments
	s_mov_b32	s12, s4
	s_mov_b32	s13, s5
	s_movk_i32	s14, 0x1000
	s_mov_b32	s15, 0x27000
	v_lshlrev_b32	v0, 2, v0
	.rept 2
		buffer_load_dword	v1, v0, s[12:15], 0 offen
	.endr
	.rept 3
		buffer_store_dword	v1, v0, s[12:15], 0 offen
	.endr
	.rept 2
		buffer_atomic_add	v1, v0, s[12:15], 0 offen
	.endr
	.if GFX940
		buffer_atomic_add	v1, v0, s[12:15], 0 offen sc0
	.else
		buffer_atomic_add	v1, v0, s[12:15], 0 offen glc
	.endif
	s_waitcnt	vmcnt(0)
finish buffers

; 4 of the global data share, of which a compute process has none
begin global_share
	v_mov_b32	v0, 0
	s_mov_b32	m0, -1
	.rept 3
		ds_add_u32	v0, v1 gds
	.endr
	ds_read_b32	v1, v0 gds
	s_waitcnt	lgkmcnt(0)
finish global_share

local lds_read2_b32,	ds_read2_b32	v[2:3], v0 offset1:1
local lds_permute,	ds_bpermute_b32	v1, v0, v2

; ---- waves that stay for a while, with more or less of something ----

.macro stay name, vgprs, sgprs
	begin \name
	.rept 4
		s_sleep	127
	.endr
	finish \name, \vgprs, 0, \sgprs
.endm
stay stay,		8,	16
.if FP64_MATRIX
	stay stay_vgprs,	128,	16	; of 512
.else
	stay stay_vgprs,	64,	16	; of 256
.endif
begin stay_scratch
	.rept 4
		s_sleep	127
	.endr
finish_scratch stay_scratch
stay stay_sgprs,	8,	96	; with the reserved ones and the trap handler's 128 of 800: six waves

.if GFX940
	.include "kernels_mi300.s"
.endif

	.fill 64, 4, 0xbf800000	; s_nop: the instruction cache reads ahead
