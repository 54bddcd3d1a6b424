# Sets of memory units, as _memory_sets.pxd states them: canonical forms, intersection and
# difference, subset and equality, fewest axes, unions. Knows no pattern and no Python;
# what a unit is and which set a pattern has is left to _pattern.

# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False
# cython: initializedcheck=False, freethreading_compatible=True

from libc.stdlib cimport free, malloc, realloc

from xbcast._integers cimport absolute, greatest_common_divisor, wide
from xbcast._search cimport MAX_SEARCH_AXES, axis_range, next_aligned, search

cdef extern from "stack.h" nogil:
    bint stack_is_short(Py_ssize_t n)

cdef enum:
    # A level of `combine` takes up to 22 KB of the stack, and a thread may have no more
    # than 1 MB. Patterns of a few axes need some ten levels; of 24,000 questions about up
    # to 60 axes none that 100 levels answered needed more than these. Where the thread has
    # less, what is left decides: so much for a level and what it calls.
    MAX_DEPTH = 40
    LEVEL_BYTES = 48 * 1024
    # Elements tried before a set is taken apart, and where that did not end.
    SAMPLES = 32
    MORE_SAMPLES = 10000
    # What is looked at in passing, and costs a step of work together.
    PIECES_A_STEP = 8
    VALUES_A_STEP = 256


# Sets and lists of them ---------------------------------------------------

cdef inline wide floor_divide(wide a, wide b) noexcept nogil:
    cdef wide q = a // b
    if a % b < 0:
        q -= 1
    return q


cdef void canonicalize(set_t* x) noexcept nogil:
    cdef int i, j
    cdef wide size, stride
    for i in range(1, x.ndim):
        size = x.size[i]
        stride = x.stride[i]
        j = i
        while j and x.stride[j - 1] > stride:
            x.size[j] = x.size[j - 1]
            x.stride[j] = x.stride[j - 1]
            j -= 1
        x.size[j] = size
        x.stride[j] = stride
    i = 0
    while i < x.ndim:
        j = i + 1
        while j < x.ndim:
            if x.stride[j] // x.stride[i] <= x.size[i] and x.stride[j] % x.stride[i] == 0:
                x.size[i] += x.stride[j] // x.stride[i] * (x.size[j] - 1)
                remove_axis(x, j)
            else:
                j += 1
        i += 1


# Whether each axis clears those before it: its stride exceeds all they reach.
# From there on, an element of the set has one index tuple, found digit by digit.
cdef inline bint is_clear(const set_t* x) noexcept nogil:
    cdef wide reach = 0
    cdef int i
    for i in range(x.ndim):
        if x.stride[i] <= reach:
            return False
        reach += (x.size[i] - 1) * x.stride[i]
    return True


# Kaldi's condition, which is stronger. Canonical sets for which it holds are
# equal only if their axes are.
cdef inline bint is_dominated(const set_t* x) noexcept nogil:
    cdef int i
    for i in range(x.ndim - 1):
        if x.size[i] * x.stride[i] > x.stride[i + 1]:
            return False
    return True


cdef inline bint same_axes(const set_t* x, const set_t* y) noexcept nogil:
    cdef int i
    if x.ndim != y.ndim:
        return False
    for i in range(x.ndim):
        if x.size[i] != y.size[i] or x.stride[i] != y.stride[i]:
            return False
    return True


cdef inline wide set_size(const set_t* x) noexcept nogil:
    cdef wide size = 1
    cdef int i
    for i in range(x.ndim):
        size *= x.size[i]
    return 0 if x.ndim < 0 else size


# Empties a list and keeps its memory.
cdef inline void clear_pieces(pieces_t* list) noexcept nogil:
    list.length = 0
    list.n = 0


# Appends x with the axes of `outer` (last pushed, fastest) to the list.
cdef int emit(const set_t* x, const set_t* outer, pieces_t* out) noexcept nogil:
    cdef size_t wanted = out.length + 2 + 2 * (x.ndim + outer.ndim)
    cdef wide* data
    cdef int i
    if out.one_is_enough:
        return FOUND
    if x.ndim + outer.ndim > MAX_SET_AXES:
        return UNDECIDED
    if wanted > out.capacity:
        data = <wide*> realloc(out.data, 2 * wanted * sizeof(wide))
        if data == NULL:
            return NO_MEMORY
        out.data = data
        out.capacity = 2 * wanted
    data = out.data + out.length
    data[0] = x.ndim + outer.ndim
    data[1] = x.low
    data += 2
    for i in range(x.ndim):
        data[0] = x.size[i]
        data[1] = x.stride[i]
        data += 2
    for i in range(outer.ndim - 1, -1, -1):
        data[0] = outer.size[i]
        data[1] = outer.stride[i]
        data += 2
    out.length = wanted
    out.n += 1
    return DONE


cdef void read_piece(const pieces_t* list, size_t* position, set_t* x) noexcept nogil:
    cdef const wide* data = list.data + position[0]
    cdef int i
    x.ndim = <int> data[0]
    x.low = data[1]
    for i in range(x.ndim):
        x.size[i] = data[2 + 2 * i]
        x.stride[i] = data[3 + 2 * i]
    position[0] += 2 + 2 * x.ndim


# Block i of x: the i-th part along its last axis.
cdef inline void copy_block(set_t* block, const set_t* x, wide i) noexcept nogil:
    copy_set(block, x, x.ndim - 1)
    block.low += i * x.stride[x.ndim - 1]


# The blocks [first, last) of x whose ranges meet [low, high].
cdef inline void find_blocks(const set_t* x, wide low, wide high, wide* first,
                             wide* last) noexcept nogil:
    cdef int top = x.ndim - 1
    cdef wide stride = x.stride[top], reach = reach_of(x, top)
    first[0] = 0
    if low > x.low + reach:
        first[0] = (low - reach - x.low - 1) // stride + 1
    last[0] = (high - x.low) // stride + 1
    if last[0] > x.size[top]:
        last[0] = x.size[top]


