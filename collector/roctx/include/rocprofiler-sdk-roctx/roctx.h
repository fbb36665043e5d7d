/* The spelling of AMD's package for #include <rocprofiler-sdk-roctx/roctx.h>. */
#include "../roctx.h"
