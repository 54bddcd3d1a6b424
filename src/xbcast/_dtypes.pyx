# cython: language_level=3, cdivision=True, freethreading_compatible=True
"""
The one place for promotion and loop choice. The rules are NumPy's own: the running
NumPy is asked once per op and pair of kinds (`ufunc.resolve_dtypes`), and its
answer is kept in a table. Racing threads write the same entry, so no lock is needed.

It also loads the module of inner loops that suits the processor, and lists NumPy's
inner loops beside ours, for the ops and types that the op table leaves to NumPy.
"""

import os

import numpy as np

cimport numpy as cnp
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint16_t
from libc.stdlib cimport calloc

from xbcast._inner_loop cimport BOOL, HARDWARE, N_TYPES, OUT, X1, X2, element_size

from xbcast._optable import OPS

cdef extern from "cpu.h":
    int cpu_level()

cdef extern from *:
    """
    /* Fields of a NumPy ufunc, which the declarations for Cython have lost in NumPy 2.5. */
    #include <numpy/ufuncobject.h>

    static int ufunc_type(PyObject *ufunc, int i)
    {
        return ((PyUFuncObject *)ufunc)->types[i];
    }

    static void *ufunc_loop(PyObject *ufunc, int i)
    {
        return (void *)((PyUFuncObject *)ufunc)->functions[i];
    }

    static void *ufunc_data(PyObject *ufunc, int i)
    {
        return (void *)((PyUFuncObject *)ufunc)->data[i];
    }
    """
    int ufunc_type(object ufunc, int i)
    void* ufunc_loop(object ufunc, int i)
    void* ufunc_data(object ufunc, int i)

cnp.import_array()
cnp.import_ufunc()

cdef enum:
    N_TYPE_NUMS = 24           # NumPy's built-in type numbers
    UNKNOWN = 0                # entries of the choice table; a loop's index + 2 otherwise
    NUMPY_UFUNC = 1

cdef const LoopTable* current_table = NULL
cdef signed char elements[N_TYPE_NUMS]
cdef signed char same_elements[N_TYPE_NUMS]
cdef void* dtypes[N_TYPES]
cdef Py_ssize_t n_loops = 0
cdef loop_t* loops = NULL
cdef uint16_t* choices = NULL                      # [op][kind][kind]
cdef uint16_t* choices_into = NULL                 # [op][kind][kind][ElementType of `dtype=`]

# In the order of ElementType.
ELEMENTS = tuple([np.dtype(name) for name in (
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)])
cdef tuple KINDS = ELEMENTS + (int, float, complex)
cdef tuple RESOLVERS = tuple([getattr(np, op.numpy or op.like).resolve_dtypes for op in OPS])


cdef const LoopTable* loop_table() noexcept nogil:
    return current_table


cdef int element_type(int type_num) noexcept nogil:
    return elements[type_num] if 0 <= type_num < N_TYPE_NUMS else -1


cdef int same_element_type(int type_num) noexcept nogil:
    return same_elements[type_num] if 0 <= type_num < N_TYPE_NUMS else -1


cdef void* element_dtype(int element) noexcept nogil:
    return dtypes[element]


# --------------------------------------------------------------------- CPU levels

cdef dict LEVELS = {0: ("baseline",), 1: (), 2: ("v2",), 3: ("v2", "v3"), 4: ("v2", "v3", "v4")}


def _module_name(level):
    return f"xbcast._loops_{level}"


cdef list importable(names):
    from importlib.util import find_spec

    return [name for name in names if find_spec(_module_name(name)) is not None]


def cpu_levels():
    """
    Return the CPU levels that this processor can run and this build has.

    Returns
    -------
    list of str
        Lowest first; ``["v2", "v3", "v4"]`` at most on x86-64, ``["baseline"]`` on
        other processors.

    Examples
    --------
    >>> import xbcast
    >>> xbcast._core.cpu_level() in xbcast._core.cpu_levels()
    True
    """
    return importable(LEVELS[cpu_level()])


cdef str level_in_use = ""


def level():
    """Return the name of the CPU level in use."""
    return level_in_use


def use_level(name):
    """
    Switch to the inner loops of another CPU level; for tests only.

    Not safe while another thread calls an op.
    """
    if name not in cpu_levels():
        raise ValueError(f"CPU level {name!r} is not one of {cpu_levels()}, which this processor "
                         f"can run and this build has")
    load_level(name)


cdef int load_level(str name) except -1:
    global current_table, level_in_use
    from importlib import import_module

    cdef Py_ssize_t i
    capsule = import_module(_module_name(name)).table
    current_table = <const LoopTable*>PyCapsule_GetPointer(capsule, "xbcast.loops")
    level_in_use = name
    # every level has the same loops in the same order
    for i in range(current_table.n_loops if loops != NULL else 0):
        loops[i].run = current_table.loops[i].run
    return 0


