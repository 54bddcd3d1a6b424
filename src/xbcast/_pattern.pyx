# The strided-layout algebra: C functions on the structs of _pattern.pxd, which
# the planner calls, and the Python classes Pattern and PatternTuple on top of
# the same functions. Uses no NumPy; of other modules _errors, and _svg to draw. What
# a plan does with a reduced tuple is left to _plan; what an array is, to _core.
#
# Words. M(p) is the set of memory indices of a pattern: the bytes at which its
# elements start. B(p) is the set of bytes that the elements cover. An axis of
# `size` elements has `size - 1` steps; searches count in steps, because a step
# count multiplies a stride without a correction.

# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False
# cython: initializedcheck=False, freethreading_compatible=True
# cython: embedsignature=True, embedsignature.format=clinic, autotestdict=False

cimport cython
from cpython.buffer cimport (
    PyBUF_STRIDES, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer,
)
from cpython.object cimport Py_EQ, Py_GT, Py_LE, Py_LT, Py_NE
from libc.stdlib cimport calloc, free, malloc, realloc

from xbcast import _errors

cdef extern from *:
    """
    /* Checked 64-bit arithmetic, and an integer that holds any sum of products
       that occurs here. MSVC has neither; there the wide search answers
       "undecided", which only patterns that span more than 2**60 bytes see. */
    #if defined(__GNUC__) || defined(__clang__)
    #define xb_mul_overflows(a, b, r) __builtin_mul_overflow((a), (b), (r))
    #define xb_add_overflows(a, b, r) __builtin_add_overflow((a), (b), (r))
    #define xb_sub_overflows(a, b, r) __builtin_sub_overflow((a), (b), (r))
    #else
    static int xb_mul_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) {
        *r = (Py_ssize_t)((size_t)a * (size_t)b);
        if (a == 0 || b == 0) return 0;
        if ((a == -1 && b == PY_SSIZE_T_MIN) || (b == -1 && a == PY_SSIZE_T_MIN)) return 1;
        return *r / b != a;
    }
    static int xb_add_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) {
        *r = (Py_ssize_t)((size_t)a + (size_t)b);
        return ((a ^ *r) & (b ^ *r)) < 0;
    }
    static int xb_sub_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) {
        *r = (Py_ssize_t)((size_t)a - (size_t)b);
        return ((a ^ b) & (a ^ *r)) < 0;
    }
    #endif
    #if defined(__SIZEOF_INT128__)
    typedef __int128 xb_wide;
    #define XB_HAVE_WIDE 1
    #else
    typedef long long xb_wide;
    #define XB_HAVE_WIDE 0
    #endif
    """
    bint xb_mul_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    bint xb_add_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    bint xb_sub_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    Py_ssize_t PY_SSIZE_T_MAX
    ctypedef long long wide "xb_wide"
    bint XB_HAVE_WIDE

# Searches run in 64 bits where every sum fits there with room to spare, and in
# 128 bits elsewhere.
ctypedef fused integer:
    Py_ssize_t
    wide

cdef enum:
    MAX_SEARCH_AXES = 2 * MAX_AXES

# Below this span, twice the span of one pattern and the spans of two together
# stay far inside 64 bits.
cdef Py_ssize_t NARROW_SPAN = (<Py_ssize_t> 1) << 60


# Bounds -------------------------------------------------------------------

# The least and greatest memory index; 1, or 0 if they leave 64 bits. The
# pattern must not be empty. The stride of a unit axis is never used, so it may
# be anything.
cdef inline bint index_bounds(const pattern_t* p, Py_ssize_t* lowest,
                              Py_ssize_t* highest) noexcept nogil:
    cdef Py_ssize_t low = p.offset, high = p.offset, reach
    cdef int i
    for i in range(p.ndim):
        if p.size[i] == 1:
            continue
        if xb_mul_overflows(p.size[i] - 1, p.stride[i], &reach):
            return False
        if reach < 0:
            if xb_add_overflows(low, reach, &low):
                return False
        elif xb_add_overflows(high, reach, &high):
            return False
    lowest[0] = low
    highest[0] = high
    return True


cdef inline bint is_empty(const pattern_t* p) noexcept nogil:
    cdef int i
    for i in range(p.ndim):
        if p.size[i] == 0:
            return True
    return False


cdef bint byte_bounds(const pattern_t* p, Py_ssize_t* lowest, Py_ssize_t* end) noexcept nogil:
    cdef Py_ssize_t high, span
    if is_empty(p):
        lowest[0] = end[0] = p.offset
        return True
    # The span must fit as well: then |stride| of a walked axis does too, and
    # any axis can be flipped.
    return (index_bounds(p, lowest, &high)
            and not xb_add_overflows(high, p.itemsize, end)
            and not xb_sub_overflows(end[0], lowest[0], &span))


# The reduced tuple --------------------------------------------------------

# Whether axis `a` comes before axis `b`: absolute strides, first pattern first.
# Where these tie, signs and then sizes decide, so that the reduced form does
# not depend on the order in which the axes came.
cdef inline bint comes_before(const axis_t* a, const axis_t* b, int n) noexcept nogil:
    cdef Py_ssize_t s, t
    cdef int k
    for k in range(n):
        s = -a.stride[k] if a.stride[k] < 0 else a.stride[k]
        t = -b.stride[k] if b.stride[k] < 0 else b.stride[k]
        if s != t:
            return s < t
    for k in range(n):
        if a.stride[k] != b.stride[k]:
            return a.stride[k] > b.stride[k]
    return a.size < b.size


cdef inline void copy_axis(axis_t* to, const axis_t* source, int n) noexcept nogil:
    cdef int k
    to.size = source.size
    for k in range(n):
        to.stride[k] = source.stride[k]


cdef inline bint merges(const axis_t* inner, const axis_t* outer, int n) noexcept nogil:
    cdef Py_ssize_t reach
    cdef int k
    for k in range(n):
        if xb_mul_overflows(inner.size, inner.stride[k], &reach):
            return False
        if reach != outer.stride[k]:
            return False
    return True


# Whether the first pattern that moves along the axis has a negative stride.
cdef inline bint runs_backwards(const axis_t* a, int n) noexcept nogil:
    cdef int k
    for k in range(n):
        if a.stride[k]:
            return a.stride[k] < 0
    return False


# Moves the last of the first `end` axes to its place; those before it are sorted.
cdef inline void sink(axis_t* axes, int end, int n) noexcept nogil:
    cdef axis_t axis
    cdef int i = end - 1
    if i == 0 or not comes_before(&axes[i], &axes[i - 1], n):
        return
    copy_axis(&axis, &axes[i], n)
    while i and comes_before(&axis, &axes[i - 1], n):
        copy_axis(&axes[i], &axes[i - 1], n)
        i -= 1
    copy_axis(&axes[i], &axis, n)


cdef void reduce_tuple(pattern_tuple_t* t) noexcept nogil:
    cdef int n = t.n, ndim = 0, i, j, k
    cdef axis_t* a
    cdef bint merged = False
    # Drop, flip and sort, in place: no axis is overwritten before it is read.
    for i in range(t.ndim):
        a = &t.axis[i]
        if a.size == 1:
            continue
        if runs_backwards(a, n):
            for k in range(n):
                t.offset[k] += (a.size - 1) * a.stride[k]
                a.stride[k] = -a.stride[k]
        if ndim != i:
            copy_axis(&t.axis[ndim], a, n)
        ndim += 1
        sink(t.axis, ndim, n)
    # Merge. The partner of an axis lies after it, but not always next to it: a
    # pattern that overlaps itself can have a stride between the two.
    i = 0
    while i < ndim:
        j = i + 1
        while j < ndim:
            if merges(&t.axis[i], &t.axis[j], n):
                t.axis[i].size *= t.axis[j].size
                for k in range(j + 1, ndim):
                    copy_axis(&t.axis[k - 1], &t.axis[k], n)
                ndim -= 1
                merged = True
            else:
                j += 1
        i += 1
    # Axes of equal strides are ordered by size, which merging changes.
    if merged:
        for i in range(2, ndim + 1):
            sink(t.axis, i, n)
    t.ndim = ndim


# Bounded integer search ---------------------------------------------------
#
# Every question about shared bytes becomes one question: is there a choice of
# 0 <= z[i] <= m[i] with lo <= sum(c[i] * z[i]) <= hi, where all c[i] > 0? The
# bytes of an element are the width of the window [lo, hi].

# The least x >= 0 with l <= a * x mod m <= r; false if there is none.
# Must hold: 0 <= a < m, 0 <= l <= r < m. After: a * x = m * quotient + rest.
#
# Euclid's algorithm: if no multiple of `a` lies in [l, r], some multiple of m
# has to be passed, and the least number of them is the same question modulo a.
# Quotient and rest are carried along so that nothing exceeds m.
cdef bint first_in_range(integer a, integer m, integer l, integer r, integer* x,
                         integer* quotient, integer* rest) noexcept nogil:
    cdef integer steps, passed = 0, inner_quotient = 0, inner_rest = 0
    if l == 0:
        x[0] = quotient[0] = rest[0] = 0
        return True
    if a == 0:
        return False
    steps = (l - 1) // a + 1
    if steps <= r // a:
        x[0] = steps
        quotient[0] = 0
        rest[0] = steps * a
        return True
    if not first_in_range(m % a, a, a - r % a, a - l % a, &passed,
                          &inner_quotient, &inner_rest):
        return False
    steps = (l + inner_rest - 1) // a + 1
    x[0] = m // a * passed + inner_quotient + steps
    quotient[0] = passed
    rest[0] = a * steps - inner_rest
    return True


# The least v in [v, last] for which [top - c * v - width, top - c * v] contains a
# multiple of g; false if there is none.
cdef inline bint next_aligned(integer* v, integer last, integer c, integer g,
                              integer top, integer width) noexcept nogil:
    cdef integer x = 0, q = 0, t = 0, residue
    if v[0] > last:
        return False
    if width + 1 >= g:
        return True
    residue = (top - c * v[0]) % g
    if residue < 0:
        residue += g
    if residue <= width:
        return True
    # Here 0 <= residue - width <= residue < g, and x steps take c * x mod g off.
    if not first_in_range(c % g, g, residue - width, residue, &x, &q, &t):
        return False
    if x > last - v[0]:
        return False
    v[0] += x
    return True


# The values of z for one axis (coefficient c, up to m) that leave a window which
# sums in [0, rest] can meet; false if there are none.
cdef inline bint axis_range(integer c, integer m, integer rest, integer lo, integer hi,
                            integer* first, integer* last) noexcept nogil:
    if hi < 0:
        return False
    first[0] = 0 if lo <= rest else (lo - rest - 1) // c + 1
    last[0] = hi // c
    if last[0] > m:
        last[0] = m
    return first[0] <= last[0]


cdef inline integer greatest_common_divisor(integer a, integer b) noexcept nogil:
    cdef integer t
    while b:
        t = a % b
        a = b
        b = t
    return a


cdef enum:
    # From so many steps on, a search remembers windows that it found no way from:
    # strides in a small ratio lead to the same one again and again.
    PATIENCE = 256
    MEMORY_BITS = 14


# Where a window may be remembered.
cdef inline size_t place_of(integer low, int level) noexcept nogil:
    cdef unsigned long long mixed = <unsigned long long> low + <unsigned long long> level
    return <size_t> (mixed * 0x9E3779B97F4A7C15ULL >> (64 - MEMORY_BITS))


# Moves axes so that those come last, to be enumerated first, whose range leaves the
# fewest choices, whatever the target is.
cdef void order_by_choices(integer* c, integer* m, int n, integer width) noexcept nogil:
    cdef integer coefficient, count, best, choices, total = 0
    cdef int i, j, k
    for i in range(n):
        total += c[i] * m[i]
    for k in range(n - 1, 1, -1):
        j = k
        best = 0
        for i in range(k, -1, -1):
            choices = (total - c[i] * m[i] + width) // c[i]
            if choices > m[i]:
                choices = m[i]
            if i == k or choices < best:
                best = choices
                j = i
        coefficient = c[j]
        count = m[j]
        for i in range(j, k):
            c[i] = c[i + 1]
            m[i] = m[i + 1]
        c[k] = coefficient
        m[k] = count
        total -= coefficient * count


