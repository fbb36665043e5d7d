/*
 * wrap: what a program calls that was compiled for instrumentation (-pg, -mfentry,
 * -finstrument-functions), and the start of all instrumentation.
 */
#include "base/util.h"
#include "collector/instrument/instrument.h"

__attribute__((constructor)) static void load(void)
{
	col_instrument_start();
}

/* Jumps that change no register. */
__asm__(".text\n"
	".globl mcount, _mcount, __fentry__\n"
	".type mcount, @function\n"
	".type _mcount, @function\n"
	".type __fentry__, @function\n"
	"mcount:\n"
	"_mcount:\n"
	"	notrack jmp *col_instrument_mcount@GOTPCREL(%rip)\n"
	"__fentry__:\n"
	"	notrack jmp *col_instrument_fentry@GOTPCREL(%rip)\n");

WS_PUBLIC void __cyg_profile_func_enter(void *function, void *caller);
WS_PUBLIC void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	(void)caller;
	col_instrument_enter((uint64_t)function, __builtin_frame_address(0));
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)caller;
	col_instrument_exit((uint64_t)function);
}