cdef str wanted_level():
    usable = cpu_levels()
    if not usable:
        raise ImportError("xbcast: this processor is below x86-64-v2, the lowest level built")
    wanted = os.environ.get("XBCAST_CPU_LEVEL", "")
    if not wanted:
        return usable[-1]
    if wanted not in usable:
        raise ImportError(f"xbcast: XBCAST_CPU_LEVEL={wanted} is not one of {', '.join(usable)}, "
                          f"which this processor can run and this build has")
    return wanted


# ------------------------------------------------------------------------ loops

cdef bint same_types(const loop_t* loop, int op, int type1, int type2) noexcept nogil:
    return loop.op == op and loop.type[X1] == type1 and loop.type[X2] == type2


cdef const loop_t* find_loop(int op, int type1, int type2) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n_loops):
        if same_types(&loops[i], op, type1, type2):
            return &loops[i]
    return NULL


cdef int add_numpy_loops(int op, object ufunc) except -1:
    """List NumPy's inner loops for the types that have none of ours.

    The first of several with the same types is the fast one (power).
    """
    global n_loops
    cdef int i, k
    cdef int type_[3]
    cdef loop_t* loop
    for i in range(<int>ufunc.ntypes):
        # NumPy's order of operands: x1, x2, out
        for k in range(3):
            type_[(k + 1) % 3] = element_type(ufunc_type(ufunc, 3 * i + k))
        if min(type_[OUT], type_[X1], type_[X2]) < 0 or ufunc_loop(ufunc, i) == NULL:
            continue
        if find_loop(op, type_[X1], type_[X2]) != NULL:
            continue
        loop = &loops[n_loops]
        loop.op = op
        for k in range(3):
            loop.type[k] = type_[k]
        loop.warning_source = HARDWARE
        loop.takes_gaps = ELEMENTS[type_[X1]].name not in OPS[op].contiguous
        loop.run = NULL
        loop.numpy_run = <NumpyLoop>ufunc_loop(ufunc, i)
        loop.numpy_data = ufunc_data(ufunc, i)
        n_loops += 1
    return 0


cdef int list_loops() except -1:
    global loops, choices, choices_into, n_loops
    cdef Py_ssize_t i, room = current_table.n_loops
    cdef int k
    ufuncs = [getattr(np, op.numpy) if op.numpy else None for op in OPS]
    room += sum([ufunc.ntypes for ufunc in ufuncs if ufunc is not None])
    loops = <loop_t*>calloc(room, sizeof(loop_t))
    choices = <uint16_t*>calloc(len(OPS) * N_KINDS * N_KINDS, sizeof(uint16_t))
    choices_into = <uint16_t*>calloc(len(OPS) * N_KINDS * N_KINDS * N_TYPES, sizeof(uint16_t))
    if loops == NULL or choices == NULL or choices_into == NULL:
        raise MemoryError
    for i in range(current_table.n_loops):
        loops[i].op = current_table.loops[i].op
        for k in range(3):
            loops[i].type[k] = current_table.loops[i].type[k]
        loops[i].warning_source = current_table.loops[i].warning_source
        loops[i].takes_every_second = current_table.loops[i].takes_every_second
        loops[i].takes_gaps = current_table.loops[i].takes_gaps
        loops[i].run = current_table.loops[i].run
        loops[i].direct = not OPS[loops[i].op].exponent
    n_loops = current_table.n_loops
    for i, ufunc in enumerate(ufuncs):
        if ufunc is not None:
            add_numpy_loops(<int>i, ufunc)
    return 0


cdef const loop_t* choose_loop(int op, int kind1, int kind2) except? NULL:
    """Return the loop for operands of these kinds, or NULL for NumPy's ufunc."""
    cdef uint16_t* choice = &choices[(op * N_KINDS + kind1) * N_KINDS + kind2]
    if choice[0] == UNKNOWN:
        choice[0] = ask_numpy(op, KINDS[kind1], KINDS[kind2], {})
    return chosen(choice[0])


cdef const loop_t* choose_loop_into(int op, int kind1, int kind2, int element) except? NULL:
    """The same for `dtype=`; whether the operands may be cast is left open."""
    cdef uint16_t* choice = &choices_into[((op * N_KINDS + kind1) * N_KINDS + kind2) * N_TYPES + element]
    if choice[0] == UNKNOWN:
        choice[0] = ask_numpy(op, KINDS[kind1], KINDS[kind2],
                              {"signature": (None, None, ELEMENTS[element]), "casting": "unsafe"})
    return chosen(choice[0])


cdef inline const loop_t* chosen(uint16_t choice) noexcept nogil:
    return NULL if choice == NUMPY_UFUNC else &loops[choice - 2]


