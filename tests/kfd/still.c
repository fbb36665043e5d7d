/* A program without shared libraries: nothing can be put in front of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	int fd = open("/dev/kfd", O_RDWR);

	printf("/dev/kfd: %s\n", fd < 0 ? strerror(errno) : "opened");
	return fd < 0;
}
