# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
Executes a plan: walks the outer axes, packs what must be packed a block at a time,
calls the inner loop, and brings the results to where they belong. No Python
object, no allocation, and no decision that the plan has not made.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint16_t
from libc.string cimport memcpy
from xbcast._inner_loop cimport (
    COMPUTED, HARDWARE, INT8, INT16, INT32, INT64, MASK, OUT, X1, X2,
    Copy, CopyWalk, InnerLoop, Stream, Walk,
)
from xbcast._pattern cimport MAX_AXES, axis_t
from xbcast._plan cimport CACHE_LINE, OWN, is_plain, operand_t, plan_t

cdef extern from "float_status.h" nogil:
    void clear_kernel_status()
    unsigned int kernel_status_raised()
    void clear_library_status()
    unsigned int library_status()

cdef extern from "scratch.h" nogil:
    enum:
        MOST_KEPT
        OFFSETS
        PLACES
        STREAM_BLOCK
    char* thread_scratch()
    char* thread_stream()

cdef extern from "stream.h" nogil:
    void stream_end()

cdef extern from "masks.h" nogil:
    Py_ssize_t count_kept(const char* mask, Py_ssize_t n)
    Py_ssize_t find_kept(uint16_t* place, const char* mask, Py_ssize_t n)


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


cdef inline unsigned int* begin_run(int warning_source, unsigned int* warnings,
                                    unsigned int* ignored) noexcept nogil:
    """
    Before loops of our own run: clear the status; return where they may write.

    The status stays theirs until end_run: conversions in between restore it.
    """
    if warning_source == HARDWARE:
        clear_kernel_status()
    return warnings if warning_source == COMPUTED else ignored


cdef inline void end_run(int warning_source, unsigned int* warnings) noexcept nogil:
    if warning_source == HARDWARE:
        warnings[0] |= kernel_status_raised()


cdef void run_walk(InnerLoop run, int warning_source, char** data, const Walk* walk,
                   unsigned int* warnings) noexcept nogil:
    """Call a loop of our own and collect its warnings, and no others."""
    cdef unsigned int ignored = 0
    run(data[OUT], data[X1], data[X2], walk, begin_run(warning_source, warnings, &ignored))
    end_run(warning_source, warnings)


# Where the warnings of a run go: what a loop of our own computes, and all others by slot.
cdef struct found_t:
    unsigned int* computed
    unsigned int* warnings     # OWN, CAST


cdef inline void run_loop(const plan_t* plan, char** data, const Walk* walk,
                          const found_t* found) noexcept nogil:
    """Call the loop, ours or NumPy's."""
    if plan.run == NULL:
        run_numpy_loop(plan, data, walk)
    else:
        plan.run(data[OUT], data[X1], data[X2], walk, found.computed)


# ------------------------------------------------------- results past the cache

# Results on their way past the cache, which takes whole lines: what is left of one waits
# for its rest. These are the bytes from `begin` to `end` of `lines`; they lie in lines of
# the cache as their places in memory do.
cdef struct stream_t:
    char* to                   # where lines[end] belongs
    char* lines
    Py_ssize_t begin, end


cdef inline void begin_stream(stream_t* stream) noexcept nogil:
    stream.to = NULL
    stream.lines = thread_stream()
    stream.begin = stream.end = 0


cdef void flush_stream(stream_t* stream) noexcept nogil:
    """Write what waits."""
    cdef Py_ssize_t bytes = stream.end - stream.begin
    if bytes > 0:
        memcpy(stream.to - bytes, stream.lines + stream.begin, bytes)
    stream.begin = stream.end


cdef inline char* place_in_stream(stream_t* stream, char* out) noexcept nogil:
    """Return where to compute results that belong at `out`."""
    if out != stream.to:
        flush_stream(stream)
        stream.to = out
        stream.begin = stream.end = <size_t>out % CACHE_LINE
    return stream.lines + stream.end


