/* args: the arguments of a call, from slots to values to text. */
#include "trace/trace_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool take_slot(const struct trc_event *event, struct trc_arg_walk *walk, uint64_t *out)
{
	if (walk->slot >= event->call.n_slots)
		return false;
	*out = event->call.slots[walk->slot++];
	return true;
}

static bool take_text(const struct trc_event *event, struct trc_arg_walk *walk, uint64_t n,
		      struct trc_arg *arg)
{
	uint64_t room = (uint64_t)(event->call.n_slots - walk->slot) * sizeof(uint64_t);

	arg->str.at = NULL;
	arg->str.n_bytes = 0;
	if (n == CAP_ARG_STR_NULL)
		return true;
	if (n > room)
		return false;
	arg->str.at = (const char *)&event->call.slots[walk->slot];
	arg->str.n_bytes = (uint32_t)n;
	walk->slot += (uint32_t)((n + sizeof(uint64_t) - 1) / sizeof(uint64_t));
	return true;
}

bool trc_event_arg(const struct trc_event *event, struct trc_arg_walk *walk,
		   struct trc_arg *out_arg)
{
	const struct trc_operation *op = event->call.op;
	uint64_t slot, second;
	float f;

	if (!event->call.slots || walk->arg >= op->n_args || !take_slot(event, walk, &slot))
		return false;
	*out_arg = (struct trc_arg){
		.name = trc_process_string(event->process, op->args[walk->arg].name_str),
		.type = trc_process_string(event->process, op->args[walk->arg].type_str),
		.kind = op->args[walk->arg].kind,
		.type_str = op->args[walk->arg].type_str,
		.u = slot,
	};
	walk->arg++;
	switch (out_arg->kind) {
	case CAP_ARG_I32:
	case CAP_ARG_ENUM:
		out_arg->i = (int32_t)slot;
		return true;
	case CAP_ARG_F32:
		memcpy(&f, &slot, sizeof(f));
		out_arg->f = f;
		return true;
	case CAP_ARG_F64:
		memcpy(&out_arg->f, &slot, sizeof(out_arg->f));
		return true;
	case CAP_ARG_STREAM:
		out_arg->stream = (uint32_t)slot;
		return take_slot(event, walk, &out_arg->u);
	case CAP_ARG_DIM3:
		if (!take_slot(event, walk, &second))
			return false;
		out_arg->dim3[0] = (uint32_t)slot;
		out_arg->dim3[1] = (uint32_t)(slot >> 32);
		out_arg->dim3[2] = (uint32_t)second;
		return true;
	case CAP_ARG_STR:
		return take_text(event, walk, slot, out_arg);
	default:
		return true;
	}
}

int trc_arg_print(const struct trc_process *process, const struct trc_arg *arg, char *to,
		  size_t room)
{
	const char *name;

	switch (arg->kind) {
	case CAP_ARG_I32:
	case CAP_ARG_I64:
		return snprintf(to, room, "%" PRId64, arg->i);
	case CAP_ARG_BOOL:
		return snprintf(to, room, "%s", arg->u ? "true" : "false");
	case CAP_ARG_F32:
		return snprintf(to, room, "%.9g", arg->f);
	case CAP_ARG_F64:
		return snprintf(to, room, "%.17g", arg->f);
	case CAP_ARG_PTR:
	case CAP_ARG_STREAM:
		return snprintf(to, room, "0x%" PRIx64, arg->u);
	case CAP_ARG_ENUM:
		name = trc_process_enum_name(process, arg->type_str, arg->i);
		return name ? snprintf(to, room, "%s", name)
			    : snprintf(to, room, "%" PRId64, arg->i);
	case CAP_ARG_DIM3:
		return snprintf(to, room, "{z=%u, y=%u, x=%u}", arg->dim3[2], arg->dim3[1],
				arg->dim3[0]);
	case CAP_ARG_STR:
		return arg->str.at ? snprintf(to, room, "%.*s", (int)arg->str.n_bytes, arg->str.at)
				   : snprintf(to, room, "(null)");
	default:
		return snprintf(to, room, "%" PRIu64, arg->u);
	}
}
