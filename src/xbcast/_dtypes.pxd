# Loop choice: from two dtypes to the inner loop that serves them, by NumPy's promotion.

from xbcast._inner_loop cimport InnerLoop, LoopTable
from xbcast._plan cimport NumpyLoop

# Kinds of operand: an ElementType, or a Python number, which is weak (NEP 50).
cdef enum:
    WEAK_INT = 14
    WEAK_FLOAT = 15
    WEAK_COMPLEX = 16
    N_KINDS = 17

cdef struct loop_t:
    int op                     # index in the op table
    int type[3]                # ElementType of [OUT, X1, X2]
    int warning_source
    bint takes_every_second
    bint takes_gaps
    InnerLoop run              # NULL: NumPy's loop
    NumpyLoop numpy_run
    void* numpy_data
    bint direct                # a loop of our own whose operands need no look beforehand

cdef const LoopTable* loop_table() noexcept nogil
# ElementType of a NumPy type number in native byte order, -1 if it has no loops
cdef int element_type(int type_num) noexcept nogil
# The same, for any type number of the same size and kind
cdef int same_element_type(int type_num) noexcept nogil
# Borrowed: the dtype of an element type
cdef void* element_dtype(int element) noexcept nogil
# The loop for operands of these kinds; NULL where NumPy's ufunc must take the call
cdef const loop_t* choose_loop(int op, int kind1, int kind2) except? NULL
# The same for `dtype=` of an ElementType
cdef const loop_t* choose_loop_into(int op, int kind1, int kind2, int element) except? NULL
# The loop with these operand types, or NULL
cdef const loop_t* find_loop(int op, int type1, int type2) noexcept nogil