cdef inline void send(const plan_t* plan, stream_t* stream, Py_ssize_t bytes) noexcept nogil:
    """Send the lines that so many bytes more have completed."""
    cdef Py_ssize_t whole
    stream.to += bytes
    stream.end += bytes
    whole = stream.end // CACHE_LINE * CACHE_LINE
    if whole > 0:
        plan.table.stream(stream.to - stream.end + stream.begin, stream.lines + stream.begin,
                          whole - stream.begin)
        stream.begin = 0
        stream.end -= whole
        memcpy(stream.lines, stream.lines + whole, CACHE_LINE)


cdef void run_past_cache(const plan_t* plan, char** data, const Walk* walk, stream_t* stream,
                         const found_t* found) noexcept nogil:
    """
    Call a loop of our own on rows of results that go past the cache.

    Before: results are contiguous along a row. They are computed a block at a time,
    into a few lines of the cache.
    """
    cdef char* at[3]
    cdef Walk part
    cdef Py_ssize_t itemsize = walk.stride[OUT][0], most = STREAM_BLOCK // itemsize
    cdef Py_ssize_t j, left
    cdef int k
    for k in range(3):
        part.stride[k][0] = walk.stride[k][0]
        part.stride[k][1] = 0
    part.size[1] = 1
    for j in range(walk.size[1]):
        for k in range(3):
            at[k] = data[k] + j * walk.stride[k][1]
        left = walk.size[0]
        while left > 0:
            part.size[0] = min(left, most)
            plan.run(place_in_stream(stream, at[OUT]), at[X1], at[X2], &part, found.computed)
            send(plan, stream, part.size[0] * itemsize)
            left -= part.size[0]
            for k in range(3):
                at[k] += part.size[0] * walk.stride[k][0]


# ---------------------------------------------------------------------- packing

# What is in an operand's scratch: which block, of which extent, and in which buffer.
cdef struct held_t:
    const char* source
    Py_ssize_t size[3]
    char* at

# What a mask keeps of a block.
cdef struct kept_t:
    const char* mask           # contiguous; NULL if it keeps all
    Py_ssize_t n
    const uint16_t* place      # where in the block, if they are few; else NULL
    Py_ssize_t* offset         # room for their offsets in an operand

cdef enum:
    # Of so many elements a mask keeps few if it keeps one: these are taken one by one
    # (benchmarks/bench_layouts.py, Masked).
    FEW = 16

# What packing needs to know beside the plan: the strides of axes 0 to 2, by Role, the
# scratch with what it holds, and results on their way past the cache.
cdef struct packing_t:
    Py_ssize_t stride[4][3]
    char* scratch
    held_t held[4]
    stream_t stream


cdef inline char* other(const plan_t* plan, char* scratch, char* now) noexcept nogil:
    """Return the one of an operand's two buffers that is not in use."""
    return scratch + plan.buffer if now == scratch else scratch


cdef inline bint is_run(const Py_ssize_t* stride, const Py_ssize_t* size,
                        Py_ssize_t itemsize) noexcept nogil:
    """Whether a block's elements lie one behind the other in walk order."""
    cdef int a
    for a in range(3):
        if size[a] != 1:
            if stride[a] != itemsize:
                return False
            itemsize *= size[a]
    return True


cdef inline void set_contiguous(Py_ssize_t* stride, const Py_ssize_t* size,
                                Py_ssize_t itemsize) noexcept nogil:
    stride[0] = itemsize
    stride[1] = size[0] * stride[0]
    stride[2] = size[1] * stride[1]


# A copy of three levels, by a function that takes two.
cdef struct block_copy_t:
    CopyWalk walk
    Py_ssize_t count           # walks,
    Py_ssize_t to, source      # and bytes from one to the next