cdef uint16_t ask_numpy(int op, object dtype1, object dtype2, dict asked) except? 0:
    """Return the entry of a choice table; `asked` is what the call asks for besides."""
    cdef const loop_t* loop
    try:
        x1, x2, out = RESOLVERS[op]((dtype1, dtype2, None), **asked)
        if not asked and x1 == x2 == bool and (dtype1 != bool or dtype2 != bool):
            # logical ops of mixed dtypes: NumPy takes the truth of each operand first
            # (benchmarks/bench_ops.py, Mixed)
            return <uint16_t>(find_loop(op, BOOL, BOOL) - loops + 2)
    except TypeError:
        return NUMPY_UFUNC                             # where NumPy refuses, it says why
    # NumPy's mixed comparisons name their operands long long
    loop = find_loop(op, same_element_type(x1.num), same_element_type(x2.num))
    if loop == NULL or not converts(dtype1, x1) or not converts(dtype2, x2):
        return NUMPY_UFUNC
    return <uint16_t>(loop - loops + 2)


cdef bint converts(object source, object to) except -1:
    """Whether operands of a dtype can be brought to a loop's; a Python number can."""
    if not isinstance(source, np.dtype):
        return True
    return current_table.convert[same_element_type(to.num)][element_type(source.num)] != NULL


def explicit_types(int op, dtypes, signature, dtype, casting):
    """
    Ask NumPy for the operand types of a call with `dtype=`, `signature=` or `casting=`.

    For what the choice tables have no answer to. Before: `dtypes` are three dtypes, or types
    of Python numbers, or None for `out`. After: the ElementTypes of x1 and x2, or None where
    NumPy must take the call (it refuses, or the types have no loop here).
    """
    if OPS[op].numpy is None:
        return own_types(op, dtypes, signature, dtype, casting)
    if casting in ("no", "equiv") and any([isinstance(d, type) for d in dtypes[:2]]):
        return None                # releases up to 2.5 crash on the question, not on the call
    try:
        if dtype is not None:
            signature = (None, None, np.dtype(dtype))
        if signature is None:      # which resolve_dtypes, unlike the call, does not take
            x1, x2, out = RESOLVERS[op](dtypes, casting=casting)
        else:
            x1, x2, out = RESOLVERS[op](dtypes, signature=signature, casting=casting)
    except Exception:  # whatever NumPy has to say, it says when it is called
        return None
    types = same_element_type(x1.num), same_element_type(x2.num)
    # a result of long long is NumPy's to make
    return None if min(types) < 0 or element_type(out.num) < 0 else types


cdef tuple own_types(int op, dtypes, signature, dtype, casting):
    """The same for an op that NumPy does not have: the first loop that fits."""
    cdef Py_ssize_t i
    cdef int k
    try:
        if isinstance(signature, str):
            x1, x2, out = [np.dtype(char) for char in signature.replace("->", "")]
        elif signature is not None:
            x1, x2, out = [None if x is None else np.dtype(x) for x in signature]
        else:
            x1, x2, out = None, None, None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError):
        return None
    for i in range(n_loops):
        if loops[i].op != op:
            continue
        types = [ELEMENTS[loops[i].type[k]] for k in range(3)]
        if any([asked is not None and asked != have
                for asked, have in zip((out, x1, x2), types, strict=True)]):
            continue
        # a Python number stands for the loop's own type where it is of that kind
        given = [np.min_scalar_type(d(0)) if isinstance(d, type) else d for d in dtypes[:2]]
        if dtypes[2] is not None and not np.can_cast(types[0], dtypes[2], casting):
            continue
        if all([np.can_cast(d, t, casting) for d, t in zip(given, types[1:], strict=True)]):
            return loops[i].type[X1], loops[i].type[X2]
    return None


def signatures(int op):
    """Return the operand and result types of an op's loops, as NumPy writes them."""
    cdef Py_ssize_t i
    return [
        f"{ELEMENTS[loops[i].type[X1]].char}{ELEMENTS[loops[i].type[X2]].char}"
        f"->{ELEMENTS[loops[i].type[OUT]].char}"
        for i in range(n_loops) if loops[i].op == op
    ]


cdef int set_up() except -1:
    cdef int i
    for i in range(N_TYPE_NUMS):
        elements[i] = same_elements[i] = -1
    for char in np.typecodes["All"]:
        dtype = np.dtype(char)
        if dtype in ELEMENTS and dtype.num < N_TYPE_NUMS:
            same_elements[dtype.num] = <signed char>ELEMENTS.index(dtype)
    for i in range(N_TYPES):
        # of two numbers for one type only NumPy's own choice: a result of long long
        # operands is long long, which only NumPy's ufunc makes
        elements[(<cnp.dtype>ELEMENTS[i]).num] = <signed char>i
        if ELEMENTS[i].itemsize != element_size[i] or ELEMENTS[i].alignment > element_size[i]:
            raise ImportError(f"xbcast: {ELEMENTS[i]} is not laid out as the loops expect")
        dtypes[i] = <void*>ELEMENTS[i]
    load_level(wanted_level())
    list_loops()
    return 0


set_up()
