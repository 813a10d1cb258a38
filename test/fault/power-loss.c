/*
 * Writes down what power-loss.ts needs to undo: each change to the files below POWER_FOLDER, with the bytes that were
 * there before, each change of a name, and each sync. Records go to POWER_JOURNAL; files that lose their name are kept
 * in POWER_SAVED by another one. Until the power is cut every process sees every write, as usual. Nothing is really
 * synced: the kernel lives on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum kind { opened = 1, created, changed, synced, unlinked, renamed, made_folder };

struct head {
    uint32_t kind, path_length, other_length, data_length;
    uint64_t inode, parent;
    int64_t offset, length, size_before, saved;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;

/* Every record and what it records happen together, in one order for all processes. */
static void begin(void)
{
    pthread_mutex_lock(&mutex);
    if (journal < 0)
        journal = NEXT(open)(getenv("POWER_JOURNAL"), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    while (flock(journal, LOCK_EX) != 0)
        ;
}

static void end(void)
{
    int before = errno;
    flock(journal, LOCK_UN);
    pthread_mutex_unlock(&mutex);
    errno = before;
}

static int is_below(const char *path)
{
    const char *folder = getenv("POWER_FOLDER");
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

static int path_of(int fd, char *path)
{
    char link[64];
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    errno = before;
    if (length <= 0)
        return 0;
    path[length] = 0;
    return is_below(path);
}

static uint64_t parent_of(const char *path)
{
    char copy[PATH_MAX];
    struct stat found;
    snprintf(copy, sizeof copy, "%s", path);
    return stat(dirname(copy), &found) == 0 ? found.st_ino : 0;
}

static void note(struct head head, const char *path, const char *other, const void *data)
{
    head.path_length = strlen(path);
    head.other_length = other == NULL ? 0 : strlen(other);
    struct iovec parts[4] = {
        { &head, sizeof head },
        { (void *)path, head.path_length },
        { (void *)other, head.other_length },
        { (void *)data, head.data_length },
    };
    if (NEXT(writev)(journal, parts, 4) < 0)
        abort();
}

/* Before the bytes from `offset` on change, or the file's length. */
static void note_change(int fd, const char *path, int64_t offset, int64_t length)
{
    struct stat found;
    if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode))
        return;
    if (length < 0)
        length = found.st_size > offset ? found.st_size - offset : 0;
    char *bytes = malloc(length > 0 ? length : 1);
    ssize_t old = length > 0 ? pread(fd, bytes, length, offset) : 0;
    if (old < 0 && errno == EBADF) {
        /* It may not be read: no lock of SQLite can be on it, so it may be opened once more. */
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        int reader = NEXT(open)(link, O_RDONLY | O_CLOEXEC);
        old = pread(reader, bytes, length, offset);
        close(reader);
    }
    struct head head = { .kind = changed, .inode = found.st_ino, .offset = offset, .length = length };
    head.size_before = found.st_size;
    head.data_length = old > 0 ? old : 0;
    note(head, path, NULL, bytes);
    free(bytes);
}

static int open_noted(int (*next)(const char *, int, ...), const char *path, int flags, mode_t mode)
{
    char real[PATH_MAX];
    if (!is_below(path) || (flags & O_ACCMODE) == O_RDONLY)
        return next(path, flags, mode);
    snprintf(real, sizeof real, "%s", path);
    begin();
    int is_new = access(path, F_OK) != 0;
    int truncates = !is_new && (flags & O_TRUNC);
    if (truncates) {
        int reader = NEXT(open)(path, O_RDWR | O_CLOEXEC);
        if (reader >= 0) {
            note_change(reader, real, 0, -1);
            close(reader);
        }
    }
    int fd = next(path, flags, mode);
    struct stat found;
    if (fd >= 0 && fstat(fd, &found) == 0) {
        struct head head = { .kind = is_new ? created : opened, .inode = found.st_ino, .parent = parent_of(path) };
        note(head, real, NULL, NULL);
    }
    end();
    return fd;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = (flags & O_CREAT) ? va_arg(rest, mode_t) : 0;                                                    \
        va_end(rest);                                                                                                  \
        return open_noted((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name), path, flags, mode);                \
    }