cdef void lay_out_copy(block_copy_t* copy, const Py_ssize_t* to_stride,
                       const Py_ssize_t* source_stride, const Py_ssize_t* size) noexcept nogil:
    cdef Py_ssize_t n[3]
    cdef Py_ssize_t t[3]
    cdef Py_ssize_t s[3]
    cdef int a, levels = 0, inside = 1, outside = 2
    for a in range(3):
        n[a] = 1
        t[a] = to_stride[0]
        s[a] = source_stride[0]
    # levels that continue one another on both sides become one
    for a in range(3):
        if size[a] == 1:
            continue
        if (levels > 0 and to_stride[a] == n[levels - 1] * t[levels - 1]
                and source_stride[a] == n[levels - 1] * s[levels - 1]):
            n[levels - 1] *= size[a]
            continue
        n[levels] = size[a]
        t[levels] = to_stride[a]
        s[levels] = source_stride[a]
        levels += 1
    if n[2] > n[1]:
        inside = 2
        outside = 1
    copy.walk.size[0] = n[0]
    copy.walk.to[0] = t[0]
    copy.walk.source[0] = s[0]
    copy.walk.size[1] = n[inside]
    copy.walk.to[1] = t[inside]
    copy.walk.source[1] = s[inside]
    copy.count = n[outside]
    copy.to = t[outside]
    copy.source = s[outside]


cdef inline void copy_levels(Copy function, const block_copy_t* copy, char* to, const char* source,
                             unsigned int* warnings) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(copy.count):
        function(to + j * copy.to, source + j * copy.source, &copy.walk, warnings)


cdef void copy_block(Copy function, char* to, const Py_ssize_t* to_stride, const char* source,
                     const Py_ssize_t* source_stride, const Py_ssize_t* size,
                     unsigned int* warnings) noexcept nogil:
    cdef block_copy_t copy
    lay_out_copy(&copy, to_stride, source_stride, size)
    copy_levels(function, &copy, to, source, warnings)


cdef void gather(char* to, const char* source, const Py_ssize_t* offset, Py_ssize_t n,
                 Py_ssize_t itemsize) noexcept nogil:
    """Copy the elements at n offsets."""
    cdef Py_ssize_t i
    if itemsize == 1:
        for i in range(n):
            to[i] = source[offset[i]]
    elif itemsize == 2:
        for i in range(n):
            memcpy(to + 2 * i, source + offset[i], 2)
    elif itemsize == 4:
        for i in range(n):
            memcpy(to + 4 * i, source + offset[i], 4)
    elif itemsize == 8:
        for i in range(n):
            memcpy(to + 8 * i, source + offset[i], 8)
    else:
        for i in range(n):
            memcpy(to + 16 * i, source + offset[i], 16)


cdef void spread(char* to, const char* source, const Py_ssize_t* offset, Py_ssize_t n,
                 Py_ssize_t itemsize) noexcept nogil:
    """Copy elements to n offsets: the opposite of gather."""
    cdef Py_ssize_t i
    if itemsize == 1:
        for i in range(n):
            to[offset[i]] = source[i]
    elif itemsize == 2:
        for i in range(n):
            memcpy(to + offset[i], source + 2 * i, 2)
    elif itemsize == 4:
        for i in range(n):
            memcpy(to + offset[i], source + 4 * i, 4)
    elif itemsize == 8:
        for i in range(n):
            memcpy(to + offset[i], source + 8 * i, 8)
    else:
        for i in range(n):
            memcpy(to + offset[i], source + 16 * i, 16)


cdef const Py_ssize_t* offsets_of_few(const kept_t* kept, const Py_ssize_t* stride,
                                      const Py_ssize_t* size) noexcept nogil:
    """Return where those of a block that a mask keeps lie; valid until the next call."""
    cdef Py_ssize_t* offset = kept.offset
    cdef Py_ssize_t i
    cdef unsigned int place, row, size0 = <unsigned int>size[0], size1 = <unsigned int>size[1]
    for i in range(kept.n):
        place = kept.place[i]
        offset[i] = place * stride[0]
        if place >= size0:
            row = place // size0
            offset[i] = (place - row * size0) * stride[0]
            if row >= size1:
                offset[i] += row // size1 * stride[2]
                row %= size1
            offset[i] += row * stride[1]
    return offset


