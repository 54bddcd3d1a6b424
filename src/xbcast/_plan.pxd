# From the strides of one call to a loop nest: a plan is a value, made once by
# make_plan, then run by _run. Knows no NumPy.

from xbcast._inner_loop cimport Copy, InnerLoop, LoopTable
from xbcast._pattern cimport pattern_tuple_t

cdef extern from "scratch.h":
    cdef enum:
        SCRATCH
        STREAM_BLOCK
        TILE_SCRATCH
        ALL_SCRATCH

cdef enum:
    CACHE_LINE = 64
    MAX_STAGES = 2
    # In fewer elements than this, packing for speed has nothing to gain
    # (benchmarks/bench_calls.py).
    WORTH_PACKING = 512
    # Elements of many short axes that are one block at most (benchmarks/bench_layouts.py,
    # ManyAxes): of 16 bytes each, they fill a buffer of SCRATCH bytes.
    MOST_JOINED = 512

# Where the warnings of a run are collected: the op's own, which include those of
# converting the result, and those of converting an operand, which NumPy reports as
# "in cast".
cdef enum:
    OWN = 0
    CAST = 1

# One step between an operand's memory and what the loop reads or writes.
cdef struct stage_t:
    Copy copy
    Py_ssize_t itemsize        # bytes of an element after the step
    int slot                   # OWN or CAST

cdef struct operand_t:
    char* data
    Py_ssize_t itemsize        # bytes of an element in memory
    Copy copy                  # copies elements as they are in memory
    int run_type               # ElementType for the loop
    Py_ssize_t run_itemsize    # its bytes
    Py_ssize_t alignment       # bytes that a NumPy loop asks for
    bint keep_scalar           # a NumPy loop gets stride 0 (an exponent of rank 0)
    bint packed
    bint gathered              # along joined axes, by their offsets
    Py_ssize_t scratch         # where in scratch its buffers begin
    Py_ssize_t offsets         # and where the offsets
    int n_stages
    stage_t stage[MAX_STAGES]  # operands: memory to loop; out: loop to memory

# NumPy's type of an inner loop: args, dimensions, steps, data.
ctypedef void (*NumpyLoop)(char** args, const Py_ssize_t* n, const Py_ssize_t* steps,
                           void* data) noexcept nogil

cdef struct plan_t:
    const LoopTable* table
    InnerLoop run              # NULL: numpy_run is used
    NumpyLoop numpy_run
    void* numpy_data
    int warning_source
    bint takes_every_second    # `run` has a layout for that of both operands
    bint takes_gaps            # the loop gains nothing by packing operands with gaps
    bint squares               # x2 is x1: whatever is packed, is packed once
    bint masked                # operand[MASK] is in use
    bint writes                # false: the loop only looks at its operands
    bint fresh                 # `out` was allocated for this call
    Py_ssize_t count           # elements of the result
    int n                      # operands in `nest`: 3, or 4 with a mask
    pattern_tuple_t nest       # by Role; offsets count from operand[].data
    operand_t operand[4]
    bint packs                 # some operand goes through scratch
    bint streams               # results may go past the cache
    bint past                  # and do so in this run (_ways)
    int joined                 # so many axes, each of a few elements, are one block; or 0
    Py_ssize_t block[3]        # elements along axes 0 to 2 that are packed at a time
    int turns                  # operand that is all there is to pack (take_turns), or -1
    int along                  # the axis along which it is packed block after block
    int aligned[2]             # operand of whose cache lines blocks along axes 0 and 1 are
                               # made; -1: any will do
    Py_ssize_t buffer          # bytes of one scratch buffer
    Py_ssize_t scratch         # bytes of all of them

cdef inline bint is_plain(const operand_t* operand) noexcept nogil:
    """Whether a packed operand is copied and no more."""
    return operand.n_stages == 1 and operand.stage[0].copy == operand.copy

cdef void make_plan(plan_t* plan) noexcept nogil