OPEN(open)
OPEN(open64)

#define CHANGES(declaration, call, at, count)                                                                          \
    declaration                                                                                                        \
    {                                                                                                                  \
        char path[PATH_MAX];                                                                                           \
        if (!path_of(fd, path))                                                                                        \
            return call;                                                                                               \
        begin();                                                                                                       \
        note_change(fd, path, at, count);                                                                              \
        __typeof__(call) result = call;                                                                                \
        end();                                                                                                         \
        return result;                                                                                                 \
    }

static int64_t place(int fd)
{
    return (NEXT(fcntl)(fd, F_GETFL) & O_APPEND) ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
}

static int64_t total(const struct iovec *parts, int count)
{
    int64_t bytes = 0;
    for (int index = 0; index < count; index += 1)
        bytes += parts[index].iov_len;
    return bytes;
}

CHANGES(ssize_t write(int fd, const void *bytes, size_t count), NEXT(write)(fd, bytes, count), place(fd), count)
CHANGES(ssize_t writev(int fd, const struct iovec *parts, int count), NEXT(writev)(fd, parts, count), place(fd),
        total(parts, count))
CHANGES(ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at), NEXT(pwrite)(fd, bytes, count, at), at, count)
CHANGES(ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at), NEXT(pwrite64)(fd, bytes, count, at), at,
        count)
CHANGES(ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at), NEXT(pwritev)(fd, parts, count, at),
        at, total(parts, count))
CHANGES(int ftruncate(int fd, off_t size), NEXT(ftruncate)(fd, size), size, -1)
CHANGES(int ftruncate64(int fd, off64_t size), NEXT(ftruncate64)(fd, size), size, -1)

static int sync_noted(int fd, int (*next)(int))
{
    char path[PATH_MAX];
    struct stat found;
    if (!path_of(fd, path) && strncmp(path, getenv("POWER_FOLDER"), strlen(path)) != 0)
        return next(fd);
    begin();
    if (fstat(fd, &found) == 0)
        note((struct head){ .kind = synced, .inode = found.st_ino }, path, NULL, NULL);
    end();
    return 0;
}

int fsync(int fd)
{
    return sync_noted(fd, NEXT(fsync));
}

int fdatasync(int fd)
{
    return sync_noted(fd, NEXT(fdatasync));
}

/* Keeps a file whose name is about to go. Its number, or 0. */
static int64_t keep(const char *path)
{
    char kept[PATH_MAX];
    int64_t number = lseek(journal, 0, SEEK_END) + 1;
    snprintf(kept, sizeof kept, "%s/%lld", getenv("POWER_SAVED"), (long long)number);
    return link(path, kept) == 0 ? number : 0;
}

int unlink(const char *path)
{
    if (!is_below(path))
        return NEXT(unlink)(path);
    begin();
    struct head head = { .kind = unlinked, .parent = parent_of(path), .saved = keep(path) };
    if (head.saved != 0)
        note(head, path, NULL, NULL);
    int result = NEXT(unlink)(path);
    end();
    return result;
}

int rename(const char *from, const char *to)
{
    if (!is_below(from))
        return NEXT(rename)(from, to);
    begin();
    struct head head = { .kind = renamed, .parent = parent_of(to), .saved = keep(to) };
    note(head, from, to, NULL);
    int result = NEXT(rename)(from, to);
    end();
    return result;
}

int mkdir(const char *path, mode_t mode)
{
    if (!is_below(path))
        return NEXT(mkdir)(path, mode);
    begin();
    int result = NEXT(mkdir)(path, mode);
    if (result == 0)
        note((struct head){ .kind = made_folder, .parent = parent_of(path) }, path, NULL, NULL);
    end();
    return result;
}