cdef char* pack_operand(const plan_t* plan, int k, const char* source, const Py_ssize_t* size,
                        packing_t* packing, const kept_t* kept, unsigned int* warnings) noexcept nogil:
    """
    Bring a block of an operand into contiguous scratch, as the loop reads it.

    Only the elements that a mask keeps: the others are neither converted nor do they give
    warnings. Returns the buffer that holds the block.
    """
    cdef const operand_t* operand = &plan.operand[k]
    cdef CopyWalk walk
    cdef Py_ssize_t stride[3]
    cdef char* scratch = packing.scratch + operand.scratch
    cdef char* target = scratch
    cdef Py_ssize_t n = size[0] * size[1] * size[2]
    cdef Py_ssize_t itemsize = operand.itemsize
    cdef int s
    if (kept.mask != NULL or is_plain(operand) or operand.gathered
            or not is_run(packing.stride[k], size, itemsize)):
        # as it is in memory; conversions are quick on contiguous elements only
        if operand.gathered:
            gather(target, source, <const Py_ssize_t*>(packing.scratch + operand.offsets), n, itemsize)
        elif kept.place != NULL:
            gather(target, source, offsets_of_few(kept, packing.stride[k], size), kept.n, itemsize)
        else:
            set_contiguous(stride, size, itemsize)
            copy_block(operand.copy, target, stride, source, packing.stride[k], size, &warnings[OWN])
            if kept.mask != NULL:
                plan.table.compress[log2_size(itemsize)](target, kept.mask, n)
        source = target
        target = other(plan, scratch, target)
        if is_plain(operand):
            return <char*>source
    walk.size[0] = n if kept.mask == NULL else kept.n
    walk.size[1] = 1
    walk.to[1] = walk.source[1] = 0
    for s in range(operand.n_stages):
        walk.source[0] = itemsize
        itemsize = operand.stage[s].itemsize
        walk.to[0] = itemsize
        operand.stage[s].copy(target, source, &walk, &warnings[operand.stage[s].slot])
        source = target
        target = other(plan, scratch, target)
    return <char*>source


cdef void stream_rows(Stream stream, char* to, const Py_ssize_t* stride, const char* source,
                      const Py_ssize_t* size, Py_ssize_t itemsize, bint run) noexcept nogil:
    """Write a block past the cache: in one go if it is a run, else one row after the other."""
    cdef Py_ssize_t i, j
    cdef Py_ssize_t row = size[0] * itemsize
    if run:
        stream(to, source, size[2] * size[1] * row)
        return
    for j in range(size[2]):
        for i in range(size[1]):
            stream(to + j * stride[2] + i * stride[1], source + (j * size[1] + i) * row, row)


cdef void unpack_result(const plan_t* plan, char* to, const Py_ssize_t* size, packing_t* packing,
                        const kept_t* kept, unsigned int* warnings) noexcept nogil:
    """
    Bring a block of results from contiguous scratch to where it belongs.

    `size` are the extents in memory; scratch holds only the elements that a mask keeps.
    """
    cdef const operand_t* operand = &plan.operand[OUT]
    cdef CopyWalk walk
    cdef Py_ssize_t stride[3]
    cdef char* scratch = packing.scratch + operand.scratch
    cdef char* source = scratch
    cdef char* target
    cdef Py_ssize_t itemsize = operand.run_itemsize
    cdef int s, last = 0 if is_plain(operand) else operand.n_stages
    cdef bint direct, run = is_run(packing.stride[OUT], size, operand.itemsize)
    walk.size[0] = kept.n
    walk.size[1] = 1
    walk.to[1] = walk.source[1] = 0
    # steps from scratch to scratch, but the last one to memory where that is one run
    for s in range(last):
        direct = run and kept.mask == NULL and not plan.past and s == last - 1
        target = to if direct else other(plan, scratch, source)
        walk.source[0] = itemsize
        itemsize = operand.stage[s].itemsize
        walk.to[0] = itemsize
        operand.stage[s].copy(target, source, &walk, &warnings[operand.stage[s].slot])
        source = target
    if source == to:
        return
    if plan.past:
        stream_rows(plan.table.stream, to, packing.stride[OUT], source, size, itemsize, run)
        return
    if kept.place != NULL:
        spread(to, source, offsets_of_few(kept, packing.stride[OUT], size), kept.n, itemsize)
        return
    if kept.mask != NULL:
        if run:
            walk.to[0] = itemsize
            # one level, however short the rows are (benchmarks/bench_layouts.py, MaskedRows)
            walk.size[0] = size[0] * size[1] * size[2]
            walk.size[1] = 1
        else:
            # of three levels, the first two are one (may_take_three)
            walk.to[0] = packing.stride[OUT][0]
            walk.size[0] = size[0] if size[2] == 1 else size[0] * size[1]
            walk.size[1] = size[1] if size[2] == 1 else size[2]
            walk.to[1] = packing.stride[OUT][1] if size[2] == 1 else packing.stride[OUT][2]
        plan.table.scatter[log2_size(itemsize)](to, source, kept.mask, &walk)
        return
    set_contiguous(stride, size, itemsize)
    copy_block(operand.copy, to, packing.stride[OUT], source, stride, size, &warnings[OWN])


