/*
 * page: one HTML file that needs nothing else: no network, no server. Or the same page from a
 * server of ours.
 *
 *	struct page_out out = { .put = put_bytes, .ctx = file };
 *
 *	page_begin(&out, "Flame graph", (const char *const[]){ page_asset_page_css, NULL });
 *	page_put(&out, page_asset_flame_html);
 *	page_json_begin(&out, "data");
 *	...                                         JSON, with ws_buf_add_json() for texts
 *	page_json_end(&out);
 *	page_scripts(&out, (const char *const[]){ page_asset_flame_js, NULL });
 *	page_block(&out, "b0", bytes, n_bytes);
 *	page_end(&out);
 *
 * The head has a content security policy that forbids every request: a page cannot send anything
 * even if a name should get into its code. Foreign text stands in JSON (where base/utf8.h escapes
 * '<'), in blocks, or goes through page_text(). Scripts share one scope. They run when they are
 * read; what stands behind them in the file can be loaded later.
 *
 * With a nonce, the page is for a server, whose answer has the policy as a header: scripts run only
 * with that nonce, and requests go to that server only.
 *
 * Threads  one per page_out.
 * Failure  is the sink's: it reports it when it is finished.
 */
#ifndef WS_PAGES_PAGE_H
#define WS_PAGES_PAGE_H

#include <stddef.h>

struct page_out {
	void (*put)(void *ctx, const void *bytes, size_t n);
	void *ctx;
	const char *nonce; /* NULL: a file */
};

/* @styles and @scripts are contents of assets, NULL at the end. */
void page_begin(const struct page_out *out, const char *title, const char *const *styles);
void page_scripts(const struct page_out *out, const char *const *scripts);
/* The tag of a script that stands alone; @attributes: "" or " type=\"module\"". */
void page_script_begin(const struct page_out *out, const char *attributes);
void page_end(const struct page_out *out);

void page_put(const struct page_out *out, const char *markup); /* as it is: ours only */
void page_text(const struct page_out *out, const char *text);  /* foreign text, escaped */

/* Data for a script: document.getElementById(id).textContent. @id is ours. */
void page_json_begin(const struct page_out *out, const char *id);
void page_json_end(const struct page_out *out);
/* Any bytes, in base64. */
void page_block(const struct page_out *out, const char *id, const void *bytes, size_t n);
/* The number of characters of a block of @n bytes, with its element. */
size_t page_block_bytes(size_t n);

#endif
