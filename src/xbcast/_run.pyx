# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
Executes a plan: walks the outer axes, packs what must be packed a block at a time,
calls the inner loop, and brings the results to where they belong. No Python
object, no allocation, no decision that the plan has not made.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t
from libc.string cimport memcpy
from xbcast._inner_loop cimport (
    COMPUTED, HARDWARE, INT8, INT16, INT32, INT64, MASK, OUT, X1, X2,
    CopyWalk, InnerLoop, Walk,
)
from xbcast._pattern cimport MAX_AXES, axis_t
from xbcast._plan cimport CAST, OWN, SCRATCH, operand_t, plan_t

cdef extern from "float_status.h" nogil:
    void clear_kernel_status()
    unsigned int kernel_status_raised()
    void clear_library_status()
    unsigned int library_status()


# ------------------------------------------------------------ one call of a loop

cdef inline void run_numpy_loop(const plan_t* plan, char** data, const Walk* walk) noexcept nogil:
    """Call NumPy's loop, which has one level, for each step of the outer one."""
    cdef char* args[3]
    cdef Py_ssize_t steps[3]
    cdef Py_ssize_t j
    # NumPy's order of operands: x1, x2, out
    args[0] = data[X1]
    args[1] = data[X2]
    args[2] = data[OUT]
    steps[0] = walk.stride[X1][0]
    steps[1] = walk.stride[X2][0]
    steps[2] = walk.stride[OUT][0]
    for j in range(walk.size[1]):
        plan.numpy_run(args, walk.size, steps, plan.numpy_data)
        args[0] += walk.stride[X1][1]
        args[1] += walk.stride[X2][1]
        args[2] += walk.stride[OUT][1]


cdef inline void run_loop(const plan_t* plan, char** data, const Walk* walk,
                          unsigned int* warnings) noexcept nogil:
    """Call the loop and collect its own warnings, and no others."""
    cdef unsigned int ignored = 0
    if plan.run == NULL:
        clear_library_status()
        run_numpy_loop(plan, data, walk)
        warnings[OWN] |= library_status()
    elif plan.warning_source == HARDWARE:
        clear_kernel_status()
        plan.run(data[OUT], data[X1], data[X2], walk, &ignored)
        warnings[OWN] |= kernel_status_raised()
    elif plan.warning_source == COMPUTED:
        plan.run(data[OUT], data[X1], data[X2], walk, &warnings[OWN])
    else:
        plan.run(data[OUT], data[X1], data[X2], walk, &ignored)


# ---------------------------------------------------------------------- packing

# What is in an operand's scratch: which block, of which extent.
cdef struct held_t:
    const char* source
    Py_ssize_t size[2]


cdef inline char* other(char* scratch, char* now) noexcept nogil:
    """Return the one of an operand's two buffers that is not in use."""
    return scratch + SCRATCH if now == scratch else scratch


cdef char* pack_operand(const plan_t* plan, int k, const char* source, const Py_ssize_t* size,
                        char* scratch, unsigned int* warnings) noexcept nogil:
    """
    Bring a block of an operand into contiguous scratch, as the loop reads it.

    Returns the buffer that holds it.
    """
    cdef const operand_t* operand = &plan.operand[k]
    cdef CopyWalk walk
    cdef char* target
    cdef int s
    walk.size[0] = size[0]
    walk.size[1] = size[1]
    walk.source[0] = plan.nest.axis[0].stride[k] if plan.nest.ndim > 0 else 0
    walk.source[1] = plan.nest.axis[1].stride[k] if plan.nest.ndim > 1 else 0
    target = scratch
    for s in range(operand.n_stages):
        walk.to[0] = operand.stage[s].itemsize
        walk.to[1] = size[0] * walk.to[0]
        operand.stage[s].copy(target, source, &walk, &warnings[operand.stage[s].slot])
        # from here on one contiguous run
        walk.size[0] = size[0] * size[1]
        walk.size[1] = 1
        walk.source[0] = operand.stage[s].itemsize
        source = target
        target = other(scratch, target)
    return <char*>source


