/*
 * library: the functions of libmicrohttpd, which is opened when the first server starts.
 *
 * Threads  one at a time.
 */
#ifndef WS_SERVE_LIBRARY_H
#define WS_SERVE_LIBRARY_H

#include "base/error.h"

#include <microhttpd.h>

#define SRV_LIBRARY_TABLE(X)                                                                       \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(create_response_from_buffer)                                                             \
	X(create_response_from_callback)                                                           \
	X(add_response_header)                                                                     \
	X(queue_response)                                                                          \
	X(destroy_response)                                                                        \
	X(get_connection_values)                                                                   \
	X(lookup_connection_value)

struct srv_library {
#define SRV_LIBRARY_ROW(name) __typeof__(&MHD_##name) name;
	SRV_LIBRARY_TABLE(SRV_LIBRARY_ROW)
#undef SRV_LIBRARY_ROW
};

/* WS_E_UNSUPPORTED: it is not installed. It stays open until the process ends. */
enum ws_status srv_library_open(const struct srv_library **out_library, struct ws_err *err);

#endif
