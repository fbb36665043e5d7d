#include "rtc.h"
#define TEXT(x) #x
/* %:include <x> */
__kernel void copy(__global int *to) { *to = 1 \
	+ 2; }
