/*
 * assets: files of this folder that pages carry along, embedded by embed.py at build time.
 */
#ifndef WS_REPORT_ASSETS_H
#define WS_REPORT_ASSETS_H

extern const char rpt_asset_roofline_css[];
extern const char rpt_asset_roofline_js[];

#endif
