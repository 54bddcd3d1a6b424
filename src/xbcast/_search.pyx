# Bounded integer search, as _search.pxd states it: enumeration from the axis of least
# choice, with Euclid's algorithm for what two axes can meet, within a budget. Pure
# integers; what they stand for is left to _pattern and _memory_sets.

# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False
# cython: initializedcheck=False, freethreading_compatible=True

from libc.stdlib cimport calloc, free, malloc

from xbcast._integers cimport greatest_common_divisor, integer


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


cdef bint next_aligned(integer* v, integer last, integer c, integer g, integer top,
                       integer width) noexcept nogil:
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
