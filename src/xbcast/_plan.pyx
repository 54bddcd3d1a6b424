# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
Decides how a call walks its memory: which axes remain, which two are the inner
ones, which operands are packed into scratch, and how large a block is. Makes no
allocation and knows no NumPy; _run.pyx does what is decided here.
"""

from xbcast._inner_loop cimport COMPLEX64, HARDWARE, MASK, OUT, X1, X2
from xbcast._integers cimport absolute
from xbcast._pattern cimport axis_t, pattern_tuple_t, reduce_tuple

cdef enum:
    # Shorter inner axes than this are worth joining with the next one by packing
    # (benchmarks/bench_layouts.py, short_inner); where all elements are bytes, a loop
    # ends with more of them behind its last vector (ShortRows).
    SHORT_INNER = 64
    SHORT_INNER_OF_BYTES = 256
    # Fewer elements along three axes are not worth it, but where there are more axes to join
    # (benchmarks/bench_layouts.py, ManyAxes).
    WORTH_JOINING = 64
    # Fewer elements than this are walked as they lie if two axes are all there are
    # (benchmarks/bench_calls.py).
    TINY = 64
    # Elements apart are worth bringing together in rows of at least this length
    # (benchmarks/bench_layouts.py, reversed, stepped and transposed).
    LONG_ENOUGH = 16
    # Elements of a tile of a transposed operand along axis 0, and bytes of such an operand
    # from which on tiles are larger (benchmarks/bench_layouts.py, Transposed).
    TILE = 256
    LARGE = 1 << 19
    # An operand with gaps is packed in blocks of fewer elements, as if each had as many
    # bytes as its stride, up to this: memory has more to give when operands take short
    # turns (benchmarks/bench_layouts.py, Memory, third).
    LONGEST_TURN = 16
    # Bytes of scratch, and of results, that are filled in turn with computing: memory has more
    # to give when it is asked for both (benchmarks/bench_layouts.py, short_stretched). On their
    # way past the cache the results have room for as many.
    TURN = STREAM_BLOCK
    # Bytes of a result from which on it may be better written past the cache, in stretches
    # of at least the other number (benchmarks/bench_layouts.py, Memory and NewOutput of
    # float64).
    WORTH_STREAMING = 3 << 20
    STREAM_RUN = 512


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
    if plan.nest.ndim == 0:
        return False
    if (plan.nest.axis[0].stride[k] != operand.itemsize
            and not (plan.takes_gaps and plan.nest.axis[0].stride[k] > operand.itemsize)):
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
        operand.stage[0].copy = operand.copy
        operand.stage[0].itemsize = operand.run_itemsize
        operand.stage[0].slot = OWN


cdef int transposed_axis(const plan_t* plan, int k) noexcept nogil:
    """
    Return the axis along which an operand is read best, if axis 0 is a poor one.

    -1 where axis 0 will do: its steps share cache lines, or no other axis does better.
    """
    cdef const axis_t* axis = plan.nest.axis
    cdef int a, best = -1
    cdef Py_ssize_t stride = absolute(axis[0].stride[k])
    if stride < CACHE_LINE or axis[0].size < LONG_ENOUGH:
        return -1
    for a in range(1, plan.nest.ndim):
        if axis[a].size >= 8 and 0 < absolute(axis[a].stride[k]) < stride:
            best = a
            stride = absolute(axis[a].stride[k])
    return best


cdef inline bint is_apart(const plan_t* plan, int k) noexcept nogil:
    """Whether an operand is walked where it lies, and with gaps or backwards."""
    cdef Py_ssize_t stride = plan.nest.axis[0].stride[k]
    return not plan.operand[k].packed and stride != 0 and stride != plan.operand[k].itemsize


cdef inline bint are_constant(const plan_t* plan) noexcept nogil:
    """Whether both operands are stretched along axis 0, for which no loop has a layout, and far."""
    cdef const axis_t* axis = plan.nest.axis
    return (plan.nest.ndim > 0 and axis[0].size >= SHORT_INNER
            and axis[0].stride[X1] == 0 and axis[0].stride[X2] == 0)


cdef bint is_short(const plan_t* plan) noexcept nogil:
    """Whether rows along axis 0 are so short that entering a loop for each costs most."""
    cdef int k
    cdef Py_ssize_t size = plan.nest.axis[0].size
    if size < SHORT_INNER or size >= SHORT_INNER_OF_BYTES:
        return size < SHORT_INNER
    for k in range(plan.n):
        if plan.operand[k].run_itemsize > 1:
            return False
    return True


cdef bint makes_long_blocks(const plan_t* plan) noexcept nogil:
    """Whether the three axes of a block have enough elements to gain by packing it."""
    cdef const axis_t* axis = plan.nest.axis
    return (plan.nest.ndim < 3
            or axis[0].size * axis[1].size * axis[2].size >= WORTH_JOINING)


cdef inline bint has_wide_gaps(const plan_t* plan, int k) noexcept nogil:
    """
    Whether an operand is walked where it lies, and cache lines hold few of its numbers.

    complex64 gains by packing where a loop makes vectors only of contiguous elements.
    """
    return (is_apart(plan, k) and plan.operand[k].itemsize == 8
            and (plan.operand[k].run_type != COMPLEX64 or plan.takes_gaps)
            and absolute(plan.nest.axis[0].stride[k]) > 8)


cdef bint lies_as_taken(const plan_t* plan) noexcept nogil:
    """Whether the loop has a layout for operands as they lie: every second element of both."""
    cdef int k
    if not plan.takes_every_second:
        return False
    for k in range(X1, MASK):
        if (plan.operand[k].packed
                or plan.nest.axis[0].stride[k] != 2 * plan.operand[k].itemsize):
            return False
    return not is_apart(plan, OUT)


cdef inline bint has_long_rows(const plan_t* plan) noexcept nogil:
    """Whether axis 0 is long and no operand has gaps along it: nothing to gain by packing."""
    cdef const axis_t* axis = plan.nest.axis
    cdef int k
    if axis[0].size < SHORT_INNER_OF_BYTES:
        return False
    for k in range(plan.n):
        if axis[0].stride[k] != 0 and axis[0].stride[k] != plan.operand[k].itemsize:
            return False
    return True


cdef bint gains_by_packing(const plan_t* plan, int k) noexcept nogil:
    """
    Whether an operand that could be walked where it lies is better packed.

    So it is where axis 0 is short, and packing makes one long run of it and the next
    axes; and where it is longer, but its elements are apart or backwards: loops take
    more time over that than copies (benchmarks/bench_layouts.py, reversed, stepped, third
    and transposed). It is not so

    - where the loop has a layout for it, or is one of NumPy's, which would have taken its
      time over the elements as they lie (benchmarks/bench_layouts.py, Gaps);
    - for plain arithmetic on elements of 16 bytes, a vector each;
    - where elements of `out` and of an operand are apart;
    - where numbers of 8 bytes in both operands leave gaps: to read them takes longer
      than to compute.
    """
    cdef const axis_t* axis = plan.nest.axis
    if is_scalar(&plan.nest, k):
        return False
    if plan.nest.ndim > 1 and is_short(plan):
        return not is_linear(plan, k) and makes_long_blocks(plan)
    if axis[0].size < LONG_ENOUGH or not is_apart(plan, k):
        return False
    if k != OUT and transposed_axis(plan, k) > 0:
        return True
    if lies_as_taken(plan) or plan.run == NULL:
        return False
    if plan.operand[k].itemsize == 16 and plan.warning_source == HARDWARE:
        return False
    if k == OUT:
        return not (is_apart(plan, X1) or is_apart(plan, X2))
    return not (is_apart(plan, OUT) or has_wide_gaps(plan, X1) and has_wide_gaps(plan, X2))


cdef bint may_gain_by_streaming(const plan_t* plan) noexcept nogil:
    """
    Whether a result is large, and written in long contiguous stretches by a loop of our own.

    What then is faster is found out (_ways.pyx). Memory that is fresh from the system is in
    the cache, where the system cleared it.
    """
    cdef const operand_t* out = &plan.operand[OUT]
    cdef const axis_t* axis = plan.nest.axis
    cdef Py_ssize_t stretch = axis[0].size * out.itemsize
    if plan.nest.ndim > 1 and is_linear(plan, OUT) and (makes_long_blocks(plan) or not is_short(plan)):
        # one row continues the other
        stretch *= axis[1].size
    return (plan.count * out.itemsize >= WORTH_STREAMING and not plan.fresh and not plan.masked
            and plan.run != NULL and plan.table.stream != NULL
            and axis[0].stride[OUT] == out.itemsize and stretch >= STREAM_RUN)


cdef inline int buffers_of(const operand_t* operand, int transposed) noexcept nogil:
    """How many buffers an operand needs, so that each step goes from one to the other."""
    return 0 if not operand.packed else 1 if transposed >= 0 and is_plain(operand) else 2


cdef void share_scratch(plan_t* plan, int transposed) noexcept nogil:
    """
    Give each packed operand its buffers; `transposed` is an operand, or -1.

    Two each; where one is transposed, the same scratch in equal parts, one for an operand
    that is only copied, for whole lines of the cache, and two for others. And rows that are
    far apart are read the better the more lines of each: beyond the L2 cache, such a plan
    has larger buffers.
    Elements of less than four bytes do not gain by that.
    """
    cdef Py_ssize_t at = 0, bytes = 0
    cdef int k, buffers = 0
    for k in range(plan.n):
        buffers += buffers_of(&plan.operand[k], transposed)
        if plan.operand[k].packed:
            bytes += 2 * SCRATCH
    if (transposed >= 0 and plan.operand[transposed].itemsize >= 4
            and plan.count * plan.operand[transposed].itemsize >= LARGE):
        bytes = min(ALL_SCRATCH, buffers * TILE_SCRATCH)
    plan.buffer = bytes // buffers // CACHE_LINE * CACHE_LINE
    for k in range(plan.n):
        plan.operand[k].scratch = at
        at += plan.buffer * buffers_of(&plan.operand[k], transposed)
    plan.scratch = at


cdef void choose_block(plan_t* plan, int transposed) noexcept nogil:
    """
    Choose how many elements along axes 0 to 2 are packed at a time.

    `transposed` is the operand that is read along axis 1, or -1.
    """
    cdef Py_ssize_t size[3]
    cdef Py_ssize_t elements, widest = 1, pieces, line
    cdef int a, k, s
    share_scratch(plan, transposed)
    for k in range(plan.n):
        if plan.operand[k].packed:
            widest = max(widest, plan.operand[k].itemsize, plan.operand[k].run_itemsize)
            if transposed < 0 and plan.nest.axis[0].size >= LONG_ENOUGH:
                widest = max(widest, min(absolute(plan.nest.axis[0].stride[k]), LONGEST_TURN))
            for s in range(plan.operand[k].n_stages):
                widest = max(widest, plan.operand[k].stage[s].itemsize)
    elements = plan.buffer // widest
    for a in range(3):
        size[a] = plan.nest.axis[a].size if plan.nest.ndim > a else 1
    plan.aligned[0] = plan.aligned[1] = -1
    if transposed >= 0:
        plan.block[0] = min(size[0], TILE)
        plan.aligned[0] = OUT
    else:
        # pieces of about the same length, of whole vectors
        pieces = (size[0] + elements - 1) // elements
        plan.block[0] = min(elements, ((size[0] + pieces - 1) // pieces + 15) // 16 * 16)
        plan.block[0] = min(plan.block[0], size[0])
    plan.block[1] = min(elements // plan.block[0], size[1])
    if transposed >= 0 and plan.block[1] < size[1]:
        line = CACHE_LINE // plan.operand[transposed].itemsize
        if plan.block[1] > line:
            plan.block[1] -= plan.block[1] % line
        plan.aligned[1] = transposed
    plan.block[2] = 1
    if plan.block[0] == size[0] and plan.block[1] == size[1]:
        plan.block[2] = min(elements // (size[0] * size[1]), size[2])


cdef int lone_packed(const plan_t* plan, int along) noexcept nogil:
    """
    Return the operand that alone is packed, by a copy, while in the others all axes up to one
    are one row; -1 if there is none, or it does not move along that axis: what is in scratch
    then serves again.
    """
    cdef const axis_t* axis = plan.nest.axis
    cdef int a, k, lone = -1
    for k in range(OUT, MASK):
        if plan.operand[k].packed:
            if k == OUT or lone >= 0 or not is_plain(&plan.operand[k]) or axis[along].stride[k] == 0:
                return -1
            lone = k
            continue
        for a in range(along):
            if axis[a + 1].stride[k] != axis[a].size * axis[a].stride[k]:
                return -1
    return lone


cdef void take_turns(plan_t* plan) noexcept nogil:
    """Make blocks smaller, and all alike, where one operand is copied and all else is one row."""
    cdef const axis_t* axis = plan.nest.axis
    cdef Py_ssize_t rows, row = 1, line
    cdef int k, along = 0
    while along < 3 and along < plan.nest.ndim and plan.block[along] == axis[along].size:
        row *= axis[along].size
        along += 1
    if plan.masked or plan.run == NULL or not 0 < along < min(plan.nest.ndim, 3):
        return
    k = lone_packed(plan, along)
    if k < 0:
        return
    rows = TURN // (row * max(plan.operand[k].itemsize, plan.operand[OUT].itemsize))
    line = CACHE_LINE // plan.operand[k].itemsize
    if rows > line:
        # what is packed in whole vectors has no rest
        rows -= rows % line
    if 1 < rows < plan.block[along]:
        plan.turns = k
        plan.along = along
        plan.block[along] = rows


cdef int axes_to_join(const plan_t* plan) noexcept nogil:
    """
    Return how many axes, contiguous in `out`, make a block where the first three make none.

    0 where they make one, or nothing is gained by a block.
    """
    cdef const axis_t* axis = plan.nest.axis
    cdef Py_ssize_t n = 1
    cdef int a = 0
    if plan.masked or makes_long_blocks(plan):
        return 0
    while (a < plan.nest.ndim and n * axis[a].size <= MOST_JOINED
           and axis[a].stride[OUT] == n * plan.operand[OUT].itemsize):
        n *= axis[a].size
        a += 1
    return a if n >= WORTH_JOINING else 0


cdef bint is_gathered(const plan_t* plan, int k) noexcept nogil:
    """Whether an operand is neither contiguous nor constant along the joined axes."""
    cdef const axis_t* axis = plan.nest.axis
    cdef Py_ssize_t n = 1
    cdef bint constant = True, contiguous = True
    cdef int a
    for a in range(plan.joined):
        constant &= axis[a].stride[k] == 0
        contiguous &= axis[a].stride[k] == n * plan.operand[k].itemsize
        n *= axis[a].size
    return not (constant or contiguous)


cdef void join(plan_t* plan) noexcept nogil:
    """
    Make one block of the joined axes, and room for the offsets of operands.

    The offsets are the same in each block, so that to pack an element takes one step
    however many axes it is along.
    """
    cdef int a, k
    share_scratch(plan, -1)
    plan.block[0] = plan.block[1] = plan.block[2] = 1
    for a in range(plan.joined):
        plan.block[0] *= plan.nest.axis[a].size
    for k in range(X1, MASK):
        if plan.operand[k].gathered:
            plan.operand[k].offsets = plan.scratch
            plan.scratch += MOST_JOINED * sizeof(Py_ssize_t)


cdef void make_plan(plan_t* plan) noexcept nogil:
    """
    Reduce the axes and decide on packing.

    Before: `nest` holds the result's axes with each operand's strides (0 where it is
    stretched), every size at least 1, and operands say which stages they need.
    After: `nest` is reduced, data pointers are moved to the first element walked,
    and all that says how a block is packed is set: `packed`, `packs`, `streams`, `block`,
    `turns`, `along`, `aligned`, `buffer`, `scratch`, `joined`, `gathered`.
    """
    cdef pattern_tuple_t* nest = &plan.nest
    cdef axis_t held
    cdef int k, axis
    cdef int transposed = -1
    if plan.count >= TINY or nest.ndim > 2:
        reduce_tuple(nest)
    plan.packs = plan.streams = plan.past = False
    plan.joined = 0
    plan.turns = -1
    plan.along = 0
    for k in range(plan.n):
        plan.operand[k].data += nest.offset[k]
        plan.operand[k].packed = plan.operand[k].gathered = False
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
    if plan.count >= WORTH_PACKING:
        plan.joined = axes_to_join(plan)
    if plan.joined > 0:
        for k in range(X1, MASK):
            if is_gathered(plan, k):
                plan.operand[k].gathered = True
                pack(plan, k)
        if plan.packs:
            join(plan)
            return
        plan.joined = 0
    if plan.count >= WORTH_PACKING and plan.run != NULL and are_constant(plan):
        # one of them is packed, where both are scalars once (benchmarks/bench_calls.py, OutOfRange)
        if not plan.operand[X1].packed and not plan.operand[X2].packed:
            pack(plan, X1)
    if plan.count >= WORTH_PACKING and not has_long_rows(plan):
        for k in range(X1, plan.n):
            axis = transposed_axis(plan, k)
            if axis > 0:
                transposed = k
                held = nest.axis[1]
                nest.axis[1] = nest.axis[axis]
                nest.axis[axis] = held
                break
        for k in range(plan.n):
            if gains_by_packing(plan, k) and not plan.operand[k].packed:
                pack(plan, k)
    plan.streams = may_gain_by_streaming(plan)
    if plan.packs:
        choose_block(plan, transposed)
        if transposed < 0:
            take_turns(plan)
