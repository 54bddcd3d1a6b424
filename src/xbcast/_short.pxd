# The short way of a call, for small work on plain operands.

from cpython.object cimport PyObject

from xbcast._core cimport keywords_t

# Carries out a call if it is one of those: true, and `result` is a new reference. False
# if it is not, for _core to take; nothing was done then.
cdef bint call_short(int op, PyObject* x1, PyObject* x2, const keywords_t* keywords,
                     PyObject** result) except -1
