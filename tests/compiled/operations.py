"""Operations that are one template each: (result type, template, types of the operands).

All rows are equally likely where their type is wanted, so a rare instruction is one row away.
"""


def rows(ty, *texts):
    """Templates whose operands have the type of the result."""
    return [(ty, "((%s)(%s))" % (ty, t), (ty,) * t.count("$")) for t in texts]


OPERATIONS = (
    rows("u32", "__builtin_popcount($)", "__builtin_clz($ | 1)", "__builtin_ctz($ | 0x80000000u)",
         "__builtin_bitreverse32($)", "__builtin_bswap32($)", "mul_hi_u32($, $)", "mul_u24($, $)",
         "__builtin_rotateleft32($, $)", "bfe_u32($, 5, $)", "bfe_u32($, $, 9)", "UBFE($, $, $)",
         "(($ & 255) << 8 | ($ >> 24))", "bfi_u32($, $, $)", "sad_u32($, $, $)",
         "dot_u8($, $, $)", "PERM($, $, $)", "ALIGNBIT($, $, $)", "ALIGNBYTE($, $, $)",
         "SAD_U8($, $, $)", "SAD_U16($, $, $)", "SAD_HI_U8($, $, $)", "MSAD_U8($, $, $)",
         "LERP($, $, $)", "UDOT4($, $, $)", "UDOT8($, $, $)", "($ << 3) + ($ ^ $)",
         "($ + $) + $", "($ & $) | $", "($ | $) | $", "($ << ($ & 31)) | $", "med3<u32>($, $, $)",
         "__builtin_elementwise_max(__builtin_elementwise_max((u32)$, (u32)$), (u32)$)",
         "__builtin_elementwise_min(__builtin_elementwise_min((u32)$, (u32)$), (u32)$)",
         "(u32)(u16)$ * (u16)$ + $", "$ ^ ($ & $)", "~($ ^ $)", "~($ & $)", "$ & ~$",
         "__builtin_elementwise_add_sat((u32)$, (u32)$) - $", "((1u << ($ & 31)) - 1) << ($ & 31)",
         "__builtin_elementwise_sub_sat((u32)$, (u32)$)",
         "__builtin_rotateleft32($ * 5u + $, 7u) ^ $", "$ * $ + $") +
    rows("i32", "(i32)__builtin_elementwise_abs((i64)$)", "mul_hi_i32($, $)", "mul_i24($, $)",
         "SDOT4($, $, $)", "SDOT8($, $, $)", "med3<i32>($, $, $)", "SBFE($, $, $)",
         "(i32)((u32)((i16)$ * (i16)$) + (u32)$)", "(i32)(i8)$", "(i32)(i16)($ >> 16)",
         "__builtin_elementwise_max(__builtin_elementwise_min((i32)$, (i32)$), (i32)$)",
         "__builtin_elementwise_max(__builtin_elementwise_max((i32)$, (i32)$), (i32)$)",
         "__builtin_elementwise_add_sat((i32)$, (i32)$)",
         "__builtin_elementwise_sub_sat((i32)$, (i32)$)") +
    rows("u64", "__builtin_popcountl($)", "__builtin_clzl($ | 1)", "__builtin_ctzl($ | 1ul << 63)",
         "__builtin_bitreverse64($)", "__builtin_bswap64($)", "mul_hi_u64($, $)",
         "__builtin_rotateleft64($, $)", "($ ^ $) + $", "med3<u64>($, $, $)", "~($ ^ $)", "$ & ~$",
         "($ >> 7) & ((1ul << 13) - 1)", "$ | 1ul << ($ & 63)") +
    rows("i64", "__builtin_elementwise_abs($ >> 1)", "(i64)(i32)$", "(i64)(i8)$",
         "med3<i64>($, $, $)", "(i64)(i32)$ * (i32)$") +
    rows("u16", "__builtin_bswap16($)", "__builtin_bitreverse16($)", "med3<u16>($, $, $)",
         "__builtin_rotateleft16($, $)", "(u32)$ * $ + $", "$ >> ($ & 15)",
         "__builtin_elementwise_sub_sat((u16)$, (u16)$)",
         "__builtin_elementwise_max(__builtin_elementwise_max((u16)$, (u16)$), (u16)$)") +
    rows("i16", "(i16)__builtin_elementwise_abs((i32)$)", "med3<i16>($, $, $)", "$ * $ + $",
         "__builtin_elementwise_add_sat((i16)$, (i16)$)", "$ >> ($ & 15)",
         "__builtin_elementwise_min(__builtin_elementwise_min((i16)$, (i16)$), (i16)$)") +
    rows("u8", "__builtin_bitreverse8($)", "__builtin_rotateright8($, $)", "$ * $ + $") +
    rows("f32", "__builtin_fmaxf(__builtin_fminf($, $), $) + 0.0f",
         "__builtin_fmaxf(__builtin_fmaxf($, $), $) + 0.0f", "$ * $ + $", "$ - $ * $",
         "__builtin_fminf(__builtin_fmaxf($, 0.0f), 1.0f) + 0.0f", "$ * 2.0f", "-$ * $",
         "__builtin_fabsf($) + $", "__builtin_fmaf(-$, __builtin_fabsf($), $)",
         "__builtin_copysignf($, $)", "FREXP_MANT_F32($)", "__builtin_rintf($)",
         "__builtin_floorf($)", "__builtin_ceilf($)", "__builtin_truncf($)") +
    rows("f64", "__builtin_fmax(__builtin_fmin($, $), $) + 0.0", "$ * $ + $", "-$ * $",
         "__builtin_fabs($) - $", "__builtin_fma(-$, __builtin_fabs($), $)",
         "__builtin_copysign($, $)", "FREXP_MANT_F64($)", "__builtin_rint($)",
         "__builtin_floor($)", "__builtin_ceil($)", "__builtin_trunc($)") +
    rows("f16", "floor_f16($)", "ceil_f16($)", "trunc_f16($)", "rint_f16($)", "min_f16($, $)",
         "max_f16($, $)", "max_f16(min_f16($, $), $)", "add_f16(mul_f16($, $), $)",
         "fma_f16(-$, $, $)", "mul_f16(-$, $)") +
    rows("f16x2", "$ * $ + $", "$ - $.yx", "fma_f16x2($, $.yx, -$)", "$.yx * $.xx") +
    rows("f32x2", "$ * $ + $", "$ - $.yx", "fma_f32x2($, $.yx, -$)", "$.yy * $.xy", "$.xx + $") +
    rows("u16x2", "$ * $ + $", "$.yx - $", "__builtin_elementwise_add_sat($, $)") +
    rows("i16x2", "$ * $ + $", "$.yx - $", "__builtin_elementwise_sub_sat($, $)",
         "__builtin_elementwise_max($, $)", "__builtin_elementwise_min($, $)") +
    [
        ("u64", "mad_64($, $, $)", ("u32", "u32", "u64")),
        ("u32", "UDOT2($, $, $)", ("u16x2", "u16x2", "u32")),
        ("i32", "SDOT2($, $, $)", ("i16x2", "i16x2", "i32")),
        ("u32", "CVT_PK_I16($, $)", ("i32", "i32")),
        ("u32", "CVT_PK_U16($, $)", ("u32", "u32")),
        ("u32", "((u32)$ << 16 | $)", ("u16", "u16")),
        ("u64", "((u64)$ << 32 | $)", ("u32", "u32")),
        ("u32", "(u32)($ >> 32)", ("u64",)),
        ("f16x2", "PKRTZ($, $)", ("f32", "f32")),
        ("f32", "byte_f32($, 0)", ("u32",)),
        ("f32", "byte_f32($, 1)", ("u32",)),
        ("f32", "byte_f32($, 2)", ("u32",)),
        ("f32", "byte_f32($, 3)", ("u32",)),
        ("f32", "__builtin_fmaf((f32)$, (f32)$, $)", ("f16", "f16", "f32")),
        ("f32", "__builtin_fmaf((f32)$, $, (f32)$)", ("f16", "f32", "f16")),
        ("f16", "(f16)__builtin_fmaf((f32)$, (f32)$, $)", ("f16", "f16", "f32")),
        ("f16", "LDEXP_F16($, (i32)($ & 63u) - 32)", ("f16", "u32")),
        ("f32", "LDEXP_F32($, (i32)($ & 255u) - 128)", ("f32", "u32")),
        ("f64", "LDEXP_F64($, (i32)($ & 2047u) - 1024)", ("f64", "u32")),
        ("u32", "(u32)CLASS_F16($, 0x1b4)", ("f16",)),
        ("u32", "(u32)CLASS_F32($, 0x264)", ("f32",)),
        ("u32", "(u32)CLASS_F64($, 0x0a8)", ("f64",)),
        ("i32", "FREXP_EXP_F32($)", ("f32",)),
        ("i32", "FREXP_EXP_F64($)", ("f64",)),
    ])
