/* What is known of calls of one form, and of each launch that is repeated. Part of form.c. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/ndarraytypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Code for the host gets EXTRA more than the PARAMETERS bytes of a kernel's own. */
enum { ARGUMENTS = 64, WATCHED = 64, LEARNT = 8, PARAMETERS = 4096, EXTRA = 6, MOST_YZ = 65535 };

/* An attribute of a type, or a method without arguments: its C function if it is made of one, else its name. */
typedef struct {
    PyObject *name;
    PyTypeObject *type;
    getter get;
    PyCFunction call;
    void *closure;
    int method;
} Attribute;

/* DLPack's C exchange API (dlpack.h, version 1): it says in one call what an array is, and which stream is current. */
typedef struct {
    void *data;
    int32_t device_type, device_id, axes;
    uint32_t dtype; /* code, bits and lanes */
    int64_t *shape, *strides;
    uint64_t offset;
} Tensor;
typedef struct {
    uint32_t major, minor;
    void *previous, *allocate, *from_object, *to_object;
    int (*look)(void *, Tensor *);
    int (*stream)(int32_t, int32_t, void **);
} Exchange;
enum { HOST = 1, CUDA = 2 };

/* What an array is: its address, its dtype (alive as long as the array, so good to compare with; or as DLPack's code)
   and its GPU. */
typedef struct {
    unsigned long long address;
    PyObject *dtype;
    uint32_t code;
    long long gpu;
} Array;

/* What a call must find unchanged: an item of a dictionary, or an attribute. `value` is NULL where there was none. */
typedef struct {
    PyObject *owner, *name, *value;
} Watch;

/* Memory that a call of the host's code works in; idle pieces are in a list. */
typedef struct Scratch {
    struct Scratch *next;
} Scratch;

/* A launch that went well. `expected` is the dtype of an array or the value of a constant; of an int `expected` says
   nothing and `number` is its key in rules.py; of an array `number` says whether its address is divisible by 16, and
   `writable` whether it was. `packed` are the parameters, with zeros for what a call gives. `function` is launched by
   the driver on `device` for up to `most` programs along the first axis, with `threads` and bytes of shared `memory`;
   or called here for up to `most` programs in all, with bytes of scratch `memory`. */
typedef struct {
    int holders; /* the form, and the launches that are looking at it: some let other threads run meanwhile */
    PyObject *kept, *result, *expected[ARGUMENTS];
    const char *packed;
    int number[ARGUMENTS], offset[ARGUMENTS], itemsize[ARGUMENTS], plain[ARGUMENTS], code[ARGUMENTS],
        writable[ARGUMENTS];
    void *function, *context;
    long device, most, threads, memory;
    Scratch *idle;
    Py_ssize_t size;
} Known;

typedef int (*LaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                            void **);
typedef int (*GetContext)(void **);

/* `launch` is NULL where launches run on the host. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *kept, *fallback, *other, *keywords, *stream, *stream_pointer, *names;
    Py_ssize_t positional, count, watches, learnt;
    PyTypeObject *types[ARGUMENTS];
    char kinds[ARGUMENTS];
    PyObject *meta[ARGUMENTS];
    Watch watched[WATCHED];
    Known *known[LEARNT];
    enum { NUMPY = 'n', CUPY = 'c', TORCH = 't' } library;
    Attribute data, pointer, dtype, contiguous, strides, gpu, size, negated, here;
    int memref, several;
    const Exchange *exchange;
    LaunchKernel launch;
    GetContext context;
} Form;
