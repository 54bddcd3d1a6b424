/* NumPy's arrays as plain pointers, for the modules that carry out calls: Cython knows
 * NumPy's types as classes only, and counts references where a pointer is just read. */
#ifndef XBCAST_ARRAYS_H
#define XBCAST_ARRAYS_H

#include <numpy/arrayobject.h>

#define XBCAST_ARRAY(x) ((PyArrayObject *)(x))

/* Steals a reference to the dtype; strides and data may be NULL. */
static inline PyObject *new_array(void *descr, int ndim, const Py_ssize_t *size,
                                  const Py_ssize_t *stride, void *data, int flags)
{
    return PyArray_NewFromDescr(&PyArray_Type, (PyArray_Descr *)descr, ndim, (const npy_intp *)size,
                                (const npy_intp *)stride, data, flags, NULL);
}

static inline PyObject *new_scalar(void *data, void *descr)
{
    return PyArray_Scalar(data, (PyArray_Descr *)descr, NULL);
}

/* A new reference to the dtype that an object stands for, or NULL with an exception. */
static inline PyObject *dtype_of(PyObject *x)
{
    PyArray_Descr *descr = NULL;
    return PyArray_DescrConverter(x, &descr) == NPY_SUCCEED ? (PyObject *)descr : NULL;
}

/* NumPy's number of a word for casting, or -1 with an exception. */
static inline int casting_of(PyObject *x)
{
    NPY_CASTING casting;
    return PyArray_CastingConverter(x, &casting) == NPY_SUCCEED ? (int)casting : -1;
}

static inline int can_cast(void *from, void *to, int casting)
{
    return PyArray_CanCastTypeTo((PyArray_Descr *)from, (PyArray_Descr *)to, (NPY_CASTING)casting);
}

/* Steals a reference to base. */
static inline int keep_alive(PyObject *view, PyObject *base)
{
    return PyArray_SetBaseObject(XBCAST_ARRAY(view), base);
}

static inline int is_exact_array(PyObject *x) { return PyArray_CheckExact(x); }
static inline int is_native(PyObject *x) { return PyArray_ISNOTSWAPPED(XBCAST_ARRAY(x)); }
static inline int is_writeable(PyObject *x) { return PyArray_ISWRITEABLE(XBCAST_ARRAY(x)); }
static inline int is_packed(PyObject *x) { return PyArray_IS_C_CONTIGUOUS(XBCAST_ARRAY(x)); }
static inline int type_of(PyObject *x) { return PyArray_TYPE(XBCAST_ARRAY(x)); }
static inline int rank_of(PyObject *x) { return PyArray_NDIM(XBCAST_ARRAY(x)); }
static inline Py_ssize_t size_of(PyObject *x, int d) { return PyArray_DIMS(XBCAST_ARRAY(x))[d]; }
static inline Py_ssize_t stride_of(PyObject *x, int d) { return PyArray_STRIDES(XBCAST_ARRAY(x))[d]; }
static inline Py_ssize_t itemsize_of(PyObject *x) { return PyArray_ITEMSIZE(XBCAST_ARRAY(x)); }
static inline char *data_of(PyObject *x) { return PyArray_BYTES(XBCAST_ARRAY(x)); }

#endif