# `search` by enumerating the last axis first; at least two axes.
cdef int descend(const integer* c, const integer* m, int n, integer lo, integer hi,
                 Py_ssize_t* work) noexcept nogil:
    cdef Py_ssize_t patience = work[0] - PATIENCE
    cdef integer* failed = NULL
    cdef signed char* failed_level = NULL
    cdef size_t place
    cdef integer width = hi - lo
    cdef integer first = 0, last = 0
    cdef integer sums[MAX_SEARCH_AXES]
    cdef integer divisor[MAX_SEARCH_AXES]
    cdef integer at[MAX_SEARCH_AXES]
    cdef integer until[MAX_SEARCH_AXES]
    cdef integer restart[MAX_SEARCH_AXES]
    cdef integer low[MAX_SEARCH_AXES]
    cdef bint second_half[MAX_SEARCH_AXES]
    cdef int k, level, found
    cdef bint stepped
    # sums[k] and divisor[k]: the reach and the common divisor of the axes below k.
    sums[1] = c[0] * m[0]
    divisor[1] = c[0]
    for k in range(2, n):
        sums[k] = sums[k - 1] + c[k - 1] * m[k - 1]
        divisor[k] = greatest_common_divisor(divisor[k - 1], c[k - 1])
    level = n - 1
    low[level] = lo
    stepped = False
    found = -1
    while True:
        # At the top of the loop, `level` is either new (stepped is false), with
        # low[level] set, or wants its next choice (stepped is true).
        hi = low[level] + width
        if not stepped:
            if failed != NULL:
                place = place_of(low[level], level)
                if failed_level[place] == level and failed[place] == low[level]:
                    level += 1
                    stepped = True
                    continue
            if not axis_range(c[level], m[level], sums[level], low[level], hi, &first, &last):
                at[level] = 1
                until[level] = 0
                second_half[level] = True
            elif level == 1:
                # A window that contains a multiple of c[0] and meets [0, c[0] * m[0]]
                # contains one inside: if it juts out at an end, that end is in it.
                if next_aligned(&first, last, c[1], c[0], hi, width):
                    found = 1
                    break
                at[level] = 1
                until[level] = 0
                second_half[level] = True
            else:
                # From the middle upwards, then the lower half: sums are densest
                # in the middle of what the other axes reach.
                at[level] = first + (last - first) // 2
                until[level] = last
                restart[level] = first
                second_half[level] = False
        else:
            at[level] += 1
        if not next_aligned(&at[level], until[level], c[level], divisor[level], hi, width):
            if not second_half[level]:
                second_half[level] = True
                first = restart[level]
                last = restart[level] + (until[level] - restart[level]) // 2 - 1
                at[level] = first - 1
                until[level] = last
                stepped = True
                continue
            if level == n - 1:
                found = 0
                break
            if failed != NULL:
                place = place_of(low[level], level)
                failed[place] = low[level]
                failed_level[place] = level
            level += 1
            stepped = True
            continue
        if work[0] <= 0:
            break
        work[0] -= 1
        if work[0] == patience:
            failed = <integer*> malloc(sizeof(integer) << MEMORY_BITS)
            failed_level = <signed char*> calloc(1, 1 << MEMORY_BITS)
            if failed == NULL or failed_level == NULL:
                free(failed)
                free(failed_level)
                failed = NULL
                failed_level = NULL
        low[level - 1] = low[level] - c[level] * at[level]
        level -= 1
        stepped = False
    free(failed)
    free(failed_level)
    return found


# 1: there is a choice of z with a sum in [lo, hi]. 0: there is none. -1: the
# budget ran out. Overwrites c and m. `work` counts down; one or two axes that
# remain after merging cost nothing and are always decided.
cdef int search(integer* c, integer* m, int n, integer lo, integer hi,
                Py_ssize_t* work) noexcept nogil:
    cdef integer coefficient, count
    cdef integer first = 0, last = 0
    cdef Py_ssize_t half
    cdef int i, j, k, place, found
    # Sort by coefficient; equal ones become one axis.
    k = 0
    for i in range(n):
        if m[i] == 0:
            continue
        coefficient = c[i]
        count = m[i]
        j = k
        while j and c[j - 1] > coefficient:
            j -= 1
        if j and c[j - 1] == coefficient:
            m[j - 1] += count
            continue
        for place in range(k, j, -1):
            c[place] = c[place - 1]
            m[place] = m[place - 1]
        c[j] = coefficient
        m[j] = count
        k += 1
    n = k
    # An axis with steps no wider than the window widens it.
    i = 0
    while i < n and c[i] <= hi - lo + 1:
        lo -= c[i] * m[i]
        i += 1
    if i == n:
        return lo <= 0 and hi >= 0
    if i:
        for j in range(i, n):
            c[j - i] = c[j]
            m[j - i] = m[j]
        n -= i
    # An axis of c steps that reaches to a later multiple of c extends to it.
    i = 0
    while i < n:
        j = i + 1
        while j < n:
            if c[j] // c[i] <= m[i] + 1 and c[j] % c[i] == 0:
                m[i] += c[j] // c[i] * m[j]
                for k in range(j + 1, n):
                    c[k - 1] = c[k]
                    m[k - 1] = m[k]
                n -= 1
            else:
                j += 1
        i += 1
    if n == 1:
        return axis_range(c[0], m[0], <integer> 0, lo, hi, &first, &last)
    if n == 2:
        return descend(c, m, n, lo, hi, work)
    # Strides of the same arrays: from the longest one down, ranges leave one or
    # two choices each. Where that does not end, from the axis with fewest choices.
    half = work[0] // 2
    work[0] -= half
    found = descend(c, m, n, lo, hi, work)
    work[0] += half
    if found < 0:
        order_by_choices(c, m, n, hi - lo)
        found = descend(c, m, n, lo, hi, work)
    return found


# The axes that move, as coefficients and step counts, behind the n that are there.
cdef inline int add_axes(const pattern_t* p, integer* c, integer* m, int n) noexcept nogil:
    cdef int i
    for i in range(p.ndim):
        if p.size[i] > 1 and p.stride[i]:
            c[n] = p.stride[i]
            if c[n] < 0:
                c[n] = -c[n]
            m[n] = p.size[i] - 1
            n += 1
    return n


# 1 if a byte is shared, 0 if none, -1 if undecided; `integer` is the type of
# `gap`, the greatest index of q less the least of p.
cdef int search_shared(integer gap, const pattern_t* p, const pattern_t* q,
                       Py_ssize_t max_work) noexcept nogil:
    cdef integer c[MAX_SEARCH_AXES]
    cdef integer m[MAX_SEARCH_AXES]
    cdef int n = add_axes(q, c, m, add_axes(p, c, m, 0))
    # x - y for an element x of p and y of q, where y is counted down from its
    # greatest: bytes meet if it is in (-p.itemsize, q.itemsize).
    return search(c, m, n, gap - <integer> (p.itemsize - 1), gap + <integer> (q.itemsize - 1),
                  &max_work)


cdef int are_disjoint(const pattern_t* p, const pattern_t* q, Py_ssize_t max_work) noexcept nogil:
    cdef Py_ssize_t p_lowest = 0, p_end = 0, q_lowest = 0, q_end = 0
    cdef int shared
    if not byte_bounds(p, &p_lowest, &p_end) or not byte_bounds(q, &q_lowest, &q_end):
        return -1
    # Also where one is empty or its elements have no bytes.
    if p_end <= q_lowest or q_end <= p_lowest or p_lowest == p_end or q_lowest == q_end:
        return 1
    if p.itemsize == 0 or q.itemsize == 0:
        return 1
    if p_end - p_lowest < NARROW_SPAN and q_end - q_lowest < NARROW_SPAN:
        shared = search_shared[Py_ssize_t](q_end - q.itemsize - p_lowest, p, q, max_work)
    elif XB_HAVE_WIDE:
        shared = search_shared[wide](<wide> (q_end - q.itemsize) - <wide> p_lowest, p, q, max_work)
    else:
        shared = -1
    return shared if shared < 0 else not shared


# Whether two elements of a pattern share a byte: 1, 0 or -1. Given are its
# axes that move (coefficients sorted); `one` chooses the integer type.
#
# Two elements differ by a sum of c[i] * d[i] with |d[i]| <= m[i]. Let k be the
# last axis with d[k] != 0, which may be taken positive.
cdef int search_repeat(integer one, const Py_ssize_t* c, const Py_ssize_t* m, int n,
                       Py_ssize_t itemsize, Py_ssize_t max_work) noexcept nogil:
    cdef integer coefficient[MAX_SEARCH_AXES]
    cdef integer steps[MAX_SEARCH_AXES]
    cdef integer reach = 0, item = itemsize
    cdef int i, k, found
    for k in range(n):
        # An axis that clears all bytes below it repeats none of them.
        if reach + item > <integer> c[k]:
            for i in range(k):
                coefficient[i] = c[i]
                steps[i] = <integer> m[i] + <integer> m[i]
            coefficient[k] = c[k]
            steps[k] = <integer> m[k] - one
            found = search(coefficient, steps, k + 1, reach - <integer> c[k] - item + one,
                           reach - <integer> c[k] + item - one, &max_work)
            if found:
                return found
        reach += <integer> c[k] * <integer> m[k]
    return 0


cdef int is_unique(const pattern_t* p, Py_ssize_t max_work) noexcept nogil:
    cdef Py_ssize_t c[MAX_AXES]
    cdef Py_ssize_t m[MAX_AXES]
    cdef Py_ssize_t lowest, end, stride, reach = p.itemsize
    cdef int i, j, n = 0, repeat
    if not byte_bounds(p, &lowest, &end):
        return -1
    if lowest == end or p.itemsize == 0:
        return 1
    for i in range(p.ndim):
        if p.size[i] == 1:
            continue
        stride = -p.stride[i] if p.stride[i] < 0 else p.stride[i]
        if stride < p.itemsize:
            return 0
        j = n
        while j and c[j - 1] > stride:
            c[j] = c[j - 1]
            m[j] = m[j - 1]
            j -= 1
        c[j] = stride
        m[j] = p.size[i] - 1
        n += 1
    for i in range(n):
        if c[i] < reach:
            break
        reach += c[i] * m[i]
    else:
        return 1
    if end - lowest < NARROW_SPAN:
        repeat = search_repeat[Py_ssize_t](1, c, m, n, p.itemsize, max_work)
    elif XB_HAVE_WIDE:
        repeat = search_repeat[wide](1, c, m, n, p.itemsize, max_work)
    else:
        repeat = -1
    return repeat if repeat < 0 else not repeat


# Sets of units ------------------------------------------------------------
#
# What follows answers with patterns, not only with yes or no. It works on
# integers that count a unit of g bytes (g divides whatever occurs), in 128 bits,
# so that no sum needs a check. A pattern's set M has an axis per axis; its set B has
# one more, for the units of an element.

cdef enum:
    # The axes of a pattern, the units of an element, and some to spare for cutting.
    # In 64 bits more cannot clear each other, as each at least doubles the span.
    MAX_SET_AXES = 72
    # A level of `combine` takes some 15 KB of the stack. Patterns of a few axes
    # need some ten levels.
    MAX_DEPTH = 100
    # Elements tried before a set is taken apart, and where that did not end.
    SAMPLES = 32
    MORE_SAMPLES = 10000

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

# A growing list of sets, each stored as ndim, low, then size and stride by axis.
cdef struct pieces_t:
    wide* data
    size_t length
    size_t capacity
    Py_ssize_t n
    bint one_is_enough         # `emit` answers FOUND


cdef inline void init_pieces(pieces_t* list) noexcept nogil:
    list.data = NULL
    list.length = list.capacity = 0
    list.n = 0
    list.one_is_enough = False


cdef inline wide floor_divide(wide a, wide b) noexcept nogil:
    cdef wide q = a // b
    if a % b < 0:
        q -= 1
    return q


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


# Sorts the axes and makes one of any two that could be one, the set staying what
# it is: n steps of s and m steps of k x s are n + k x m steps of s, if k <= n + 1.
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


# Reads the piece at `position` and moves on to the next.
cdef void read_piece(const pieces_t* list, size_t* position, set_t* x) noexcept nogil:
    cdef const wide* data = list.data + position[0]
    cdef int i
    x.ndim = <int> data[0]
    x.low = data[1]
    for i in range(x.ndim):
        x.size[i] = data[2 + 2 * i]
        x.stride[i] = data[3 + 2 * i]
    position[0] += 2 + 2 * x.ndim


# Appends x's blocks [first, last) along its last axis.
cdef int emit_blocks(const set_t* x, wide first, wide last, const set_t* outer,
                     pieces_t* out) noexcept nogil:
    cdef set_t part
    cdef int top = x.ndim - 1
    if first >= last:
        return DONE
    copy_set(&part, x, top)
    part.low += first * x.stride[top]
    push_axis(&part, last - first, x.stride[top])
    return emit(&part, outer, out)


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
    cdef wide x_high, y_high, first, last, reach, stride, size, x_step, y_step, g
    cdef int top, status, rounds = 0
    cdef bint same = not less
    # Each of these adds an axis at most.
    if depth > MAX_DEPTH or x_given.ndim == MAX_SET_AXES or y_given.ndim == MAX_SET_AXES:
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
            top = x.ndim - 1
            stride = x.stride[top]
            reach = x_high - x.low - (x.size[top] - 1) * stride
            first = 0
            if y.low > x.low + reach:
                first = (y.low - reach - x.low - 1) // stride + 1
            last = (y_high - x.low) // stride + 1
            if last > x.size[top]:
                last = x.size[top]
            if first >= last:
                return DONE if same else emit(&x, outer, out)
            if last - first < x.size[top]:
                if less:
                    status = emit_blocks(&x, 0, first, outer, out)
                    if status == DONE:
                        status = emit_blocks(&x, last, x.size[top], outer, out)
                    if status:
                        return status
                x.ndim = top
                x.low += first * stride
                push_axis(&x, last - first, stride)
                continue
        if y.ndim:
            top = y.ndim - 1
            stride = y.stride[top]
            reach = y_high - y.low - (y.size[top] - 1) * stride
            first = 0
            if x.low > y.low + reach:
                first = (x.low - reach - y.low - 1) // stride + 1
            last = (x_high - y.low) // stride + 1
            if last > y.size[top]:
                last = y.size[top]
            if first >= last:
                return DONE if same else emit(&x, outer, out)
            if last - first < y.size[top]:
                y.ndim = top
                y.low += first * stride
                push_axis(&y, last - first, stride)
                continue
        break
    if x.ndim == 0 and y.ndim == 0:
        return emit(&x, outer, out) if same else DONE
    if x.ndim and y.ndim:
        stride = x.stride[x.ndim - 1]
        size = y.stride[y.ndim - 1]
        if stride == size:
            return combine_aligned(&x, &y, less, outer, out, work, depth)
        g = greatest_common_divisor(stride, size)
        x_step = size // g
        y_step = stride // g
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
            copy_set(&block, x, x_top)
            block.low += first * stride
            copy_set(&met[0], y, y_top)
            met[0].low += (first + shifts[k]) * stride
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
        copy_set(&block, x, x_top)
        block.low += first * stride
        n_met = 0
        for k in range(n_shifts):
            if 0 <= first + shifts[k] < m:
                copy_set(&met[n_met], y, y_top)
                met[n_met].low += (first + shifts[k]) * stride
                n_met += 1
        if n_met == 2:
            left.length = left.n = 0
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
    copy_set(rest, x, top)
    rest.low += n * step * x.stride[top]
    push_axis(rest, remainder, x.stride[top])


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
            left.length = 0
            left.n = 0
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