cdef void unpack_result(const plan_t* plan, char* to, char* scratch, const Py_ssize_t* size,
                        const char* mask, unsigned int* warnings) noexcept nogil:
    """
    Bring a block of results from contiguous scratch to where it belongs.

    `size` are the extents in memory; with a mask, scratch holds only the elements
    that it keeps, and `mask` is contiguous.
    """
    cdef const operand_t* operand = &plan.operand[OUT]
    cdef CopyWalk walk
    cdef char* source = scratch
    cdef char* target
    cdef Py_ssize_t itemsize = operand.run_itemsize
    cdef Py_ssize_t n = size[0] * size[1]
    cdef int s
    cdef int last = operand.n_stages - (1 if mask == NULL else 0)
    if mask != NULL:
        n = count_kept(mask, n)
    # all steps but the one into memory run from scratch to scratch
    walk.size[0] = n
    walk.size[1] = 1
    for s in range(last):
        target = other(scratch, source)
        walk.source[0] = itemsize
        itemsize = operand.stage[s].itemsize
        walk.to[0] = itemsize
        operand.stage[s].copy(target, source, &walk, &warnings[operand.stage[s].slot])
        source = target
    walk.size[0] = size[0]
    walk.size[1] = size[1]
    walk.to[0] = plan.nest.axis[0].stride[OUT] if plan.nest.ndim > 0 else 0
    walk.to[1] = plan.nest.axis[1].stride[OUT] if plan.nest.ndim > 1 else 0
    if mask != NULL:
        plan.table.scatter[log2_size(itemsize)](to, source, mask, &walk)
        return
    walk.source[0] = itemsize
    walk.source[1] = size[0] * itemsize
    operand.stage[last].copy(to, source, &walk, &warnings[operand.stage[last].slot])


cdef inline int log2_size(Py_ssize_t itemsize) noexcept nogil:
    """Index of an element size in the tables of plain copies: 1, 2, 4, 8, 16 bytes."""
    cdef int i = 0
    while itemsize > 1:
        itemsize >>= 1
        i += 1
    return i


