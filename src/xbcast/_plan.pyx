# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
Decides how a call walks its memory: which axes remain, which two are the inner
ones, which operands are packed into scratch, and how large a block is. Makes no
allocation and knows no NumPy; _run.pyx does what is decided here.
"""

from xbcast._inner_loop cimport MASK, OUT, X1
from xbcast._pattern cimport axis_t, pattern_tuple_t, reduce_tuple

cdef enum:
    # Shorter inner axes than this are worth joining with the next one by packing
    # (benchmarks/bench_layouts.py, short_inner).
    SHORT_INNER = 64
    # In fewer elements than this, packing for speed has nothing to gain, and fewer
    # than the other are walked as they lie if two axes are all there are
    # (benchmarks/bench_calls.py, which also times the calls below).
    WORTH_PACKING = 512
    TINY = 64
    # A tile of a transposed operand, elements along axis 0 and bytes along axis 1
    # (benchmarks/bench_layouts.py, transposed).
    TILE = 128
    CACHE_LINE = 64


cdef inline Py_ssize_t absolute(Py_ssize_t stride) noexcept nogil:
    return -stride if stride < 0 else stride


cdef inline bint is_scalar(const pattern_tuple_t* nest, int k) noexcept nogil:
    cdef int axis
    for axis in range(nest.ndim):
        if nest.axis[axis].stride[k] != 0:
            return False
    return True


cdef inline bint is_linear(const plan_t* plan, int k) noexcept nogil:
    """Whether axes 0 and 1 of an operand are one contiguous run."""
    cdef const axis_t* axis = plan.nest.axis
    return (axis[0].stride[k] == plan.operand[k].itemsize
            and axis[1].stride[k] == axis[0].size * axis[0].stride[k])


cdef bint suits_numpy(const plan_t* plan, int k) noexcept nogil:
    """Whether a NumPy loop may read or write an operand where it lies."""
    cdef const operand_t* operand = &plan.operand[k]
    cdef Py_ssize_t bits = <Py_ssize_t>operand.data
    cdef int axis
    if operand.keep_scalar:
        return True
    if plan.nest.ndim == 0 or plan.nest.axis[0].stride[k] != operand.itemsize:
        return False
    for axis in range(plan.nest.ndim):
        bits |= plan.nest.axis[axis].stride[k]
    return bits % operand.alignment == 0


cdef void pack(plan_t* plan, int k) noexcept nogil:
    """Send an operand through scratch, by a plain copy if it needs no conversion."""
    cdef operand_t* operand = &plan.operand[k]
    operand.packed = True
    plan.packs = True
    if operand.n_stages == 0:
        operand.n_stages = 1
        operand.stage[0].copy = plan.table.convert[operand.run_type][operand.run_type]
        operand.stage[0].itemsize = operand.run_itemsize
        operand.stage[0].slot = OWN


cdef bint joins_when_packed(const plan_t* plan) noexcept nogil:
    """
    Whether packing makes one long run of a short inner axis and the next.

    It does where `out` is one run already and whatever else is not is stretched
    along one of the two axes, so that packing repeats few elements: (N, 3) + (3,).
    """
    cdef const axis_t* axis = plan.nest.axis
    cdef bint any_stretched = False
    cdef int k
    if plan.nest.ndim < 2 or axis[0].size >= SHORT_INNER or not is_linear(plan, OUT):
        return False
    for k in range(X1, plan.n):
        if is_linear(plan, k) or (axis[0].stride[k] == 0 and axis[1].stride[k] == 0):
            continue
        if axis[0].stride[k] != 0 and axis[1].stride[k] != 0:
            return False
        any_stretched = True
    return any_stretched


cdef int transposed_axis(const plan_t* plan, int k) noexcept nogil:
    """
    Return the axis along which an operand is read best, if axis 0 is a poor one.

    -1 where axis 0 will do: its steps share cache lines, or no other axis does better.
    """
    cdef const axis_t* axis = plan.nest.axis
    cdef int a, best = -1
    cdef Py_ssize_t stride = absolute(axis[0].stride[k])
    if stride < CACHE_LINE or axis[0].size < 16:
        return -1
    for a in range(1, plan.nest.ndim):
        if axis[a].size >= 8 and 0 < absolute(axis[a].stride[k]) < stride:
            best = a
            stride = absolute(axis[a].stride[k])
    return best


cdef void make_plan(plan_t* plan) noexcept nogil:
    """
    Reduce the axes and decide on packing.

    Before: `nest` holds the result's axes with each operand's strides (0 where it is
    stretched), every size at least 1, and operands say which stages they need.
    After: `nest` is reduced, data pointers are moved to the first element walked,
    and `packed`, `packs` and `block` are set.
    """
    cdef pattern_tuple_t* nest = &plan.nest
    cdef axis_t held
    cdef Py_ssize_t elements, widest, transposed = 0
    cdef int k, s, axis
    if plan.count >= TINY or nest.ndim > 2:
        reduce_tuple(nest)
    plan.packs = False
    for k in range(plan.n):
        plan.operand[k].data += nest.offset[k]
        plan.operand[k].packed = False
        if plan.operand[k].n_stages > 0:
            pack(plan, k)
        elif plan.run == NULL and k != MASK and not suits_numpy(plan, k):
            pack(plan, k)
    if plan.count < WORTH_PACKING and not plan.packs and not plan.masked:
        return
    if plan.masked:
        pack(plan, OUT)
        pack(plan, MASK)
        for k in range(X1, MASK):
            # a scalar operand is the same whichever elements the mask keeps
            if not (is_scalar(nest, k) and (plan.run != NULL or plan.operand[k].keep_scalar)):
                pack(plan, k)
    elif plan.run != NULL and plan.count >= WORTH_PACKING:
        for k in range(X1, MASK):
            axis = transposed_axis(plan, k)
            if axis > 0:
                transposed = plan.operand[k].itemsize
                held = nest.axis[1]
                nest.axis[1] = nest.axis[axis]
                nest.axis[axis] = held
                pack(plan, k)
                break
        if transposed == 0 and joins_when_packed(plan):
            for k in range(X1, plan.n):
                if not is_linear(plan, k) and not is_scalar(nest, k):
                    pack(plan, k)
    if not plan.packs:
        return
    widest = 1
    for k in range(plan.n):
        widest = max(widest, plan.operand[k].itemsize, plan.operand[k].run_itemsize)
        for s in range(plan.operand[k].n_stages):
            widest = max(widest, plan.operand[k].stage[s].itemsize)
    elements = SCRATCH // widest
    plan.block[0] = elements
    if transposed != 0:
        plan.block[0] = min(elements, TILE)
    if nest.ndim > 0:
        plan.block[0] = min(plan.block[0], nest.axis[0].size)
    else:
        plan.block[0] = 1
    plan.block[1] = elements // plan.block[0]
    if nest.ndim > 1:
        plan.block[1] = min(plan.block[1], nest.axis[1].size)
    else:
        plan.block[1] = 1
