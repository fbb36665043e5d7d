/* The spelling of AMD's package for #include <roctracer/roctx.h>. */
#include "../roctx.h"
