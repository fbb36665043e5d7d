/*
 * assets: files of this folder that pages carry along, embedded by report/embed.py at build time.
 */
#ifndef WS_PROFILE_ASSETS_H
#define WS_PROFILE_ASSETS_H

extern const char prof_asset_flame_css[];
extern const char prof_asset_flame_js[];

#endif
