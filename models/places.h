/*
 * places: files of madengine that are installed: scripts/common, the presets, the sample models.
 *
 * An installation has them in share/wavescope/madengine, a build tree in share/madengine, with links
 * to data/madengine, data/presets and samples/models of the sources.
 */
#ifndef WS_MODELS_PLACES_H
#define WS_MODELS_PLACES_H

#include "base/error.h"

#include <limits.h>

#define MDL_PLACE_COMMON "scripts/common"
#define MDL_PLACE_PRESETS "examples/profiling-configs"
#define MDL_PLACE_MODELS "models"

enum ws_status mdl_place_find(const char *name, char out_path[PATH_MAX], struct ws_err *err);

#endif
