#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct {
	const char *name;
	const char *text;
} statuses[] = {
#define WS_STATUS_ROW(name, text) [name] = { #name, text },
	WS_STATUS_TABLE(WS_STATUS_ROW)
#undef WS_STATUS_ROW
};

static const struct {
	int error;
	enum ws_status status;
} errnos[] = {
	{ ENOMEM,    WS_E_NOMEM },
	{ ENOENT,    WS_E_NOTFOUND },
	{ ENOTDIR,   WS_E_NOTFOUND },
	{ ENXIO,     WS_E_NOTFOUND },
	{ ENODEV,    WS_E_NOTFOUND },
	{ ESRCH,     WS_E_NOTFOUND },
	{ EACCES,    WS_E_ACCESS },
	{ EPERM,     WS_E_ACCESS },
	{ EROFS,     WS_E_ACCESS },
	{ EEXIST,    WS_E_EXISTS },
	{ EMFILE,    WS_E_LIMIT },
	{ ENFILE,    WS_E_LIMIT },
	{ E2BIG,     WS_E_LIMIT },
	{ EFBIG,     WS_E_LIMIT },
	{ EAGAIN,    WS_E_LIMIT },
	{ ENOEXEC,   WS_E_FORMAT },
	{ ETIMEDOUT, WS_E_TIMEOUT },
	{ EBUSY,     WS_E_STATE },
	{ ENOSYS,    WS_E_UNSUPPORTED },
	{ ENOTSUP,   WS_E_UNSUPPORTED },
};
/* clang-format on */

/* Three dots at the end show that the message was truncated. */
static void mark_cut(char *text, size_t room, size_t wanted)
{
	if (wanted >= room)
		memcpy(text + room - 4, "...", 4);
}

static void set_error(struct ws_err *err, enum ws_status status, const char *fmt, va_list args)
{
	int wanted = vsnprintf(err->text, sizeof(err->text), fmt, args);

	if (wanted < 0) /* a wide string that has no multibyte form; the format is still a hint */
		wanted = snprintf(err->text, sizeof(err->text), "%s", fmt);
	mark_cut(err->text, sizeof(err->text), (size_t)wanted);
	err->status = status;
}

/* ": why" behind what is there. */
static void add_reason(struct ws_err *err, const char *reason)
{
	size_t n = strlen(err->text);
	int wanted = snprintf(err->text + n, sizeof(err->text) - n, ": %s", reason);

	mark_cut(err->text, sizeof(err->text), n + (size_t)wanted);
}

enum ws_status ws_fail(struct ws_err *err, enum ws_status status, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, fmt);
	set_error(err, status, fmt, args);
	va_end(args);
	return status;
}

enum ws_status ws_fail_errno(struct ws_err *err, int error, const char *fmt, ...)
{
	enum ws_status status = ws_status_from_errno(error);
	char reason[80];
	va_list args;

	if (!err)
		return status;
	va_start(args, fmt);
	set_error(err, status, fmt, args);
	va_end(args);
	add_reason(err, strerror_r(error, reason, sizeof(reason)));
	return status;
}

enum ws_status ws_fail_in(struct ws_err *err, enum ws_status status, const char *fmt, ...)
{
	char inner[sizeof(err->text)];
	va_list args;

	if (!err)
		return status;
	memcpy(inner, err->text, sizeof(inner));
	va_start(args, fmt);
	set_error(err, status, fmt, args);
	va_end(args);
	add_reason(err, inner);
	return status;
}

const char *ws_status_name(enum ws_status status)
{
	return (size_t)status < WS_ARRAY_LEN(statuses) ? statuses[status].name : "WS_E_?";
}

const char *ws_status_text(enum ws_status status)
{
	return (size_t)status < WS_ARRAY_LEN(statuses) ? statuses[status].text : "unknown status";
}

enum ws_status ws_status_from_errno(int error)
{
	for (size_t i = 0; i < WS_ARRAY_LEN(errnos); i++)
		if (errnos[i].error == error)
			return errnos[i].status;
	return error ? WS_E_IO : WS_OK;
}