cdef inline int log2_size(Py_ssize_t itemsize) noexcept nogil:
    """Index of an element size in the tables of plain copies: 1, 2, 4, 8, 16 bytes."""
    cdef int i = 0
    while itemsize > 1:
        itemsize >>= 1
        i += 1
    return i


cdef bint is_held(const held_t* held, const char* source, const Py_ssize_t* size) noexcept nogil:
    """Whether a block is in scratch already, at the start of what is held."""
    return (held.source == source and held.size[0] == size[0]
            and (held.size[1] == size[1] or held.size[1] > size[1] and size[2] == 1)
            and held.size[2] >= size[2])


cdef bint look_at_mask(const plan_t* plan, const char* mask, const Py_ssize_t* size,
                       packing_t* packing, kept_t* kept, unsigned int* warnings) noexcept nogil:
    """Find what a mask keeps of a block; `kept` says all of it. False if nothing."""
    cdef Py_ssize_t n = kept.n
    cdef uint16_t* place
    if not is_run(packing.stride[MASK], size, 1):
        mask = pack_operand(plan, MASK, mask, size, packing, kept, warnings)
    kept.n = count_kept(mask, n)
    if kept.n == n:
        return True
    kept.mask = mask
    if 0 < kept.n <= min(n // FEW, MOST_KEPT):
        place = <uint16_t*>(packing.scratch + PLACES)
        find_kept(place, mask, n)
        kept.place = place
        kept.offset = <Py_ssize_t*>(packing.scratch + OFFSETS)
    return kept.n > 0


cdef void run_block(const plan_t* plan, char** data, const Py_ssize_t* size, packing_t* packing,
                    const found_t* found) noexcept nogil:
    """
    Pack, run and unpack one block.

    `data` are the operands' addresses at the block's first element. An operand that is
    stretched along the way from block to block is packed once.
    """
    cdef char* at[4]
    cdef Py_ssize_t stride[3][3]
    cdef Walk walk
    cdef Py_ssize_t n = size[0] * size[1] * size[2]
    cdef kept_t kept
    cdef held_t* held
    cdef int a, k
    cdef bint joined = True
    kept.mask = NULL
    kept.place = NULL
    kept.n = n
    if plan.masked and not look_at_mask(plan, data[MASK], size, packing, &kept, found.warnings):
        return
    for k in range(OUT, MASK):
        if not plan.operand[k].packed:
            at[k] = data[k]
            for a in range(3):
                stride[k][a] = packing.stride[k][a]
            continue
        set_contiguous(stride[k], size, plan.operand[k].run_itemsize)
        if k == OUT:
            at[OUT] = packing.scratch + plan.operand[OUT].scratch
            continue
        if k == X2 and plan.squares:
            at[X2] = at[X1]
            continue
        held = &packing.held[k]
        if kept.mask != NULL or not is_held(held, data[k], size):
            held.at = pack_operand(plan, k, data[k], size, packing, &kept, found.warnings)
            held.source = data[k] if kept.mask == NULL else NULL
            for a in range(3):
                held.size[a] = size[a]
        at[k] = held.at
    for k in range(OUT, MASK):
        walk.stride[k][0] = stride[k][0]
        walk.stride[k][1] = stride[k][1]
        joined &= size[1] == 1 or stride[k][1] == size[0] * stride[k][0]
    if kept.mask != NULL:
        # masked plans pack everything but scalars, so one level is all there is
        walk.size[0] = kept.n
        walk.size[1] = 1
    elif joined:
        # two levels in one; the third follows, or becomes part of it, too
        walk.size[0] = size[0] * size[1]
        walk.size[1] = size[2]
        for k in range(OUT, MASK):
            walk.stride[k][1] = stride[k][2]
            joined &= stride[k][2] == walk.size[0] * stride[k][0]
        if joined:
            walk.size[0] = n
            walk.size[1] = 1
    else:
        walk.size[0] = size[0]
        walk.size[1] = size[1]
    if plan.past and not plan.operand[OUT].packed:
        run_past_cache(plan, at, &walk, &packing.stream, found)
        return
    run_loop(plan, at, &walk, found)
    if plan.operand[OUT].packed and plan.writes:
        unpack_result(plan, data[OUT], size, packing, &kept, found.warnings)


cdef bint may_take_three(const plan_t* plan) noexcept nogil:
    """
    Whether a block may extend along axis 2: a loop takes two levels.

    So the first two must be one in every operand that is not in scratch, and in `out`
    if a mask chooses from it. A part of a plan may differ from the whole in this.
    """
    cdef const axis_t* axis = plan.nest.axis
    cdef int k
    if axis[0].size > plan.block[0] or axis[1].size > plan.block[1]:
        return False
    for k in range(OUT, MASK):
        if plan.operand[k].packed and not (k == OUT and plan.masked):
            continue
        if axis[1].stride[k] != axis[0].size * axis[0].stride[k]:
            return False
    return True


cdef Py_ssize_t first_extent(const plan_t* plan, int a, Py_ssize_t block, Py_ssize_t n,
                             char** data, const packing_t* packing) noexcept nogil:
    """
    Return how far the first block extends along an axis.

    Less than others where it takes that for others to begin with a cache line.
    """
    cdef int k
    cdef Py_ssize_t itemsize, before
    if n <= block or n == 1:
        return n
    if a < 2 and plan.aligned[a] >= 0:
        k = plan.aligned[a]
        itemsize = plan.operand[k].itemsize
        before = <Py_ssize_t>(<size_t>data[k] % CACHE_LINE) // itemsize
        if packing.stride[k][a] == itemsize and before < block:
            return block - before
    return block


cdef void run_blocks(const plan_t* plan, char** data, const Py_ssize_t* block, packing_t* packing,
                     const found_t* found) noexcept nogil:
    """Cut axes 0 to 2 into blocks."""
    cdef Py_ssize_t n[3]
    cdef Py_ssize_t first[3]
    cdef Py_ssize_t size[3]
    cdef Py_ssize_t start[3]
    cdef char* at[4]
    cdef int a, k
    for a in range(3):
        n[a] = plan.nest.axis[a].size if plan.nest.ndim > a and (a < 2 or block[2] > 0) else 1
        start[a] = 0
        size[a] = first[a] = first_extent(plan, a, block[a], n[a], data, packing)
    while True:
        for k in range(plan.n):
            at[k] = data[k]
            for a in range(3):
                at[k] += start[a] * packing.stride[k][a]
        run_block(plan, at, size, packing, found)
        a = 0
        while True:
            start[a] += size[a]
            if start[a] < n[a]:
                size[a] = min(block[a], n[a] - start[a])
                break
            start[a] = 0
            size[a] = first[a]
            a += 1
            if a == 3:
                return


# ------------------------------------------------------------------------ turns

cdef inline Py_ssize_t rows_to_line(const char* out, Py_ssize_t bytes, Py_ssize_t most) noexcept nogil:
    """Return how many rows of so many bytes come before one that begins a cache line, or `most`."""
    cdef Py_ssize_t i
    if <size_t>out % CACHE_LINE == 0:
        return most
    for i in range(1, min(most, CACHE_LINE)):
        if (<size_t>out + i * bytes) % CACHE_LINE == 0:
            return i
    return most


cdef void run_turns(const plan_t* plan, char** data, packing_t* packing,
                    const found_t* found) noexcept nogil:
    """
    Run blocks for which one operand is copied into scratch, and which are one row in the others.

    All take the same steps, found once. The first is shorter where it takes that for the
    others to begin with a cache line of `out`.
    """
    cdef const axis_t* axis = plan.nest.axis
    cdef const operand_t* operand = &plan.operand[plan.turns]
    cdef block_copy_t copy
    cdef Walk walk
    cdef Py_ssize_t stride[3]
    cdef Py_ssize_t size[3]
    cdef Py_ssize_t row, left, rows
    cdef char* at[3]
    cdef char* args[3]
    cdef char* scratch = packing.scratch + operand.scratch
    cdef int k, along = plan.along
    size[0] = axis[0].size
    size[1] = axis[1].size if along == 2 else 0
    size[2] = along == 1
    row = size[0] if along == 1 else size[0] * size[1]
    for k in range(OUT, MASK):
        at[k] = data[k]
        walk.stride[k][0] = axis[0].stride[k] if k != plan.turns else operand.itemsize
        walk.stride[k][1] = 0
    walk.size[1] = 1
    left = axis[along].size
    rows = rows_to_line(at[OUT], row * walk.stride[OUT][0], min(left, plan.block[along]))
    while left > 0:
        if rows != size[along]:
            size[along] = rows
            set_contiguous(stride, size, operand.itemsize)
            lay_out_copy(&copy, stride, packing.stride[plan.turns], size)
            walk.size[0] = row * rows
        copy_levels(operand.copy, &copy, scratch, at[plan.turns], found.warnings)
        for k in range(OUT, MASK):
            args[k] = at[k] if k != plan.turns else scratch
            at[k] += rows * packing.stride[k][along]
        if plan.past:
            args[OUT] = place_in_stream(&packing.stream, args[OUT])
        plan.run(args[OUT], args[X1], args[X2], &walk, found.computed)
        if plan.past:
            send(plan, &packing.stream, walk.size[0] * walk.stride[OUT][0])
        left -= rows
        rows = min(left, plan.block[along])


# ------------------------------------------------------------------- outer axes

cdef inline bint advance(const plan_t* plan, int first, Py_ssize_t* index, char** data) noexcept nogil:
    """Step to the next position along axes `first` and up; false at the end."""
    cdef const axis_t* axis
    cdef int a, k
    for a in range(first, plan.nest.ndim):
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


cdef void write_offsets(const plan_t* plan, int k, Py_ssize_t* offset) noexcept nogil:
    """Write down where the elements of an operand lie along the joined axes."""
    cdef const axis_t* axis
    cdef Py_ssize_t i, j, n = 1
    cdef int a
    offset[0] = 0
    for a in range(plan.joined):
        axis = &plan.nest.axis[a]
        for i in range(1, axis.size):
            for j in range(n):
                offset[i * n + j] = offset[j] + i * axis.stride[k]
        n *= axis.size


cdef void run_joined(const plan_t* plan, char** data, Py_ssize_t* index,
                     const found_t* found) noexcept nogil:
    """
    Take the joined axes for one, and each place along the others for a block.

    A part of a plan may have the last joined axis cut, and no other (axis_to_cut).
    """
    cdef packing_t packing
    cdef Py_ssize_t size[3]
    cdef int a, k
    packing.scratch = thread_scratch()
    size[0] = size[1] = size[2] = 1
    for a in range(plan.joined):
        size[0] *= plan.nest.axis[a].size
    for k in range(OUT, MASK):
        packing.held[k].source = NULL
        for a in range(3):
            packing.stride[k][a] = 0
        if plan.operand[k].gathered:
            write_offsets(plan, k, <Py_ssize_t*>(packing.scratch + plan.operand[k].offsets))
        else:
            # contiguous or constant
            packing.stride[k][0] = plan.nest.axis[0].stride[k]
    run_block(plan, data, size, &packing, found)
    while advance(plan, plan.joined, index, data):
        run_block(plan, data, size, &packing, found)


cdef void run_packed(const plan_t* plan, char** data, Py_ssize_t* index,
                     const found_t* found) noexcept nogil:
    cdef packing_t packing
    cdef Py_ssize_t block[3]
    cdef int a, k, first = 2
    packing.scratch = thread_scratch()
    block[0] = plan.block[0]
    block[1] = plan.block[1]
    block[2] = 0
    if plan.block[2] > 1 and may_take_three(plan):
        block[2] = plan.block[2]
        first = 3
    for k in range(plan.n):
        packing.held[k].source = NULL
        for a in range(3):
            packing.stride[k][a] = plan.nest.axis[a].stride[k] if plan.nest.ndim > a else 0
    begin_stream(&packing.stream)
    if plan.turns >= 0:
        run_turns(plan, data, &packing, found)
        while advance(plan, plan.along + 1, index, data):
            run_turns(plan, data, &packing, found)
    else:
        run_blocks(plan, data, block, &packing, found)
        while advance(plan, first, index, data):
            run_blocks(plan, data, block, &packing, found)
    if plan.past:
        flush_stream(&packing.stream)
        stream_end()


cdef void run_in_place(const plan_t* plan, char** data, Py_ssize_t* index,
                       const found_t* found) noexcept nogil:
    """Walk operands where they lie: the loop takes two axes."""
    cdef Walk walk
    cdef stream_t stream
    cdef int a, k
    for a in range(2):
        walk.size[a] = plan.nest.axis[a].size if plan.nest.ndim > a else 1
        for k in range(3):
            walk.stride[k][a] = plan.nest.axis[a].stride[k] if plan.nest.ndim > a else 0
    if plan.past:
        begin_stream(&stream)
        run_past_cache(plan, data, &walk, &stream, found)
        while advance(plan, 2, index, data):
            run_past_cache(plan, data, &walk, &stream, found)
        flush_stream(&stream)
        stream_end()
        return
    run_loop(plan, data, &walk, found)
    while advance(plan, 2, index, data):
        run_loop(plan, data, &walk, found)


cdef void run_plan(const plan_t* plan, unsigned int* warnings) noexcept nogil:
    """
    Run a plan from end to end.

    Before: every size is at least 1, and operands that share memory with `out` have
    its address and strides. After: each element of `out` that the mask keeps is
    written once, and `warnings` has gained the bits of the run.
    """
    cdef Py_ssize_t index[MAX_AXES]
    cdef char* data[4]
    cdef found_t found
    cdef unsigned int ignored = 0
    cdef int a, k
    for k in range(plan.n):
        data[k] = plan.operand[k].data
    for a in range(2, plan.nest.ndim):
        index[a] = 0
    # the status is looked at once: walks may be as short as a few elements
    # (benchmarks/bench_layouts.py, ManyAxes and Masked)
    found.warnings = warnings
    if plan.run == NULL:
        clear_library_status()
    else:
        found.computed = begin_run(plan.warning_source, &warnings[OWN], &ignored)
    if plan.joined > 0:
        run_joined(plan, data, index, &found)
    elif plan.packs:
        run_packed(plan, data, index, &found)
    else:
        run_in_place(plan, data, index, &found)
    if plan.run == NULL:
        warnings[OWN] |= library_status()
    else:
        end_run(plan.warning_source, &warnings[OWN])


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
