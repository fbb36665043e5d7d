/*
 * assets: the styles, scripts and markup of all pages, embedded by report/embed.py at build time.
 */
#ifndef WS_PAGES_ASSETS_H
#define WS_PAGES_ASSETS_H

extern const char page_asset_page_css[];
extern const char page_asset_page_js[];
extern const char page_asset_flamegraph_js[];
extern const char page_asset_flame_css[];
extern const char page_asset_flame_html[];
extern const char page_asset_flame_js[];
extern const char page_asset_profile_css[];
extern const char page_asset_profile_html[];
extern const char page_asset_profile_parts_js[];
extern const char page_asset_profile_tables_js[];
extern const char page_asset_profile_js[];
extern const char page_asset_profile_live_js[];
extern const char page_asset_trace_css[];
extern const char page_asset_trace_html[];
extern const char page_asset_trace_data_js[];
extern const char page_asset_trace_stored_js[];
extern const char page_asset_trace_live_js[];
extern const char page_asset_trace_draw_js[];
extern const char page_asset_trace_panel_js[];
extern const char page_asset_trace_js[];

#endif
