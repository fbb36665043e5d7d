; The vector copy; part of kernels.s.

; ---- vcopy, in the instruction mix that AMD recorded ----

; arguments: a 0, (b 8,) c 16, n 24, block 40
.if GFX940	; 20 instructions, 120 bytes
begin vcopy
	s_load_dword	s3, s[0:1], 0x28
	s_load_dword	s4, s[0:1], 0x18
	s_waitcnt	lgkmcnt(0)
	s_and_b32	s3, s3, 0xffff
	s_mul_i32	s3, s3, s2
	v_add_u32	v0, s3, v0
	v_cmp_gt_i32	vcc, s4, v0
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz	vcopy_done
	s_load_dwordx2	s[4:5], s[0:1], 0x0
	s_load_dwordx2	s[6:7], s[0:1], 0x10
	v_ashrrev_i32	v1, 31, v0
	v_lshlrev_b64	v[0:1], 3, v[0:1]
	s_waitcnt	lgkmcnt(0)
	v_lshl_add_u64	v[2:3], s[4:5], 0, v[0:1]
	global_load_dwordx2 v[2:3], v[2:3], off
	v_lshl_add_u64	v[0:1], s[6:7], 0, v[0:1]
	s_waitcnt	vmcnt(0)
	global_store_dwordx2 v[0:1], v[2:3], off
vcopy_done:
finish vcopy, 4, 0, 9
.else		; 24 instructions, 128 bytes
begin vcopy
	s_load_dword	s3, s[0:1], 0x28
	s_load_dword	s4, s[0:1], 0x18
	s_waitcnt	lgkmcnt(0)
	s_and_b32	s3, s3, 0xffff
	s_mul_i32	s3, s3, s2
	v_add_u32	v0, s3, v0
	v_cmp_gt_i32	vcc, s4, v0
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz	vcopy_done
	s_load_dwordx2	s[4:5], s[0:1], 0x0
	s_load_dwordx2	s[6:7], s[0:1], 0x10
	v_ashrrev_i32	v1, 31, v0
	v_lshlrev_b64	v[0:1], 3, v[0:1]
	s_waitcnt	lgkmcnt(0)
	v_mov_b32	v3, s5
	v_add_co_u32	v2, vcc, s4, v0
	v_addc_co_u32	v3, vcc, v3, v1, vcc
	global_load_dwordx2 v[2:3], v[2:3], off
	v_mov_b32	v4, s7
	v_add_co_u32	v0, vcc, s6, v0
	v_addc_co_u32	v1, vcc, v4, v1, vcc
	s_waitcnt	vmcnt(0)
	global_store_dwordx2 v[0:1], v[2:3], off
vcopy_done:
finish vcopy, 8, 0, 9
.endif
