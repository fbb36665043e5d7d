/*
 * A main() for fuzzers that take text: replays the files named on the command line, then
 * seeded mutations of them: bytes changed, stretches dropped, doubled or swapped in from
 * another file. To be included once, at the end of a fuzzer.
 */
#define REPLAY_BYTES_MAX (64u << 10)
#define REPLAY_ROUNDS 4000

static unsigned replay_state = 12345;

static unsigned replay_next(unsigned below)
{
	replay_state = replay_state * 1664525u + 1013904223u;
	return below ? (replay_state >> 8) % below : 0;
}

static size_t replay_mutate(uint8_t *at, size_t n, const uint8_t *other, size_t n_other)
{
	static const char marks[] = "\n,\"[]()=+-*/$. \tif0129";
	size_t from = replay_next((unsigned)n + 1), to = from + replay_next(40), len;

	to = to > n ? n : to;
	len = to - from;
	switch (replay_next(5)) {
	case 0:
		for (size_t i = from; i < to; i++)
			at[i] = (uint8_t)marks[replay_next(sizeof(marks) - 1)];
		return n;
	case 1:
		memmove(at + from, at + to, n - to);
		return n - len;
	case 2:
		if (n + len > REPLAY_BYTES_MAX)
			return n;
		memmove(at + to + len, at + to, n - to);
		memcpy(at + to, at + from, len);
		return n + len;
	case 3:
		if (n_other <= len)
			return n;
		memcpy(at + from, other + replay_next((unsigned)(n_other - len)), len);
		return n;
	default:
		if (n)
			at[replay_next((unsigned)n)] = (uint8_t)replay_next(256);
		return replay_next(4) ? n : from; /* now and then cut off */
	}
}

int main(int argc, char **argv)
{
	static uint8_t files[32][REPLAY_BYTES_MAX], work[REPLAY_BYTES_MAX];
	size_t sizes[32], n_files = 0;

	for (int i = 1; i < argc && n_files < 32; i++) {
		FILE *file = fopen(argv[i], "rb");

		if (!file) {
			fprintf(stderr, "cannot read %s\n", argv[i]);
			return 1;
		}
		sizes[n_files] = fread(files[n_files], 1, REPLAY_BYTES_MAX, file);
		fclose(file);
		LLVMFuzzerTestOneInput(files[n_files], sizes[n_files]);
		n_files++;
	}
	if (!n_files) {
		fprintf(stderr, "no corpus: name files\n");
		return 1;
	}
	for (int round = 0; round < REPLAY_ROUNDS; round++) {
		size_t pick = replay_next((unsigned)n_files),
		       other = replay_next((unsigned)n_files);
		size_t n = sizes[pick];

		memcpy(work, files[pick], n);
		for (unsigned edits = 1 + replay_next(6); edits > 0; edits--)
			n = replay_mutate(work, n, files[other], sizes[other]);
		LLVMFuzzerTestOneInput(work, n);
	}
	printf("%zu files and %d mutations of them\n", n_files, REPLAY_ROUNDS);
	return 0;
}
