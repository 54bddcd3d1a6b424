# Executes a plan. Knows no NumPy.

from xbcast._inner_loop cimport InnerLoop, Walk
from xbcast._plan cimport plan_t

# Runs a plan from end to end; warnings[] is indexed by OWN and CAST of _plan and only
# gains bits.
cdef void run_plan(const plan_t* plan, unsigned int* warnings) noexcept nogil

# One call of a loop of our own, for work that needs no plan; `warnings` gains bits.
cdef void run_walk(InnerLoop run, int warning_source, char** data, const Walk* walk,
                   unsigned int* warnings) noexcept nogil

# Bit that scan_negative reports, beside those of _inner_loop.Warning.
cdef enum:
    NEGATIVE = 16

# Inner loops that look for a negative second operand; by element type.
cdef InnerLoop scan_negative(int element_type) noexcept nogil
