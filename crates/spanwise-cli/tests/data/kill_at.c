/* Runs a command and kills it right before the N-th system call that changes a file.
 *
 * Usage: kill_at N COMMAND [ARGUMENT ...]
 *
 * Exit codes: that of the command if it came to its end before, 77 if it was killed, 78 if tracing is not possible here.
 * At the end of the command, prints how many such calls there were, on the last line of standard error.
 * All threads are traced. Calls are counted whether they come through the C library or not. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILLED = 77, CANNOT_TRACE = 78 };

/* Whether a file descriptor of the traced process is a regular file. */
static int is_file(pid_t pid, unsigned long fd) {
    char path[64];
    struct stat found;
    snprintf(path, sizeof path, "/proc/%d/fd/%lu", (int)pid, fd);
    return stat(path, &found) == 0 && (S_ISREG(found.st_mode) || S_ISDIR(found.st_mode));
}

static int changes_a_file(pid_t pid, const struct __ptrace_syscall_info *call) {
    const uint64_t *args = call->entry.args;
    switch (call->entry.nr) {
#ifdef SYS_open
    case SYS_open:
        return (args[1] & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) != 0;
    case SYS_creat:
    case SYS_rename:
    case SYS_unlink:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_link:
    case SYS_symlink:
    case SYS_chmod:
#endif
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_linkat:
    case SYS_symlinkat:
    case SYS_fchmodat:
        return 1;
    case SYS_openat:
        return (args[2] & (O_CREAT | O_WRONLY | O_RDWR | O_TRUNC)) != 0;
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ftruncate:
    case SYS_fchmod:
    case SYS_copy_file_range:
    case SYS_sendfile:
        return is_file(pid, args[0]);
    default:
        return 0;
    }
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: kill_at N COMMAND [ARGUMENT ...]\n");
        return 2;
    }
    long left = strtol(argv[1], NULL, 10);
    pid_t child = fork();
    if (child == 0) {
        /* A process group of its own, so that all of it can be killed. */
        if (setpgid(0, 0) != 0 || ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(CANNOT_TRACE);
        raise(SIGSTOP);
        execvp(argv[2], argv + 2);
        _exit(127);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return CANNOT_TRACE;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                   PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, options) != 0 || ptrace(PTRACE_SYSCALL, child, 0, 0) != 0) {
        kill(child, SIGKILL);
        return CANNOT_TRACE;
    }
    for (;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0) return errno == ECHILD ? KILLED : CANNOT_TRACE;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid != child) continue;
            fprintf(stderr, "%ld\n", strtol(argv[1], NULL, 10) - left);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        int deliver = 0;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct __ptrace_syscall_info call;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof call, &call) <= 0) {
                kill(child, SIGKILL);
                return CANNOT_TRACE;
            }
            if (call.op == PTRACE_SYSCALL_INFO_ENTRY && changes_a_file(pid, &call) && --left == 0) {
                kill(-child, SIGKILL);
                while (waitpid(-1, &status, __WALL) > 0) {
                }
                return KILLED;
            }
        } else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
            deliver = WSTOPSIG(status);
        }
        ptrace(PTRACE_SYSCALL, pid, 0, deliver);
    }
}
