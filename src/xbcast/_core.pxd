# From parsed arguments to a result.

from cpython.object cimport PyObject

# The keyword arguments of a call, borrowed; NULL where they are left out.
cdef struct keywords_t:
    PyObject* out
    PyObject* broadcast_dimensions
    PyObject* degenerate_dimensions
    PyObject* where
    PyObject* casting
    PyObject* order
    PyObject* dtype
    PyObject* subok
    PyObject* signature

cdef object call(int op, PyObject* x1, PyObject* x2, const keywords_t* given)
cdef object report_call(int op, PyObject* x1, PyObject* x2, const keywords_t* given, dict report)
