# The shape rules B1 to B11 (docs/semantics.md): where each dimension of an
# operand lands in the result, and how large the result is. Works on C integers.

from cpython.object cimport PyObject

from xbcast._pattern cimport MAX_AXES

cdef struct shape_t:
    int ndim
    const Py_ssize_t* size

cdef enum dims_form:
    IN_DIM          # one entry per dimension of the lower-rank operand
    PER_OPERAND     # B11: one sequence or None per operand

# A parsed broadcast_dimensions. IN_DIM uses row 0 only. Entries beyond 64 bits are
# clamped and entries beyond the 64th are counted, not kept: no rank accepts either.
cdef struct dims_t:
    dims_form form
    Py_ssize_t n[2]                    # entries; -1 for None under PER_OPERAND
    Py_ssize_t entry[2][MAX_AXES]

# A parsed degenerate_dimensions.
cdef struct degenerate_t:
    bint given
    bint beyond                        # some entry is outside [0, 64)
    unsigned long long may_stretch     # bit d: dimension d of the result may

# The result, and per operand and dimension of the result the operand's own
# dimension that lands there, or -1.
cdef struct placement_t:
    int ndim
    Py_ssize_t size[MAX_AXES]
    signed char source[2][MAX_AXES]

cdef struct fault_t:
    int rule                           # 1 to 11: B1 to B11
    int form                           # which of the faults of that rule
    Py_ssize_t entry                   # entry or operand at fault, or -1
    int dim                            # dimension of the result at fault, or -1

# The plain case of parse_dims: a tuple of ints. True, and `dims` is filled; else false.
cdef bint read_dims(PyObject* value, dims_t* dims) except -1
# Both return what they read, as a tuple: an argument can be read once only.
cdef tuple parse_dims(object op, object value, dims_t* dims)
cdef tuple parse_degenerate(object op, object value, degenerate_t* degenerate)
cdef bint infer_shape(const shape_t* x, const dims_t* dims, const degenerate_t* degenerate,
                      placement_t* placement, fault_t* fault) noexcept nogil
cdef object fault_error(object op, object shapes, object dims, object degenerate,
                        const placement_t* placement, const fault_t* fault)
cdef int parse_in_dim(object shape, object dims, const shape_t* x, placement_t* placement) except -1
