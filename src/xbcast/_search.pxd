# The bounded integer search that questions about shared memory come down to: is there
# a choice of 0 <= z[i] <= m[i] with lo <= sum(c[i] * z[i]) <= hi, where all c[i] > 0?

# cython: cdivision=True

from xbcast._integers cimport integer

cdef enum:
    # The axes of two patterns.
    MAX_SEARCH_AXES = 128

# 1: there is a choice of z with a sum in [lo, hi]. 0: there is none. -1: the
# budget ran out. Overwrites c and m. `work` counts down; one or two axes that
# remain after merging cost nothing and are always decided.
cdef int search(integer* c, integer* m, int n, integer lo, integer hi,
                Py_ssize_t* work) noexcept nogil

# The least v in [v, last] for which [top - c * v - width, top - c * v] contains a
# multiple of g; false if there is none.
cdef bint next_aligned(integer* v, integer last, integer c, integer g, integer top,
                       integer width) noexcept nogil


# The values of z for one axis (coefficient c, up to m) that leave a window which
# sums in [0, rest] can meet; false if there are none.
cdef inline bint axis_range(integer c, integer m, integer rest, integer lo, integer hi,
                            integer* first, integer* last) noexcept nogil:
    if hi < 0:
        return False
    first[0] = 0 if lo <= rest else (lo - rest - 1) // c + 1
    last[0] = hi // c
    if last[0] > m:
        last[0] = m
    return first[0] <= last[0]
