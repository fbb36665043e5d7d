#include "models/places.h"

#include "base/path.h"

enum ws_status mdl_place_find(const char *name, char out_path[PATH_MAX], struct ws_err *err)
{
	static const char *const places[] = { "../share/wavescope/madengine", "../share/madengine",
					      NULL };

	return ws_path_beside(places, name, out_path, err);
}
