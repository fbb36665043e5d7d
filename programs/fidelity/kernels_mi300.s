; Kernels of what gfx942 and gfx950 have and earlier ones do not; part of kernels.s.
;
; LLVM 15 assembles for gfx940, whose encodings are those of gfx942. What only gfx950 has is written as words.

; ---- matrix instructions, 16 of each ----

; v8: the index of the elements that are not 0
.macro sparse name, accs, op, a, b
	begin \name
	.rept 16
		\op	a[0:\accs-1], \a, \b, v8
	.endr
	finish \name, 12, 32
.endm

matrix mfma_32x32x4_2b_bf16,	32, v_mfma_f32_32x32x4bf16_1k,	v[0:1], v[2:3]
matrix mfma_16x16x4_4b_bf16,	16, v_mfma_f32_16x16x4bf16_1k,	v[0:1], v[2:3]
matrix mfma_32x32x16_i8,	16, v_mfma_i32_32x32x16_i8,	v[0:1], v[2:3]
matrix mfma_16x16x32_i8,	4,  v_mfma_i32_16x16x32_i8,	v[0:1], v[2:3]
.irp a, fp8, bf8
	.irp b, fp8, bf8
		matrix mfma_32x32x16_\a\()_\b, 16, v_mfma_f32_32x32x16_\a\()_\b, v[0:1], v[2:3]
		matrix mfma_16x16x32_\a\()_\b, 4, v_mfma_f32_16x16x32_\a\()_\b, v[0:1], v[2:3]
		sparse smfmac_32x32x32_\a\()_\b, 16, v_smfmac_f32_32x32x32_\a\()_\b, v[0:1], v[2:5]
		sparse smfmac_16x16x64_\a\()_\b, 4, v_smfmac_f32_16x16x64_\a\()_\b, v[0:1], v[2:5]
	.endr
.endr
sparse smfmac_32x32x16_f16,	16, v_smfmac_f32_32x32x16_f16,	v[0:1], v[2:5]
sparse smfmac_16x16x32_f16,	4,  v_smfmac_f32_16x16x32_f16,	v[0:1], v[2:5]
sparse smfmac_32x32x16_bf16,	16, v_smfmac_f32_32x32x16_bf16,	v[0:1], v[2:5]
sparse smfmac_16x16x32_bf16,	4,  v_smfmac_f32_16x16x32_bf16,	v[0:1], v[2:5]
sparse smfmac_32x32x32_i8,	16, v_smfmac_i32_32x32x32_i8,	v[0:1], v[2:5]
sparse smfmac_16x16x64_i8,	4,  v_smfmac_i32_16x16x64_i8,	v[0:1], v[2:5]
.ifndef GFX950
	matrix mfma_32x32x4_xf32, 16, v_mfma_f32_32x32x4_xf32,	v[0:1], v[2:3]
	matrix mfma_16x16x8_xf32, 4, v_mfma_f32_16x16x8_xf32,	v[0:1], v[2:3]
.endif

; ---- conversions of 8-bit floats, 64 times ----

repeat cvt_f32_fp8,	v_cvt_f32_fp8		v1, v2
repeat cvt_f32_bf8,	v_cvt_f32_bf8		v1, v2
repeat cvt_pk_f32_fp8,	v_cvt_pk_f32_fp8	v[2:3], v4
repeat cvt_pk_fp8_f32,	v_cvt_pk_fp8_f32	v1, v2, v3
repeat cvt_pk_bf8_f32,	v_cvt_pk_bf8_f32	v1, v2, v3
repeat cvt_sr_fp8_f32,	v_cvt_sr_fp8_f32	v1, v2, v3

; ---- loads from memory to LDS: 3 global ones and 2 of buffers, then 2 from LDS ----

begin load_to_lds
	arguments
	s_mov_b32	s12, s4
	s_mov_b32	s13, s5
	s_movk_i32	s14, 0x1000
	s_mov_b32	s15, 0x27000
	v_lshlrev_b32	v0, 2, v0
	s_mov_b32	m0, 0
	.rept 3
		global_load_lds_dword	v0, s[4:5]
	.endr
	.rept 2
		buffer_load_dword	v0, s[12:15], 0 offen lds
	.endr
	s_waitcnt	vmcnt(0)
	.rept 2
		ds_read_b32	v1, v0
	.endr
	s_waitcnt	lgkmcnt(0)
