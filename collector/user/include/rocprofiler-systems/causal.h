/*
 * Progress points; names are AMD's. Compile with -DROCPROFSYS_CAUSAL_ENABLED=0 to remove them. A
 * label must be used in one place only.
 */
#ifndef ROCPROFSYS_CAUSAL_H_
#define ROCPROFSYS_CAUSAL_H_

#ifndef ROCPROFSYS_CAUSAL_ENABLED
#define ROCPROFSYS_CAUSAL_ENABLED 1
#endif

#if ROCPROFSYS_CAUSAL_ENABLED > 0
#include <rocprofiler-systems/user.h>

#define ROCPROFSYS_CAUSAL_STR2(x) #x
#define ROCPROFSYS_CAUSAL_STR(x) ROCPROFSYS_CAUSAL_STR2(x)
#ifndef ROCPROFSYS_CAUSAL_LABEL
#define ROCPROFSYS_CAUSAL_LABEL __FILE__ ":" ROCPROFSYS_CAUSAL_STR(__LINE__)
#endif
/* Each ends with ';', as AMD's do. */
#define ROCPROFSYS_CAUSAL_PROGRESS rocprofsys_user_progress(ROCPROFSYS_CAUSAL_LABEL);
#define ROCPROFSYS_CAUSAL_PROGRESS_NAMED(LABEL) rocprofsys_user_progress(LABEL);
#define ROCPROFSYS_CAUSAL_BEGIN(LABEL) rocprofsys_user_push_region(LABEL);
#define ROCPROFSYS_CAUSAL_END(LABEL) rocprofsys_user_pop_region(LABEL);
#else
#define ROCPROFSYS_CAUSAL_PROGRESS
#define ROCPROFSYS_CAUSAL_PROGRESS_NAMED(LABEL)
#define ROCPROFSYS_CAUSAL_BEGIN(LABEL)
#define ROCPROFSYS_CAUSAL_END(LABEL)
#endif

#endif
