# NumPy's arrays as plain pointers: arrays.h.

from cpython.object cimport PyObject

cdef extern from "arrays.h":
    # steals a reference to the dtype; strides and data may be NULL
    object new_array(void* descr, int ndim, const Py_ssize_t* size, const Py_ssize_t* stride,
                     void* data, int flags)
    object new_scalar(void* data, void* descr)
    object dtype_of(object)
    int casting_of(object) except -1
    bint can_cast(void* source, void* to, int casting)
    int SAME_KIND "NPY_SAME_KIND_CASTING"
    # steals a reference to base
    int keep_alive(object view, PyObject* base) except -1
    bint is_exact_array(PyObject*)
    bint is_native(PyObject*)
    bint is_writeable(PyObject*)
    bint is_packed(PyObject*)
    int type_of(PyObject*)
    int rank_of(PyObject*)
    Py_ssize_t size_of(PyObject*, int)
    Py_ssize_t stride_of(PyObject*, int)
    Py_ssize_t itemsize_of(PyObject*)
    char* data_of(PyObject*)
