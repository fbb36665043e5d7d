/*
 * json_sizes: what `size` says in AMD's JSON, which is there for readers that skip by it.
 *
 * sizeof the structs of rocprofiler-sdk 1.0.0, x86-64; of a dispatch's description what stands
 * before its reserve. Those of HIP and rocDecode calls have the union of all arguments in them.
 */
#ifndef WS_OUTPUT_JSON_SIZES_H
#define WS_OUTPUT_JSON_SIZES_H

enum output_json_size {
	OUTPUT_JSON_SIZE_CALL = 64,            /* hsa_api, marker_api, rccl_api, rocjpeg_api */
	OUTPUT_JSON_SIZE_HIP_CALL = 176,       /* and 88 of arguments, 24 of results */
	OUTPUT_JSON_SIZE_ROCDECODE_CALL = 112, /* and 40, 8 */
	OUTPUT_JSON_SIZE_DISPATCH_INFO = 72,   /* of 128 */
	OUTPUT_JSON_SIZE_DISPATCH = 184,
	OUTPUT_JSON_SIZE_COUNTED = 168, /* dispatch_data of counter_collection */
	OUTPUT_JSON_SIZE_COPY = 96,     /* with both addresses, which are not shown */
	OUTPUT_JSON_SIZE_ALLOC = 88,
	OUTPUT_JSON_SIZE_SCRATCH = 96,
	OUTPUT_JSON_SIZE_AGENT = 312,
	OUTPUT_JSON_SIZE_CODE_OBJECT = 88,
	OUTPUT_JSON_SIZE_KERNEL = 88,
	OUTPUT_JSON_SIZE_HOST_FUNCTION = 120,
};

#endif
