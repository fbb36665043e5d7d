/*
 * fidelity-kernels: what 'wavescope fidelity' runs on the software GPU.
 *
 *	fidelity-kernels vcopy   the vector copy that AMD recorded: every counter, three dispatches
 *	fidelity-kernels known   kernels whose counts follow from how they are made
 *	fidelity-kernels fabric  such kernels, on memory of this GPU, the host and another GPU
 *	fidelity-kernels selftest  some of them on any GPU, for 'wavescope doctor --selftest'
 *
 * One line per value: kernel, dispatch, counter, class, expected (or -), value; separated by tabs. Of a counter that is
 * not supported the last is the reason.
 */
#include "programs/fidelity/known.h"
#include "programs/fidelity/vcopy.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	enum ws_status st;
	struct ws_err err;

	if (argc == 2 && !strcmp(argv[1], "vcopy")) {
		st = fid_vcopy(&err);
	} else if (argc == 2 && !strcmp(argv[1], "known")) {
		st = fid_check_known(&err);
	} else if (argc == 2 && !strcmp(argv[1], "fabric")) {
		st = fid_fabric(&err);
	} else if (argc == 2 && !strcmp(argv[1], "selftest")) {
		st = fid_selftest(&err);
	} else {
		fprintf(stderr, "usage: fidelity-kernels vcopy|known|fabric|selftest\n");
		return 2;
	}
	if (st)
		fprintf(stderr, "fidelity-kernels: %s\n", err.text);
	return st != WS_OK;
}
