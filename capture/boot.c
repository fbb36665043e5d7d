#include "capture/chunk.h"

#include <fcntl.h>
#include <unistd.h>

void cap_boot_id(uint8_t out[16])
{
	char text[64] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	unsigned n = 0;

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	for (const char *c = text; *c && n < 32; c++) {
		unsigned digit = *c >= '0' && *c <= '9'   ? (unsigned)(*c - '0')
				 : *c >= 'a' && *c <= 'f' ? (unsigned)(*c - 'a' + 10)
							  : 16;

		if (digit < 16) {
			out[n / 2] |= (uint8_t)(digit << (n % 2 ? 0 : 4));
			n++;
		}
	}
}