cdef inline void keep_blocks(set_t* x, wide first, wide last) noexcept nogil:
    x.ndim -= 1
    x.low += first * x.stride[x.ndim]
    push_axis(x, last - first, x.stride[x.ndim])


# Appends x's blocks [first, last).
cdef int emit_blocks(const set_t* x, wide first, wide last, const set_t* outer,
                     pieces_t* out) noexcept nogil:
    cdef set_t part
    if first >= last:
        return DONE
    copy_set(&part, x, x.ndim)
    keep_blocks(&part, first, last)
    return emit(&part, outer, out)


# Appends all pieces of a list, each with the axes of `outer` added.
cdef int emit_all(const pieces_t* list, const set_t* outer, pieces_t* out) noexcept nogil:
    cdef set_t piece
    cdef size_t position = 0
    cdef int status = DONE
    while position < list.length and status == DONE:
        read_piece(list, &position, &piece)
        status = emit(&piece, outer, out)
    return status


# Intersection and difference ----------------------------------------------

# Appends to `out` what is left of each piece of `list` without y.
cdef int subtract_from_all(const pieces_t* list, const set_t* y, set_t* outer, pieces_t* out,
                           Py_ssize_t* work, int depth) noexcept nogil:
    cdef set_t x
    cdef size_t position = 0
    cdef int status
    while position < list.length:
        read_piece(list, &position, &x)
        status = combine(&x, y, True, outer, out, work, depth)
        if status:
            return status
    return DONE


# Appends to `out` the elements of x that are in y (less: that are not), each piece
# with the axes of `outer` added. Both sets are clear. Costs one unit of work a
# call, and one a piece.
#
# Blocks along the last axis of a clear set do not meet each other. Where both
# sets have the same last stride, block i of x meets at most two blocks of y, and
# those for every i the same way, so one block is solved and the axis put back.
# Other strides are first made equal, by cutting both axes at their common
# multiple; where they are too short for that, blocks are solved one by one.
cdef int combine(const set_t* x_given, const set_t* y_given, bint less, set_t* outer,
                 pieces_t* out, Py_ssize_t* work, int depth) noexcept nogil:
    cdef set_t x, y
    cdef wide x_high, y_high, first = 0, last = 0, size, x_stride, y_stride, x_step, y_step, g
    cdef int status, rounds = 0
    cdef bint same = not less
    # Each of these adds an axis at most.
    if depth > MAX_DEPTH or x_given.ndim == MAX_SET_AXES or y_given.ndim == MAX_SET_AXES:
        return UNDECIDED
    if stack_is_short(LEVEL_BYTES):
        return UNDECIDED
    copy_set(&x, x_given, x_given.ndim)
    copy_set(&y, y_given, y_given.ndim)
    while True:
        if work[0] <= 0:
            return UNDECIDED
        work[0] -= 1
        x_high = x.low + reach_of(&x, x.ndim)
        y_high = y.low + reach_of(&y, y.ndim)
        if x_high < y.low or y_high < x.low:
            return DONE if same else emit(&x, outer, out)
        if (y.low <= x.low and x_high <= y_high
                and (y.ndim == 0 or (y.ndim == 1 and y.stride[0] == 1))):
            return emit(&x, outer, out) if same else DONE
        # Keep the blocks of x that y's range meets, then the same of y. Two sets that
        # interleave could go on so, element by element.
        if rounds == 4:
            break
        rounds += 1
        if x.ndim:
            size = x.size[x.ndim - 1]
            find_blocks(&x, y.low, y_high, &first, &last)
            if first >= last:
                return DONE if same else emit(&x, outer, out)
            if last - first < size:
                if less:
                    status = emit_blocks(&x, 0, first, outer, out)
                    if status == DONE:
                        status = emit_blocks(&x, last, size, outer, out)
                    if status:
                        return status
                keep_blocks(&x, first, last)
                continue
        if y.ndim:
            size = y.size[y.ndim - 1]
            find_blocks(&y, x.low, x_high, &first, &last)
            if first >= last:
                return DONE if same else emit(&x, outer, out)
            if last - first < size:
                keep_blocks(&y, first, last)
                continue
        break
    if x.ndim == 0 and y.ndim == 0:
        return emit(&x, outer, out) if same else DONE
    if x.ndim and y.ndim:
        x_stride = x.stride[x.ndim - 1]
        y_stride = y.stride[y.ndim - 1]
        if x_stride == y_stride:
            return combine_aligned(&x, &y, less, outer, out, work, depth)
        g = greatest_common_divisor(x_stride, y_stride)
        x_step = y_stride // g
        y_step = x_stride // g
        if x.size[x.ndim - 1] > x_step and y.size[y.ndim - 1] > y_step:
            return combine_cut(&x, x_step, &y, y_step, less, outer, out, work, depth)
    if x.ndim == 0 or (y.ndim and y.stride[y.ndim - 1] > x.stride[x.ndim - 1]):
        return combine_blocks_of_y(&x, &y, less, outer, out, work, depth)
    return combine_blocks_of_x(&x, &y, less, outer, out, work, depth)


