# The contract between the layers: what an inner loop is handed, and which
# tables a module of loops exports. Declarations only; it knows neither NumPy nor
# Python objects. The loops implement it, the planner and the core call it.

# An ElementType, for those that have loops of their own. An element type is not a NumPy
# type number: the core maps one to the other, for native byte order only.
cdef enum:
    BOOL = 0
    INT8 = 1
    UINT8 = 2
    INT16 = 3
    UINT16 = 4
    INT32 = 5
    UINT32 = 6
    INT64 = 7
    UINT64 = 8
    FLOAT16 = 9
    FLOAT32 = 10
    FLOAT64 = 11
    COMPLEX64 = 12
    COMPLEX128 = 13
    N_TYPES = 14

# Bytes of an element, and the alignment that NumPy asks for.
cdef extern from *:
    """
    static const signed char xbcast_element_size[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 8, 16};
    static const signed char xbcast_element_alignment[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 4, 8};
    """
    const signed char* element_size "xbcast_element_size"
    const signed char* element_alignment "xbcast_element_alignment"

# The operands of a loop, in the order used by Walk and everywhere below: a Role.
cdef enum:
    OUT = 0
    X1 = 1
    X2 = 2
    MASK = 3

# Bits of a Warning, numbered as NumPy's NPY_FPE_* are.
cdef enum:
    DIVIDE_BY_ZERO = 1
    OVERFLOW = 2
    UNDERFLOW = 4
    INVALID = 8

# How the warnings of a loop are found: a WarningSource.
cdef enum:
    NEVER = 0      # the loop gives none, whatever the hardware says
    HARDWARE = 1   # the status bits that the hardware raises, and no others
    COMPUTED = 2   # the loop itself ORs bits of Warning into its `warnings`

# Two levels of a strided walk. Strides are in bytes and may be anything: zero,
# negative, not a multiple of the element size. Sizes are at least 1.
cdef struct Walk:
    Py_ssize_t size[2]         # elements: [inner, outer]
    Py_ssize_t stride[3][2]    # bytes: [OUT, X1, X2][inner, outer]

# Applies one kernel along a Walk. Pointers need no alignment. Where `out`
# shares memory with an operand it has that operand's address and strides.
ctypedef void (*InnerLoop)(char* out, const char* x1, const char* x2,
                           const Walk* walk, unsigned int* warnings) noexcept nogil

cdef struct CopyWalk:
    Py_ssize_t size[2]         # elements: [inner, outer]
    Py_ssize_t to[2]           # bytes: strides of the destination
    Py_ssize_t source[2]       # bytes: strides of the source

# Copies along a CopyWalk. Any alignment, no overlap. Functions that change elements
# (convert of different representations, swap) take size[0] contiguous elements on
# both sides, and look at nothing else of the walk. A conversion that can warn ORs
# bits of Warning into `warnings`, as NumPy reports them.
ctypedef void (*Copy)(char* to, const char* source, const CopyWalk* walk,
                      unsigned int* warnings) noexcept nogil

# Keeps the elements of contiguous `data` whose mask byte is nonzero, in place;
# returns how many there are.
ctypedef Py_ssize_t (*Compress)(char* data, const char* mask, Py_ssize_t n) noexcept nogil

# The opposite: the k-th element of contiguous `source` goes to the k-th place of
# the destination walk (size, to) whose mask byte is nonzero. The mask is
# contiguous in walk order.
ctypedef void (*Scatter)(char* to, const char* source, const char* mask,
                         const CopyWalk* walk) noexcept nogil

# Copies contiguous bytes past the cache; nobody else sees them before stream_end of
# stream.h.
ctypedef void (*Stream)(char* to, const char* source, Py_ssize_t bytes) noexcept nogil

# One loop of one op.
cdef struct LoopEntry:
    int op                     # index in the op table
    int type[3]                # ElementType of [OUT, X1, X2]
    int warning_source         # WarningSource
    bint takes_every_second    # has a layout for every second element of both operands
    bint takes_gaps            # gains nothing by packing operands with gaps
    InnerLoop run

# Sizes of plain copies: 1, 2, 4, 8, 16 bytes.
cdef enum:
    N_COPY_SIZES = 5

cdef struct LoopTable:
    Py_ssize_t n_loops
    const LoopEntry* loops
    # convert[to][source]: every pair for which NumPy's casting="same_kind" holds,
    # equal types included (a plain copy); NULL elsewhere.
    Copy convert[N_TYPES][N_TYPES]
    # to bool, which no casting short of "unsafe" does, but logical ops of mixed dtypes;
    # NULL for bool
    Copy truth[N_TYPES]
    # byte swap while copying, per element type (a complex swaps each part);
    # NULL for one-byte types
    Copy swap[N_TYPES]
    Compress compress[N_COPY_SIZES]
    Scatter scatter[N_COPY_SIZES]
    Stream stream              # NULL where the machine has no such stores
