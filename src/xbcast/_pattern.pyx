# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
# The strided-layout algebra: C functions on the structs of _pattern.pxd, which
# the planner calls, and the Python classes Pattern and PatternTuple on top of
# the same functions. Uses no NumPy and no other module but _errors. What a plan
# does with a reduced tuple is left to _plan; what an array is, to _core.
#
# Words. M(p) is the set of memory indices of a pattern: the bytes at which its
# elements start. B(p) is the set of bytes that the elements cover. An axis of
# `size` elements has `size - 1` steps; searches count in steps, because a step
# count multiplies a stride without a correction.

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


cdef void reduce_tuple(pattern_tuple_t* t) noexcept nogil:
    cdef int n = t.n, ndim = 0, i, j, k, last
    cdef axis_t axis
    cdef axis_t* a
    # Drop and flip; then insert into the sorted front of the same array. Each
    # axis is read before its place can be overwritten.
    for i in range(t.ndim):
        a = &t.axis[i]
        if a.size == 1:
            continue
        if runs_backwards(a, n):
            for k in range(n):
                t.offset[k] += (a.size - 1) * a.stride[k]
                a.stride[k] = -a.stride[k]
        if ndim == 0 or not comes_before(a, &t.axis[ndim - 1], n):
            if ndim != i:
                copy_axis(&t.axis[ndim], a, n)
        else:
            copy_axis(&axis, a, n)
            j = ndim
            while j and comes_before(&axis, &t.axis[j - 1], n):
                copy_axis(&t.axis[j], &t.axis[j - 1], n)
                j -= 1
            copy_axis(&t.axis[j], &axis, n)
        ndim += 1
    # Merge. The partner of an axis lies after it, but not always next to it: a
    # pattern that overlaps itself can have a stride between the two.
    i = 0
    while i < ndim:
        j = i + 1
        while j < ndim:
            if merges(&t.axis[i], &t.axis[j], n):
                t.axis[i].size *= t.axis[j].size
                for last in range(j + 1, ndim):
                    copy_axis(&t.axis[last - 1], &t.axis[last], n)
                ndim -= 1
            else:
                j += 1
        i += 1
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


# 1: there is a choice of z with a sum in [lo, hi]. 0: there is none. -1: the
# budget ran out. Overwrites c and m. `work` counts down; one or two axes that
# remain after merging cost nothing and are always decided.
cdef int search(integer* c, integer* m, int n, integer lo, integer hi,
                Py_ssize_t* work) noexcept nogil:
    cdef integer coefficient, count, width, best, choices, total
    cdef integer first = 0, last = 0
    cdef integer sums[MAX_SEARCH_AXES]
    cdef integer divisor[MAX_SEARCH_AXES]
    cdef integer at[MAX_SEARCH_AXES]
    cdef integer until[MAX_SEARCH_AXES]
    cdef integer restart[MAX_SEARCH_AXES]
    cdef integer low[MAX_SEARCH_AXES]
    cdef bint second_half[MAX_SEARCH_AXES]
    cdef int i, j, k, level
    cdef bint stepped
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
        for level in range(k, j, -1):
            c[level] = c[level - 1]
            m[level] = m[level - 1]
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
    width = hi - lo
    if n == 1:
        return axis_range(c[0], m[0], <integer> 0, lo, hi, &first, &last)
    if n > 2:
        # Which axis to enumerate first: the one whose range leaves the fewest
        # choices, whatever the target is.
        total = 0
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
    # sums[k] and divisor[k]: the reach and the common divisor of the axes below k.
    sums[1] = c[0] * m[0]
    divisor[1] = c[0]
    for k in range(2, n):
        sums[k] = sums[k - 1] + c[k - 1] * m[k - 1]
        divisor[k] = greatest_common_divisor(divisor[k - 1], c[k - 1])
    level = n - 1
    low[level] = lo
    stepped = False
    while True:
        # At the top of the loop, `level` is either new (stepped is false), with
        # low[level] set, or wants its next choice (stepped is true).
        if level == 1:
            # A window that contains a multiple of c[0] and meets [0, c[0] * m[0]]
            # contains one inside: if it juts out at an end, that end is in it.
            lo = low[1]
            hi = lo + width
            if (axis_range(c[1], m[1], sums[1], lo, hi, &first, &last)
                    and next_aligned(&first, last, c[1], c[0], hi, width)):
                return 1
            if n == 2:
                return 0
            level = 2
            stepped = True
            continue
        hi = low[level] + width
        if not stepped:
            if not axis_range(c[level], m[level], sums[level], low[level], hi, &first, &last):
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
                return 0
            level += 1
            stepped = True
            continue
        if work[0] <= 0:
            return -1
        work[0] -= 1
        low[level - 1] = low[level] - c[level] * at[level]
        level -= 1
        stepped = False


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
    cdef Py_ssize_t p_lowest, p_end, q_lowest, q_end
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