# `combine` where both last strides are the same.
cdef int combine_aligned(const set_t* x, const set_t* y, bint less, set_t* outer,
                         pieces_t* out, Py_ssize_t* work, int depth) noexcept nogil:
    cdef set_t block, none
    cdef set_t met[2]
    cdef pieces_t left
    cdef int x_top = x.ndim - 1, y_top = y.ndim - 1, n_met
    cdef wide stride = x.stride[x_top], n = x.size[x_top], m = y.size[y_top]
    cdef wide gap = x.low - y.low, shift, last_shift, first, end
    cdef wide shifts[2]
    cdef wide cuts[6]
    cdef wide cut
    cdef int n_shifts = 0, n_cuts = 2, i, j, k, n_outer = outer.ndim
    cdef int status = DONE
    if n_outer == MAX_SET_AXES:
        return UNDECIDED
    # Block i of x can meet block i + shift of y. Both blocks are shorter than the
    # stride, so there are two shifts at most.
    shift = -floor_divide(reach_of(y, y_top) - gap, stride)
    last_shift = floor_divide(gap + reach_of(x, x_top), stride)
    while shift <= last_shift:
        first = -shift if shift < 0 else 0
        end = n if n <= m - shift else m - shift
        if first < end:
            shifts[n_shifts] = shift
            n_shifts += 1
            cuts[n_cuts] = first
            cuts[n_cuts + 1] = end
            n_cuts += 2
        shift += 1
    if not less:
        for k in range(n_shifts):
            first = cuts[2 + 2 * k]
            end = cuts[3 + 2 * k]
            copy_block(&block, x, first)
            copy_block(&met[0], y, first + shifts[k])
            push_axis(outer, end - first, stride)
            status = combine(&block, &met[0], False, outer, out, work, depth + 1)
            outer.ndim = n_outer
            if status:
                return status
        return DONE
    # Runs of blocks that meet the same shifts.
    cuts[0] = 0
    cuts[1] = n
    for i in range(1, n_cuts):
        cut = cuts[i]
        j = i
        while j and cuts[j - 1] > cut:
            cuts[j] = cuts[j - 1]
            j -= 1
        cuts[j] = cut
    none.ndim = 0
    init_pieces(&left)
    for i in range(n_cuts - 1):
        first = cuts[i]
        end = cuts[i + 1]
        if first == end:
            continue
        copy_block(&block, x, first)
        n_met = 0
        for k in range(n_shifts):
            if 0 <= first + shifts[k] < m:
                copy_block(&met[n_met], y, first + shifts[k])
                n_met += 1
        if n_met == 2:
            clear_pieces(&left)
            status = combine(&block, &met[0], True, &none, &left, work, depth + 1)
            if status:
                break
        push_axis(outer, end - first, stride)
        if n_met == 0:
            status = emit(&block, outer, out)
        elif n_met == 1:
            status = combine(&block, &met[0], True, outer, out, work, depth + 1)
        else:
            status = subtract_from_all(&left, &met[1], outer, out, work, depth + 1)
        outer.ndim = n_outer
        if status:
            break
    free(left.data)
    return status


# Cuts x's last axis into runs of `step` blocks and a rest (of size 0 if none).
cdef void cut_axis(const set_t* x, wide step, set_t* runs, set_t* rest) noexcept nogil:
    cdef int top = x.ndim - 1
    cdef wide n = x.size[top] // step, remainder = x.size[top] % step
    copy_set(runs, x, top)
    push_axis(runs, step, x.stride[top])
    push_axis(runs, n, step * x.stride[top])
    if remainder == 0:
        rest.ndim = -1
        return
    copy_set(rest, x, x.ndim)
    keep_blocks(rest, n * step, x.size[top])


# `combine` where x_step blocks of x are as long as y_step blocks of y.
cdef int combine_cut(const set_t* x, wide x_step, const set_t* y, wide y_step, bint less,
                     set_t* outer, pieces_t* out, Py_ssize_t* work, int depth) noexcept nogil:
    cdef set_t x_part[2]
    cdef set_t y_part[2]
    cdef set_t none
    cdef pieces_t left
    cdef int i, j, status = DONE
    cut_axis(x, x_step, &x_part[0], &x_part[1])
    cut_axis(y, y_step, &y_part[0], &y_part[1])
    none.ndim = 0
    init_pieces(&left)
    for i in range(2):
        if x_part[i].ndim < 0:
            continue
        if less and y_part[1].ndim >= 0:
            clear_pieces(&left)
            status = combine(&x_part[i], &y_part[0], True, &none, &left, work, depth + 1)
            if status == DONE:
                status = subtract_from_all(&left, &y_part[1], outer, out, work, depth + 1)
            if status:
                break
            continue
        for j in range(2):
            if y_part[j].ndim >= 0:
                status = combine(&x_part[i], &y_part[j], less, outer, out, work, depth + 1)
                if status:
                    break
        if status:
            break
    free(left.data)
    return status


# The stride of x's last axis, and what the axes below it reach; of a point, 1 and 0.
cdef inline wide pitch_of(const set_t* x, wide* reach) noexcept nogil:
    if x.ndim == 0:
        reach[0] = 0
        return 1
    reach[0] = reach_of(x, x.ndim - 1)
    return x.stride[x.ndim - 1]


# `combine` block by block of x, whose last stride is the longer one, or y a point.
cdef int combine_blocks_of_x(const set_t* x, const set_t* y, bint less, set_t* outer,
                             pieces_t* out, Py_ssize_t* work, int depth) noexcept nogil:
    cdef set_t block
    cdef int top = x.ndim - 1, status
    cdef wide x_reach = reach_of(x, top), y_reach = 0, pitch = pitch_of(y, &y_reach)
    cdef wide i = 0, done = 0
    while next_aligned(&i, x.size[top] - 1, x.stride[top], pitch, y.low - x.low + y_reach,
                       x_reach + y_reach):
        if less:
            status = emit_blocks(x, done, i, outer, out)
            if status:
                return status
        copy_block(&block, x, i)
        status = combine(&block, y, less, outer, out, work, depth + 1)
        if status:
            return status
        i += 1
        done = i
    return emit_blocks(x, done, x.size[top], outer, out) if less else DONE


# `combine` block by block of y, whose last stride is the longer one, or x a point.
cdef int combine_blocks_of_y(const set_t* x, const set_t* y, bint less, set_t* outer,
                             pieces_t* out, Py_ssize_t* work, int depth) noexcept nogil:
    cdef set_t block, piece, none
    cdef pieces_t left, next
    cdef size_t position
    cdef int top = y.ndim - 1, status = DONE
    cdef wide y_reach = reach_of(y, top), x_reach = 0, pitch = pitch_of(x, &x_reach), j = 0
    none.ndim = 0
    init_pieces(&left)
    init_pieces(&next)
    if less:
        status = emit(x, &none, &left)
    while status == DONE and next_aligned(&j, y.size[top] - 1, y.stride[top], pitch,
                                          x.low - y.low + x_reach, x_reach + y_reach):
        copy_block(&block, y, j)
        j += 1
        if not less:
            status = combine(x, &block, less, outer, out, work, depth + 1)
            continue
        clear_pieces(&next)
        position = 0
        while position < left.length and status == DONE:
            read_piece(&left, &position, &piece)
            # Blocks of y ascend, so what lies below this one is safe from the rest.
            if piece.low + reach_of(&piece, piece.ndim) < block.low:
                status = emit(&piece, outer, out)
            else:
                status = combine(&piece, &block, True, &none, &next, work, depth + 1)
        left, next = next, left
    if status == DONE:
        status = emit_all(&left, outer, out)
    free(left.data)
    free(next.data)
    return status


