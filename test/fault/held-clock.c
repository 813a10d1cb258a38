/*
 * A machine that its hypervisor held: both clocks of a process stand still for as long as FAULT_CLOCK_FILE says, in
 * nanoseconds (8 bytes, in the order of the machine). No clock of the process tells that it stood still. The 8 bytes
 * behind them are by how much the wall clock alone is behind.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second_ns = 1000000000;

static int64_t held_ns(clockid_t clock)
{
    static volatile const int64_t *shared;
    if (shared == NULL) {
        const char *path = getenv("FAULT_CLOCK_FILE");
        int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
        void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, 2 * sizeof *shared, PROT_READ, MAP_SHARED, file, 0);
        if (file >= 0)
            close(file);
        if (mapped == MAP_FAILED)
            return 0;
        shared = mapped;
    }
    int is_wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
    return shared[0] + (is_wall ? shared[1] : 0);
}

static void shift(struct timespec *time, int64_t by_ns)
{
    int64_t total = time->tv_nsec + by_ns % second_ns;
    time->tv_sec += by_ns / second_ns;
    if (total < 0) {
        total += second_ns;
        time->tv_sec -= 1;
    } else if (total >= second_ns) {
        total -= second_ns;
        time->tv_sec += 1;
    }
    time->tv_nsec = total;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int clock_gettime(clockid_t clock, struct timespec *time)
{
    static __typeof__(&clock_gettime) next;
    if (next == NULL)
        next = NEXT(clock_gettime);
    int result = next(clock, time);
    int is_cpu_time = clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
    if (result == 0 && !is_cpu_time)
        shift(time, -held_ns(clock));
    return result;
}

int gettimeofday(struct timeval *time, void *zone)
{
    struct timespec now;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return result;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* Waits until a moment, which was worked out from a clock that stood still. Node waits by the monotonic one. */
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
    struct timespec moved = *until;
    shift(&moved, held_ns(CLOCK_MONOTONIC));
    return NEXT(pthread_cond_timedwait)(condition, mutex, &moved);
}
