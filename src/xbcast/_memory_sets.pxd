# Sets of memory units: what answers the questions about patterns whose answer is a
# pattern. A set has axes as a pattern has, but counts a unit of g bytes (g divides
# whatever occurs) in 128 bits, so that no sum needs a check. A pattern's set M has an
# axis per axis; its set B has one more, for the units of an element.

# cython: cdivision=True

from xbcast._integers cimport wide

cdef enum:
    # The axes of a pattern, the units of an element, and some to spare for cutting.
    # In 64 bits more cannot clear each other, as each at least doubles the span.
    MAX_SET_AXES = 72

# How a search ended, where it is no plain yes or no.
cdef enum:
    DONE = 0
    UNDECIDED = -1
    NO_MEMORY = -2
    FOUND = 1                  # stopped early: one piece was enough

# {low + sum of index x stride}; axis 0 is the fastest, strides are positive, sizes
# at least 2. `ndim` of -1 is the empty set.
cdef struct set_t:
    int ndim
    wide low
    wide size[MAX_SET_AXES]
    wide stride[MAX_SET_AXES]

# A growing list of sets, each stored as ndim, low, then size and stride by axis. Its
# owner frees `data`.
cdef struct pieces_t:
    wide* data
    size_t length
    size_t capacity
    Py_ssize_t n
    bint one_is_enough         # appending answers FOUND

# A budget of work, where one is given, counts down in steps: one choice tried, or one
# element or piece listed.

# Sorts the axes and makes one of any two that could be one, the set staying what
# it is: n steps of s and m steps of k x s are n + k x m steps of s, if k <= n + 1.
cdef void canonicalize(set_t* x) noexcept nogil

# Replaces the canonical set x by one with the same elements and fewest axes.
# DONE, or UNDECIDED, NO_MEMORY (x is as before).
cdef int reduce_set(set_t* x, Py_ssize_t* work) noexcept nogil

# 1: x is a subset of y; 0: it is not; else UNDECIDED or NO_MEMORY. Canonical sets.
cdef int is_subset(const set_t* x, const set_t* y, Py_ssize_t* work) noexcept nogil

# 1: the canonical sets x and y are equal; 0: they are not; else UNDECIDED or NO_MEMORY.
cdef int are_equal(const set_t* x, const set_t* y, Py_ssize_t* work) noexcept nogil

# Appends the elements of x that are in y (less: that are not) as clear sets that do
# not meet. Canonical sets; DONE, UNDECIDED or NO_MEMORY.
cdef int combine_any(const set_t* x, const set_t* y, bint less, pieces_t* out,
                     Py_ssize_t* work) noexcept nogil

# Makes pieces canonical, sorts them by their least element, and joins pairs
# while any two are one along an axis.
cdef int join_pieces(pieces_t* list) noexcept nogil

# Reads the piece at `position` and moves on to the next.
cdef void read_piece(const pieces_t* list, size_t* position, set_t* x) noexcept nogil

# Writes to r one set of at most `max_axes` axes that is the union of x and y, canonical
# and without a common element: FOUND, or DONE (there is none), UNDECIDED, NO_MEMORY.
cdef int find_union(const set_t* x, const set_t* y, int max_axes, set_t* r,
                    Py_ssize_t* work) noexcept nogil

# Finds 0 <= digit[i] <= m[i] with sum(c[i] * digit[i]) = target, coefficients
# sorted and above 0: FOUND, DONE (there are none) or UNDECIDED.
cdef int locate(const wide* c, const wide* m, int n, wide target, wide* digit,
                Py_ssize_t* work) noexcept nogil


cdef inline void init_pieces(pieces_t* list) noexcept nogil:
    list.data = NULL
    list.length = list.capacity = 0
    list.n = 0
    list.one_is_enough = False


# The greatest element of the first k axes, counted from their least.
cdef inline wide reach_of(const set_t* x, int k) noexcept nogil:
    cdef wide reach = 0
    cdef int i
    for i in range(k):
        reach += (x.size[i] - 1) * x.stride[i]
    return reach


cdef inline void copy_set(set_t* to, const set_t* source, int ndim) noexcept nogil:
    cdef int i
    to.ndim = ndim
    to.low = source.low
    for i in range(ndim):
        to.size[i] = source.size[i]
        to.stride[i] = source.stride[i]


# One axis more, unless it does not move.
cdef inline void push_axis(set_t* x, wide size, wide stride) noexcept nogil:
    if size > 1:
        x.size[x.ndim] = size
        x.stride[x.ndim] = stride
        x.ndim += 1


cdef inline void remove_axis(set_t* x, int axis) noexcept nogil:
    cdef int i
    x.ndim -= 1
    for i in range(axis, x.ndim):
        x.size[i] = x.size[i + 1]
        x.stride[i] = x.stride[i + 1]