# Sorts values and drops repeats; returns how many are left.
cdef Py_ssize_t sort_unique(wide* values, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, root, child, end, kept = 0
    cdef wide value
    # Heapsort: no extra memory and no bad case.
    i = n // 2
    end = n
    while end > 1:
        if i > 0:
            i -= 1
            value = values[i]
        else:
            end -= 1
            value = values[end]
            values[end] = values[0]
        root = i
        child = 2 * root + 1
        while child < end:
            if child + 1 < end and values[child + 1] > values[child]:
                child += 1
            if values[child] <= value:
                break
            values[root] = values[child]
            root = child
            child = 2 * root + 1
        values[root] = value
    for i in range(n):
        if kept == 0 or values[i] != values[kept - 1]:
            values[kept] = values[i]
            kept += 1
    return kept


# Writes low + every sum of the axes [first, end) of x; returns DONE or not. The
# values are allocated here, with repeats dropped.
cdef int list_sums(const set_t* x, int first, int end, wide low, wide** values,
                   Py_ssize_t* count, Py_ssize_t* work) noexcept nogil:
    cdef wide total = 1, steps
    cdef Py_ssize_t n = 1, i, k
    cdef wide* v
    cdef int axis
    for axis in range(first, end):
        total *= x.size[axis]
        if total > work[0]:
            return UNDECIDED
    work[0] -= <Py_ssize_t> total
    v = <wide*> malloc(<size_t> total * sizeof(wide))
    if v == NULL:
        return NO_MEMORY
    v[0] = low
    for axis in range(first, end):
        k = <Py_ssize_t> x.size[axis]
        steps = x.stride[axis]
        for i in range(n, n * k):
            v[i] = v[i - n] + steps
        n *= k
    values[0] = v
    count[0] = sort_unique(v, n)
    return DONE


# Appends clear sets that together are x, which is canonical, and none of which
# meets another. Axes that are not clear are written out and gathered into runs.
cdef int decompose(const set_t* x, pieces_t* out, Py_ssize_t* work) noexcept nogil:
    cdef set_t outer, piece
    cdef wide reach = 0, g, step
    cdef wide* values
    cdef Py_ssize_t n, i, j, runs, k, length
    cdef int tangled = 0, inner = 0, axis, status
    outer.ndim = 0
    if x.ndim < 0:
        return DONE
    for axis in range(x.ndim):
        if x.stride[axis] <= reach:
            tangled = axis + 1
        reach += (x.size[axis] - 1) * x.stride[axis]
    if tangled == 0:
        return emit(x, &outer, out)
    # Axes that fit between any two sums of the later ones stay as they are.
    reach = 0
    for axis in range(tangled - 1):
        if x.stride[axis] <= reach:
            break
        reach += (x.size[axis] - 1) * x.stride[axis]
        g = 0
        for i in range(axis + 1, tangled):
            g = greatest_common_divisor(g, x.stride[i])
        if reach < g:
            inner = axis + 1
    for axis in range(x.ndim - 1, tangled - 1, -1):
        push_axis(&outer, x.size[axis], x.stride[axis])
    status = list_sums(x, inner, tangled, x.low, &values, &n, work)
    if status:
        return status
    # Runs of equal steps; equal runs at equal distances become one piece.
    i = 0
    while i < n and status == DONE:
        length = run_length(values, n, i)
        step = values[i + 1] - values[i] if length > 1 else 0
        j = i + length
        runs = 1
        while j < n:
            k = run_length(values, n, j)
            if k != length or (k > 1 and values[j + 1] - values[j] != step):
                break
            if runs > 1 and values[j] - values[j - length] != values[i + length] - values[i]:
                break
            runs += 1
            j += k
        copy_set(&piece, x, inner)
        piece.low = values[i]
        push_axis(&piece, length, step)
        if runs > 1:
            push_axis(&piece, runs, values[i + length] - values[i])
        status = emit(&piece, &outer, out)
        i += runs * length
    free(values)
    return status


# How many values from the i-th on have equal steps.
cdef inline Py_ssize_t run_length(const wide* values, Py_ssize_t n, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t j = i + 1
    if j >= n:
        return n - i
    while j + 1 < n and values[j + 1] - values[j] == values[i + 1] - values[i]:
        j += 1
    return j - i + 1


# Appends the elements of the list xs that are in ys (less: that are not) as clear
# sets that do not meet. Nor do those of xs, or those of ys.
cdef int combine_lists(const pieces_t* xs, const pieces_t* ys, bint less, pieces_t* out,
                       Py_ssize_t* work) noexcept nogil:
    cdef pieces_t left, next
    cdef set_t piece, other, none
    cdef size_t position = 0, at
    cdef int status = DONE
    none.ndim = 0
    init_pieces(&left)
    init_pieces(&next)
    while position < xs.length and status == DONE:
        read_piece(xs, &position, &piece)
        if not less:
            at = 0
            while at < ys.length and status == DONE:
                read_piece(ys, &at, &other)
                status = combine(&piece, &other, False, &none, out, work, 0)
            continue
        clear_pieces(&left)
        status = emit(&piece, &none, &left)
        at = 0
        while at < ys.length and status == DONE:
            read_piece(ys, &at, &other)
            clear_pieces(&next)
            status = subtract_from_all(&left, &other, &none, &next, work, 0)
            left, next = next, left
        if status == DONE:
            status = emit_all(&left, &none, out)
    free(left.data)
    free(next.data)
    return status


cdef int combine_any(const set_t* x, const set_t* y, bint less, pieces_t* out,
                     Py_ssize_t* work) noexcept nogil:
    cdef pieces_t xs, ys
    cdef int status
    init_pieces(&xs)
    init_pieces(&ys)
    status = decompose(x, &xs, work)
    if status == DONE:
        status = decompose(y, &ys, work)
    if status == DONE:
        status = combine_lists(&xs, &ys, less, out, work)
    free(xs.data)
    free(ys.data)
    return status


# The least element of the clear set x that is not below v; false if there is none.
cdef bint successor_in(const set_t* x, wide v, wide* found) noexcept nogil:
    cdef wide low = x.low, reach = reach_of(x, x.ndim), i
    cdef int axis
    if v > low + reach:
        return False
    for axis in range(x.ndim - 1, -1, -1):
        reach -= (x.size[axis] - 1) * x.stride[axis]
        if v > low + reach:
            i = (v - reach - low - 1) // x.stride[axis] + 1
            low += i * x.stride[axis]
    found[0] = low
    return True


# The same for all pieces of a list.
cdef bint successor(const pieces_t* list, wide v, wide* found) noexcept nogil:
    cdef set_t x
    cdef size_t position = 0
    cdef wide one = 0
    cdef bint any_found = False
    while position < list.length:
        read_piece(list, &position, &x)
        if successor_in(&x, v, &one) and (not any_found or one < found[0]):
            found[0] = one
            any_found = True
    return any_found


cdef bint contains(const pieces_t* list, wide v) noexcept nogil:
    cdef wide found = 0
    return successor(list, v, &found) and found == v


# Whether some elements of x, drawn all over it, are in the list: 1, 0, or UNDECIDED. Where
# the answer to "are all of them" is no, this tells in most cases, and at once. With
# `mirrored`, asks for mirror - element instead.
cdef int samples_are_in(const set_t* x, const pieces_t* list, int samples, bint mirrored,
                        wide mirror, Py_ssize_t* work) noexcept nogil:
    cdef unsigned long long state = 1
    cdef wide v
    cdef int _, axis
    for _ in range(samples):
        work[0] -= 1 + list.n // PIECES_A_STEP
        if work[0] < 0:
            return UNDECIDED
        v = x.low
        for axis in range(x.ndim):
            # Knuth's generator; its high bits are good enough to spread elements.
            state = state * 6364136223846793005ULL + 1442695040888963407ULL
            v += <wide> (state >> 20) % x.size[axis] * x.stride[axis]
        if not contains(list, mirror - v if mirrored else v):
            return 0
    return 1


cdef int is_subset(const set_t* x, const set_t* y, Py_ssize_t* work) noexcept nogil:
    cdef pieces_t xs, ys, out
    cdef Py_ssize_t share
    cdef int status
    if x.ndim < 0:
        return 1
    if y.ndim < 0:
        return 0
    if x.low < y.low or x.low + reach_of(x, x.ndim) > y.low + reach_of(y, y.ndim):
        return 0
    init_pieces(&xs)
    init_pieces(&ys)
    init_pieces(&out)
    out.one_is_enough = True
    status = decompose(y, &ys, work)
    if status == DONE and samples_are_in(x, &ys, SAMPLES, False, 0, work) == 0:
        status = FOUND
    if status == DONE:
        status = decompose(x, &xs, work)
    if status == DONE:
        share = work[0] // 4
        work[0] -= share
        status = combine_lists(&xs, &ys, True, &out, work)
        work[0] += share
        if (status == UNDECIDED
                and samples_are_in(x, &ys, MORE_SAMPLES, False, 0, work) == 0):
            status = FOUND
    free(xs.data)
    free(ys.data)
    free(out.data)
    if status == FOUND:
        return 0
    return 1 if status == DONE else status


cdef int are_equal(const set_t* x, const set_t* y, Py_ssize_t* work) noexcept nogil:
    cdef int status
    if x.ndim < 0 or y.ndim < 0:
        return x.ndim == y.ndim
    if x.low != y.low or reach_of(x, x.ndim) != reach_of(y, y.ndim):
        return 0
    if same_axes(x, y):
        return 1
    if is_dominated(x) and is_dominated(y):
        return 0
    status = is_subset(x, y, work)
    if status == 1:
        status = is_subset(y, x, work)
    return status


# One pattern for a set ----------------------------------------------------

# Where a value is in a sorted list, or -1.
cdef inline Py_ssize_t position_of(const wide* values, Py_ssize_t n, wide value) noexcept nogil:
    cdef Py_ssize_t low = 0, high = n, middle
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < n and values[low] == value else -1


# Adds axes to x, whose sums are the marked values, until all n values are sums.
# FOUND, DONE (there is no way with `left` axes more), or UNDECIDED, NO_MEMORY.
# `cut_off` is set where more axes might have helped.
#
# Axes are added by ascending stride. The least value that is no sum yet must
# be the next stride, unless the next stride is itself a sum already.
cdef int add_axes_until(const wide* values, Py_ssize_t n, const unsigned char* marked,
                        Py_ssize_t n_marked, set_t* x, int left, bint* cut_off,
                        Py_ssize_t* work) noexcept nogil:
    cdef unsigned char* mark
    cdef Py_ssize_t* layer
    cdef Py_ssize_t i, j, k, missing = 0, n_layer, n_mark
    cdef wide stride, size, highest = reach_of(x, x.ndim)
    cdef int axis, ndim = x.ndim, status = DONE
    cdef bint useless, fits
    if n_marked == n:
        return FOUND
    if left == 0:
        cut_off[0] = True
        return DONE
    while marked[missing]:
        missing += 1
    work[0] -= n // VALUES_A_STEP
    if work[0] < 0:
        return UNDECIDED
    mark = <unsigned char*> malloc(n)
    layer = <Py_ssize_t*> malloc(n * sizeof(Py_ssize_t))
    if mark == NULL or layer == NULL:
        status = NO_MEMORY
    i = 1
    while i <= missing and status == DONE:
        stride = values[i]
        useless = ndim and stride <= x.stride[ndim - 1]
        for axis in range(ndim):
            if stride % x.stride[axis] == 0 and stride // x.stride[axis] <= x.size[axis]:
                useless = True
        if left == 1 and (values[n - 1] - highest) % stride:
            useless = True
            # A second axis could have made up for it.
            cut_off[0] = True
        if useless:
            work[0] -= 1
            i += 1
            if work[0] < 0:
                status = UNDECIDED
            continue
        n_layer = 0
        for j in range(n):
            mark[j] = marked[j]
            if marked[j]:
                layer[n_layer] = j
                n_layer += 1
        n_mark = n_marked
        size = 1
        fits = True
        while status == DONE:
            work[0] -= n_layer
            if work[0] < 0:
                status = UNDECIDED
                break
            for k in range(n_layer):
                j = position_of(values, n, values[layer[k]] + stride)
                if j < 0:
                    fits = False
                    break
                layer[k] = j
            if not fits:
                break
            for k in range(n_layer):
                if not mark[layer[k]]:
                    mark[layer[k]] = 1
                    n_mark += 1
            size += 1
            if left == 1 and n_mark < n:
                cut_off[0] = True
                continue
            x.ndim = ndim
            push_axis(x, size, stride)
            status = add_axes_until(values, n, mark, n_mark, x, left - 1, cut_off, work)
        i += 1
    free(mark)
    free(layer)
    if status != FOUND:
        x.ndim = ndim
    return status


# Writes to x a set with fewest axes whose elements are the n sorted values: FOUND,
# DONE (none with so few axes), UNDECIDED or NO_MEMORY. values[0] must be 0.
cdef int fit_axes(const wide* values, Py_ssize_t n, int max_axes, set_t* x,
                  Py_ssize_t* work) noexcept nogil:
    cdef unsigned char* marked
    cdef bint cut_off = True
    cdef int axes = 0, status = DONE
    cdef Py_ssize_t i
    x.low = 0
    x.ndim = 0
    # Sums of axes read the same from either end.
    for i in range(n // 2):
        if values[i] + values[n - 1 - i] != values[n - 1]:
            return DONE
    marked = <unsigned char*> malloc(n)
    if marked == NULL:
        return NO_MEMORY
    for i in range(n):
        marked[i] = i == 0
    while status == DONE and cut_off and axes <= max_axes:
        cut_off = False
        status = add_axes_until(values, n, marked, 1, x, axes, &cut_off, work)
        axes += 1
    free(marked)
    return status


cdef int reduce_set(set_t* x, Py_ssize_t* work) noexcept nogil:
    cdef set_t middle, fitted
    cdef wide reach, g
    cdef wide* values
    cdef Py_ssize_t n
    cdef int inner = 0, end = x.ndim, i, k, status
    # Two axes that cannot be one are no run of equal steps, so they are fewest.
    if x.ndim <= 2 or is_dominated(x):
        return DONE
    # An axis whose stride is more than twice what the others reach splits off: all
    # shorter strides of any solution make up the first block, and one more axis is
    # needed for the rest. Likewise the axes below, if the others are multiples
    # of more than twice their reach.
    while end and x.stride[end - 1] > 2 * reach_of(x, end - 1):
        end -= 1
    reach = 0
    for i in range(end):
        reach += (x.size[i] - 1) * x.stride[i]
        g = 0
        for k in range(i + 1, end):
            g = greatest_common_divisor(g, x.stride[k])
        if g <= 2 * reach:
            break
        inner = i + 1
    if end - inner <= 2:
        return DONE
    status = list_sums(x, inner, end, 0, &values, &n, work)
    if status:
        return status
    status = fit_axes(values, n, end - inner - 1, &fitted, work)
    free(values)
    if status != FOUND:
        return status
    copy_set(&middle, x, inner)
    for i in range(fitted.ndim):
        push_axis(&middle, fitted.size[i], fitted.stride[i])
    for i in range(end, x.ndim):
        push_axis(&middle, x.size[i], x.stride[i])
    copy_set(x, &middle, middle.ndim)
    return DONE


# How many elements of the clear set x are in the list, whose pieces do not meet.
cdef int count_common(const set_t* x, const pieces_t* list, wide* count,
                      Py_ssize_t* work) noexcept nogil:
    cdef pieces_t common
    cdef set_t y, none
    cdef size_t position = 0
    cdef int status = DONE
    none.ndim = 0
    init_pieces(&common)
    while position < list.length and status == DONE:
        read_piece(list, &position, &y)
        status = combine(x, &y, False, &none, &common, work, 0)
    if status == DONE:
        count[0] = total_size(&common)
    free(common.data)
    return status


# The least and greatest element of a list that is not empty.
cdef void bounds_of(const pieces_t* list, wide* low, wide* high) noexcept nogil:
    cdef set_t x
    cdef size_t position = 0
    cdef bint first = True
    while position < list.length:
        read_piece(list, &position, &x)
        if first or x.low < low[0]:
            low[0] = x.low
        if first or x.low + reach_of(&x, x.ndim) > high[0]:
            high[0] = x.low + reach_of(&x, x.ndim)
        first = False


cdef wide total_size(const pieces_t* list) noexcept nogil:
    cdef set_t x
    cdef size_t position = 0
    cdef wide total = 0
    while position < list.length:
        read_piece(list, &position, &x)
        total += set_size(&x)
    return total


# Whether a run of n elements from `low` on, `stride` apart, is in the list.
cdef int has_run(const pieces_t* list, wide low, wide stride, wide n, bint* answer,
                 Py_ssize_t* work) noexcept nogil:
    cdef set_t run
    cdef wide count = 0
    cdef int status
    run.low = low
    run.ndim = 0
    push_axis(&run, n, stride)
    answer[0] = False
    if not contains(list, low + (n - 1) * stride):
        return DONE
    status = samples_are_in(&run, list, SAMPLES, False, 0, work)
    if status != 1:
        return status
    status = count_common(&run, list, &count, work)
    answer[0] = count == n
    return status


# If the union of the list's pieces, which do not meet, is one clear set in which
# no two axes could be one, writes it to x: FOUND or DONE (there is none), UNDECIDED
# or NO_MEMORY.
#
# In such a set the least element beyond those of the first k axes is the next
# stride, and its multiples end where the axis does.
cdef int fit_clear(const pieces_t* list, set_t* x, Py_ssize_t* work) noexcept nogil:
    cdef wide total = total_size(list), reach = 0, stride, n, most, middle
    cdef wide count = 0, high = 0
    cdef bint inside
    cdef int status
    x.ndim = 0
    bounds_of(list, &x.low, &high)
    while successor(list, x.low + reach + 1, &stride):
        stride -= x.low
        if x.ndim == MAX_SET_AXES:
            return DONE
        n = 2
        most = total + 1
        # The run has n elements and not `most`: double n, then halve the distance.
        while n < most - 1:
            middle = 2 * n if 2 * n < most and most == total + 1 else n + (most - n) // 2
            status = has_run(list, x.low, stride, middle, &inside, work)
            if status:
                return status
            if inside:
                n = middle
            else:
                most = middle
        push_axis(x, n, stride)
        reach += (n - 1) * stride
    if set_size(x) != total:
        return DONE
    status = count_common(x, list, &count, work)
    if status:
        return status
    return FOUND if count == total else DONE


# Axes that both clear sets have and that split off the union: `split` gets them,
# and the union of what is left is one set if and only if the whole one is.
cdef void split_common(set_t* x, set_t* y, set_t* split) noexcept nogil:
    cdef wide low, high, other, g
    cdef int i, top
    split.ndim = 0
    # A last axis whose stride is more than twice what lies below it (see reduce_set).
    while x.ndim and y.ndim:
        top = x.ndim - 1
        if (x.stride[top] != y.stride[y.ndim - 1] or x.size[top] != y.size[y.ndim - 1]):
            break
        low = x.low if x.low < y.low else y.low
        high = x.low + reach_of(x, top)
        other = y.low + reach_of(y, y.ndim - 1)
        if other > high:
            high = other
        if x.stride[top] <= 2 * (high - low):
            break
        push_axis(split, x.size[top], x.stride[top])
        x.ndim -= 1
        y.ndim -= 1
    # A first axis, where all else is a multiple of more than twice its reach.
    while x.ndim and y.ndim and x.stride[0] == y.stride[0] and x.size[0] == y.size[0]:
        g = absolute(x.low - y.low)
        for i in range(1, x.ndim):
            g = greatest_common_divisor(g, x.stride[i])
        for i in range(1, y.ndim):
            g = greatest_common_divisor(g, y.stride[i])
        if g <= 2 * (x.size[0] - 1) * x.stride[0]:
            break
        push_axis(split, x.size[0], x.stride[0])
        remove_axis(x, 0)
        remove_axis(y, 0)


# Appends all elements of the list's pieces to values.
cdef int list_pieces(const pieces_t* list, wide** values, Py_ssize_t* n,
                     Py_ssize_t* work) noexcept nogil:
    cdef set_t x
    cdef size_t position = 0
    cdef wide total = total_size(list)
    cdef wide* part
    cdef Py_ssize_t filled = 0, count, i
    cdef int status
    if total > work[0]:
        return UNDECIDED
    values[0] = <wide*> malloc(<size_t> total * sizeof(wide))
    if values[0] == NULL:
        return NO_MEMORY
    while position < list.length:
        read_piece(list, &position, &x)
        status = list_sums(&x, 0, x.ndim, x.low, &part, &count, work)
        if status:
            free(values[0])
            return status
        for i in range(count):
            values[0][filled] = part[i]
            filled += 1
        free(part)
    n[0] = sort_unique(values[0], filled)
    return DONE


# Whether the union of the list's pieces reads the same from either end, as the
# elements of any pattern do.
cdef int is_symmetric(const pieces_t* list, bint* answer, Py_ssize_t* work) noexcept nogil:
    cdef set_t x
    cdef size_t position = 0
    cdef wide low = 0, high = 0, count = 0
    cdef int status
    bounds_of(list, &low, &high)
    answer[0] = False
    while position < list.length:
        read_piece(list, &position, &x)
        status = samples_are_in(&x, list, SAMPLES, True, low + high, work)
        if status != 1:
            return status
    position = 0
    while position < list.length:
        read_piece(list, &position, &x)
        x.low = low + high - x.low - reach_of(&x, x.ndim)
        status = count_common(&x, list, &count, work)
        if status:
            return status
        if count != set_size(&x):
            return DONE
    answer[0] = True
    return DONE


# `find_union` of sets as they are.
cdef int fit_union(const set_t* x, const set_t* y, int max_axes, set_t* r,
                   Py_ssize_t* work) noexcept nogil:
    cdef pieces_t list
    cdef wide* values
    cdef wide low
    cdef Py_ssize_t n = 0, i
    cdef int status
    cdef bint symmetric = False
    init_pieces(&list)
    status = decompose(x, &list, work)
    if status == DONE:
        status = decompose(y, &list, work)
    if status == DONE and same_axes(x, y):
        # One more axis of size 2 does it; fit_clear may know a shorter form.
        status = fit_clear(&list, r, work)
        if status != FOUND:
            low = x.low if x.low < y.low else y.low
            copy_set(r, x, x.ndim)
            push_axis(r, 2, x.low + y.low - 2 * low)
            r.low = low
            status = FOUND
    elif status == DONE:
        # As the sums of any axes are.
        status = is_symmetric(&list, &symmetric, work)
        if status == DONE and symmetric:
            status = fit_clear(&list, r, work)
        if status == DONE and symmetric:
            status = list_pieces(&list, &values, &n, work)
            if status == DONE:
                low = values[0]
                for i in range(n):
                    values[i] -= low
                status = fit_axes(values, n, max_axes, r, work)
                r.low = low
                free(values)
    free(list.data)
    return status


# Takes common axes away first where that shortens the search.
cdef int find_union(const set_t* x_given, const set_t* y_given, int max_axes, set_t* r,
                    Py_ssize_t* work) noexcept nogil:
    cdef set_t x, y, split
    cdef Py_ssize_t share = work[0] // 4
    cdef int status = UNDECIDED, i, j
    copy_set(&x, x_given, x_given.ndim)
    copy_set(&y, y_given, y_given.ndim)
    # Any axis that both have can be taken away and put back, but only a yes
    # follows from that.
    split.ndim = 0
    i = 0
    while i < x.ndim:
        j = 0
        while j < y.ndim and (x.size[i] != y.size[j] or x.stride[i] != y.stride[j]):
            j += 1
        if j < y.ndim:
            push_axis(&split, x.size[i], x.stride[i])
            remove_axis(&x, i)
            remove_axis(&y, j)
        else:
            i += 1
    if split.ndim:
        work[0] -= share
        status = fit_union(&x, &y, max_axes, r, &share)
        work[0] += share
    if status != FOUND and status != NO_MEMORY:
        copy_set(&x, x_given, x_given.ndim)
        copy_set(&y, y_given, y_given.ndim)
        split.ndim = 0
        if is_clear(&x) and is_clear(&y):
            split_common(&x, &y, &split)
        status = fit_union(&x, &y, max_axes, r, work)
    if status == FOUND and r.ndim + split.ndim > MAX_SET_AXES:
        return UNDECIDED
    if status == FOUND:
        for i in range(split.ndim):
            push_axis(r, split.size[i], split.stride[i])
        canonicalize(r)
    return status


# Index tuples -------------------------------------------------------------

cdef int locate(const wide* c, const wide* m, int n, wide target, wide* digit,
                Py_ssize_t* work) noexcept nogil:
    cdef wide lower_c[MAX_SEARCH_AXES]
    cdef wide lower_m[MAX_SEARCH_AXES]
    cdef wide rest = 0, g, first = 0, last = 0
    cdef int level, i, found
    for i in range(n):
        rest += c[i] * m[i]
    for level in range(n - 1, -1, -1):
        rest -= c[level] * m[level]
        g = 0
        for i in range(level):
            g = greatest_common_divisor(g, c[i])
        found = 0
        if axis_range(c[level], m[level], rest, target, target, &first, &last):
            while (found == 0 and first <= last
                   and (g == 0 or next_aligned(&first, last, c[level], g, target, <wide> 0))):
                if work[0] <= 0:
                    return UNDECIDED
                work[0] -= 1
                for i in range(level):
                    lower_c[i] = c[i]
                    lower_m[i] = m[i]
                found = search(lower_c, lower_m, level, target - c[level] * first,
                               target - c[level] * first, work)
                if found == 0:
                    first += 1
        if found < 0:
            return UNDECIDED
        if found == 0:
            return DONE
        digit[level] = first
        target -= c[level] * first
    return FOUND if target == 0 else DONE


# Tidying a list of pieces -------------------------------------------------

cdef enum:
    # Beyond this many pieces, pairs are not looked at.
    MAX_JOIN = 64

# Whether x and y have the same axes, `axis` aside: that one may have another size in
# y, or (`missing`) not be there.
cdef bint same_axes_but(const set_t* x, const set_t* y, int axis, bint missing) noexcept nogil:
    cdef int i, k
    if x.ndim != y.ndim + missing:
        return False
    for i in range(x.ndim):
        k = i - (missing and i > axis)
        if i != axis and (x.size[i] != y.size[k] or x.stride[i] != y.stride[k]):
            return False
    return missing or x.stride[axis] == y.stride[axis]


# Whether x and y, which do not meet, are one along an axis of x, or have the same
# axes, so that one of size 2 joins them to a clear set; then x becomes both.
cdef bint join(set_t* x, const set_t* y) noexcept nogil:
    cdef set_t both
    cdef wide gap = y.low - x.low
    cdef int axis
    for axis in range(x.ndim):
        if gap == x.size[axis] * x.stride[axis]:
            if same_axes_but(x, y, axis, False):
                x.size[axis] += y.size[axis]
                canonicalize(x)
                return True
            if same_axes_but(x, y, axis, True):
                x.size[axis] += 1
                canonicalize(x)
                return True
        if gap == -x.stride[axis] and same_axes_but(x, y, axis, True):
            x.low = y.low
            x.size[axis] += 1
            canonicalize(x)
            return True
    if gap > 0 and same_axes(x, y):
        copy_set(&both, x, x.ndim)
        push_axis(&both, 2, gap)
        canonicalize(&both)
        if is_clear(&both):
            copy_set(x, &both, both.ndim)
            return True
    return False


cdef int join_pieces(pieces_t* list) noexcept nogil:
    cdef set_t* sets
    cdef set_t one, none
    cdef size_t position = 0
    cdef Py_ssize_t n = 0, i, j, k
    cdef int status = DONE
    none.ndim = 0
    if list.n > MAX_JOIN:
        return DONE
    sets = <set_t*> malloc((list.n + 1) * sizeof(set_t))
    if sets == NULL:
        return NO_MEMORY
    while position < list.length:
        read_piece(list, &position, &one)
        canonicalize(&one)
        j = n
        while j and sets[j - 1].low > one.low:
            copy_set(&sets[j], &sets[j - 1], sets[j - 1].ndim)
            j -= 1
        copy_set(&sets[j], &one, one.ndim)
        n += 1
    i = 0
    while i < n:
        j = 0
        while j < n and (i == j or not join(&sets[i], &sets[j])):
            j += 1
        if j == n:
            i += 1
            continue
        n -= 1
        for k in range(j, n):
            copy_set(&sets[k], &sets[k + 1], sets[k + 1].ndim)
        i = 0
    clear_pieces(list)
    i = 0
    while i < n and status == DONE:
        status = emit(&sets[i], &none, list)
        i += 1
    free(sets)
    return status