finish load_to_lds, 8, 0, 16, 4096

; ---- invalidation of L1, 3 times ----

begin invalidate
	.rept 3
		buffer_inv	sc0
	.endr
	s_waitcnt	vmcnt(0)
finish invalidate

.ifdef GFX950

; a[0:] = v[0:7] * v[8:15] + a[0:]; of sparse ones v16 is the index
.macro words name, op, src2=0x100, cbsz=0, blgp=0
	begin \name
	.rept 16
		.long	0xd3808000 | \op << 16 | \cbsz << 8
		.long	0x100 | 0x108 << 9 | \src2 << 18 | \blgp << 29
	.endr
	finish \name, 20, 32
.endm
; ... with scales in v16 and v17
.macro scaled name, op, cbsz, blgp
	begin \name
	.rept 16
		.long	0xd3ac0000, 0x110 | 0x111 << 9
		.long	0xd3808800 | \op << 16 | \cbsz << 8
		.long	0x100 | 0x108 << 9 | 0x100 << 18 | \blgp << 29
	.endr
	finish \name, 20, 32
.endm

words mfma_16x16x32_bf16,	0x35
words mfma_16x16x64_i8,		0x36
words mfma_32x32x16_bf16,	0x37
words mfma_32x32x32_i8,		0x38
words mfma_16x16x32_f16,	0x54
words mfma_32x32x16_f16,	0x55
words smfmac_16x16x64_bf16,	0x39, 0x110
words smfmac_16x16x128_i8,	0x3a, 0x110
words smfmac_16x16x128_bf8_bf8,	0x3b, 0x110
words smfmac_16x16x128_bf8_fp8,	0x3c, 0x110
words smfmac_16x16x128_fp8_bf8,	0x3d, 0x110
words smfmac_16x16x128_fp8_fp8,	0x43, 0x110
words smfmac_32x32x32_bf16,	0x46, 0x110
words smfmac_32x32x64_i8,	0x47, 0x110
words smfmac_32x32x64_bf8_bf8,	0x4b, 0x110
words smfmac_32x32x64_bf8_fp8,	0x4e, 0x110
words smfmac_32x32x64_fp8_bf8,	0x4f, 0x110
words smfmac_32x32x64_fp8_fp8,	0x53, 0x110
words smfmac_16x16x64_f16,	0x5a, 0x110
words smfmac_32x32x32_f16,	0x5b, 0x110
; formats: 0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4; of the first matrix and of the second
words mfma_16x16x128_fp8,	0x2d
words mfma_16x16x128_bf8,	0x2d, 0x100, 1, 1
words mfma_16x16x128_fp6,	0x2d, 0x100, 2, 2
words mfma_16x16x128_bf6,	0x2d, 0x100, 3, 3
words mfma_16x16x128_fp4,	0x2d, 0x100, 4, 4
words mfma_16x16x128_fp8_fp4,	0x2d, 0x100, 0, 4
words mfma_32x32x64_fp8,	0x2e
words mfma_32x32x64_fp6,	0x2e, 0x100, 2, 2
words mfma_32x32x64_fp4,	0x2e, 0x100, 4, 4
words mfma_32x32x64_fp6_fp4,	0x2e, 0x100, 2, 4
scaled mfma_scale_16x16x128_fp4, 0x2d, 4, 4
scaled mfma_scale_32x32x64_fp8,	0x2e, 0, 0

repeat cvt_pk_bf16_f32,	.long 0xd2680001, 0x102 | 0x103 << 9	; v1, v2, v3

; reads that transpose: lane n's 8 bytes, and 12
local lds_read_b64_tr_b16, .long 0xd9c60000, 0x02000000	; v[2:3], v0
local lds_read_b64_tr_b8, .long 0xd9c40000, 0x02000000
local lds_read_b64_tr_b4, .long 0xd9c00000, 0x02000000
local lds_read_b96_tr_b6, .long 0xd9c20000, 0x02000000

; global_load_lds_dwordx4 v0, s[4:5]: 3 times 16 bytes per lane
begin load_x4_to_lds
	arguments
	v_lshlrev_b32	v0, 4, v0
	s_mov_b32	m0, 0
	.rept 3
		.long	0xddf48000, 0x00040000
	.endr
	s_waitcnt	vmcnt(0)
finish load_x4_to_lds, 8, 0, 16, 4096

.endif
