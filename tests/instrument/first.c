/* Calls the functions of first.S but keeps_flags, and prints what they return and how often each was called. */
#include <stdio.h>

/* clang-format off */
#define FUNCTIONS(X)                                                                               \
	X(helper, 7)                                                                               \
	X(first_call, 7)                                                                           \
	X(push_call, 7)                                                                            \
	X(indirect_call, 7) X(rip_operand, 7) X(rip_operand_immediate, 7) X(short_branch, 7)       \
		X(loop_to_entry, 7) X(with_endbr, 7) X(tail_jump, 7) X(call_keeps_flags, 7)        \
			X(into_middle, 7) X(too_short, 7) X(has_loop, 7)
/* clang-format on */

#define ROW(name, argument) int name(int, int, int, int);
FUNCTIONS(ROW)
#undef ROW

int main(void)
{
	for (int i = 0; i < 3; i++) {
#define ROW(name, argument) printf(#name " %d\n", name(i *argument, 5, 0, i));
		FUNCTIONS(ROW)
#undef ROW
	}
	/* helper is called by four others, keeps_flags by one */
	printf("count helper 15\ncount first_call 3\ncount push_call 3\ncount indirect_call 3\n"
	       "count rip_operand 3\ncount rip_operand_immediate 3\ncount short_branch 3\n"
	       "count loop_to_entry 3\ncount with_endbr 3\ncount tail_jump 3\ncount keeps_flags 3\n"
	       "count call_keeps_flags 3\n");
	return 0;
}
