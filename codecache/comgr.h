/*
 * comgr: what is used of AMD's compiler library, libamd_comgr, versions 2 and 3.
 *
 * Its header is not needed to build wavescope. Objects are handles, passed by value. The numbers of
 * actions and languages differ between the versions, except the ones below.
 */
#ifndef WS_CODECACHE_COMGR_H
#define WS_CODECACHE_COMGR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CC_COMGR_PREFIX "amd_comgr_"
#define CC_COMGR_MAJOR_MIN 2
#define CC_COMGR_MAJOR_MAX 3

enum cc_comgr_kind {
	CC_COMGR_SOURCE = 1,
	CC_COMGR_INCLUDE = 2,
	CC_COMGR_PRECOMPILED_HEADER = 3,
	CC_COMGR_LOG = 5,
	CC_COMGR_KIND_END = 64, /* beyond the largest; unknown ones are refused by the library */
};

enum { CC_COMGR_PREPROCESS = 0 }; /* an action */
enum { CC_COMGR_OPENCL = 1 };     /* a language */

struct cc_handle {
	uint64_t handle;
};

/* Functions, without the prefix; they return 0 on success. */
/* clang-format off */
#define CC_COMGR_FUNCTIONS(X)                                                                       \
	X(void, get_version,                      (size_t *major, size_t *minor))                   \
	X(int, do_action,                         (int kind, struct cc_handle info,                 \
	                                           struct cc_handle input, struct cc_handle result)) \
	X(int, action_data_count,                 (struct cc_handle set, int kind, size_t *count))  \
	X(int, action_data_get_data,              (struct cc_handle set, int kind, size_t index,    \
	                                           struct cc_handle *data))                         \
	X(int, action_info_get_isa_name,          (struct cc_handle info, size_t *size, char *name)) \
	X(int, action_info_get_language,          (struct cc_handle info, int *language))           \
	X(int, action_info_get_logging,           (struct cc_handle info, bool *logging))           \
	X(int, action_info_get_option_list_count, (struct cc_handle info, size_t *count))           \
	X(int, action_info_get_option_list_item,  (struct cc_handle info, size_t index, size_t *size, \
	                                           char *option))                                   \
	X(int, action_info_set_isa_name,          (struct cc_handle info, const char *name))        \
	X(int, action_info_set_language,          (struct cc_handle info, int language))            \
	X(int, action_info_set_logging,           (struct cc_handle info, bool logging))            \
	X(int, action_info_set_option_list,       (struct cc_handle info, const char **options,     \
	                                           size_t count))                                   \
	X(int, create_action_info,                (struct cc_handle *info))                         \
	X(int, destroy_action_info,               (struct cc_handle info))                          \
	X(int, create_data_set,                   (struct cc_handle *set))                          \
	X(int, destroy_data_set,                  (struct cc_handle set))                           \
	X(int, create_data,                       (int kind, struct cc_handle *data))               \
	X(int, release_data,                      (struct cc_handle data))                          \
	X(int, get_data,                          (struct cc_handle data, size_t *size, char *bytes)) \
	X(int, get_data_name,                     (struct cc_handle data, size_t *size, char *name)) \
	X(int, set_data,                          (struct cc_handle data, size_t size,              \
	                                           const char *bytes))                              \
	X(int, set_data_name,                     (struct cc_handle data, const char *name))        \
	X(int, data_set_add,                      (struct cc_handle set, struct cc_handle data))    \
	X(int, data_set_remove,                   (struct cc_handle set, int kind))
/* clang-format on */

#define CC_COMGR_MEMBER_(type, name, parameters) type(*name) parameters;
struct cc_comgr {
	CC_COMGR_FUNCTIONS(CC_COMGR_MEMBER_)
};
#undef CC_COMGR_MEMBER_

#endif
