# The strided-layout algebra as nogil C functions on plain structs. Knows no
# NumPy. The planner and the Python classes of _pattern.pyx share these functions.

cdef enum:
    MAX_AXES = 64
    MAX_PATTERNS = 8
    # Steps that a search may take where the caller names no other number. A step is
    # one choice tried, or one element or piece listed, and takes a microsecond or less.
    DEFAULT_WORK = 1000000

# Private axis order: axis 0 is the fastest. Sizes count elements; strides,
# offset and itemsize are in bytes.
cdef struct pattern_t:
    int ndim
    Py_ssize_t offset
    Py_ssize_t itemsize
    Py_ssize_t size[MAX_AXES]
    Py_ssize_t stride[MAX_AXES]

cdef struct axis_t:
    Py_ssize_t size
    Py_ssize_t stride[MAX_PATTERNS]

# Several patterns over common sizes; stretched axes have stride 0.
cdef struct pattern_tuple_t:
    int n                      # how many patterns
    int ndim
    Py_ssize_t offset[MAX_PATTERNS]
    axis_t axis[MAX_AXES]

# Lowest and highest byte of a pattern, [lowest, end); false if they leave 64 bits.
# An empty pattern gives lowest == end.
cdef bint byte_bounds(const pattern_t* p, Py_ssize_t* lowest, Py_ssize_t* end) noexcept nogil

# 1: no two elements share a byte. 0: some do. -1: undecided within max_work steps.
cdef int is_unique(const pattern_t* p, Py_ssize_t max_work) noexcept nogil

# 1: no byte in common. 0: some byte in common. -1: undecided within max_work steps.
cdef int are_disjoint(const pattern_t* p, const pattern_t* q, Py_ssize_t max_work) noexcept nogil

# Drops unit axes, flips (first pattern with a nonzero stride decides), sorts by
# absolute stride (first pattern first, ties by the next) and merges the axes that
# merge in every pattern. Must hold: all sizes at least 1. The set of index
# tuples, taken together over the patterns, is the same after.
cdef void reduce_tuple(pattern_tuple_t* t) noexcept nogil

# The same tuple as a Python object, for showing; itemsizes: a sequence of ints.
cdef object pattern_tuple_of(const pattern_tuple_t* t, object itemsizes)
