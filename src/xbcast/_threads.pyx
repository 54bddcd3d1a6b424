# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
Threads: how many are asked for and allowed, which calls are worth sharing among
them, and how a plan is cut into chunks. The only module that makes threads.

One thread unless more are asked for; only the process's main thread shares its work,
every other computes alone; a child of a fork is single-threaded. A chunk is a range
of one axis of the plan, and it runs with the caller's floating-point control bits,
so results and warnings are those of one thread.
"""

import os
from operator import index as as_index

from xbcast._inner_loop cimport COMPUTED, FLOAT16, OUT, X1
from xbcast._plan cimport CAST, OWN
from xbcast._run cimport run_plan
from xbcast._ways cimport choose_way, learn_way, trial_t

from xbcast import _errors

cdef extern from "fenv.h" nogil:
    ctypedef struct fenv_t:
        pass
    int fegetenv(fenv_t*)
    int fesetenv(const fenv_t*)

cdef extern from "pool.h" nogil:
    ctypedef void (*pool_task)(void* context, long chunk)
    void pool_run(pool_task task, void* context, long n_chunks, int n_threads)
    bint pool_can_run()
    bint pool_is_forked()
    void pool_watch_forks()
    int POOL_MAX_THREADS

cdef extern from *:
    """
    /* OpenMP's own limit, which OMP_NUM_THREADS and threadpoolctl set; its threads are
     * never used. */
    #ifdef _OPENMP
    #include <omp.h>
    #define openmp_limit() omp_get_max_threads()
    #else
    #define openmp_limit() 255
    #endif
    #define atomic_or(word, bits) __atomic_fetch_or(word, bits, __ATOMIC_RELAXED)
    """
    int openmp_limit() nogil
    void atomic_or(unsigned int* word, unsigned int bits) nogil

cdef enum:
    # Time on one thread, in picoseconds, from which on two gain (benchmarks/bench_threads.py).
    WORTH_SHARING = 10_000_000
    # What an element costs at least, by what is done with it: in picoseconds per byte
    # that is read or written in cache, and per element for a conversion, for one of float16
    # within its loop, for a kernel that computes its warnings and for NumPy's loops.
    PER_BYTE = 10
    PER_CONVERSION = 100
    PER_HALF = 20
    PER_COMPUTED = 400
    PER_NUMPY = 1000
    # A chunk starts at a multiple of so many elements, which no cache line crosses.
    GRAIN = 64
    CHUNKS_PER_THREAD = 4

cdef int wanted = 1            # what was asked for
cdef int machine = 1           # what the machine allows, read at import
cdef int pretended = 0         # what a test says that it allows


cdef int allowed() noexcept nogil:
    """Threads to use now: asked for, within every limit."""
    if wanted == 1 or pool_is_forked():
        return 1
    if pretended:
        return min(wanted, pretended)
    return max(1, min(wanted, machine, openmp_limit()))


# --------------------------------------------------------------------------- running

cdef struct job_t:
    const plan_t* plan
    int axis                   # that is cut
    Py_ssize_t step            # elements of a chunk along it
    fenv_t environment
    unsigned int warnings[2]


cdef void run_chunk(void* context, long chunk) noexcept nogil:
    cdef job_t* job = <job_t*>context
    cdef plan_t plan = job.plan[0]
    cdef unsigned int warnings[2]
    cdef Py_ssize_t start = chunk * job.step
    cdef int k
    # rounding and flushing modes are the caller's; whatever status bits come along,
    # the run of a plan clears before it looks
    fesetenv(&job.environment)
    for k in range(plan.n):
        plan.operand[k].data += start * plan.nest.axis[job.axis].stride[k]
    plan.nest.axis[job.axis].size = min(job.step, plan.nest.axis[job.axis].size - start)
    if plan.packs:
        if job.axis < plan.along:
            plan.turns = -1
        for k in range(min(plan.nest.ndim, 3)):
            plan.block[k] = min(plan.block[k], plan.nest.axis[k].size)
    warnings[OWN] = warnings[CAST] = 0
    run_plan(&plan, warnings)
    atomic_or(&job.warnings[OWN], warnings[OWN])
    atomic_or(&job.warnings[CAST], warnings[CAST])


cdef Py_ssize_t time_alone(const plan_t* plan) noexcept nogil:
    """Estimate the time of a run on one thread, in picoseconds."""
    cdef Py_ssize_t each = 0
    cdef int k
    for k in range(plan.n):
        if plan.nest.ndim > 0 and plan.nest.axis[0].stride[k] != 0:
            each += PER_BYTE * plan.operand[k].itemsize
        each += PER_CONVERSION * plan.operand[k].n_stages
        if plan.run != NULL and plan.operand[k].run_type == FLOAT16:
            each += PER_HALF
    if plan.run == NULL:
        each += PER_NUMPY
    elif plan.warning_source == COMPUTED and plan.operand[X1].run_type != FLOAT16:
        each += PER_COMPUTED
    return plan.count * each


cdef int axis_to_cut(const plan_t* plan, Py_ssize_t pieces) noexcept nogil:
    """
    The outermost axis that makes pieces of about one size, else the longest one.

    What is cut along axis 0 has short rows, all over the memory (benchmarks/compare.py,
    subtract (8, 3, 224, 224)): only long ones, or those that are all there is.
    """
    cdef int a, longest = plan.nest.ndim - 1
    # of joined axes the last at most
    for a in range(plan.nest.ndim - 1, max(0, plan.joined - 2), -1):
        if plan.nest.axis[a].size >= 2 * pieces:
            return a
        if plan.nest.axis[a].size > plan.nest.axis[longest].size:
            longest = a
    if longest <= 0 or plan.nest.axis[0].size >= pieces * GRAIN:
        return 0
    return longest


cdef int threads_for(const plan_t* plan) noexcept nogil:
    cdef int threads
    if wanted == 1 or time_alone(plan) < WORTH_SHARING:
        return 1
    threads = allowed()
    return threads if threads > 1 and pool_can_run() else 1


cdef void run_by(int threads, const plan_t* plan, unsigned int* warnings) noexcept nogil:
    cdef job_t job
    cdef Py_ssize_t size, pieces
    if threads == 1:
        run_plan(plan, warnings)
        return
    job.plan = plan
    pieces = threads * CHUNKS_PER_THREAD
    job.axis = axis_to_cut(plan, pieces)
    size = plan.nest.axis[job.axis].size
    pieces = min(size, pieces)
    job.step = (size + pieces - 1) // pieces
    if job.axis == 0:
        job.step = (job.step + GRAIN - 1) // GRAIN * GRAIN
    job.warnings[OWN] = job.warnings[CAST] = 0
    fegetenv(&job.environment)
    pool_run(run_chunk, &job, <long>((size + job.step - 1) // job.step), threads)
    warnings[OWN] |= job.warnings[OWN]
    warnings[CAST] |= job.warnings[CAST]


cdef void run_shared(plan_t* plan, unsigned int* warnings) noexcept nogil:
    cdef trial_t trial
    cdef int threads = threads_for(plan)
    if not plan.streams:
        run_by(threads, plan, warnings)
        return
    plan.past = choose_way(plan, threads, &trial)
    run_by(threads, plan, warnings)
    learn_way(plan, &trial)


# ------------------------------------------------------------------------ the limits

def _cgroup_limit():
    """Whole processors that the control group's quota amounts to; None without one."""
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        try:
            with open("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") as file:
                quota = file.read().strip()
            with open("/sys/fs/cgroup/cpu/cpu.cfs_period_us") as file:
                period = file.read().strip()
        except OSError:
            return None
    try:
        return max(1, -(-int(quota) // int(period))) if int(quota) > 0 else None
    except (ValueError, ZeroDivisionError):
        return None            # "max": no quota


def _machine_limit():
    """Threads that affinity and control group allow."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:
        processors = os.cpu_count() or 1
    quota = _cgroup_limit()
    return min(processors, quota or processors, POOL_MAX_THREADS)


def _openmp_limit():
    """The limit that OMP_NUM_THREADS sets where OpenMP is not built in."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else POOL_MAX_THREADS


def use_machine_limit(n):
    """Pretend that the machine and OpenMP allow `n` threads, None for no more; for tests only."""
    global pretended
    pretended = 0 if n is None else _number(n, "use_machine_limit")


cdef int _number(object value, name) except -1:
    """Check a number of threads: a positive int."""
    if isinstance(value, bool):
        raise _errors.thread_count(name, value)
    try:
        value = as_index(value)
    except TypeError:
        raise _errors.thread_count(name, value) from None
    if value < 1:
        raise _errors.thread_count(name, value)
    return min(value, POOL_MAX_THREADS)


def set_num_threads(n):
    """
    Ask for up to `n` threads for each large call.

    The default is one. Calls too small to gain are computed by one thread anyway,
    and so are calls from any thread but the process's main thread, and all calls in
    a child of a fork. Results and warnings are the same for every number.

    Parameters
    ----------
    n : int
        Number of threads, at least 1. Processor affinity and control-group quota at
        import, and OpenMP's limit (``OMP_NUM_THREADS``, threadpoolctl) at each call,
        are upper bounds.

    Raises
    ------
    ValueError
        If `n` is less than 1.
    TypeError
        If `n` is no integer.

    See Also
    --------
    get_num_threads : the number in force.
    num_threads : set it for a block of code.

    Examples
    --------
    >>> import xbcast
    >>> xbcast.set_num_threads(1)
    >>> xbcast.get_num_threads()
    1
    """
    global wanted
    wanted = _number(n, "set_num_threads")


def get_num_threads():
    """
    Return the number of threads that a large call in the main thread may use.

    Returns
    -------
    int
        The number asked for, within the limits that `set_num_threads` names.

    See Also
    --------
    set_num_threads : ask for more.

    Examples
    --------
    >>> import xbcast
    >>> xbcast.get_num_threads() >= 1
    True
    """
    return allowed()


class num_threads:
    """
    Context manager that asks for up to `n` threads within a block.

    Parameters
    ----------
    n : int
        Number of threads, as for `set_num_threads`.

    See Also
    --------
    set_num_threads : ask for threads from now on.

    Examples
    --------
    >>> import xbcast
    >>> with xbcast.num_threads(1):
    ...     xbcast.get_num_threads()
    1
    """

    def __init__(self, n):
        self._n = _number(n, "num_threads")
        self._before = []

    def __enter__(self):
        global wanted
        self._before.append(wanted)
        wanted = self._n
        return self

    def __exit__(self, *exc_info):
        global wanted
        wanted = self._before.pop()


cdef int set_up() except -1:
    global machine, wanted
    pool_watch_forks()
    machine = min(_machine_limit(), _openmp_limit())
    asked = os.environ.get("XBCAST_NUM_THREADS", "")
    if asked:
        if not asked.isdecimal() or int(asked) < 1:
            raise ImportError(f"xbcast: XBCAST_NUM_THREADS={asked} is not a positive integer")
        wanted = min(int(asked), POOL_MAX_THREADS)
    return 0


set_up()