# `combine` block by block of x, whose last stride is the longer one, or y a point.
cdef int combine_blocks_of_x(const set_t* x, const set_t* y, bint less, set_t* outer,
                             pieces_t* out, Py_ssize_t* work, int depth) noexcept nogil:
    cdef set_t block
    cdef int top = x.ndim - 1, status
    cdef wide stride = x.stride[top], x_reach = reach_of(x, top), y_reach, pitch, i = 0, done = 0
    if y.ndim:
        pitch = y.stride[y.ndim - 1]
        y_reach = reach_of(y, y.ndim - 1)
    else:
        pitch = 1
        y_reach = 0
    while next_aligned(&i, x.size[top] - 1, stride, pitch, y.low - x.low + y_reach,
                       x_reach + y_reach):
        if less:
            status = emit_blocks(x, done, i, outer, out)
            if status:
                return status
        copy_set(&block, x, top)
        block.low += i * stride
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
    cdef wide stride = y.stride[top], y_reach = reach_of(y, top), x_reach, pitch, j = 0
    if x.ndim:
        pitch = x.stride[x.ndim - 1]
        x_reach = reach_of(x, x.ndim - 1)
    else:
        pitch = 1
        x_reach = 0
    none.ndim = 0
    init_pieces(&left)
    init_pieces(&next)
    if less:
        status = emit(x, &none, &left)
    while status == DONE and next_aligned(&j, y.size[top] - 1, stride, pitch,
                                          x.low - y.low + x_reach, x_reach + y_reach):
        copy_set(&block, y, top)
        block.low += j * stride
        j += 1
        if not less:
            status = combine(x, &block, less, outer, out, work, depth + 1)
            continue
        next.length = 0
        next.n = 0
        position = 0
        while position < left.length and status == DONE:
            read_piece(&left, &position, &piece)
            # Blocks of y ascend, so what lies below this one is safe from the rest.
            if piece.low + reach_of(&piece, piece.ndim) < block.low:
                status = emit(&piece, outer, out)
            else:
                status = combine(&piece, &block, True, &none, &next, work, depth + 1)
        left, next = next, left
    position = 0
    while position < left.length and status == DONE:
        read_piece(&left, &position, &piece)
        status = emit(&piece, outer, out)
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
        left.length = left.n = 0
        status = emit(&piece, &none, &left)
        at = 0
        while at < ys.length and status == DONE:
            read_piece(ys, &at, &other)
            next.length = next.n = 0
            status = subtract_from_all(&left, &other, &none, &next, work, 0)
            left, next = next, left
        at = 0
        while at < left.length and status == DONE:
            read_piece(&left, &at, &other)
            status = emit(&other, &none, out)
    free(left.data)
    free(next.data)
    return status


# The same for two canonical sets.
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


# Whether some elements of x, drawn all over it, are in the list. Where the answer
# to "are all of them" is no, this tells in most cases, and at once. With
# `mirrored`, asks for mirror - element instead.
cdef bint samples_are_in(const set_t* x, const pieces_t* list, int samples, bint mirrored,
                         wide mirror) noexcept nogil:
    cdef unsigned long long state = 1
    cdef wide v
    cdef int _, axis
    for _ in range(samples):
        v = x.low
        for axis in range(x.ndim):
            # Knuth's generator; its high bits are good enough to spread elements.
            state = state * 6364136223846793005ULL + 1442695040888963407ULL
            v += <wide> (state >> 20) % x.size[axis] * x.stride[axis]
        if not contains(list, mirror - v if mirrored else v):
            return False
    return True


# 1: x is a subset of y; 0: it is not; else UNDECIDED or NO_MEMORY. Canonical sets.
cdef int is_subset(const set_t* x, const set_t* y, Py_ssize_t* work) noexcept nogil:
    cdef pieces_t xs, ys, out
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
    if status == DONE and not samples_are_in(x, &ys, SAMPLES, False, 0):
        status = FOUND
    if status == DONE:
        status = decompose(x, &xs, work)
    if status == DONE:
        status = combine_lists(&xs, &ys, True, &out, work)
        if status == UNDECIDED and not samples_are_in(x, &ys, MORE_SAMPLES, False, 0):
            status = FOUND
    free(xs.data)
    free(ys.data)
    free(out.data)
    if status == FOUND:
        return 0
    return 1 if status == DONE else status


# 1: the canonical sets x and y are equal; 0: they are not; else UNDECIDED or NO_MEMORY.
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


# Replaces the canonical set x by one with the same elements and fewest axes.
# DONE, or UNDECIDED, NO_MEMORY (x is as before).
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
    answer[0] = (contains(list, low + (n - 1) * stride)
                 and samples_are_in(&run, list, SAMPLES, False, 0))
    if not answer[0]:
        return DONE
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
        g = greatest_common_divisor(x.low - y.low if x.low > y.low else y.low - x.low, 0)
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
        if not samples_are_in(&x, list, SAMPLES, True, low + high):
            return DONE
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


# Writes to r one set that is the union of x and y, canonical and without a common
# element: FOUND, or DONE (there is none), UNDECIDED, NO_MEMORY.
cdef int fit_union(const set_t* x, const set_t* y, set_t* r, Py_ssize_t* work) noexcept nogil:
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
                status = fit_axes(values, n, MAX_AXES, r, work)
                r.low = low
                free(values)
    free(list.data)
    return status


