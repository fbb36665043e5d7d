/*
 * jsonw: JSON text into a sink, without blanks.
 *
 * For what is written once; the records of a trace are formatted by hand. Commas are
 * put by the writer. A NULL key is an element of an array.
 */
#ifndef WS_OUTPUT_JSONW_H
#define WS_OUTPUT_JSONW_H

#include "output/output_priv.h"

struct output_jsonw {
	struct output_sink *sink;
	bool more; /* something stands before, at this level */
};

void output_json_open(struct output_jsonw *w, const char *key, char bracket); /* '{' or '[' */
void output_json_close(struct output_jsonw *w, char bracket);                 /* '}' or ']' */
void output_json_u64(struct output_jsonw *w, const char *key, uint64_t v);
void output_json_u128(struct output_jsonw *w, const char *key, unsigned __int128 v);
void output_json_i64(struct output_jsonw *w, const char *key, int64_t v);
void output_json_f64(struct output_jsonw *w, const char *key, double v);
void output_json_bool(struct output_jsonw *w, const char *key, bool v);
void output_json_str(struct output_jsonw *w, const char *key, const char *text); /* NULL is "" */
void output_json_handle(struct output_jsonw *w, const char *key, uint64_t v);    /* {"handle":v} */
void output_json_dim3(struct output_jsonw *w, const char *key, const uint32_t v[3]);

/*
 * The text between quotes, escaped. Bytes that are not UTF-8 become U+FFFD, because
 * readers refuse the whole file otherwise.
 */
void output_json_text(struct output_sink *sink, const char *text, size_t n);

/* ---- facts, as the JSON file and the database's extdata hold them ---- */

void output_json_agent(struct output_jsonw *w, const char *key, const struct trc_agent *agent);
void output_json_code_object(struct output_jsonw *w, const struct trc_code_object *object);
void output_json_kernel(struct output_jsonw *w, const struct trc_kernel *kernel);
void output_json_host_function(struct output_jsonw *w, const struct trc_host_function *function);
void output_json_config(struct output_jsonw *w, const char *key, const struct output_config *cfg);

/*
 * Keys of ours: whether times are a software GPU's, whether the process came to its end,
 * and what was requested, observed and lost per domain.
 */
void output_json_ledger(struct output_jsonw *w, const struct trc_process *process);

/* All keys of a process before its records. */
enum ws_status output_json_facts(struct output_jsonw *w, struct output_run *run,
				 const struct trc_process *process, struct ws_map *pcs,
				 struct ws_err *err);
/*
 * The texts of sampled instructions, and into @pcs where each is: from output_json_pc_key()
 * to index + 1. Instructions that cannot be decoded are not in it.
 */
enum ws_status output_json_sample_texts(struct output_jsonw *w, struct output_run *run,
					const struct trc_process *process, struct ws_map *pcs,
					struct ws_err *err);
static inline uint64_t output_json_pc_key(const struct cap_rec_pc_sample *sample)
{
	return sample->code_object << 40 ^ sample->offset;
}

/* Identity of a host from its machine id. */
uint64_t output_node_hash(const struct trc_process *process);

#endif
