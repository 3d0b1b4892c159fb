/* A disk that fails, for evidence/siege.py: loaded before libc (LD_PRELOAD), it lets writes and syncs to the files below
   one path fail, as a file that all processes map says. Real calls are made by syscall(2). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NONE, FULL, WRITE_EIO, SYNC_EIO, TORN };
struct control { long mode, every, calls, faults; };
static volatile struct control *control;
static const char *under;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("DISK_FAULTS");
    under = getenv("DISK_FAULTS_UNDER");
    int file = path && under ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    control = map == MAP_FAILED ? NULL : map;
    close(file);
}

/* The fault that this call is to have; every so many calls that could have one. */
static long fault(int file, int syncs) {
    char link[64], path[4096];
    long mode = control ? control->mode : NONE;
    if (mode == NONE || syncs != (mode == SYNC_EIO)) return NONE;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return NONE;
    path[length] = 0;
    if (strncmp(path, under, strlen(under))) return NONE;
    if (__sync_add_and_fetch(&control->calls, 1) % control->every) return NONE;
    __sync_add_and_fetch(&control->faults, 1);
    return mode;
}

static ssize_t fail(int error) { errno = error; return -1; }

/* Half of it, at the end of a sector where there is one, and then no more of this process. */
static ssize_t tear(int file, const void *data, size_t size, off_t at) {
    size_t half = size >= 1024 ? size / 2 / 512 * 512 : size / 2;
    if (at < 0) syscall(SYS_write, file, data, half);
    else syscall(SYS_pwrite64, file, data, half, at);
    kill(getpid(), SIGKILL);
    return fail(EIO);
}

static ssize_t written(int file, const void *data, size_t size, off_t at) {
    switch (fault(file, 0)) {
    case FULL: return fail(ENOSPC);
    case WRITE_EIO: return fail(EIO);
    case TORN: return tear(file, data, size, at);
    }
    return at < 0 ? syscall(SYS_write, file, data, size) : syscall(SYS_pwrite64, file, data, size, at);
}

ssize_t write(int file, const void *data, size_t size) { return written(file, data, size, -1); }
ssize_t pwrite(int file, const void *data, size_t size, off_t at) { return written(file, data, size, at); }
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) { return written(file, data, size, at); }

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
    switch (fault(file, 0)) {
    case FULL: return fail(ENOSPC);
    case WRITE_EIO: return fail(EIO);
    case TORN: return tear(file, parts[0].iov_base, parts[0].iov_len, at);
    }
    return syscall(SYS_pwritev, file, parts, count, at, 0);
}
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at) { return pwritev(file, parts, count, at); }

int fsync(int file) { return fault(file, 1) ? (int)fail(EIO) : (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return fault(file, 1) ? (int)fail(EIO) : (int)syscall(SYS_fdatasync, file); }
