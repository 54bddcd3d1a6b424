# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
Which way large results go: through the cache or past it.

What is faster depends on the kind of work, on the machine, and on who else uses its
memory, so it is found out: the first runs of a kind go one way, then some go the other,
and the later ones go the faster of the two, until it is time to look again. A run goes
one way as a whole, and some runs in succession do, because what one way leaves in the
cache holds up the other: results that go both ways in turn take up to twice as long as by
one of them (benchmarks/bench_layouts.py, Memory).

The bits of results do not depend on it. What was found is kept in a table for the
process. One thread at a time looks at it; another goes the way last found and learns
nothing, nor does a child that was forked while a thread looked.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memset
from xbcast._inner_loop cimport MASK, OUT
from xbcast._plan cimport plan_t

cdef extern from "stream.h" nogil:
    bint CAN_STREAM
    uint64_t stream_clock()

cdef extern from *:
    """
    static char xbcast_kinds_taken;
    #define take_kinds() (!__atomic_test_and_set(&xbcast_kinds_taken, __ATOMIC_ACQUIRE))
    #define leave_kinds() __atomic_clear(&xbcast_kinds_taken, __ATOMIC_RELEASE)
    static int xbcast_last_way;
    #define read_last_way() __atomic_load_n(&xbcast_last_way, __ATOMIC_RELAXED)
    #define write_last_way(past) __atomic_store_n(&xbcast_last_way, past, __ATOMIC_RELAXED)
    """
    bint take_kinds() nogil
    void leave_kinds() nogil
    bint read_last_way() nogil
    void write_last_way(bint past) nogil

cdef enum:
    KINDS = 128                # 2**7, for the highest 7 bits of a number
    # Runs by either way in a trial. The first of each does not count: it finds the cache as
    # other work or the other way has left it.
    RUNS = 4
    # A kind is tried again after so many runs, so that trials take little of all the time,
    # if about a second has gone by on the clock.
    RUNS_TO_TRIAL = 128
    STALE = 2_000_000_000

# What is known of a kind of work.
cdef struct kind_t:
    uint64_t number            # 0: of none
    uint64_t seen              # last, on the clock
    bint past                  # the way that is taken to be the faster one
    int runs                   # since a trial began, which takes 2 * RUNS of them
    uint64_t least[2]          # ticks of a run for 2**20 elements, through and past the cache
    uint64_t end               # of the trial, on the clock

cdef kind_t[KINDS] kinds


cdef bint next_way(kind_t* kind, uint64_t now) noexcept nogil:
    """Return the way of the next run: in a trial, first the one that was taken before it."""
    if kind.runs >= RUNS_TO_TRIAL and now - kind.end > STALE:
        kind.runs = 0
    if kind.runs == 0:
        kind.least[0] = kind.least[1] = -1
    return kind.past != (RUNS <= kind.runs < 2 * RUNS)


cdef bint count_run(kind_t* kind, bint past, uint64_t ticks, uint64_t now) noexcept nogil:
    """Count a run that took so many ticks for 2**20 elements; return whether that ends a trial."""
    if kind.runs < 2 * RUNS:
        if past != (kind.past != (kind.runs >= RUNS)):
            # it began before some other thread's
            return False
        if kind.runs % RUNS > 0:
            kind.least[past] = min(kind.least[past], ticks)
    kind.runs = min(kind.runs + 1, RUNS_TO_TRIAL)
    if kind.runs != 2 * RUNS:
        return False
    kind.past = kind.least[1] < kind.least[0]
    kind.end = now
    return True


cdef kind_t* find_kind(uint64_t number) noexcept nogil:
    """Return the place in the table of a kind, or of the one to forget for it: of two, the one
    not seen for longer."""
    cdef kind_t* place = &kinds[number >> 57]
    cdef kind_t* other = &kinds[number >> 57 ^ 1]
    if place.number == number or (other.number != number and place.seen <= other.seen):
        return place
    return other


cdef uint64_t kind_of(const plan_t* plan, int threads) noexcept nogil:
    """A number that plans share which do the same to about as much memory, laid out alike."""
    cdef uint64_t number = <size_t>plan.run
    cdef Py_ssize_t count = plan.count
    cdef int a, k, bits = 0
    while count > 1:
        count >>= 1
        bits += 1
    number = 31 * (31 * number + threads) + bits
    for k in range(OUT, MASK):
        number = 31 * (31 * number + plan.operand[k].itemsize) + plan.operand[k].n_stages
        for a in range(min(plan.nest.ndim, 2)):
            number = 31 * number + plan.nest.axis[a].stride[k]
    # in the highest bits of the product, which are the place in the table, all have a say
    return number * <uint64_t>0x9e3779b97f4a7c15 | 1


cdef enum:
    FOUND_OUT
    THROUGH
    PAST

cdef int for_tests = FOUND_OUT


cdef bint choose_way(const plan_t* plan, int threads, trial_t* trial) noexcept nogil:
    cdef kind_t* kind
    trial.kind = kind_of(plan, threads)
    trial.past = read_last_way()
    trial.start = stream_clock()
    if for_tests != FOUND_OUT:
        trial.past = for_tests == PAST
    elif take_kinds():
        kind = find_kind(trial.kind)
        if kind.number != trial.kind:
            kind.number = trial.kind
            kind.past = trial.past
            kind.runs = 0
        kind.seen = trial.start
        trial.past = next_way(kind, trial.start)
        leave_kinds()
    return trial.past


cdef void learn_way(const plan_t* plan, const trial_t* trial) noexcept nogil:
    cdef uint64_t now = stream_clock()
    cdef kind_t* kind
    # plans that stream have far more than 2**10 elements
    cdef uint64_t ticks = ((now - trial.start) << 10) // (plan.count >> 10)
    if for_tests == FOUND_OUT and take_kinds():
        kind = find_kind(trial.kind)
        if kind.number == trial.kind and count_run(kind, trial.past, ticks, now):
            write_last_way(kind.past)
        leave_kinds()


# ------------------------------------------------------------------------- for tests

can_stream = bool(CAN_STREAM)


def use_way(past):
    """Send results that may go past the cache there or not; None finds out. For tests only."""
    global for_tests
    for_tests = FOUND_OUT if past is None else PAST if past else THROUGH


def known():
    """Return what is known of each kind: number -> (past the cache, runs since the trial began)."""
    return {
        kinds[i].number: (bool(kinds[i].past), kinds[i].runs) for i in range(KINDS) if kinds[i].number
    }


def ways_of(ticks, before):
    """
    Return the ways that runs of a kind take, True for past the cache. For tests only.

    `ticks` are those of each run by either way and those from its end to the next run:
    (through, past, pause). `before` is the way last found.
    """
    cdef kind_t kind
    cdef uint64_t now = 0
    memset(&kind, 0, sizeof(kind))
    kind.past = before
    ways = []
    for through, past, pause in ticks:
        way = next_way(&kind, now)
        now += past if way else through
        count_run(&kind, way, past if way else through, now)
        now += pause
        ways.append(way)
    return ways
