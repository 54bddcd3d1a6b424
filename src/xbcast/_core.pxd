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

# Larger results are computed without the GIL; for smaller ones handing it over
# costs more than it can gain, and NumPy draws the line at the same length.
cdef enum:
    RELEASE_GIL = 500

cdef object call(int op, PyObject* x1, PyObject* x2, const keywords_t* given)
cdef object report_call(int op, PyObject* x1, PyObject* x2, const keywords_t* given, dict report)

# An element of an integer type from a Python int; false if it does not fit.
cdef bint store_int(object value, int kind, void* to) except -1
# Reports bits of Warning under the op's name.
cdef int give_warnings(int op, unsigned int warnings) except -1