# The same, taking common axes away first where that shortens the search.
cdef int find_union(const set_t* x_given, const set_t* y_given, set_t* r,
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
        status = fit_union(&x, &y, r, &share)
        work[0] += share
    if status != FOUND and status != NO_MEMORY:
        copy_set(&x, x_given, x_given.ndim)
        copy_set(&y, y_given, y_given.ndim)
        split.ndim = 0
        if is_clear(&x) and is_clear(&y):
            split_common(&x, &y, &split)
        status = fit_union(&x, &y, r, work)
    if status == FOUND and r.ndim + split.ndim > MAX_SET_AXES:
        return UNDECIDED
    if status == FOUND:
        for i in range(split.ndim):
            push_axis(r, split.size[i], split.stride[i])
        canonicalize(r)
    return status


# Index tuples -------------------------------------------------------------

# Finds 0 <= digit[i] <= m[i] with sum(c[i] * digit[i]) = target, coefficients
# sorted and above 0: FOUND, DONE (there are none) or UNDECIDED.
cdef int locate(const wide* c, const wide* m, int n, wide target, wide* digit,
                Py_ssize_t* work) noexcept nogil:
    cdef wide lower_c[MAX_AXES]
    cdef wide lower_m[MAX_AXES]
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


# Whether the map from p's index tuples to q's, through memory indices, is defined
# and respects addition: 1, 0, or UNDECIDED.
#
# Such a map takes (0, ..., 0) to itself and is a sum over p's axes, so it is
# enough to find where one step along each goes, and that all steps together
# stay in q.
cdef int is_linear(const pattern_t* p, const pattern_t* q, Py_ssize_t* work) noexcept nogil:
    cdef pattern_t indices
    cdef wide c[MAX_AXES]
    cdef wide m[MAX_AXES]
    cdef wide digit[MAX_AXES]
    cdef wide total[MAX_AXES]
    cdef bint backwards[MAX_AXES]
    cdef wide stride, steps, index
    cdef wide below = 0            # from q's least memory index to its offset
    cdef int i, j, n = 0, status
    if is_empty(p):
        return 1
    if is_empty(q) or p.offset != q.offset:
        return 0
    indices.ndim = q.ndim
    indices.offset = q.offset
    indices.itemsize = 1
    for i in range(q.ndim):
        indices.size[i] = q.size[i]
        indices.stride[i] = q.stride[i]
        if q.size[i] == 1:
            continue
        stride = q.stride[i]
        steps = q.size[i] - 1
        if stride < 0:
            below -= stride * steps
        j = n
        while j and c[j - 1] > (stride if stride > 0 else -stride):
            c[j] = c[j - 1]
            m[j] = m[j - 1]
            backwards[j] = backwards[j - 1]
            j -= 1
        c[j] = stride if stride > 0 else -stride
        m[j] = steps
        backwards[j] = stride < 0
        n += 1
    status = is_unique(&indices, work[0])
    if status != 1:
        return status
    for j in range(n):
        total[j] = 0
    for i in range(p.ndim):
        if p.size[i] == 1 or p.stride[i] == 0:
            continue
        status = locate(c, m, n, below + <wide> p.stride[i], digit, work)
        if status != FOUND:
            return status
        for j in range(n):
            index = m[j] - digit[j] if backwards[j] else digit[j]
            if index > m[j] // (p.size[i] - 1):
                return 0
            total[j] += index * (p.size[i] - 1)
            if total[j] > m[j]:
                return 0
    return 1


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


# Makes pieces canonical, sorts them by their least element, and joins pairs
# while any two are one along an axis.
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
    list.length = list.n = 0
    i = 0
    while i < n and status == DONE:
        status = emit(&sets[i], &none, list)
        i += 1
    free(sets)
    return status


# From patterns to sets and back -------------------------------------------

# The greatest unit in which all strides that move count.
cdef wide common_stride(const pattern_t* p, wide unit) noexcept nogil:
    cdef int i
    cdef wide stride
    for i in range(p.ndim):
        if p.size[i] > 1:
            stride = p.stride[i]
            unit = greatest_common_divisor(unit, stride if stride > 0 else -stride)
    return unit


# M(p) in units of `unit`, counted from `base`; with element > 0, the set of all
# units that elements of that many units cover. Axes are sorted only by the caller.
cdef void set_of(const pattern_t* p, wide base, wide unit, wide element, set_t* x) noexcept nogil:
    cdef wide stride
    cdef int i
    x.low = <wide> p.offset - base
    x.ndim = 0
    for i in range(p.ndim):
        if p.size[i] == 0:
            x.ndim = -1
            return
        if p.size[i] == 1 or p.stride[i] == 0:
            continue
        stride = p.stride[i]
        if stride < 0:
            x.low += (<wide> p.size[i] - 1) * stride
            stride = -stride
        push_axis(x, p.size[i], stride // unit)
    x.low = x.low // unit
    push_axis(x, element, 1)


# B(p) and B(q) as canonical sets in the greatest unit for which both are sets.
cdef wide sets_of_both(const pattern_t* p, const pattern_t* q, set_t* x, set_t* y) noexcept nogil:
    cdef wide gap = <wide> p.offset - <wide> q.offset
    cdef wide unit = greatest_common_divisor(gap if gap > 0 else -gap, p.itemsize)
    unit = common_stride(q, common_stride(p, greatest_common_divisor(unit, q.itemsize)))
    set_of(p, p.offset, unit, p.itemsize // unit, x)
    set_of(q, p.offset, unit, q.itemsize // unit, y)
    canonicalize(x)
    canonicalize(y)
    return unit


# Whether a set of this pattern can be worked on at all.
cdef inline bint fits_search(const pattern_t* p) noexcept nogil:
    cdef Py_ssize_t lowest, end
    return XB_HAVE_WIDE or (byte_bounds(p, &lowest, &end) and end - lowest < NARROW_SPAN)


cdef inline bint has_no_bytes(const pattern_t* p) noexcept nogil:
    return p.itemsize == 0 or is_empty(p)


# Arguments ----------------------------------------------------------------

cdef object integer_of(str op, str name, object index, object value):
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return value.__index__()
    except (AttributeError, TypeError):
        if index is None:
            raise _errors.integer_kind(op, name, value) from None
        raise _errors.dimension_kind(op, name, index, value) from None


cdef tuple integers_of(str op, str name, object values):
    if hasattr(values, "__index__") and not hasattr(values, "__len__"):
        raise _errors.bare_dimension(op, name, values)
    if isinstance(values, (str, bytes)):
        raise _errors.not_a_sequence(op, name, values)
    try:
        values = tuple(values)
    except TypeError:
        raise _errors.not_a_sequence(op, name, values) from None
    return tuple([integer_of(op, name, i, value) for i, value in enumerate(values)])


cdef Py_ssize_t index_of(str op, str name, object value) except? -1:
    value = integer_of(op, name, None, value)
    try:
        return value
    except OverflowError:
        raise _errors.leaves_64_bits(op, name, value) from None


cdef int axis_of(str op, Pattern p, object axis) except -1:
    cdef object value = integer_of(op, "axis", None, axis)
    if not -p.p.ndim <= value < p.p.ndim:
        raise _errors.axis_range(op, value, p.shape)
    return value + p.p.ndim if value < 0 else value


cdef list axes_of(str op, Pattern p, object axes):
    cdef list found
    if hasattr(axes, "__index__") and not hasattr(axes, "__len__"):
        return [axis_of(op, p, axes)]
    found = [axis_of(op, p, axis) for axis in integers_of(op, "axis", axes)]
    if len(set(found)) < len(found):
        raise _errors.repeated_axis(op, tuple(axes))
    return found


cdef Py_ssize_t budget(str op, object max_work) except -1:
    if max_work is None:
        return DEFAULT_WORK
    max_work = integer_of(op, "max_work", None, max_work)
    if max_work < 0:
        raise _errors.negative_work(op, max_work)
    return min(max_work, PY_SSIZE_T_MAX)


cdef object failure(str op, int status, object max_work):
    if status == NO_MEMORY:
        return MemoryError()
    return _errors.undecided(op, DEFAULT_WORK if max_work is None else max_work)


cdef str braces(object numbers):
    return "[" + " ".join([str(n) for n in numbers]) + "]"


# Pattern ------------------------------------------------------------------

# From here on, axes are in public order wherever Python sees them.

@cython.final
@cython.freelist(16)
cdef class Pattern:
    """Pattern(shape, strides=None, offset=0, itemsize=1)\n--\n\n
    Where the elements of a strided array lie in memory: sizes, strides and an offset.

    A Pattern holds no data. Two sets belong to it: **M**, the memory indices (for
    each element the byte at which it starts), and **B**, the bytes that the elements
    cover. With ``itemsize=1`` they are the same. Patterns are immutable, hashable,
    ordered and picklable. Axis numbers run as in NumPy: the first axis is the
    slowest in C order, and negative numbers count from the end. "Private" axis
    numbers run the other way: 0 is the last axis.

    Parameters
    ----------
    shape : sequence of int
        Number of elements along each axis, at most 64 axes. 0 is allowed.
    strides : sequence of int, optional
        Bytes between neighbours along each axis: any integers, 0 and negative ones
        included. By default those of a C-order array; sizes of 0 count as 1 there.
    offset : int, optional
        Memory index of the element whose indices are all 0.
    itemsize : int, optional
        Bytes of an element.

    Raises
    ------
    ValueError
        If memory indices, their span or the number of elements leave 64 bits, or
        `shape` and `strides` do not fit each other.
    TypeError
        If something is no integer.

    Examples
    --------
    >>> from xbcast import Pattern
    >>> p = Pattern((2, 3), itemsize=8)
    >>> p
    Pattern(shape=(2, 3), strides=(24, 8), offset=0, itemsize=8)
    >>> p[1, 2]
    40
    >>> p == p.canonical()
    False
    >>> p.canonical()
    Pattern(shape=(6,), strides=(8,), offset=0, itemsize=8)
    """

    cdef pattern_t p
    cdef Py_ssize_t count          # elements
    cdef bint is_made              # from here on it does not change

    def __cinit__(self):
        # What is made here, without a call of __init__, gets its fields next; of
        # Python, object.__new__(Pattern) gets a scalar.
        self.p.ndim = 0
        self.p.itemsize = 1
        self.count = 1

    def __init__(self, shape, strides=None, offset=0, itemsize=1):
        cdef tuple sizes, steps
        cdef Py_ssize_t stride
        cdef int i, n
        if self.is_made:
            raise _errors.immutable("Pattern")
        sizes = integers_of("Pattern", "shape", shape)
        n = len(sizes)
        if n > MAX_AXES:
            raise _errors.too_many_dimensions("Pattern", "shape", n)
        for i in range(n):
            if not 0 <= sizes[i] < 1 << 63:
                raise _errors.shape_entry("Pattern", "shape", i, sizes[i])
            self.p.size[n - 1 - i] = sizes[i]
        self.p.ndim = n
        self.p.offset = index_of("Pattern", "offset", offset)
        self.p.itemsize = index_of("Pattern", "itemsize", itemsize)
        if self.p.itemsize < 0:
            raise _errors.negative_itemsize("Pattern", itemsize)
        if strides is None:
            stride = self.p.itemsize
            for i in range(n):
                self.p.stride[i] = stride
                if self.p.size[i] > 1 and xb_mul_overflows(stride, self.p.size[i], &stride):
                    raise _errors.pattern_bounds(sizes, None, offset, itemsize)
        else:
            steps = integers_of("Pattern", "strides", strides)
            if len(steps) != n:
                raise _errors.stride_count("Pattern", sizes, steps)
            for i in range(n):
                if not -(1 << 63) <= steps[i] < 1 << 63:
                    raise _errors.leaves_64_bits("Pattern", f"strides[{i}]", steps[i])
                self.p.stride[n - 1 - i] = steps[i]
        self.finish()

    # Counts the elements and refuses what does not fit in 64 bits.
    cdef int finish(self) except -1:
        cdef Py_ssize_t lowest, end, count = 1
        cdef bint fits = True
        cdef int i
        for i in range(self.p.ndim):
            if xb_mul_overflows(count, self.p.size[i], &count):
                fits = False
        if is_empty(&self.p):
            count = 0
            fits = True
        self.count = count
        self.is_made = True
        if not fits or not byte_bounds(&self.p, &lowest, &end):
            raise _errors.pattern_bounds(self.shape, self.strides, self.p.offset, self.p.itemsize)
        return 0

    @staticmethod
    def of(array, origin=None):
        """
        Return the pattern of an array's memory.

        Parameters
        ----------
        array : array_like with memory of its own
            A NumPy array of any kind, or any object with the buffer protocol or
            ``__array_interface__``.
        origin : array, optional
            By default the offset is the array's address, so that relations between
            the patterns of any two arrays are true while these are alive. With
            `origin`, it counts from the first byte of that array.

        Returns
        -------
        Pattern

        Raises
        ------
        TypeError
            If `array` has no memory that can be described, as a list.

        Examples
        --------
        >>> import numpy as np
        >>> from xbcast import Pattern
        >>> a = np.zeros((4, 6), np.int16)
        >>> Pattern.of(a[1:, ::-2], origin=a)
        Pattern(shape=(3, 3), strides=(12, -4), offset=22, itemsize=2)
        >>> Pattern.of(a[:, ::2]).isdisjoint(Pattern.of(a[:, 1::2]))
        True
        """
        cdef Pattern p = pattern_of_array("array", array), base
        cdef Py_ssize_t lowest = 0, end = 0
        if origin is not None:
            base = pattern_of_array("origin", origin)
            byte_bounds(&base.p, &lowest, &end)
            if xb_sub_overflows(p.p.offset, lowest, &p.p.offset):
                raise _errors.leaves_64_bits("Pattern.of", "offset", p.p.offset - lowest)
            p.finish()
        return p

    # The value ------------------------------------------------------------

    @property
    def ndim(self):
        """
        Number of axes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).ndim
        2
        """
        return self.p.ndim

    @property
    def shape(self):
        """
        Number of elements along each axis.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).shape
        (2, 3)
        """
        return tuple([self.p.size[i] for i in range(self.p.ndim - 1, -1, -1)])

    @property
    def strides(self):
        """
        Bytes between neighbours along each axis.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), itemsize=4).strides
        (12, 4)
        """
        return tuple([self.p.stride[i] for i in range(self.p.ndim - 1, -1, -1)])

    @property
    def offset(self):
        """
        Memory index of the element whose indices are all 0, in bytes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (-1,), offset=2).offset
        2
        """
        return self.p.offset

    @property
    def itemsize(self):
        """
        Bytes of an element.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), itemsize=8).itemsize
        8
        """
        return self.p.itemsize

    @property
    def size(self):
        """
        Number of elements: 1 for a scalar, 0 for an empty shape.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).size, Pattern(()).size, Pattern((2, 0)).size
        (6, 1, 0)
        """
        return self.count

    def __getitem__(self, indices):
        """
        Return the memory index of an index tuple: offset + sum of index x stride.

        Parameters
        ----------
        indices : int or tuple of int
            One index for each axis, at least 0 and below its size.

        Returns
        -------
        int

        Raises
        ------
        IndexError
            Outside the shape, or with another number of indices than axes. There
            are no negative indices here: a memory index belongs to one index tuple.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((2, 3), (24, 8), offset=100)
        >>> p[0, 0], p[1, 2]
        (100, 140)
        """
        return self.memory_index("Pattern", indices, False)

    def __iter__(self):
        # Without this, Python would try p[0], p[1], ... until IndexError.
        raise _errors.no_iteration()

    def index(self, indices, extended=False):
        """
        Return the memory index of an index tuple.

        Parameters
        ----------
        indices : int or tuple of int
            One index for each axis.
        extended : bool, optional
            By default this is ``p[indices]``. If true, an axis of size 1 takes any
            index (as though it were stretched), and extra leading indices are
            ignored (as though unit axes stood on the left).

        Returns
        -------
        int

        Raises
        ------
        IndexError
            Outside the shape, with too few indices, or (unless extended) too many.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((5, 1))
        >>> p.index((4, 0))
        4
        >>> p.index((7, 4, 100), extended=True)
        4
        """
        return self.memory_index("Pattern.index", indices, bool(extended))

    cdef object memory_index(self, str op, object indices, bint extended):
        cdef tuple given
        cdef Py_ssize_t m = self.p.offset, i
        cdef int axis, extra
        if isinstance(indices, (slice, type(None), type(Ellipsis))):
            raise _errors.index_kind(op, indices)
        if not isinstance(indices, (tuple, list)):
            indices = (indices,)
        for index in indices:
            if isinstance(index, (slice, type(None), type(Ellipsis))):
                raise _errors.index_kind(op, index)
        given = integers_of(op, "indices", indices)
        extra = len(given) - self.p.ndim
        if extra < 0 or (extra and not extended):
            raise _errors.index_count(op, given, self.shape)
        for axis in range(len(given)):
            if given[axis] < 0:
                raise _errors.index_range(op, axis, given[axis], self.shape)
        for axis in range(self.p.ndim):
            if extended and self.p.size[self.p.ndim - 1 - axis] == 1:
                continue
            if not given[extra + axis] < self.p.size[self.p.ndim - 1 - axis]:
                raise _errors.index_range(op, extra + axis, given[extra + axis], self.shape)
            i = given[extra + axis]
            # A unit axis may have a stride of any size, and its index is 0.
            if i:
                m += i * self.p.stride[self.p.ndim - 1 - axis]
        return m

    @property
    def code(self):
        """
        Small integer that tells kinds of pattern apart; -1 with more than 16 axes.

        Bits 0 to 15: bit k is set if the axis with private number k (0 is the last
        axis) has a size other than 1. Bits 16 to 20: one plus the private number of
        the lowest such axis whose stride is the itemsize, 0 if there is none. Bit
        21: some stride is negative.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> hex(Pattern((4, 3), (24, 8), itemsize=8).code)      # C order
        '0x10003'
        >>> hex(Pattern((4, 3), (8, 32), itemsize=8).code)      # Fortran order
        '0x20003'
        >>> hex(Pattern((4, 1, 3), (-24, 0, 8), 72, itemsize=8).code)
        '0x210005'
        """
        cdef int code = 0, place = 0, i
        if self.p.ndim > 16:
            return -1
        for i in range(self.p.ndim):
            if self.p.size[i] != 1:
                code |= 1 << i
                if place == 0 and self.p.stride[i] == self.p.itemsize:
                    place = i + 1
            if self.p.stride[i] < 0:
                code |= 1 << 21
        return code | place << 16

    @property
    def lowest(self):
        """
        Least memory index; ValueError for an empty pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (-8,), offset=16).lowest
        0
        """
        cdef Py_ssize_t lowest = 0, highest = 0
        if self.count == 0:
            raise _errors.no_memory_index("lowest", self.shape)
        index_bounds(&self.p, &lowest, &highest)
        return lowest

    @property
    def highest(self):
        """
        Greatest memory index; ValueError for an empty pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (8,), itemsize=8).highest
        16
        """
        cdef Py_ssize_t lowest = 0, highest = 0
        if self.count == 0:
            raise _errors.no_memory_index("highest", self.shape)
        index_bounds(&self.p, &lowest, &highest)
        return highest

    def __repr__(self):
        return (f"Pattern(shape={self.shape}, strides={self.strides}, "
                f"offset={self.p.offset}, itemsize={self.p.itemsize})")

    def __str__(self):
        """
        Return offset, shape and strides in public order, in square brackets.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> print(Pattern((2, 3), itemsize=8))
        offset=0 shape=[2 3] strides=[24 8]
        """
        return (f"offset={self.p.offset} shape={braces(self.shape)} "
                f"strides={braces(self.strides)}")

    def __reduce__(self):
        return Pattern, (self.shape, self.strides, self.p.offset, self.p.itemsize)

    def __hash__(self):
        return hash((self.p.offset, self.shape, self.strides, self.p.itemsize))

    def __richcmp__(self, other, int op):
        cdef int order
        if not isinstance(other, Pattern):
            return NotImplemented
        order = compare(&self.p, &(<Pattern> other).p)
        if op == Py_EQ:
            return order == 0
        if op == Py_NE:
            return order != 0
        if op == Py_LT:
            return order < 0
        if op == Py_LE:
            return order <= 0
        if op == Py_GT:
            return order > 0
        return order >= 0

    # Properties -----------------------------------------------------------

    def is_valid(self, level=0, max_work=None):
        """
        Whether Kaldi's rules for a pattern hold.

        Level 0: at most 64 axes; sizes above 0; no reachable memory index is
        negative; a stride other than 0 wherever the size is not 1; axis dominance;
        stride 0 wherever the size is 1. Level 1 drops the last. Level 2 replaces
        axis dominance by uniqueness (and drops the last as well).

        Parameters
        ----------
        level : {0, 1, 2}, optional
            Which rules.
        max_work : int, optional
            Budget for uniqueness, see `is_unique`.

        Returns
        -------
        bool

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((3, 1), (8, 8), itemsize=8)
        >>> p.is_valid(), p.is_valid(1)
        (False, True)
        >>> Pattern((6, 2), (2, 3)).is_valid(1), Pattern((6, 2), (2, 3)).is_valid(2)
        (False, True)
        """
        cdef Py_ssize_t lowest = 0, highest = 0
        cdef int i
        level = integer_of("Pattern.is_valid", "level", None, level)
        if not 0 <= level <= 2:
            raise _errors.validity_level(level)
        budget("Pattern.is_valid", max_work)
        if self.count == 0:
            return False
        index_bounds(&self.p, &lowest, &highest)
        if lowest < 0:
            return False
        for i in range(self.p.ndim):
            if self.p.size[i] != 1 and self.p.stride[i] == 0:
                return False
            if level == 0 and self.p.size[i] == 1 and self.p.stride[i] != 0:
                return False
        return self.is_unique(max_work) if level == 2 else self.has_axis_dominance()

    def has_axis_dominance(self, axis=None):
        """
        Whether each axis is cleared by the next longer one.

        With the axes of size other than 1 sorted by absolute stride: the itemsize
        does not exceed the least of these strides, and size x stride of each axis
        does not exceed the stride of the next. Sufficient for uniqueness, not
        necessary.

        Parameters
        ----------
        axis : int, optional
            Ask only whether size x stride of this axis does not exceed the next
            stride (so for a unit axis, and the one with the greatest stride: yes).

        Returns
        -------
        bool

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((4, 3), (24, 8), itemsize=8).has_axis_dominance()
        True
        >>> windows = Pattern((4, 3), (8, 8), itemsize=8)
        >>> windows.has_axis_dominance(), windows.has_axis_dominance(0)
        (False, True)
        """
        cdef Py_ssize_t stride[MAX_AXES]
        cdef int number[MAX_AXES]
        cdef Py_ssize_t step, extent
        cdef int asked = -1, i, j, n = 0
        if axis is not None:
            asked = self.p.ndim - 1 - axis_of("Pattern.has_axis_dominance", self, axis)
        for i in range(self.p.ndim):
            if self.p.size[i] == 1:
                continue
            step = self.p.stride[i]
            # The most negative stride is its own negative; only an axis without
            # elements can have it.
            if step < 0:
                step = -(step + 1)
                step += step != PY_SSIZE_T_MAX
            j = n
            while j and stride[j - 1] > step:
                stride[j] = stride[j - 1]
                number[j] = number[j - 1]
                j -= 1
            stride[j] = step
            number[j] = i
            n += 1
        if asked < 0 and n and self.p.itemsize > stride[0]:
            return False
        for i in range(n - 1):
            if asked < 0 or number[i] == asked:
                if (xb_mul_overflows(self.p.size[number[i]], stride[i], &extent)
                        or extent > stride[i + 1]):
                    return False
        return True

    def is_unique(self, max_work=None):
        """
        Whether no two elements share a byte (B).

        Parameters
        ----------
        max_work : int, optional
            How many steps a search may take, 1000000 by default. Most patterns are
            decided without any.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6, 2), (2, 3)).is_unique()
        True
        >>> Pattern((6, 2), (2, 3), itemsize=2).is_unique()
        False
        """
        cdef Py_ssize_t work = budget("Pattern.is_unique", max_work)
        cdef int answer
        with nogil:
            answer = is_unique(&self.p, work)
        if answer < 0:
            raise failure("Pattern.is_unique", answer, max_work)
        return answer == 1

    @property
    def is_canonical(self):
        """
        Whether this is its own canonical form (M).

        No unit axis, no stride 0, no two axes that could be one, positive strides,
        and axes sorted: the last has the least stride. An empty pattern is
        canonical if its shape is (0,), its stride the itemsize and its offset 0.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6,), (8,)).is_canonical, Pattern((2, 3), (24, 8)).is_canonical
        (True, False)
        """
        cdef set_t x
        cdef int i, n = self.p.ndim
        if self.count == 0:
            return (n == 1 and self.p.stride[0] == self.p.itemsize and self.p.offset == 0)
        for i in range(n):
            if (self.p.size[i] == 1 or self.p.stride[i] <= 0
                    or (i and self.p.stride[i] <= self.p.stride[i - 1])):
                return False
        set_of(&self.p, 0, 1, 0, &x)
        canonicalize(&x)
        return x.ndim == n

    def is_reduced(self, max_work=None):
        """
        Whether no pattern with the same M has fewer axes.

        Decided at once where axis dominance holds or two axes are left once those
        that could be one are; by search elsewhere.

        Parameters
        ----------
        max_work : int, optional
            How many steps the search may take, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (4, 1)).is_reduced()
        True
        >>> Pattern((2, 2, 2), (3, 2, 1)).is_reduced()      # M is 0, 1, ..., 6
        False
        """
        return self.p.ndim == (<Pattern> self.fewest_axes("Pattern.is_reduced", max_work)).p.ndim

    @property
    def is_compact(self):
        """
        Whether B is one range without gaps. An empty pattern is compact.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (8, 24), itemsize=8).is_compact
        False
        >>> Pattern((3, 2), (8, 24), itemsize=8).is_compact
        True
        """
        cdef set_t x
        if has_no_bytes(&self.p):
            return True
        set_of(&self.p, self.p.offset, 1, self.p.itemsize, &x)
        canonicalize(&x)
        return x.ndim == 0 or (x.ndim == 1 and x.stride[0] == 1)

    @property
    def is_justified(self):
        """
        Whether the least memory index is 0. An empty pattern is justified.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (-8,), offset=16).is_justified
        True
        """
        return self.count == 0 or self.lowest == 0

    @property
    def has_default_strides(self):
        """
        Whether the strides are those of a C-order array.

        Strides of unit axes do not matter, and none matters in an empty pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 1, 3), (24, 5, 8), itemsize=8).has_default_strides
        True
        >>> Pattern((2, 3), (8, 16), itemsize=8).has_default_strides
        False
        """
        cdef Py_ssize_t stride = self.p.itemsize
        cdef int i
        if self.count == 0:
            return True
        for i in range(self.p.ndim):
            if self.p.size[i] != 1:
                if self.p.stride[i] != stride:
                    return False
                stride *= self.p.size[i]
        return True

    @property
    def has_normalized_strides(self):
        """
        Whether strides are 0 or positive, and the nonzero ones strictly sorted.

        Towards the first axis they ascend.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 5, 3), (8, 0, 2)).has_normalized_strides
        True
        >>> Pattern((2, 3), (2, 2)).has_normalized_strides
        False
        """
        cdef Py_ssize_t last = 0
        cdef int i
        for i in range(self.p.ndim):
            if self.p.stride[i] < 0 or 0 < self.p.stride[i] <= last:
                return False
            if self.p.stride[i]:
                last = self.p.stride[i]
        return True

    @property
    def has_positive_normalized_strides(self):
        """
        Whether all strides are positive and strictly sorted.

        Towards the first axis they ascend.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (8, 2)).has_positive_normalized_strides
        True
        >>> Pattern((2, 5, 3), (8, 0, 2)).has_positive_normalized_strides
        False
        """
        cdef Py_ssize_t last = 0
        cdef int i
        for i in range(self.p.ndim):
            if self.p.stride[i] <= last:
                return False
            last = self.p.stride[i]
        return True

    @property
    def is_regular(self):
        """
        Whether this is unique and each axis is cleared by a later one.

        Strides are positive and sorted, and in private numbers: for each axis i
        there is a k > i, or k is the number of axes, so that the axes between have
        size 1 and strides that are multiples of stride i, and size x stride of axis
        i does not exceed stride k (if there is such an axis).

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((4, 3), (30, 8), itemsize=8).is_regular
        True
        >>> Pattern((6, 2), (3, 2)).is_regular
        False
        """
        cdef Py_ssize_t extent, reach = self.p.itemsize
        cdef int n = self.p.ndim, i, k
        for i in range(n):
            if self.p.stride[i] <= 0 or (i and self.p.stride[i] < self.p.stride[i - 1]):
                return False
        for i in range(n):
            # The last axis needs no k, however far it reaches.
            for k in range(i + 1, n):
                if (not xb_mul_overflows(self.p.size[i], self.p.stride[i], &extent)
                        and extent <= self.p.stride[k]):
                    break
                if self.p.size[k] != 1 or self.p.stride[k] % self.p.stride[i]:
                    return False
        # Elements start at least an itemsize apart if each axis clears those below.
        if self.count:
            for i in range(n):
                if self.p.size[i] > 1:
                    if self.p.stride[i] < reach:
                        return False
                    reach += (self.p.size[i] - 1) * self.p.stride[i]
        return True

    @property
    def has_negative_stride(self):
        """
        Whether some stride is negative, that of a unit axis included.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (-3, 1), 3).has_negative_stride
        True
        """
        cdef int i
        for i in range(self.p.ndim):
            if self.p.stride[i] < 0:
                return True
        return False

    def is_trivial(self, axis):
        """
        Whether an axis has size 1.

        Parameters
        ----------
        axis : int
            Which axis; negative ones count from the end.

        Returns
        -------
        bool

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((1, 3)).is_trivial(0), Pattern((1, 3)).is_trivial(-1)
        (True, False)
        """
        return self.p.size[self.p.ndim - 1 - axis_of("Pattern.is_trivial", self, axis)] == 1

    # Operations -----------------------------------------------------------

    def canonical(self):
        """
        Return the canonical form: the same M, without axes that could be spared.

        Unit axes and strides of 0 are dropped (the set is kept, multiplicity is
        not), negative strides flipped, axes sorted so that the last has the least
        stride, and any two axes joined that make one run of equal steps. An empty
        pattern becomes shape (0,) at offset 0.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3, 1, 4), (-32, 5, 8), offset=64, itemsize=8).canonical()
        Pattern(shape=(12,), strides=(8,), offset=0, itemsize=8)
        >>> Pattern((5, 3), (8, 8), itemsize=8).canonical()     # windows overlap
        Pattern(shape=(7,), strides=(8,), offset=0, itemsize=8)
        """
        cdef set_t x
        set_of(&self.p, 0, 1, 0, &x)
        canonicalize(&x)
        return pattern_of_set(&x, 0, 1, self.p.itemsize)

    def reduced(self, max_work=None):
        """
        Return a pattern with the same M and the fewest axes.

        This is the canonical form, except where axis dominance fails and a search
        finds a shorter one.

        Parameters
        ----------
        max_work : int, optional
            How many steps the search may take, 1000000 by default.

        Returns
        -------
        Pattern

        Raises
        ------
        UndecidedError
            If the search did not end within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (6, 2)).reduced()
        Pattern(shape=(6,), strides=(2,), offset=0, itemsize=1)
        >>> p = Pattern((2, 2, 2, 2), (11, 9, 3, 2))
        >>> p.is_canonical, p.reduced() == p
        (True, True)
        """
        return self.fewest_axes("Pattern.reduced", max_work)

    cdef object fewest_axes(self, str op, object max_work):
        cdef set_t x
        cdef Py_ssize_t work = budget(op, max_work)
        cdef wide unit = common_stride(&self.p, 0)
        cdef int status = DONE
        if unit == 0:
            unit = 1
        set_of(&self.p, self.p.offset, unit, 0, &x)
        canonicalize(&x)
        if x.ndim >= 0:
            with nogil:
                status = reduce_set(&x, &work)
        if status != DONE:
            raise failure(op, status, max_work)
        return pattern_of_set(&x, self.p.offset, unit, self.p.itemsize)

    def normalized(self):
        """
        Return a pattern with the same M and positive, strictly sorted strides.

        The last axis has the least stride. As `canonical`, but only axes of equal
        stride are joined.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3, 2), (-1, 3), offset=2).normalized()
        Pattern(shape=(2, 3), strides=(3, 1), offset=0, itemsize=1)
        """
        cdef set_t x, sorted
        cdef int i, least
        set_of(&self.p, 0, 1, 0, &x)
        sorted.ndim = 0 if x.ndim >= 0 else -1
        sorted.low = x.low
        while x.ndim > 0:
            least = 0
            for i in range(1, x.ndim):
                if x.stride[i] < x.stride[least]:
                    least = i
            if sorted.ndim and sorted.stride[sorted.ndim - 1] == x.stride[least]:
                sorted.size[sorted.ndim - 1] += x.size[least] - 1
            else:
                push_axis(&sorted, x.size[least], x.stride[least])
            remove_axis(&x, least)
        return pattern_of_set(&sorted, 0, 1, self.p.itemsize)

    def drop_unit_axes(self):
        """
        Return the pattern without its axes of size 1.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((1, 3, 1), itemsize=8).drop_unit_axes()
        Pattern(shape=(3,), strides=(8,), offset=0, itemsize=8)
        """
        return self.select([i for i in range(self.p.ndim - 1, -1, -1) if self.p.size[i] != 1])

    def squeeze(self, axis=None):
        """
        Return the pattern without the axes named, which must have size 1.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Which axes; all of size 1 by default.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If an axis has another size, is named twice, or does not exist.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((1, 3, 1)).squeeze(0).shape
        (3, 1)
        """
        cdef list axes
        cdef int i
        if axis is None:
            return self.drop_unit_axes()
        axes = axes_of("Pattern.squeeze", self, axis)
        for i in axes:
            if self.p.size[self.p.ndim - 1 - i] != 1:
                raise _errors.no_unit_axis("Pattern.squeeze", i, self.shape)
        return self.select([
            i for i in range(self.p.ndim - 1, -1, -1) if self.p.ndim - 1 - i not in axes
        ])

    def unsqueeze(self, axis):
        """
        Return the pattern with a new axis of size 1 and stride 0.

        Parameters
        ----------
        axis : int
            Where the new axis stands in the result; negative ones count from its
            end.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If there is no such place, or the result would have more than 64 axes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).unsqueeze(-1).shape, Pattern((2, 3)).unsqueeze(0).shape
        ((2, 3, 1), (1, 2, 3))
        """
        cdef int n = self.p.ndim
        place = integer_of("Pattern.unsqueeze", "axis", None, axis)
        if not -n - 1 <= place <= n:
            raise _errors.place_range("Pattern.unsqueeze", place, self.shape)
        if n == MAX_AXES:
            raise _errors.too_many_dimensions("Pattern.unsqueeze", "result", n + 1)
        if place < 0:
            place += n + 1
        order = list(range(n - 1, -1, -1))
        order.insert(place, -1)
        return self.select(order)

    def transpose(self, axes=None):
        """
        Return the pattern with its axes in another order.

        Parameters
        ----------
        axes : sequence of int, optional
            For each axis of the result, the axis that it was; reversed by default.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If `axes` is not each axis once.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3, 4)).transpose((1, 0, 2))
        Pattern(shape=(3, 2, 4), strides=(4, 12, 1), offset=0, itemsize=1)
        """
        cdef int n = self.p.ndim
        if axes is None:
            return self.select(list(range(n)))
        order = integers_of("Pattern.transpose", "axes", axes)
        places = [i + n if i < 0 else i for i in order]
        if sorted(places) != list(range(n)):
            raise _errors.no_permutation("Pattern.transpose", order, n)
        return self.select([n - 1 - i for i in places])

    # The axes with these private numbers, in public order; -1 is a new unit axis.
    cdef Pattern select(self, list axes):
        cdef Pattern result = Pattern.__new__(Pattern)
        cdef int n = len(axes), i, k
        result.p.ndim = n
        result.p.offset = self.p.offset
        result.p.itemsize = self.p.itemsize
        for i in range(n):
            k = axes[i]
            result.p.size[n - 1 - i] = self.p.size[k] if k >= 0 else 1
            result.p.stride[n - 1 - i] = self.p.stride[k] if k >= 0 else 0
        result.finish()
        return result

    def flip(self, axis=None):
        """
        Return the pattern walked backwards along some axes: the same M.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Which axes; all by default.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).flip(1)
        Pattern(shape=(2, 3), strides=(3, -1), offset=2, itemsize=1)
        """
        cdef Pattern result
        cdef list axes
        cdef int i, k
        axes = list(range(self.p.ndim)) if axis is None else axes_of("Pattern.flip", self, axis)
        result = self.select(list(range(self.p.ndim - 1, -1, -1)))
        for i in axes:
            k = self.p.ndim - 1 - i
            if self.count and self.p.size[k] > 1:
                result.p.offset += (self.p.size[k] - 1) * self.p.stride[k]
            if xb_sub_overflows(0, self.p.stride[k], &result.p.stride[k]):
                raise _errors.leaves_64_bits("Pattern.flip", f"strides[{i}]", 1 << 63)
        return result

    def slice(self, *items):
        """
        Return the pattern of a part, as basic indexing of an array does.

        Parameters
        ----------
        *items : int, slice, None or Ellipsis
            What would stand between the brackets, or one tuple of that. An int
            drops an axis (a negative one counts from the end), None adds a unit
            axis of stride 0.

        Returns
        -------
        Pattern

        Raises
        ------
        IndexError
            If an int is outside, or there are more items than axes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((4, 6)).slice(1, slice(None, None, -2))
        Pattern(shape=(3,), strides=(-2,), offset=11, itemsize=1)
        >>> Pattern((4, 6)).slice(..., slice(0, 3)).shape
        (4, 3)
        """
        cdef list sizes = [], strides = []
        cdef object offset = self.p.offset
        cdef object stride
        cdef Py_ssize_t size, start, stop, step
        cdef int used, axis = 0
        if len(items) == 1 and isinstance(items[0], tuple):
            items = items[0]
        used = sum([item is not None and item is not Ellipsis for item in items])
        if sum([item is Ellipsis for item in items]) > 1:
            raise _errors.two_ellipses("Pattern.slice")
        if used > self.p.ndim:
            raise _errors.item_count("Pattern.slice", used, self.shape)
        if not any([item is Ellipsis for item in items]):
            items = (*items, Ellipsis)
        for item in items:
            if item is None:
                sizes.append(1)
                strides.append(0)
                continue
            if item is Ellipsis:
                for _ in range(self.p.ndim - used):
                    sizes.append(self.p.size[self.p.ndim - 1 - axis])
                    strides.append(self.p.stride[self.p.ndim - 1 - axis])
                    axis += 1
                continue
            size = self.p.size[self.p.ndim - 1 - axis]
            stride = self.p.stride[self.p.ndim - 1 - axis]
            if isinstance(item, slice):
                start, stop, step = item.indices(size)
                size = len(range(start, stop, step))
                sizes.append(size)
                # A step over the whole axis leaves one element or none, whose
                # stride is not used; it may not fit in 64 bits either.
                if not -(1 << 63) <= stride * step < 1 << 63:
                    step = 1
                strides.append(stride * step)
                if size and start:
                    offset += start * stride
            else:
                index = integer_of("Pattern.slice", "items", axis, item)
                if not -size <= index < size:
                    raise _errors.index_range("Pattern.slice", axis, index, self.shape)
                if index < 0:
                    index += size
                if index:
                    offset += index * stride
            axis += 1
        return Pattern(sizes, strides, offset, self.p.itemsize)

    def pad_left(self, ndim):
        """
        Return the pattern with unit axes of stride 0 on the left.

        Parameters
        ----------
        ndim : int
            Number of axes of the result, not below that of the pattern.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If `ndim` is below the number of axes or above 64.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,)).pad_left(3)
        Pattern(shape=(1, 1, 3), strides=(0, 0, 1), offset=0, itemsize=1)
        """
        cdef int n = self.p.ndim
        ndim = integer_of("Pattern.pad_left", "ndim", None, ndim)
        if ndim < n:
            raise _errors.pad_below("Pattern.pad_left", ndim, self.shape)
        if ndim > MAX_AXES:
            raise _errors.too_many_dimensions("Pattern.pad_left", "result", ndim)
        return self.select([-1] * (ndim - n) + list(range(n - 1, -1, -1)))

    def as_bytes(self):
        """
        Return the pattern of itemsize 1 with the same B.

        Unless the itemsize is 1, it has one axis more: the bytes of an element.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (40, 8), itemsize=4).as_bytes()
        Pattern(shape=(2, 3, 4), strides=(40, 8, 1), offset=0, itemsize=1)
        """
        if self.p.itemsize == 1:
            return self
        if self.p.ndim == MAX_AXES:
            # At most 62 of 64 axes can have a size above 1.
            return self.drop_unit_axes().as_bytes()
        return Pattern((*self.shape, self.p.itemsize), (*self.strides, 1), self.p.offset, 1)

    def broadcast_in_dim(self, shape, dims):
        """
        Return the pattern of an in-dim broadcast: no element is copied.

        Parameters
        ----------
        shape : sequence of int
            Shape of the result.
        dims : sequence of int
            For each axis of the pattern, the axis of the result that it becomes.
            Sizes must be equal there, or the pattern's 1, which is stretched by
            stride 0, as are the axes that `dims` does not name.

        Returns
        -------
        Pattern

        Raises
        ------
        BroadcastError
            If rules B4 to B7 are broken (a ValueError). In the message `dims` is
            called broadcast_dimensions, and the pattern x.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), itemsize=8).broadcast_in_dim((3, 4), (0,))
        Pattern(shape=(3, 4), strides=(8, 0), offset=0, itemsize=8)
        """
        cdef tuple result = integers_of("Pattern.broadcast_in_dim", "shape", shape)
        cdef tuple own = self.shape, places
        cdef list strides = [0] * len(result)
        cdef int i
        for i in range(len(result)):
            if not 0 <= result[i] < 1 << 63:
                raise _errors.shape_entry("Pattern.broadcast_in_dim", "shape", i, result[i])
        places = integers_of("Pattern.broadcast_in_dim", "dims", dims)
        if len(places) != self.p.ndim:
            raise _errors.in_dim_length(own, result, places)
        for i in range(self.p.ndim):
            if not 0 <= places[i] < len(result):
                raise _errors.in_dim_range(own, result, places, i)
            if own[i] not in (1, result[places[i]]):
                raise _errors.in_dim_size(own, result, places, i)
            if i and places[i] <= places[i - 1]:
                raise _errors.in_dim_order(own, result, places, i)
            if own[i] == result[places[i]]:
                strides[places[i]] = self.p.stride[self.p.ndim - 1 - i]
        return Pattern(result, strides, self.p.offset, self.p.itemsize)

    def with_strides(self, strides, max_work=None):
        """
        Return patterns over given strides whose M together are this one's.

        So two patterns can be brought to common strides. An axis is kept where its
        stride is given; where only a multiple k of it is, it becomes k patterns;
        else one pattern for each of its elements.

        Parameters
        ----------
        strides : sequence of int
            The strides of every pattern in the result, in public order.
        max_work : int, optional
            The greatest number of patterns, 1000000 by default.

        Returns
        -------
        list of Pattern
            None of them empty; of an empty pattern, no pattern.

        Raises
        ------
        UndecidedError
            If the list would have more than `max_work` patterns.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> for p in Pattern((5, 3), (10, 1)).with_strides((10, 2)):
        ...     print(p)
        offset=0 shape=[5 2] strides=[10 2]
        offset=1 shape=[5 1] strides=[10 2]
        """
        cdef tuple steps = integers_of("Pattern.with_strides", "strides", strides)
        cdef Py_ssize_t work = budget("Pattern.with_strides", max_work)
        cdef Pattern form
        cdef list shapes, parts, axes = []
        cdef object choice, count, total = 1
        cdef int i, k
        if len(steps) > MAX_AXES:
            raise _errors.too_many_dimensions("Pattern.with_strides", "strides", len(steps))
        if self.count == 0:
            return []
        form = self.canonical()
        # For each axis: the place of the stride that it goes to, and how many
        # patterns that takes. -1: no place, each element by itself.
        taken = set()
        for i in range(form.p.ndim):
            choice = -1
            count = form.p.size[i]
            for k in range(len(steps)):
                if k not in taken and steps[k] and abs(steps[k]) % form.p.stride[i] == 0:
                    if abs(steps[k]) // form.p.stride[i] < count:
                        choice = k
                        count = abs(steps[k]) // form.p.stride[i]
            if choice >= 0:
                taken.add(choice)
            axes.append((i, choice, count))
            total *= count
            if total > work:
                raise failure("Pattern.with_strides", UNDECIDED, max_work)
        parts = [(form.p.offset, (1,) * len(steps))]
        for i, choice, count in reversed(axes):
            shapes = []
            for offset, shape in parts:
                for k in range(count):
                    # The elements k, k + count, ... of this axis.
                    if choice < 0:
                        shapes.append((offset + k * form.p.stride[i], shape))
                        continue
                    size = (form.p.size[i] - k + count - 1) // count
                    first = k if steps[choice] > 0 else k + (size - 1) * count
                    shapes.append((
                        offset + first * form.p.stride[i],
                        (*shape[:choice], size, *shape[choice + 1:]),
                    ))
            parts = shapes
        return [Pattern(shape, steps, offset, self.p.itemsize) for offset, shape in parts]

    # Relations ------------------------------------------------------------

    def same_set(self, Pattern other not None, max_work=None):
        """
        Whether two patterns cover the same bytes (B).

        Equal canonical forms say yes; different ones say no if both have axis
        dominance. Elsewhere, as (6 at 2) x (2 at 3) and (3 at 2) x (4 at 3) show,
        different forms can be the same set, and a search decides.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps the search may take, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6, 2), (2, 3)).same_set(Pattern((3, 4), (2, 3)))
        True
        >>> Pattern((3,), itemsize=8).same_set(Pattern((6,), itemsize=4))
        True
        """
        cdef set_t x, y
        cdef Py_ssize_t work = budget("Pattern.same_set", max_work)
        cdef int answer
        if has_no_bytes(&self.p) or has_no_bytes(&other.p):
            return has_no_bytes(&self.p) and has_no_bytes(&other.p)
        sets_of_both(&self.p, &other.p, &x, &y)
        with nogil:
            answer = UNDECIDED
            if fits_search(&self.p) and fits_search(&other.p):
                answer = are_equal(&x, &y, &work)
        if answer < 0:
            raise failure("Pattern.same_set", answer, max_work)
        return answer == 1

    def isdisjoint(self, Pattern other not None, max_work=None):
        """
        Whether two patterns have no byte in common (B).

        Exact, unlike `numpy.may_share_memory`, which compares ranges.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps a search may take, 1000000 by default. Views of one
            array are decided without any.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> left = Pattern((100, 3), (80, 8), itemsize=8)
        >>> left.isdisjoint(Pattern((100, 3), (80, 8), offset=40, itemsize=8))
        True
        >>> left.isdisjoint(Pattern((100, 3), (80, 8), offset=20, itemsize=8))
        False
        """
        cdef Py_ssize_t work = DEFAULT_WORK
        cdef int answer
        if max_work is not None:
            work = budget("Pattern.isdisjoint", max_work)
        # Releasing the GIL costs as much as most answers.
        answer = are_disjoint(&self.p, &other.p, QUICK if work > QUICK else work)
        if answer < 0 and work > QUICK:
            with nogil:
                answer = are_disjoint(&self.p, &other.p, work)
        if answer < 0:
            raise failure("Pattern.isdisjoint", answer, max_work)
        return answer == 1

    def issubset(self, Pattern other not None, max_work=None):
        """
        Whether each byte of this pattern is one of the other (B).

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> rows = Pattern((10, 10), itemsize=8)
        >>> Pattern((10, 5), (80, 16), itemsize=8).issubset(rows)
        True
        >>> rows.issubset(Pattern((10, 5), (80, 16), itemsize=8))
        False
        """
        cdef set_t x, y
        cdef Py_ssize_t work = budget("Pattern.issubset", max_work)
        cdef int answer
        if has_no_bytes(&self.p):
            return True
        if has_no_bytes(&other.p):
            return False
        sets_of_both(&self.p, &other.p, &x, &y)
        with nogil:
            answer = UNDECIDED
            if fits_search(&self.p) and fits_search(&other.p):
                answer = is_subset(&x, &y, &work)
        if answer < 0:
            raise failure("Pattern.issubset", answer, max_work)
        return answer == 1

    def intersection(self, Pattern other not None, max_work=None):
        """
        Return disjoint patterns that together cover the bytes in both (B).

        ``p & q`` is the same with the default budget.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default. A step is a pair of
            blocks compared, so the number of patterns in the result counts too.

        Returns
        -------
        list of Pattern
            In ascending order, canonical. They keep the itemsize if both patterns
            have it and elements meet whole; else the itemsize is what fits, down
            to 1. Empty if no byte is common.

        Raises
        ------
        UndecidedError
            If more than `max_work` steps were needed.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((10,), (2,)) & Pattern((10,), (3,))
        [Pattern(shape=(4,), strides=(6,), offset=0, itemsize=1)]
        >>> Pattern((4,), (8,), itemsize=8) & Pattern((2,), (16,), 4, itemsize=8)
        [Pattern(shape=(2, 2), strides=(16, 4), offset=4, itemsize=4)]
        """
        return combination("Pattern.intersection", self, other, False, max_work)

    def __and__(self, other):
        if not (isinstance(self, Pattern) and isinstance(other, Pattern)):
            return NotImplemented
        return combination("Pattern.intersection", self, other, False, None)

    def difference(self, Pattern other not None, max_work=None):
        """
        Return disjoint patterns that cover the bytes in this one only (B).

        ``p - q`` is the same with the default budget.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default. A step is a pair of
            blocks compared, so the number of patterns in the result counts too.

        Returns
        -------
        list of Pattern
            As for `intersection`; only the pattern itself if no byte is common.

        Raises
        ------
        UndecidedError
            If more than `max_work` steps were needed.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((10, 10)) - Pattern((10, 5), (10, 2))
        [Pattern(shape=(50,), strides=(2,), offset=1, itemsize=1)]
        """
        return combination("Pattern.difference", self, other, True, max_work)

    def __sub__(self, other):
        if not (isinstance(self, Pattern) and isinstance(other, Pattern)):
            return NotImplemented
        return combination("Pattern.difference", self, other, True, None)

    def __contains__(self, byte):
        """
        Whether a byte belongs to an element (B). UndecidedError beyond the budget.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((3,), (16,), itemsize=8)
        >>> 23 in p, 24 in p
        (True, False)
        """
        cdef pattern_t one
        cdef int answer
        byte = integer_of("Pattern", "byte", None, byte)
        # The last number of 64 bits has no end within them.
        if not -(1 << 63) <= byte < (1 << 63) - 1:
            return False
        one.ndim = 0
        one.offset = byte
        one.itemsize = 1
        with nogil:
            answer = are_disjoint(&self.p, &one, DEFAULT_WORK)
        if answer < 0:
            raise failure("Pattern", answer, None)
        return answer == 0

    def is_adjacent(self, Pattern other not None, max_work=None):
        """
        Whether two patterns share no byte and one has exactly the bytes of both (B).

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        See Also
        --------
        Pattern.union : That pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> even, odd = Pattern((5,), (2,)), Pattern((5,), (2,), offset=1)
        >>> even.is_adjacent(odd)
        True
        >>> even.is_adjacent(Pattern((3,), (2,), offset=1))
        False
        """
        return self.joined_with("Pattern.is_adjacent", other, max_work) is not None

    def union(self, Pattern other not None, max_work=None):
        """
        Return the one pattern with the bytes of two adjacent ones (B).

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        Pattern
            Canonical, with an itemsize as for `intersection`; the other pattern
            itself where one is empty.

        Raises
        ------
        ValueError
            If the patterns are not adjacent.
        UndecidedError
            If the answer was not found within `max_work` steps.

        See Also
        --------
        Pattern.is_adjacent : Whether there is one.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((5,), (2,)).union(Pattern((5,), (2,), offset=1))
        Pattern(shape=(10,), strides=(1,), offset=0, itemsize=1)
        >>> Pattern((2,), (13,)).union(Pattern((10,), (1,), offset=2))
        Pattern(shape=(4, 3), strides=(3, 2), offset=0, itemsize=1)
        """
        result = self.joined_with("Pattern.union", other, max_work)
        if result is None:
            raise _errors.not_adjacent("Pattern.union", self, other)
        return result

    cdef object joined_with(self, str op, Pattern other, object max_work):
        cdef set_t x, y, r
        cdef Py_ssize_t work = budget(op, max_work)
        cdef wide unit
        cdef int status
        if has_no_bytes(&self.p):
            return other
        if has_no_bytes(&other.p):
            return self
        unit = sets_of_both(&self.p, &other.p, &x, &y)
        with nogil:
            status = are_disjoint(&self.p, &other.p, work)
            if status == 0:
                status = DONE
            elif status == 1:
                status = UNDECIDED
                if fits_search(&self.p) and fits_search(&other.p):
                    status = find_union(&x, &y, &r, &work)
        if status < 0:
            raise failure(op, status, max_work)
        if status == DONE:
            return None
        return pattern_of_set(&r, self.p.offset, unit, <Py_ssize_t> unit)

    def is_linear_in(self, Pattern other not None, max_work=None):
        """
        Whether the map to the other's index tuples respects addition (M).

        The map takes an index tuple i of this pattern to the index tuple j of the
        other with ``other[j] == self[i]``. It exists if M is a subset of the
        other's and the other has no memory index twice; it respects addition if
        i, k and i + k go to tuples of which the last is the sum of the others.
        Then index 0 goes to index 0, so the offsets are equal. An empty pattern
        is linear in any other.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> rows = Pattern((4, 6))
        >>> Pattern((2, 3), (12, 2)).is_linear_in(rows)     # every second of both
        True
        >>> Pattern((4,), (3,)).is_linear_in(rows)          # goes round a corner
        False
        """
        cdef Py_ssize_t work = budget("Pattern.is_linear_in", max_work)
        cdef int answer = UNDECIDED
        with nogil:
            if fits_search(&self.p) and fits_search(&other.p):
                answer = is_linear(&self.p, &other.p, &work)
        if answer < 0:
            raise failure("Pattern.is_linear_in", answer, max_work)
        return answer == 1

    def to_svg(self, *others):
        """
        Return a drawing of the memory, each byte where it lies.

        Memory runs from left to right and goes on in the next row. A box is an
        element, with its index tuple in it; other patterns have strips of their
        own, so common bytes stand above each other. Notebooks show the drawing of
        one pattern by themselves.

        Parameters
        ----------
        *others : Pattern
            Patterns to draw in the same memory.

        Returns
        -------
        str
            One ``<svg>`` element, to be put in a page or a file.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> picture = Pattern((3,), (2,)).to_svg(Pattern((2,), (2,), offset=1))
        >>> picture[:4], picture[-6:]
        ('<svg', '</svg>')
        """
        # Not needed by a program that only asks questions.
        from xbcast import _svg

        common_shape("Pattern.to_svg", others)
        return _svg.draw_patterns([self, *others])

    def _repr_svg_(self):
        return self.to_svg()


cdef enum:
    # Steps worth taking without releasing the GIL: some microseconds.
    QUICK = 64


cdef int compare(const pattern_t* p, const pattern_t* q) noexcept nogil:
    cdef int i
    if p.offset != q.offset:
        return -1 if p.offset < q.offset else 1
    if p.ndim != q.ndim:
        return -1 if p.ndim < q.ndim else 1
    for i in range(p.ndim - 1, -1, -1):
        if p.size[i] != q.size[i]:
            return -1 if p.size[i] < q.size[i] else 1
    for i in range(p.ndim - 1, -1, -1):
        if p.stride[i] != q.stride[i]:
            return -1 if p.stride[i] < q.stride[i] else 1
    if p.itemsize != q.itemsize:
        return -1 if p.itemsize < q.itemsize else 1
    return 0


cdef Pattern pattern_of_set(const set_t* x, wide base, wide unit, Py_ssize_t itemsize):
    cdef Pattern result = Pattern.__new__(Pattern)
    cdef int i
    result.p.itemsize = itemsize
    if x.ndim < 0:
        result.p.ndim = 1
        result.p.size[0] = 0
        result.p.stride[0] = itemsize
        result.p.offset = 0
    else:
        result.p.ndim = x.ndim
        result.p.offset = <Py_ssize_t> (base + x.low * unit)
        for i in range(x.ndim):
            result.p.size[i] = <Py_ssize_t> x.size[i]
            result.p.stride[i] = <Py_ssize_t> (x.stride[i] * unit)
    result.finish()
    return result


cdef list combination(str op, Pattern p, Pattern q, bint less, object max_work):
    cdef set_t x, y
    cdef pieces_t out
    cdef size_t position = 0
    cdef Py_ssize_t work = budget(op, max_work)
    cdef wide unit
    cdef list result = []
    cdef int status
    if has_no_bytes(&p.p):
        return result
    if has_no_bytes(&q.p) or are_disjoint(&p.p, &q.p, 0) == 1:
        return [p] if less else result
    unit = sets_of_both(&p.p, &q.p, &x, &y)
    init_pieces(&out)
    with nogil:
        status = UNDECIDED
        if fits_search(&p.p) and fits_search(&q.p):
            status = combine_any(&x, &y, less, &out, &work)
            if status == DONE:
                status = join_pieces(&out)
    try:
        if status != DONE:
            raise failure(op, status, max_work)
        while position < out.length:
            read_piece(&out, &position, &x)
            canonicalize(&x)
            result.append(pattern_of_set(&x, p.p.offset, unit, <Py_ssize_t> unit))
    finally:
        free(out.data)
    result.sort()
    return result


cdef Pattern pattern_of_array(str name, object array):
    cdef Pattern result
    cdef Py_buffer view
    cdef bint odd = False
    cdef int i, n
    # The buffer protocol is the fast way; NumPy has it for most dtypes.
    if PyObject_CheckBuffer(array):
        try:
            PyObject_GetBuffer(array, &view, PyBUF_STRIDES)
        except (BufferError, ValueError):
            pass
        else:
            n = view.ndim
            if n > MAX_AXES:
                PyBuffer_Release(&view)
                raise _errors.too_many_dimensions("Pattern.of", name, n)
            result = Pattern.__new__(Pattern)
            result.p.ndim = n
            result.p.offset = <Py_ssize_t> view.buf
            result.p.itemsize = view.itemsize
            for i in range(n):
                result.p.size[n - 1 - i] = view.shape[i]
                result.p.stride[n - 1 - i] = view.strides[i]
                if view.shape[i] <= 1:
                    odd = True
            PyBuffer_Release(&view)
            # An exporter may make up strides that nobody uses.
            if odd and hasattr(array, "strides"):
                strides = array.strides
                if len(strides) == n:
                    for i in range(n):
                        result.p.stride[n - 1 - i] = strides[i]
            result.finish()
            return result
    interface = getattr(array, "__array_interface__", None)
    if interface is None or interface.get("data") is None:
        raise _errors.no_memory("Pattern.of", name, array)
    itemsize = getattr(array, "itemsize", None)
    if itemsize is None:
        itemsize = int(interface["typestr"][2:]) * (4 if interface["typestr"][1] == "U" else 1)
    return Pattern(interface["shape"], interface.get("strides"), interface["data"][0], itemsize)


# PatternTuple -------------------------------------------------------------

@cython.final
cdef class PatternTuple:
    """PatternTuple(*patterns)\n--\n\n
    Broadcastable patterns taken together, as the operands of one operation are.

    To each index tuple of the common shape belongs a tuple of memory indices, one
    from each pattern, which is stretched where its size is 1. Immutable, hashable,
    ordered and picklable. It has a length, and its patterns are its items.

    Parameters
    ----------
    *patterns : Pattern
        One to 8 patterns. An operation has at most four (its result, two operands
        and a mask), and the planner works on this struct.

    Raises
    ------
    ValueError
        If the patterns are not broadcastable (see `broadcastable`), there are none
        or more than 8, or the common shape has more elements than 64 bits count.

    Examples
    --------
    >>> from xbcast import Pattern, PatternTuple
    >>> t = PatternTuple(Pattern((4, 3), itemsize=8), Pattern((3,), itemsize=8))
    >>> t.shape
    (4, 3)
    >>> t[1]
    Pattern(shape=(3,), strides=(8,), offset=0, itemsize=8)
    """

    cdef tuple patterns
    cdef tuple common

    def __cinit__(self, *patterns):
        cdef object count = 1
        if not 0 < len(patterns) <= MAX_PATTERNS:
            raise _errors.pattern_count("PatternTuple", len(patterns), MAX_PATTERNS)
        self.patterns = patterns
        self.common = common_shape("PatternTuple", patterns)
        if self.common is None:
            raise _errors.not_broadcastable("PatternTuple", [p.shape for p in patterns])
        for size in self.common:
            count *= size
        if count.bit_length() > 63:
            raise _errors.element_count("PatternTuple", self.common)

    @property
    def shape(self):
        """
        The common shape.

        Shapes are padded with 1 on the left; on each axis it is the size that is
        not 1, if there is one.

        Examples
        --------
        >>> from xbcast import Pattern, PatternTuple
        >>> PatternTuple(Pattern((4, 1, 5)), Pattern((6, 1)), Pattern((5,))).shape
        (4, 6, 5)
        """
        return self.common

    def __len__(self):
        return len(self.patterns)

    def __getitem__(self, index):
        return self.patterns[index]

    def __iter__(self):
        return iter(self.patterns)

    def __repr__(self):
        return f"PatternTuple({', '.join([repr(p) for p in self.patterns])})"

    def __str__(self):
        return "\n".join([str(p) for p in self.patterns])

    def _repr_svg_(self):
        return self.patterns[0].to_svg(*self.patterns[1:])

    def __reduce__(self):
        return PatternTuple, self.patterns

    def __hash__(self):
        return hash(self.patterns)

    def __richcmp__(self, other, int op):
        if not isinstance(other, PatternTuple):
            return NotImplemented
        p, q = self.patterns, (<PatternTuple> other).patterns
        if op == Py_EQ:
            return p == q
        if op == Py_NE:
            return p != q
        if op == Py_LT:
            return p < q
        if op == Py_LE:
            return p <= q
        if op == Py_GT:
            return p > q
        return p >= q

    # Writes the tuple as the planner has it. Must hold: no size is 0.
    cdef void fill(self, pattern_tuple_t* t):
        cdef Pattern p
        cdef int k, i
        t.n = len(self.patterns)
        t.ndim = len(self.common)
        for i in range(t.ndim):
            t.axis[i].size = self.common[t.ndim - 1 - i]
        for k in range(t.n):
            p = self.patterns[k]
            t.offset[k] = p.p.offset
            for i in range(t.ndim):
                t.axis[i].stride[k] = 0
                if i < p.p.ndim and p.p.size[i] == t.axis[i].size:
                    t.axis[i].stride[k] = p.p.stride[i]

    def reduced(self):
        """
        Return the form that the planner works on: the same index tuples, fewer axes.

        Each memory index tuple occurs as often as before. Axes that are unit axes
        of all patterns are dropped. An axis is flipped for all patterns where the
        first pattern with a nonzero stride there has a negative one. Axes are
        sorted by absolute stride, that of the first pattern first and ties by the
        next; the last axis has the least. Axes are merged that merge in every
        pattern. An axis with stride 0 in some or all patterns
        stays.

        Returns
        -------
        PatternTuple
            All patterns have the common shape, stride 0 where they are stretched.
            Of an empty tuple, patterns of shape (0,).

        Examples
        --------
        >>> from xbcast import Pattern, PatternTuple
        >>> out = Pattern((4, 3, 5), itemsize=8)
        >>> column = Pattern((4, 1, 1), itemsize=8)
        >>> for p in PatternTuple(out, out.flip(0), column).reduced():
        ...     print(p)
        offset=0 shape=[4 15] strides=[120 8]
        offset=360 shape=[4 15] strides=[-120 8]
        offset=0 shape=[4 15] strides=[8 0]
        """
        cdef pattern_tuple_t t
        if 0 in self.common:
            return PatternTuple(*[
                Pattern((0,), ((<Pattern> p).p.itemsize,), 0, (<Pattern> p).p.itemsize)
                for p in self.patterns
            ])
        self.fill(&t)
        with nogil:
            reduce_tuple(&t)
        return pattern_tuple_of(&t, [(<Pattern> p).p.itemsize for p in self.patterns])

    def same_set(self, PatternTuple other not None, max_work=None):
        """
        Whether two tuples have the same set of memory index tuples (M).

        Parameters
        ----------
        other : PatternTuple
            The other tuple.
        max_work : int, optional
            How many steps a search may take, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern, PatternTuple
        >>> a, b = Pattern((4, 3), (3, 1)), Pattern((4, 3), (1, 4))
        >>> PatternTuple(a, b).same_set(PatternTuple(a.transpose(), b.transpose()))
        True
        >>> PatternTuple(a, b).same_set(PatternTuple(a, a))
        False
        """
        cdef set_t x, y
        cdef Py_ssize_t work = budget("PatternTuple.same_set", max_work)
        cdef list weights = [], lows = []
        cdef object weight = 1, unit
        cdef int answer
        cdef pattern_tuple_t s, t
        if 0 in self.common or 0 in other.common:
            return 0 in self.common and 0 in other.common
        if len(self.patterns) != len(other.patterns):
            return False
        # One number for each tuple: its entries are digits, each with room for the
        # range of its pattern. Strides and offsets add up the same way.
        for p, q in zip(self.patterns, other.patterns):
            if p.lowest != q.lowest or p.highest != q.highest:
                return False
            unit = max(gcd_of_strides(p, q), 1)
            lows.append(p.lowest)
            weights.append((weight, unit))
            weight *= (p.highest - p.lowest) // unit + 1
        if weight.bit_length() > (120 if XB_HAVE_WIDE else 60):
            return self.same_set_listed(other, work, max_work)
        self.fill(&s)
        other.fill(&t)
        weave(&s, lows, weights, &x)
        weave(&t, lows, weights, &y)
        with nogil:
            answer = are_equal(&x, &y, &work)
        if answer < 0:
            raise failure("PatternTuple.same_set", answer, max_work)
        return answer == 1

    # The same question where the numbers would be too large.
    cdef object same_set_listed(self, PatternTuple other, Py_ssize_t work, object max_work):
        cdef object count = 1, other_count = 1
        for size in self.common:
            count *= size
        for size in other.common:
            other_count *= size
        if count + other_count > work:
            raise failure("PatternTuple.same_set", UNDECIDED, max_work)
        return (set(memory_index_tuples(*self.patterns))
                == set(memory_index_tuples(*other.patterns)))


cdef object pattern_tuple_of(const pattern_tuple_t* t, object itemsizes):
    cdef list patterns = []
    cdef Pattern p
    cdef int i, k
    for k in range(t.n):
        p = Pattern.__new__(Pattern)
        p.p.ndim = t.ndim
        p.p.offset = t.offset[k]
        p.p.itemsize = itemsizes[k]
        for i in range(t.ndim):
            p.p.size[i] = t.axis[i].size
            p.p.stride[i] = t.axis[i].stride[k]
        p.finish()
        patterns.append(p)
    return PatternTuple(*patterns)


cdef object gcd_of_strides(Pattern p, Pattern q):
    return <Py_ssize_t> common_stride(&q.p, common_stride(&p.p, 0))


# A Python int of up to 126 bits.
cdef wide wide_of(object value):
    cdef object low = value & ((1 << 60) - 1), high = value >> 60
    return (<wide> <long long> high) * (<wide> 1 << 60) + <wide> <long long> low


# A tuple as one set: each pattern's indices, less its `lows` entry, are counted in
# its unit and multiplied by its weight. Consumes t.
cdef int weave(pattern_tuple_t* t, list lows, list weights, set_t* x) except -1:
    cdef wide stride, weight
    cdef Py_ssize_t unit, low
    cdef int i, k
    x.ndim = 0
    x.low = 0
    for k in range(t.n):
        weight = wide_of(weights[k][0])
        unit = weights[k][1]
        low = lows[k]
        x.low += <wide> ((t.offset[k] - low) // unit) * weight
    for i in range(t.ndim):
        if t.axis[i].size == 1:
            continue
        stride = 0
        for k in range(t.n):
            weight = wide_of(weights[k][0])
            unit = weights[k][1]
            stride += <wide> (t.axis[i].stride[k] // unit) * weight
        if stride < 0:
            x.low += (<wide> t.axis[i].size - 1) * stride
            stride = -stride
        if stride:
            push_axis(x, t.axis[i].size, stride)
    canonicalize(x)
    return 0


# The common shape of patterns, or None if they are not broadcastable.
cdef object common_shape(str op, tuple patterns):
    cdef list shape = []
    cdef Pattern p
    cdef int i
    for item in patterns:
        if not isinstance(item, Pattern):
            raise _errors.no_pattern(op, item)
        p = item
        for i in range(p.p.ndim):
            if i == len(shape):
                shape.append(p.p.size[i])
            elif shape[i] == 1:
                shape[i] = p.p.size[i]
            elif p.p.size[i] != 1 and p.p.size[i] != shape[i]:
                return None
    return tuple(reversed(shape))


# Functions ----------------------------------------------------------------

def broadcastable(*patterns):
    """
    Whether patterns can be broadcast together by Kaldi's and PyTorch's rule.

    Shapes are padded with 1 on the left; then on each axis the sizes are equal or
    1. XLA's rule, which xbcast's operations keep, is `broadcast_shapes`.

    Parameters
    ----------
    *patterns : Pattern
        Any number of patterns.

    Returns
    -------
    bool

    Examples
    --------
    >>> from xbcast import Pattern, broadcastable
    >>> broadcastable(Pattern((3, 4)), Pattern((4,)))
    True
    >>> broadcastable(Pattern((3, 4)), Pattern((3,)))
    False
    """
    return common_shape("broadcastable", patterns) is not None


def memory_indices(Pattern p not None):
    """
    Return the memory index of every element, in natural order.

    The natural order of index tuples is that of a C-order array: the last index
    runs fastest. An index occurs as often as elements start there, so
    ``set(memory_indices(p))`` is M. Slow; for tests and teaching.

    Parameters
    ----------
    p : Pattern
        The pattern.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from xbcast import Pattern, memory_indices
    >>> memory_indices(Pattern((2, 3), (10, -1), offset=2))
    [2, 1, 0, 12, 11, 10]
    """
    cdef list found = [p.p.offset]
    cdef object stride
    cdef int i
    if p.count == 0:
        return []
    for i in range(p.p.ndim - 1, -1, -1):
        if p.p.size[i] != 1:
            stride = p.p.stride[i]
            found = [m + index * stride for m in found for index in range(p.p.size[i])]
    return found


def memory_index_tuples(*patterns):
    """
    Return the memory indices of every index tuple of the common shape, as tuples.

    They come in natural order: the last index runs fastest. Patterns are broadcast
    as in `PatternTuple`. Slow; for tests and teaching.

    Parameters
    ----------
    *patterns : Pattern
        Broadcastable patterns, at least one.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If the patterns are not broadcastable.

    Examples
    --------
    >>> from xbcast import Pattern, memory_index_tuples
    >>> memory_index_tuples(Pattern((2, 1), (8, 0)), Pattern((2,)))
    [(0, 0), (0, 1), (8, 0), (8, 1)]
    """
    cdef tuple shape
    cdef list columns = [], strides
    cdef Pattern p
    cdef int i, extra
    if not patterns:
        raise _errors.pattern_count("memory_index_tuples", 0, None)
    common = common_shape("memory_index_tuples", patterns)
    if common is None:
        raise _errors.not_broadcastable("memory_index_tuples", [p.shape for p in patterns])
    shape = common
    for p in patterns:
        extra = len(shape) - p.p.ndim
        strides = [0] * len(shape)
        for i in range(p.p.ndim):
            if p.p.size[p.p.ndim - 1 - i] == shape[extra + i]:
                strides[extra + i] = p.p.stride[p.p.ndim - 1 - i]
        columns.append(memory_indices(Pattern(shape, strides, p.p.offset, p.p.itemsize)))
    return list(zip(*columns))


def _reduce_repeatedly(PatternTuple patterns not None, Py_ssize_t times):
    """Reduce a tuple many times, without making objects: for benchmarks."""
    cdef pattern_tuple_t given, t
    cdef Py_ssize_t _
    cdef int i, k
    if 0 in patterns.common:
        return
    patterns.fill(&given)
    with nogil:
        for _ in range(times):
            t.n = given.n
            t.ndim = given.ndim
            for k in range(given.n):
                t.offset[k] = given.offset[k]
            for i in range(given.ndim):
                copy_axis(&t.axis[i], &given.axis[i], given.n)
            reduce_tuple(&t)
