#include "tests/unit/softgpu/rig.h"

#include <string.h>

static char error[240];

static bool parse(struct sg_topology *topology, const char *list)
{
	return sg_topology_parse(topology, list, error, sizeof(error));
}

static void the_default_is_one_mi210(void **state)
{
	struct sg_topology topology;

	assert_true(parse(&topology, NULL));
	assert_int_equal(topology.n_gpus, 1);
	assert_string_equal(topology.gpus[0].model->name, "mi210");
	assert_int_equal(topology.gpus[0].model->n_cus, 104);
	assert_int_equal(topology.gpus[0].hive_id, 0);
}

static void a_board_with_two_dies_is_two_gpus(void **state)
{
	struct sg_topology topology;

	assert_true(parse(&topology, "mi250x"));
	assert_int_equal(topology.n_gpus, 2);
	assert_int_equal(topology.gpus[1].model->n_cus, 110);
	assert_int_not_equal(topology.gpus[0].hive_id, 0);
	assert_int_equal(topology.gpus[0].hive_id, topology.gpus[1].hive_id);
}

static void places_and_ids_are_unique(void **state)
{
	struct sg_topology topology;

	assert_true(parse(&topology, "mi210,mi210,mi100,mi250x,mi250x"));
	assert_int_equal(topology.n_gpus, 7);
	for (uint32_t i = 0; i < topology.n_gpus; i++) {
		assert_int_not_equal(topology.gpus[i].unique_id, 0);
		for (uint32_t j = 0; j < i; j++) {
			assert_int_not_equal(topology.gpus[i].unique_id,
					     topology.gpus[j].unique_id);
			assert_int_not_equal(topology.gpus[i].location, topology.gpus[j].location);
		}
	}
}

static void links_follow_hives(void **state)
{
	struct sg_link links[SG_MAX_GPUS];
	struct sg_topology topology;

	assert_true(parse(&topology, "mi210,mi210,mi100"));
	assert_int_equal(sg_topology_links(&topology, 0, links), 3);
	assert_int_equal(sg_topology_links(&topology, 1, links), 3);
	assert_int_equal(links[0].to, 0);
	assert_int_equal(links[0].type, SG_LINK_PCIE);
	assert_int_equal(links[1].to, 2);
	assert_int_equal(links[1].type, SG_LINK_XGMI);
	assert_int_equal(links[2].to, 3);
	assert_int_equal(links[2].type, SG_LINK_PCIE);
	assert_int_equal(links[2].from, 1);
}

static void gpus_are_joined_by_as_many_links_as_boards_have(void **state)
{
	struct sg_link links[SG_MAX_GPUS];
	struct sg_topology topology;

	assert_true(parse(&topology, "mi250x,mi250x")); /* four GPUs */
	sg_topology_links(&topology, 1, links);
	assert_int_equal(links[1].n_links, 4); /* the other die */
	assert_int_equal(links[1].max_bandwidth_mbs, 200000);
	assert_int_equal(links[1].min_bandwidth_mbs, 50000);
	assert_int_equal(links[2].n_links, 1);
	assert_true(parse(&topology, "mi210,mi210"));
	sg_topology_links(&topology, 1, links);
	assert_int_equal(links[0].n_links, 1);
	assert_int_equal(links[1].n_links, 3);
	assert_true(parse(&topology, "mi210,mi210,mi210,mi210"));
	sg_topology_links(&topology, 1, links);
	assert_int_equal(links[3].n_links, 1);
}

static void memory_is_cached_by_where_it_is_and_how_it_was_allocated(void **state)
{
	static const struct {
		uint32_t owner;
		enum sg_grain grain;
		uint8_t mtype, route, n_links;
	} rows[] = {
		{ 1, SG_GRAIN_COARSE, SG_MTYPE_RW, SG_ROUTE_OWN, 0 },
		{ 1, SG_GRAIN_FINE, SG_MTYPE_CC, SG_ROUTE_OWN, 0 },
		{ 1, SG_GRAIN_UNCACHED, SG_MTYPE_UC, SG_ROUTE_OWN, 0 },
		{ 0, SG_GRAIN_COARSE, SG_MTYPE_NC, SG_ROUTE_IO, 1 },
		{ 0, SG_GRAIN_FINE, SG_MTYPE_UC, SG_ROUTE_IO, 1 },
		{ 2, SG_GRAIN_COARSE, SG_MTYPE_NC, SG_ROUTE_GMI + 1, 4 },
		{ 2, SG_GRAIN_FINE, SG_MTYPE_UC, SG_ROUTE_GMI + 1, 4 },
		{ 3, SG_GRAIN_COARSE, SG_MTYPE_NC, SG_ROUTE_IO,
		  1 }, /* no bridge to another model */
	};
	struct sg_topology topology;

	assert_true(parse(&topology, "mi250x,mi100"));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sg_memory_kind kind =
			sg_topology_kind(&topology, 1, rows[i].owner, rows[i].grain);

		assert_int_equal(kind.mtype, rows[i].mtype);
		assert_int_equal(kind.route, rows[i].route);
		assert_int_equal(kind.n_links, rows[i].n_links);
	}
}

