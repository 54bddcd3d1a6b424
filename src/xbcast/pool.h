/* A small pool of threads that wait passively. _threads.pyx is its only user.
 *
 * GNU OpenMP does not serve: its workers spin between regions, and two processes
 * that do so on the same cores slow each other down hundreds of times. Here a worker
 * looks for the next job for a few microseconds and then sleeps; and the caller works
 * too, claims whatever nobody has begun, and waits only for what is being done.
 *
 * One thread at a time may call pool_run (the process's main thread, as it is used).
 * A job is a number of chunks, of which those from `next` to `end` are unclaimed. Both
 * are in one 64-bit word, which also holds the job's generation, so that nobody claims
 * from a job that has ended. The caller and every second worker claim the lowest, the
 * others the highest: so a thread meets the same memory at each of several calls, and
 * finds it in its cache (benchmarks/bench_threads.py, 100000). After a fork the child has
 * no workers and never makes any.
 */
#ifndef XBCAST_POOL_H
#define XBCAST_POOL_H

typedef void (*pool_task)(void *context, long chunk);

enum { POOL_MAX_THREADS = 255, POOL_MAX_CHUNKS = 65535 };

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

/* Looks at the word between two sleeps: about ten microseconds. */
enum { POOL_LOOKS = 400 };

static struct {
    /* generation (24 bits), threads (8), end (16), next (16) */
    _Atomic uint64_t word;
    _Atomic long done;
    long n_chunks;
    _Atomic int sleeping_caller;
    _Atomic int sleeping_workers;
    pool_task task;
    void *context;
    int n_workers;
    int forked;
    pthread_mutex_t lock;
    pthread_cond_t work, finished;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER};

static inline void pool_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline uint64_t pool_generation(uint64_t word) { return word >> 40; }
static inline int pool_threads(uint64_t word) { return (int)(word >> 32 & 0xff); }
static inline long pool_end(uint64_t word) { return (long)(word >> 16 & 0xffff); }
static inline long pool_next(uint64_t word) { return (long)(word & 0xffff); }

/* Does chunks of the current job until none is left; false if there was none. */
static int pool_work(int worker)
{
    int any = 0;
    uint64_t word = atomic_load_explicit(&pool.word, memory_order_acquire);

    while (worker < pool_threads(word) && pool_next(word) < pool_end(word)) {
        const int highest = worker % 2;
        if (!atomic_compare_exchange_weak_explicit(&pool.word, &word,
                                                   highest ? word - (1 << 16) : word + 1,
                                                   memory_order_acq_rel, memory_order_acquire)) {
            continue;
        }
        /* the job cannot end before this chunk is counted as done */
        any = 1;
        /* what is the job's is read before, too */
        const long n_chunks = pool.n_chunks;
        pool.task(pool.context, highest ? pool_end(word) - 1 : pool_next(word));
        if (atomic_fetch_add(&pool.done, 1) + 1 == n_chunks
            && atomic_load(&pool.sleeping_caller)) {
            pthread_mutex_lock(&pool.lock);
            pthread_cond_signal(&pool.finished);
            pthread_mutex_unlock(&pool.lock);
        }
        word = atomic_load_explicit(&pool.word, memory_order_acquire);
    }
    return any;
}

static int pool_has_work(int worker)
{
    uint64_t word = atomic_load_explicit(&pool.word, memory_order_acquire);

    return worker < pool_threads(word) && pool_next(word) < pool_end(word);
}

static void *pool_worker(void *argument)
{
    int worker = (int)(intptr_t)argument;
    int looks = 0;

    for (;;) {
        if (pool_work(worker)) {
            looks = 0;
        }
        if (looks++ < POOL_LOOKS) {
            pool_pause();
            continue;
        }
        pthread_mutex_lock(&pool.lock);
        atomic_fetch_add(&pool.sleeping_workers, 1);
        while (!pool_has_work(worker)) {
            pthread_cond_wait(&pool.work, &pool.lock);
        }
        atomic_fetch_sub(&pool.sleeping_workers, 1);
        pthread_mutex_unlock(&pool.lock);
        looks = 0;
    }
    return NULL;
}

static void pool_after_fork(void)
{
    pool.forked = 1;
    pool.n_workers = 0;
}

/* Makes workers until there are n; returns how many there are. */
static int pool_grow(int n)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;

    if (pool.n_workers >= n || pool.forked) {
        return pool.n_workers;
    }
    /* signals are the main thread's, where Python expects them */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    while (pool.n_workers < n) {
        /* worker 0 is the caller */
        if (pthread_create(&thread, &attributes, pool_worker,
                           (void *)(intptr_t)(pool.n_workers + 1)) != 0) {
            break;
        }
        pool.n_workers++;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool.n_workers;
}

/* Calls task(context, 0) to task(context, n_chunks - 1) on up to n_threads threads,
 * the caller among them; returns when all have returned. */
static void pool_run(pool_task task, void *context, long n_chunks, int n_threads)
{
    uint64_t word = atomic_load(&pool.word);
    int looks = 0;

    if (n_threads > 1) {
        /* there may be more workers, of an earlier and wider job */
        int workers = pool_grow(n_threads - 1);
        if (workers < n_threads - 1) {
            n_threads = 1 + workers;
        }
    }
    pool.task = task;
    pool.context = context;
    pool.n_chunks = n_chunks;
    atomic_store(&pool.done, 0);
    word = (pool_generation(word) + 1) << 40 | (uint64_t)n_threads << 32 | (uint64_t)n_chunks << 16;
    atomic_store(&pool.word, word);
    if (n_threads > 1 && atomic_load(&pool.sleeping_workers) > 0) {
        pthread_mutex_lock(&pool.lock);
        pthread_cond_broadcast(&pool.work);
        pthread_mutex_unlock(&pool.lock);
    }
    pool_work(0);
    while (atomic_load(&pool.done) < n_chunks) {
        if (looks++ < POOL_LOOKS) {
            pool_pause();
            continue;
        }
        pthread_mutex_lock(&pool.lock);
        atomic_store(&pool.sleeping_caller, 1);
        while (atomic_load(&pool.done) < n_chunks) {
            pthread_cond_wait(&pool.finished, &pool.lock);
        }
        atomic_store(&pool.sleeping_caller, 0);
        pthread_mutex_unlock(&pool.lock);
    }
}

static int pool_can_run(void)
{
    if (pool.forked) {
        return 0;
    }
#if defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    return pthread_main_np();
#else
    return 0;
#endif
}

static int pool_is_forked(void) { return pool.forked; }

/* To be called once, before anything else here. */
static void pool_watch_forks(void) { pthread_atfork(NULL, NULL, pool_after_fork); }

#else
static int pool_can_run(void) { return 0; }
static int pool_is_forked(void) { return 0; }
static void pool_watch_forks(void) {}
static void pool_run(pool_task task, void *context, long n_chunks, int n_threads)
{
    for (long chunk = 0; chunk < n_chunks; chunk++) {
        task(context, chunk);
    }
}
#endif

#endif
