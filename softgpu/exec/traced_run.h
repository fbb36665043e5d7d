/*
 * traced_run: the run loop that writes wave traces (trace/wave_trace.h) for the timing model.
 *
 * The plain loops and the handlers do not depend on it: the addresses of a memory instruction are
 * computed from its operands just before it runs.
 */
#ifndef WS_SOFTGPU_EXEC_TRACED_RUN_H
#define WS_SOFTGPU_EXEC_TRACED_RUN_H

#include "softgpu/exec/launch.h"
#include "softgpu/exec/wave.h"
#include "softgpu/isa/isa.h"
#include "softgpu/trace/wave_trace.h"

/* in the head of a decoded instruction */
#define SG_HEAD_MEMORY (1u << 28) /* its addresses are recorded... */
#define SG_HEAD_KIND_SHIFT 29     /* ... as those of enum sg_record_kind */
#define SG_HEAD_MEMORY_KIND(head) ((head) >> SG_HEAD_KIND_SHIFT & 3)
enum sg_record_kind { SG_MEMORY_SCALAR, SG_MEMORY_LOCAL, SG_MEMORY_FLAT, SG_MEMORY_BUFFER };

/* Before sg_wg_start(): wave n of the workgroup writes traces[n]. NULL: no traces. */
void sg_wg_set_traces(struct sg_wg *wg, struct sg_wave_trace *traces);
uint32_t sg_wg_n_waves(const struct sg_wg *wg); /* of the workgroup that was started */

/* As sg_wave_run(), in counting mode; levels.h has the one for this host. */
typedef enum sg_stop sg_traced_run(struct sg_wave *w, struct sg_wave_trace *trace, uint64_t budget);

/* wave.c: v[M0 + n] for the operands that s_set_gpr_idx chose */
void sg_wave_index_registers(const struct sg_wave *w, const struct sg_exec_insn *i,
			     struct sg_exec_insn *out);

#endif