static void mistakes_are_explained(void **state)
{
	struct sg_topology topology;

	assert_false(parse(&topology, "mi308x"));
	assert_non_null(strstr(error, "mi308x"));
	assert_non_null(strstr(error, "mi210, mi250x, mi100, mi300x, mi325x, mi300a, mi350x"));
	assert_false(parse(&topology, "mi300x:tpx"));
	assert_non_null(strstr(error, "'mi300x:tpx': compute partitions are SPX, DPX, QPX, CPX"));
	assert_false(parse(&topology, "mi210:spx"));
	assert_non_null(strstr(error, "compute partitions are not supported"));
	assert_false(parse(&topology, "mi300x/nps4"));
	assert_non_null(strstr(error, "NPS1 only with this compute partition"));
	assert_false(parse(&topology, "mi300x:cpx/nps2"));
	assert_non_null(strstr(error, "NPS1 or NPS4"));
	assert_false(parse(&topology, "mi300x:cpx/nps"));
	assert_false(parse(&topology, "mi300x:"));
	assert_false(parse(&topology, "mi210/nps1"));
	assert_false(parse(&topology, "mi300x:cpx,mi300x:cpx,mi210"));
	assert_false(parse(&topology, "mi210,"));
	assert_false(parse(&topology, ",mi210"));
	assert_false(parse(&topology, "MI210"));
	assert_false(
		parse(&topology, "mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi100"));
	assert_non_null(strstr(error, "16"));
	assert_true(parse(&topology, "mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi250x,mi250x"));
	assert_int_equal(topology.n_gpus, 16);
}

