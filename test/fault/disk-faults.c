/*
 * Faults of a disk, laid under a process by LD_PRELOAD. Where the flag file FAULT_DISK_STALLED is there, syncs do not
 * come back until it is gone; where FAULT_DISK_FULL is there, writes to files below FAULT_DISK_FOLDER fail with ENOSPC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_flagged(const char *name)
{
    const char *path = getenv(name);
    return path != NULL && access(path, F_OK) == 0;
}

static void wait_for_disk(void)
{
    int before = errno;
    while (is_flagged("FAULT_DISK_STALLED"))
        usleep(5000);
    errno = before;
}

static int is_full(int fd)
{
    int before = errno;
    const char *folder = getenv("FAULT_DISK_FOLDER");
    char link[64], path[PATH_MAX];
    ssize_t length;
    int full = 0;
    if (folder != NULL && is_flagged("FAULT_DISK_FULL")) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        length = readlink(link, path, sizeof path);
        full = length > (ssize_t)strlen(folder) && strncmp(path, folder, strlen(folder)) == 0;
    }
    errno = full ? ENOSPC : before;
    return full;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fsync(int fd)
{
    wait_for_disk();
    return NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    wait_for_disk();
    return NEXT(fdatasync)(fd);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    return is_full(fd) ? -1 : NEXT(write)(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    return is_full(fd) ? -1 : NEXT(pwrite)(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    return is_full(fd) ? -1 : NEXT(pwrite64)(fd, bytes, count, offset);
}
