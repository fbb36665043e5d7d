/*
 * jsonw: JSON text into a sink, without blanks.
 *
 * For what is written once; the records of a trace are formatted by hand. Commas are
 * put by the writer. A NULL key is an element of an array.
 */
#ifndef WS_OUTPUT_JSONW_H
#define WS_OUTPUT_JSONW_H

#include "output/output_priv.h"

struct ws_jsonw {
	struct ws_sink *sink;
	bool more; /* something stands before, at this level */
};

void ws_json_open(struct ws_jsonw *w, const char *key, char bracket); /* '{' or '[' */
void ws_json_close(struct ws_jsonw *w, char bracket);                 /* '}' or ']' */
void ws_json_u64(struct ws_jsonw *w, const char *key, uint64_t v);
void ws_json_u128(struct ws_jsonw *w, const char *key, unsigned __int128 v);
void ws_json_i64(struct ws_jsonw *w, const char *key, int64_t v);
void ws_json_f64(struct ws_jsonw *w, const char *key, double v);
void ws_json_bool(struct ws_jsonw *w, const char *key, bool v);
void ws_json_str(struct ws_jsonw *w, const char *key, const char *text); /* NULL is "" */
void ws_json_handle(struct ws_jsonw *w, const char *key, uint64_t v);    /* {"handle":v} */
void ws_json_dim3(struct ws_jsonw *w, const char *key, const uint32_t v[3]);

/*
 * The text between quotes, escaped. Bytes that are not UTF-8 become U+FFFD, because
 * readers refuse the whole file otherwise.
 */
void ws_json_text(struct ws_sink *sink, const char *text, size_t n);

/* ---- facts, as the JSON file and the database's extdata hold them ---- */

void ws_json_agent(struct ws_jsonw *w, const char *key, const struct ws_agent *agent);
void ws_json_code_object(struct ws_jsonw *w, const struct ws_code_object *object);
void ws_json_kernel(struct ws_jsonw *w, const struct ws_kernel *kernel);
void ws_json_host_function(struct ws_jsonw *w, const struct ws_host_function *function);
void ws_json_config(struct ws_jsonw *w, const char *key, const struct ws_output_config *cfg);

/*
 * Keys of ours: whether times are a software GPU's, whether the process came to its end,
 * and what was asked for, seen and lost per domain.
 */
void ws_json_ledger(struct ws_jsonw *w, const struct ws_process *process);

/* All keys of a process before its records. */
enum ws_status ws_json_facts(struct ws_jsonw *w, struct ws_output_run *run,
			     const struct ws_process *process, struct ws_map *pcs,
			     struct ws_err *err);
/*
 * The texts of sampled instructions, and into @pcs where each is: from ws_json_pc_key()
 * to index + 1. Instructions that cannot be decoded are not in it.
 */
enum ws_status ws_json_sample_texts(struct ws_jsonw *w, struct ws_output_run *run,
				    const struct ws_process *process, struct ws_map *pcs,
				    struct ws_err *err);
static inline uint64_t ws_json_pc_key(const struct ws_rec_pc_sample *sample)
{
	return sample->code_object << 40 ^ sample->offset;
}

/* Identity of a host from its machine id. */
uint64_t ws_node_hash(const struct ws_process *process);

#endif