cdef Py_ssize_t count_kept(const char* mask, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, kept = 0
    for i in range(n):
        kept += mask[i] != 0
    return kept


cdef void run_block(const plan_t* plan, char** data, const Py_ssize_t* size, char* scratch,
                    held_t* held, unsigned int* warnings) noexcept nogil:
    """
    Pack, run and unpack one block.

    `data` are the operands' addresses at the block's first element; `held` says what
    is in scratch already, so that an operand stretched along the way is packed once.
    """
    cdef char* at[4]
    cdef Walk walk
    cdef Py_ssize_t kept, n = size[0] * size[1]
    cdef const char* mask = NULL
    cdef char* buffer
    cdef int k
    cdef bint merged = True
    if plan.masked:
        k = MASK
        mask = pack_operand(plan, k, data[k], size, scratch + 2 * k * SCRATCH, warnings)
        kept = count_kept(mask, n)
        if kept == 0:
            return
        if kept == n:
            mask = NULL
        n = kept
    for k in range(X1, MASK):
        buffer = scratch + 2 * k * SCRATCH
        if not plan.operand[k].packed:
            at[k] = data[k]
            walk.stride[k][0] = plan.nest.axis[0].stride[k] if plan.nest.ndim > 0 else 0
            walk.stride[k][1] = plan.nest.axis[1].stride[k] if plan.nest.ndim > 1 else 0
            continue
        if (held[k].source == data[k] and held[k].size[0] == size[0]
                and held[k].size[1] >= size[1]):
            # an even number of steps ends in the second buffer
            at[k] = buffer if plan.operand[k].n_stages % 2 else buffer + SCRATCH
        else:
            at[k] = pack_operand(plan, k, data[k], size, buffer, warnings)
            held[k].source = data[k]
            held[k].size[0] = size[0]
            held[k].size[1] = size[1]
        if mask != NULL:
            plan.table.compress[log2_size(plan.operand[k].run_itemsize)](
                at[k], mask, size[0] * size[1])
            held[k].source = NULL
        walk.stride[k][0] = plan.operand[k].run_itemsize
        walk.stride[k][1] = size[0] * walk.stride[k][0]
    if plan.operand[OUT].packed:
        at[OUT] = scratch + 2 * OUT * SCRATCH
        walk.stride[OUT][0] = plan.operand[OUT].run_itemsize
        walk.stride[OUT][1] = size[0] * walk.stride[OUT][0]
    else:
        at[OUT] = data[OUT]
        walk.stride[OUT][0] = plan.nest.axis[0].stride[OUT] if plan.nest.ndim > 0 else 0
        walk.stride[OUT][1] = plan.nest.axis[1].stride[OUT] if plan.nest.ndim > 1 else 0
    if mask != NULL:
        # masked plans pack everything but scalars, so one level is all there is
        walk.size[0] = n
        walk.size[1] = 1
    else:
        for k in range(OUT, MASK):
            merged &= walk.stride[k][1] == size[0] * walk.stride[k][0]
        merged |= size[1] == 1
        walk.size[0] = n if merged else size[0]
        walk.size[1] = 1 if merged else size[1]
    run_loop(plan, at, &walk, warnings)
    if plan.operand[OUT].packed and plan.writes:
        unpack_result(plan, data[OUT], at[OUT], size, mask, warnings)


cdef void run_blocks(const plan_t* plan, char** data, char* scratch, held_t* held,
                     unsigned int* warnings) noexcept nogil:
    """Cut axes 0 and 1 into blocks."""
    cdef Py_ssize_t n0 = plan.nest.axis[0].size if plan.nest.ndim > 0 else 1
    cdef Py_ssize_t n1 = plan.nest.axis[1].size if plan.nest.ndim > 1 else 1
    cdef Py_ssize_t i, j
    cdef Py_ssize_t size[2]
    cdef char* at[4]
    cdef int k
    j = 0
    while j < n1:
        size[1] = min(plan.block[1], n1 - j)
        i = 0
        while i < n0:
            size[0] = min(plan.block[0], n0 - i)
            for k in range(plan.n):
                at[k] = data[k]
                if plan.nest.ndim > 0:
                    at[k] += i * plan.nest.axis[0].stride[k]
                if plan.nest.ndim > 1:
                    at[k] += j * plan.nest.axis[1].stride[k]
            run_block(plan, at, size, scratch, held, warnings)
            i += size[0]
        j += size[1]


# ------------------------------------------------------------------- outer axes

cdef inline bint advance(const plan_t* plan, Py_ssize_t* index, char** data) noexcept nogil:
    """Step to the next position along axes 2 and up; false at the end."""
    cdef const axis_t* axis
    cdef int a, k
    for a in range(2, plan.nest.ndim):
        axis = &plan.nest.axis[a]
        index[a] += 1
        if index[a] < axis.size:
            for k in range(plan.n):
                data[k] += axis.stride[k]
            return True
        index[a] = 0
        for k in range(plan.n):
            data[k] -= (axis.size - 1) * axis.stride[k]
    return False


cdef void run_packed(const plan_t* plan, char** data, Py_ssize_t* index,
                     unsigned int* warnings) noexcept nogil:
    # two buffers per operand, so that a step can go from one to the other; aligned
    # as any loop may ask
    cdef char space[8 * SCRATCH + 64]
    cdef char* scratch = <char*>((<size_t>&space[0] + 63) & ~<size_t>63)
    cdef held_t held[4]
    cdef int k
    for k in range(4):
        held[k].source = NULL
    run_blocks(plan, data, scratch, held, warnings)
    while advance(plan, index, data):
        run_blocks(plan, data, scratch, held, warnings)


cdef void run_plan(const plan_t* plan, unsigned int* warnings) noexcept nogil:
    """
    Run a plan from end to end.

    Before: every size is at least 1, and operands that share memory with `out` have
    its address and strides. After: each element of `out` that the mask keeps is
    written once, and `warnings` has gained the bits of the run.
    """
    cdef Py_ssize_t index[MAX_AXES]
    cdef char* data[4]
    cdef Walk walk
    cdef int a, k
    for k in range(plan.n):
        data[k] = plan.operand[k].data
    for a in range(2, plan.nest.ndim):
        index[a] = 0
    if plan.packs:
        run_packed(plan, data, index, warnings)
        return
    for a in range(2):
        walk.size[a] = plan.nest.axis[a].size if plan.nest.ndim > a else 1
        for k in range(3):
            walk.stride[k][a] = plan.nest.axis[a].stride[k] if plan.nest.ndim > a else 0
    run_loop(plan, data, &walk, warnings)
    while advance(plan, index, data):
        run_loop(plan, data, &walk, warnings)


# ------------------------------------------------------------ looking, not writing

ctypedef fused signed_integer:
    int8_t
    int16_t
    int32_t
    int64_t


cdef inline void look(const char* x2, const Walk* walk, unsigned int* warnings,
                      signed_integer zero) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef signed_integer value, seen = zero
    for j in range(walk.size[1]):
        for i in range(walk.size[0]):
            memcpy(&value, x2 + j * walk.stride[X2][1] + i * walk.stride[X2][0],
                   sizeof(signed_integer))
            seen |= value
    if seen < 0:
        warnings[0] |= NEGATIVE


cdef void look_int8(char* out, const char* x1, const char* x2, const Walk* walk,
                    unsigned int* warnings) noexcept nogil:
    look[int8_t](x2, walk, warnings, 0)


cdef void look_int16(char* out, const char* x1, const char* x2, const Walk* walk,
                     unsigned int* warnings) noexcept nogil:
    look[int16_t](x2, walk, warnings, 0)


cdef void look_int32(char* out, const char* x1, const char* x2, const Walk* walk,
                     unsigned int* warnings) noexcept nogil:
    look[int32_t](x2, walk, warnings, 0)


cdef void look_int64(char* out, const char* x1, const char* x2, const Walk* walk,
                     unsigned int* warnings) noexcept nogil:
    look[int64_t](x2, walk, warnings, 0)


cdef InnerLoop scan_negative(int element_type) noexcept nogil:
    """
    Return the loop that reports NEGATIVE where some second operand is below zero.

    It writes nothing; NULL for unsigned types.
    """
    if element_type == INT8:
        return look_int8
    if element_type == INT16:
        return look_int16
    if element_type == INT32:
        return look_int32
    if element_type == INT64:
        return look_int64
    return NULL
