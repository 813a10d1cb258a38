/*
 * Faults of a disk, laid under a process by LD_PRELOAD. Where the flag file FAULT_DISK_STALLED is there, syncs do not
 * come back until it is gone; where FAULT_DISK_FULL is there, files whose names begin with FAULT_DISK_FOLDER cannot
 * grow: it fails with ENOSPC. Bytes that stand can be written over, as on a full disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
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

static int is_on_disk(int fd)
{
    const char *folder = getenv("FAULT_DISK_FOLDER");
    char link[64], path[PATH_MAX];
    ssize_t length;
    if (folder == NULL || !is_flagged("FAULT_DISK_FULL"))
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof path);
    return length > (ssize_t)strlen(folder) && strncmp(path, folder, strlen(folder)) == 0;
}

/* Whether there is no room for `count` bytes from `offset` on; -1 stands for where the file would be written next. */
static int is_full(int fd, off_t offset, size_t count)
{
    int before = errno;
    struct stat file;
    int full = 0;
    if (is_on_disk(fd) && fstat(fd, &file) == 0) {
        if (offset < 0)
            offset = fcntl(fd, F_GETFL) & O_APPEND ? file.st_size : lseek(fd, 0, SEEK_CUR);
        full = offset + (off_t)count > file.st_size;
    }
    errno = full ? ENOSPC : before;
    return full;
}

static size_t sum_of(const struct iovec *parts, int count)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += parts[i].iov_len;
    return sum;
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
    return is_full(fd, -1, count) ? -1 : NEXT(write)(fd, bytes, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
    return is_full(fd, offset, count) ? -1 : NEXT(pwrite)(fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset)
{
    return is_full(fd, offset, count) ? -1 : NEXT(pwrite64)(fd, bytes, count, offset);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return is_full(fd, -1, sum_of(parts, count)) ? -1 : NEXT(writev)(fd, parts, count);
}

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    return is_full(fd, offset, sum_of(parts, count)) ? -1 : NEXT(pwritev)(fd, parts, count, offset);
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset)
{
    return is_full(fd, offset, sum_of(parts, count)) ? -1 : NEXT(pwritev64)(fd, parts, count, offset);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    return is_full(fd, offset, length) ? -1 : NEXT(fallocate)(fd, mode, offset, length);
}

int fallocate64(int fd, int mode, off64_t offset, off64_t length)
{
    return is_full(fd, offset, length) ? -1 : NEXT(fallocate64)(fd, mode, offset, length);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    return is_full(fd, offset, length) ? ENOSPC : NEXT(posix_fallocate)(fd, offset, length);
}

int posix_fallocate64(int fd, off64_t offset, off64_t length)
{
    return is_full(fd, offset, length) ? ENOSPC : NEXT(posix_fallocate64)(fd, offset, length);
}
