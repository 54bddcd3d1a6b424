# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
The public callable: the type `ufunc` and one object of it per line of the op table.

It takes arguments by the vectorcall protocol and passes them on as they are; what
they mean is for _core to find out.
"""

import numpy as np

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_XINCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_Compare
from libc.string cimport memset

from xbcast._core cimport call, keywords_t, report_call
from xbcast._short cimport call_short

from xbcast import _errors
from xbcast._optable import OPS

cdef extern from "Python.h":
    ctypedef PyObject* (*vectorcallfunc)(PyObject* callable_, PyObject* const* args,
                                         size_t nargsf, PyObject* kwnames) except NULL
    Py_ssize_t PyVectorcall_NARGS(size_t nargsf) nogil
    object PyVectorcall_Call(object callable_, object args, PyObject* kwargs)
    unsigned long Py_TPFLAGS_HAVE_VECTORCALL
    void PyType_Modified(PyTypeObject* cls)

cdef extern from *:
    """
    /* Cython's PyTypeObject does not have this field. */
    static void set_vectorcall(PyTypeObject *cls, Py_ssize_t offset)
    {
        cls->tp_vectorcall_offset = offset;
        cls->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
    }
    """
    void set_vectorcall(PyTypeObject* cls, Py_ssize_t offset)

# The keywords of a call, in the order of keywords_t, which is theirs in the signature.
cdef enum:
    OUT = 0
    DIMS = 1
    N_KEYWORDS = 9
cdef tuple KEYWORDS = (
    "out", "broadcast_dimensions", "degenerate_dimensions", "where", "casting", "order",
    "dtype", "subok", "signature",
)
cdef PyObject* keyword[N_KEYWORDS]
for _i in range(N_KEYWORDS):
    keyword[_i] = <PyObject*>KEYWORDS[_i]

_DOC = """\
{name}(x1, x2, /, *, out=None, broadcast_dimensions=None, degenerate_dimensions=None, \
where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None)

{summary}

Applied element by element, with explicit broadcasting. {values}

Parameters
----------
x1, x2 : array_like
    The operands. Operands of different rank need `broadcast_dimensions`, unless one
    has rank 0; in operands of equal rank a size of 1 takes the other's size.
out : ndarray, optional
    Where the result goes: an array of exactly the result's shape, which may share
    memory with an operand in any way; its dtype is subject to `casting`. With
    ``out=...`` the result is an array even if its rank is 0.
broadcast_dimensions : sequence, optional
    For each dimension of the lower-rank operand the dimension of the higher-rank one
    that it matches, strictly increasing. Or one entry per operand, each a sequence of
    ints or None, which places each operand by itself. The rules are XLA's.
degenerate_dimensions : sequence of int, optional
    Dimensions of the result in which a size of 1 may stretch. By default all may.
where : array_like of bool, optional
    A scalar or an array of the result's rank. Cells where it is False are not
    written; without `out` they are zero.
casting : {{'no', 'equiv', 'safe', 'same_kind', 'unsafe'}}, optional
    Which conversions of operands and result are allowed.
order : {{'K', 'C', 'F', 'A'}}, optional
    Memory layout of a new result.
dtype : dtype, optional
    The dtype to compute in.
subok : bool, optional
    Whether subclasses of ndarray pass through; they do by default.
signature : str or tuple of dtype, optional
    The dtypes of the loop, as NumPy takes them.

Returns
-------
ndarray or scalar
    {returns}
    A NumPy scalar if both operands have rank 0 and `out` is not given.

Raises
------
BroadcastError
    If the shapes do not combine; it is a ValueError.
TypeError
    If the dtypes are not supported or an argument is of the wrong kind.

See Also
--------
{see_also}

Notes
-----
{notes}