static void dies_are_one_gpu_or_several(void **state)
{
	static const struct {
		const char *list;
		uint32_t n_gpus, n_xccs, n_cus, n_engines, n_sdma, nps;
		uint64_t vram_kib;
	} rows[] = {
		/* memory and compute units as rocminfo prints them on such boards */
		{ "mi300x", 1, 8, 304, 32, 16, 1, 201310208 },
		{ "mi300x:spx", 1, 8, 304, 32, 16, 1, 201310208 },
		{ "mi300x:dpx", 2, 4, 152, 16, 8, 1, 100655104 },
		{ "mi300x:QPX/NPS4", 4, 2, 76, 8, 4, 4, 50327552 },
		{ "mi300x:cpx", 8, 1, 38, 4, 2, 1, 25163776 },
		{ "mi300x:cpx/nps4", 8, 1, 38, 4, 2, 4, 25163776 },
		{ "mi325x", 1, 8, 304, 32, 16, 1, 268419072 },
		{ "mi300a", 1, 6, 228, 24, 16, 1, 134217728 },
		{ "mi300a:tpx", 3, 2, 76, 8, 5, 1, 44739240 },
		{ "mi350x", 1, 8, 256, 32, 16, 1, 301973504 },
		{ "mi355x:cpx/nps2", 8, 1, 32, 4, 2, 2, 37746688 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sg_topology topology;
		const struct sg_gpu_model *m;

		assert_true(parse(&topology, rows[i].list));
		assert_int_equal(topology.n_gpus, rows[i].n_gpus);
		m = topology.gpus[0].model;
		assert_int_equal(m->n_xccs, rows[i].n_xccs);
		assert_int_equal(m->n_cus, rows[i].n_cus);
		assert_int_equal(m->n_shader_engines, rows[i].n_engines);
		assert_int_equal(m->n_sdma_engines + m->n_sdma_xgmi_engines, rows[i].n_sdma);
		assert_int_equal(m->vram_bytes >> 10, rows[i].vram_kib);
		for (uint32_t g = 0; g < topology.n_gpus; g++) {
			assert_int_equal(topology.gpus[g].nps, rows[i].nps);
			assert_int_equal(topology.gpus[g].location, 0x300 + g);
		}
	}
}

static void partitions_are_linked_within_their_package(void **state)
{
	struct sg_link links[SG_MAX_GPUS];
	struct sg_topology topology;

	assert_true(parse(&topology, "mi300x:dpx,mi300x:dpx"));
	assert_int_equal(topology.gpus[3].location, 0x901);
	assert_int_equal(sg_topology_links(&topology, 1, links), 4);
	assert_int_equal(links[1].weight, 13); /* the other half */
	assert_int_equal(links[2].weight, 15); /* the other board */
	assert_int_equal(links[2].type, SG_LINK_XGMI);
	assert_int_equal(links[2].max_bandwidth_mbs, 64000);
	assert_true(parse(&topology, "mi300a,mi300a,mi300a,mi300a"));
	assert_int_equal(sg_topology_links(&topology, 2, links), 4);
	assert_int_equal(links[0].type, SG_LINK_XGMI); /* the host is in the package */
	assert_int_equal(links[0].weight, 13);
	assert_int_equal(links[3].n_links, 2);
}

static void a_way_over_pcie_is_as_fast_as_its_slower_end(void **state)
{
	struct sg_link links[SG_MAX_GPUS];
	struct sg_topology topology;

	assert_true(parse(&topology, "mi300x,mi210,mi350x"));
	sg_topology_links(&topology, 0, links);
	assert_int_equal(links[0].max_bandwidth_mbs, 64000); /* 16 lanes of 32 GT/s */
	assert_int_equal(links[1].max_bandwidth_mbs, 32000);
	sg_topology_links(&topology, 1, links);
	assert_int_equal(links[0].max_bandwidth_mbs, 64000);
	assert_int_equal(links[1].max_bandwidth_mbs, 32000);
	assert_int_equal(links[2].max_bandwidth_mbs, 64000);
	assert_int_equal(links[2].type, SG_LINK_PCIE);
	sg_topology_links(&topology, 2, links);
	assert_int_equal(links[2].max_bandwidth_mbs, 32000);
}

static void memory_of_mi300_is_cached_without_regard_to_its_grain(void **state)
{
	static const struct {
		const char *list;
		uint32_t owner;
		enum sg_grain grain;
		uint8_t mtype, route;
	} rows[] = {
		{ "mi300x,mi300x", 1, SG_GRAIN_FINE, SG_MTYPE_RW, SG_ROUTE_OWN },
		{ "mi300x,mi300x", 1, SG_GRAIN_UNCACHED, SG_MTYPE_UC, SG_ROUTE_OWN },
		{ "mi300x,mi300x", 2, SG_GRAIN_FINE, SG_MTYPE_NC, SG_ROUTE_GMI + 1 },
		{ "mi300x,mi300x", 0, SG_GRAIN_COARSE, SG_MTYPE_UC, SG_ROUTE_IO },
		{ "mi350x", 0, SG_GRAIN_COARSE, SG_MTYPE_NC, SG_ROUTE_IO },
		{ "mi300a", 0, SG_GRAIN_FINE, SG_MTYPE_RW, SG_ROUTE_OWN },
		{ "mi300x:cpx", 5, SG_GRAIN_COARSE, SG_MTYPE_RW, SG_ROUTE_OWN },
		{ "mi300x:cpx/nps4", 5, SG_GRAIN_COARSE, SG_MTYPE_NC, SG_ROUTE_GMI + 4 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sg_topology topology;
		struct sg_memory_kind kind;

		assert_true(parse(&topology, rows[i].list));
		kind = sg_topology_kind(&topology, 1, rows[i].owner, rows[i].grain);
		assert_int_equal(kind.mtype, rows[i].mtype);
		assert_int_equal(kind.route, rows[i].route);
	}
}

static void scratch_slots_divide_among_engines(void **state)
{
	/* ROCr asserts it */
	for (size_t i = 0; i < sg_gpu_n_models; i++) {
		const struct sg_gpu_model *m = &sg_gpu_models[i];

		assert_int_equal(m->n_cus * m->n_scratch_slots_per_cu % m->n_shader_engines, 0);
		assert_true(m->n_cus <= m->n_cus_per_engine * m->n_shader_engines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_is_one_mi210),
		cmocka_unit_test(a_board_with_two_dies_is_two_gpus),
		cmocka_unit_test(places_and_ids_are_unique),
		cmocka_unit_test(links_follow_hives),
		cmocka_unit_test(gpus_are_joined_by_as_many_links_as_boards_have),
		cmocka_unit_test(memory_is_cached_by_where_it_is_and_how_it_was_allocated),
		cmocka_unit_test(mistakes_are_explained),
		cmocka_unit_test(dies_are_one_gpu_or_several),
		cmocka_unit_test(partitions_are_linked_within_their_package),
		cmocka_unit_test(a_way_over_pcie_is_as_fast_as_its_slower_end),
		cmocka_unit_test(memory_of_mi300_is_cached_without_regard_to_its_grain),
		cmocka_unit_test(scratch_slots_divide_among_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
