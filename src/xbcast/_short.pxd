# The short way of a call, for small work on plain operands.

from cpython.object cimport PyObject

# Carries out a call if it is one of those: true, and `result` is a new reference. False
# if it is not, for _core to take; nothing was done then. `dims` is broadcast_dimensions;
# NULL for what is not given.
cdef bint call_short(int op, PyObject* x1, PyObject* x2, PyObject* dims, PyObject* out,
                     PyObject** result) except -1