Examples
--------
>>> import numpy as np
>>> import xbcast
>>> a = np.array([[1, 2, 3], [4, 5, 6]], dtype='{dtype1}')
>>> b = np.array([2, 1], dtype='{dtype2}')
>>> xbcast.{name}(a, b, broadcast_dimensions=(0,)).shape
(2, 3)
"""

cdef object signature_of_every_op():
    # imported when asked for: it takes longer than the rest of the package
    from inspect import Parameter, Signature

    defaults = None, None, None, True, "same_kind", "K", None, True, None
    return Signature(
        [Parameter(name, Parameter.POSITIONAL_ONLY) for name in ("x1", "x2")]
        + [Parameter(name, Parameter.KEYWORD_ONLY, default=default)
           for name, default in zip(KEYWORDS, defaults, strict=True)]
    )


cdef int index_of(PyObject* name) except -2:
    """Index of a keyword, -1 if there is none of that name."""
    cdef int i
    for i in range(N_KEYWORDS):
        if name == keyword[i]:
            return i
    # a name that was made at run time is another object
    for i in range(N_KEYWORDS):
        if PyUnicode_Compare(<object>name, <object>keyword[i]) == 0:
            return i
    return -1


cdef int set_keyword(ufunc op, keywords_t* keywords, PyObject* name, PyObject* value) except -1:
    cdef int k = index_of(name)
    if k < 0:
        raise _errors.unknown_keyword(op.__name__, <object>name)
    (<PyObject**>keywords)[k] = value
    return 0


cdef PyObject* vectorcall(PyObject* self, PyObject* const* args, size_t nargsf,
                          PyObject* kwnames) except NULL:
    cdef ufunc op = <ufunc>self
    cdef keywords_t keywords
    cdef Py_ssize_t n = PyVectorcall_NARGS(nargsf)
    cdef Py_ssize_t n_keywords = 0 if kwnames == NULL else PyTuple_GET_SIZE(<object>kwnames)
    cdef Py_ssize_t i
    cdef PyObject* name
    cdef PyObject* dims = NULL
    cdef PyObject* out = NULL
    cdef PyObject* short_result
    cdef bint plain = True
    if n != 2:
        raise _errors.operand_count(op.__name__, n)
    for i in range(n_keywords):
        name = PyTuple_GET_ITEM(<object>kwnames, i)
        if name == keyword[DIMS]:
            dims = args[2 + i]
        elif name == keyword[OUT]:
            out = args[2 + i]
        else:
            plain = False
    if plain and call_short(op.index, args[0], args[1], dims, out, &short_result):
        return short_result
    memset(&keywords, 0, sizeof(keywords))
    for i in range(n_keywords):
        set_keyword(op, &keywords, PyTuple_GET_ITEM(<object>kwnames, i), args[2 + i])
    result = call(op.index, args[0], args[1], &keywords)
    Py_XINCREF(<PyObject*>result)
    return <PyObject*>result


def report(ufunc op not None, x1, x2, dict given):
    """
    Prepare a call of `op` and return what it would do, without running it.

    The facts are read from the plan that the call would run; explain shows them.
    """
    cdef keywords_t keywords
    cdef dict facts = {}
    memset(&keywords, 0, sizeof(keywords))
    for name, value in given.items():
        set_keyword(op, &keywords, <PyObject*>name, <PyObject*>value)
    report_call(op.index, <PyObject*>x1, <PyObject*>x2, &keywords, facts)
    return facts


@cython.final
cdef class ufunc:
    """
    The type of every op: an elementwise function with explicit broadcasting.

    Ops are made by the package; this type has no public constructor.

    Attributes
    ----------
    nin, nout, nargs : int
        2 operands, 1 result, 3 together.
    ntypes : int
        Number of entries of `types`.
    types : list of str
        Signatures of the loops, as NumPy writes them.
    identity : int or None
        The value that leaves the other operand as it is, where NumPy names one.
    signature : None
        The core signature, which elementwise functions do not have.

    Examples
    --------
    >>> import xbcast
    >>> xbcast.add
    <xbcast.ufunc 'add'>
    >>> xbcast.add.nargs
    3
    """

    cdef vectorcallfunc vectorcall
    cdef int index
    cdef readonly str __name__
    cdef object line
    cdef object numpy

    def __cinit__(self, index=None):
        if type(index) is not int or not 0 <= index < len(OPS):
            raise TypeError("xbcast.ufunc: ops are made by the package, not by calling this type")
        self.vectorcall = vectorcall
        self.index = index
        self.line = OPS[index]
        self.__name__ = self.line.name
        self.numpy = getattr(np, self.line.numpy or self.line.like)

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, <PyObject*>kwargs)

    def __repr__(self):
        return f"<xbcast.ufunc {self.__name__!r}>"

    def __reduce__(self):
        return self.__name__

    @property
    def __qualname__(self):
        return self.__name__

    @property
    def __module__(self):
        return "xbcast"

    @property
    def __signature__(self):
        return signature_of_every_op()

    @property
    def __doc__(self):
        return document(self.line)

    @property
    def nin(self):
        """Number of operands."""
        return 2

    @property
    def nout(self):
        """Number of results."""
        return 1

    @property
    def nargs(self):
        """Number of operands and results."""
        return 3

    @property
    def types(self):
        """Signatures of the loops, as NumPy writes them."""
        return list(self.numpy.types) if self.line.numpy else loops_of(self.line)

    @property
    def ntypes(self):
        """Number of loops."""
        return len(self.types)

    @property
    def identity(self):
        """The value that leaves the other operand as it is, or None."""
        return self.numpy.identity if self.line.numpy else None

    @property
    def signature(self):
        """None: an elementwise function has no core dimensions."""
        return None


cdef list loops_of(line):
    """`types` of an op that NumPy does not have."""
    from xbcast._dtypes import signatures

    return signatures(OPS.index(line))


cdef str document(line):
    """Write the docstring of an op from its line of the table."""
    twin = line.numpy or line.like
    types = getattr(np, twin).types
    values = (
        f"Values, dtypes and warnings are those of `numpy.{twin}`."
        if line.numpy
        else f"Result dtypes follow the promotion of `numpy.{twin}`; NumPy has no such function."
    )
    returns = {
        "bool": "An array of bool of the broadcast shape.",
        "complex": "A complex array of the broadcast shape.",
    }.get(line.result, "An array of the broadcast shape and the promoted dtype.")
    kinds = next(k for k in ("dd", "ll", "dl") if any([t[:2] == k for t in types]))
    notes = "Python numbers are weak: they take the dtype of the other operand (NEP 50)."
    if line.aliases:
        notes += f"\n\nAlso available as {', '.join(f'`{alias}`' for alias in line.aliases)}."
    return _DOC.format(
        name=line.name, summary=line.summary, values=values, returns=returns, notes=notes,
        see_also=f"numpy.{twin} : the same under NumPy's broadcasting"
        if line.numpy else f"numpy.{twin} : has the same promotion of dtypes",
        dtype1=np.dtype(kinds[0]), dtype2=np.dtype(kinds[1]),
    )


cdef int enable_vectorcall(ufunc op) except -1:
    # tp_call stays Cython's wrapper of __call__, so that the type is callable from C
    # by either way
    cdef Py_ssize_t offset = <char*>&op.vectorcall - <char*><void*>op
    set_vectorcall(<PyTypeObject*>ufunc, offset)
    PyType_Modified(<PyTypeObject*>ufunc)
    return 0


#: Every op by name, aliases included.
ops = {}
for _i in range(len(OPS)):
    ops[OPS[_i].name] = ufunc.__new__(ufunc, _i)
    for _name in OPS[_i].aliases:
        ops[_name] = ops[OPS[_i].name]
enable_vectorcall(ops["add"])
