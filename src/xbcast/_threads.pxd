# Runs a plan, in chunks on several threads where that was asked for and gains.

from xbcast._plan cimport plan_t

# As _run.run_plan, after a choice of the way that large results go (`past`); called
# without the GIL or for small work with it.
cdef void run_shared(plan_t* plan, unsigned int* warnings) noexcept nogil

# How many threads run_shared would use, were it called from the same thread.
cdef int threads_for(const plan_t* plan) noexcept nogil
