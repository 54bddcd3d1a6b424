# Which way the results of a run go, through the cache or past it. Knows nothing of how.

from libc.stdint cimport uint64_t
from xbcast._plan cimport plan_t

# One run, from which something is learnt.
cdef struct trial_t:
    uint64_t kind              # of work, a number
    uint64_t start             # on the clock of stream.h
    bint past                  # the way that is taken

# Choose the way of a plan that streams, before its run, and learn from it after the run.
# Any thread may call them.
cdef bint choose_way(const plan_t* plan, int threads, trial_t* trial) noexcept nogil
cdef void learn_way(const plan_t* plan, const trial_t* trial) noexcept nogil
