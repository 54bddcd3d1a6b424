/* How much of the calling thread's stack is left, for functions that call themselves. */
#ifndef XBCAST_STACK_H
#define XBCAST_STACK_H

#include <stddef.h>
#include <stdint.h>

#if defined(__linux__)
#include <pthread.h>

/* Of glibc and musl; declared only if one asks for all of GNU. */
int pthread_getattr_np(pthread_t, pthread_attr_t *);

/* The lowest address of the stack, 0 if it cannot be told. */
static inline uintptr_t stack_bottom(void)
{
    pthread_attr_t attributes;
    void *bottom = NULL;
    size_t size = 0, guard = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
        return 0;
    }
    pthread_attr_getstack(&attributes, &bottom, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    return (uintptr_t)bottom + guard;
}

/* Whether fewer than `bytes` are left; no, if it cannot be told. */
static inline int stack_is_short(ptrdiff_t bytes)
{
    /* found once per thread: for the main thread it takes a while */
    static _Thread_local uintptr_t bottom = 1;
    char here;
    if (bottom == 1) {
        bottom = stack_bottom();
    }
    return bottom != 0 && (uintptr_t)&here < bottom + (uintptr_t)bytes;
}
#else
static inline int stack_is_short(ptrdiff_t bytes)
{
    (void)bytes;
    return 0;
}
#endif

#endif
