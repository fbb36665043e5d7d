/* The roofline as one page: its data as JSON, and the style and script that are built in. */
#include "report/assets.h"
#include "report/json.h"
#include "report/roofline.h"
#include "report/svg.h"

static void put_type(struct ws_buf *out, const struct ana_roof_ceilings *roofs)
{
	ws_buf_add(out, "{");
	rpt_json_member(out, "name", ana_roof_type_name(roofs->type));
	ws_buf_printf(out, "\"integer\":%s,", ana_roof_type_is_int(roofs->type) ? "true" : "false");
	rpt_json_number(out, "valu", roofs->valu.peak);
	rpt_json_number(out, "mfma", roofs->matrix.peak);
	ws_buf_add(out, "\"bandwidth\":{");
	for (size_t i = 0; i < roofs->n_slopes; i++)
		rpt_json_number(out, ana_roof_level_name(roofs->slopes[i].level),
				roofs->slopes[i].gb_s);
	rpt_json_close(out, "}},");
}

static void put_point(struct ws_buf *out, const struct rpt_roof_model *model, size_t i)
{
	const struct ana_roof_point *point = &model->points->at[i];
	char letter[] = { rpt_roof_letter(i), '\0' };

	ws_buf_add(out, "{");
	rpt_json_member(out, "name", model->kernel_names[i]);
	rpt_json_member(out, "letter", letter);
	ws_buf_printf(out, "\"n\":%zu,", point->n);
	rpt_json_number(out, "sumNs", point->sum_ns);
	rpt_json_number(out, "meanNs", point->mean_ns);
	rpt_json_number(out, "share", 100 * point->sum_ns / model->points->all.sum_ns);
	rpt_json_number(out, "flops", point->flops);
	rpt_json_number(out, "iops", point->iops);
	ws_buf_add(out, "\"bytes\":{");
	for (size_t level = 0; level < ANA_ROOF_LEVEL_COUNT; level++)
		rpt_json_number(out, ana_roof_level_name((enum ana_roof_level)level),
				point->bytes[level]);
	rpt_json_close(out, "},\"parts\":[");
	for (size_t part = 0; part < ANA_ROOF_PART_COUNT; part++) {
		if (!(point->parts[part] > 0))
			continue;
		ws_buf_add(out, "{");
		rpt_json_member(out, "name", ana_roof_part_name((enum ana_roof_part)part));
		ws_buf_printf(out, "\"integer\":%s,",
			      part >= ANA_ROOF_PART_VALU_INT32 ? "true" : "false");
		rpt_json_number(out, "ops", point->parts[part]);
		rpt_json_close(out, "},");
	}
	rpt_json_close(out, "]},");
}

static void put_levels(struct ws_buf *out, const char *key, unsigned levels)
{
	ws_buf_printf(out, "\"%s\":[", key);
	for (size_t i = 0; i < ANA_ROOF_LEVEL_COUNT; i++) {
		if (levels && !(levels >> i & 1))
			continue;
		rpt_json_text(out, ana_roof_level_name((enum ana_roof_level)i));
		ws_buf_add(out, ",");
	}
	rpt_json_close(out, "],");
}

static void put_data(struct ws_buf *out, const struct rpt_roof_model *model)
{
	ws_buf_add(out, "{");
	rpt_json_member(out, "by", model->by == ANA_ROOF_BY_KERNEL ? "kernel" : "dispatch");
	ws_buf_printf(out, "\"modelled\":%s,\"shown\":%zu,", model->modelled ? "true" : "false",
		      model->n_shown);
	if (model->points->missing)
		rpt_json_member(out, "missing", model->points->missing);
	rpt_json_number(out, "xMin", ANA_ROOF_X_MIN);
	rpt_json_number(out, "xMax", ANA_ROOF_X_MAX);
	put_levels(out, "levels", 0);
	put_levels(out, "shownLevels", model->levels);
	ws_buf_add(out, "\"types\":[");
	for (size_t i = 0; i < model->n_types; i++)
		put_type(out, &model->types[i]);
	rpt_json_close(out, "],\"points\":[");
	for (size_t i = 0; i < model->points->n; i++)
		put_point(out, model, i);
	rpt_json_close(out, "]}");
}

/* What the script fills, and its data. */
void rpt_roof_markup(const struct rpt_roof_model *model, struct ws_buf *out)
{
	ws_buf_add(
		out,
		"<div class=\"bar\">\n<fieldset id=\"types\"><legend>Data type</legend>"
		"</fieldset>\n<fieldset id=\"levels\"><legend>Memory level</legend></fieldset>\n"
		"</div>\n<div id=\"chart\" class=\"card\"><svg id=\"plot\" role=\"group\" "
		"aria-label=\"Roofline plot\"></svg><div id=\"tip\" role=\"tooltip\" hidden></div>"
		"</div>\n<p class=\"note\" id=\"empty\"></p>\n<div class=\"card scroll\"><table "
		"id=\"table\"></table></div>\n<footer>");
	if (model->points->n_left_out)
		ws_buf_printf(out, "%zu more %s with less time are not shown. ",
			      model->points->n_left_out,
			      model->by == ANA_ROOF_BY_KERNEL ? "kernels" : "dispatches");
	ws_buf_add(out,
		   "All points of a kernel have its performance; each stands at the intensity of "
		   "one memory level. Larger markers took more time. Percentages are of the roof "
		   "above the point, which is that memory\342\200\231s left of the ridge and the "
		   "units\342\200\231 right of it.</footer>\n"
		   "<script type=\"application/json\" id=\"data\">");
	put_data(out, model);
	ws_buf_add(out, "</script>\n");
}

enum ws_status rpt_roof_html(const struct rpt_roof_model *model, struct ws_buf *out,
			     struct ws_err *err)
{
	ws_buf_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
			/* The page requests no other file, not even an icon. */
			"<link rel=\"icon\" href=\"data:,\">\n<title>Roofline \342\200\223 ");
	rpt_svg_escape(out, model->path);
	ws_buf_printf(
		out,
		"</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<header>\n<h1>Roofline "
		"\342\200\223 ",
		rpt_asset_roofline_css);
	rpt_svg_escape(out, model->path);
	ws_buf_add(out, "</h1>\n<p>");
	rpt_svg_escape(out, model->gpu);
	ws_buf_add(out, "</p>\n");
	if (model->modelled)
		ws_buf_add(out,
			   "<span class=\"badge\" title=\"Counters, times and peaks come from a "
			   "software GPU, not from hardware.\">modelled: software GPU</span>\n");
	ws_buf_add(out, "</header>\n");
	rpt_roof_markup(model, out);
	ws_buf_printf(out,
		      "</main>\n<script type=\"module\">\nconst root = document;\n%s</script>\n"
		      "</body>\n</html>\n",
		      rpt_asset_roofline_js);
	return ws_buf_status(out, err);
}
