/* version: which of AMD's releases the commands behave like, and what they print for -v. */
#ifndef WS_CMD_ROCPROFV3_VERSION_H
#define WS_CMD_ROCPROFV3_VERSION_H

#define RP_VERSION_MAJOR 1
#define RP_VERSION_MINOR 0
#define RP_VERSION_PATCH 0
#define RP_ROCM_VERSION "7.0.0"

#if defined(__clang__)
#define RP_COMPILER_ID "Clang"
#else
#define RP_COMPILER_ID "GNU"
#endif

#if defined(__x86_64__)
#define RP_LIBRARY_ARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define RP_LIBRARY_ARCH "aarch64-linux-gnu"
#else
#define RP_LIBRARY_ARCH "linux"
#endif

void rp_print_version(void); /* the nine lines, on stdout */

#endif
