/* The arguments of a launch: what is looked at, what must hold, and how they are packed. Part of form.c. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { ARGUMENTS = 64, WATCHED = 64, LEARNT = 8, BYTES = 4096, MOST_YZ = 65535 };

typedef int (*LaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                            void **);
typedef int (*GetContext)(void **);

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
enum { CUDA = 2 };

/* What a call must find unchanged: an item of a dictionary, or an attribute. `value` is NULL where there was none. */
typedef struct {
    PyObject *owner, *name, *value;
} Watch;

/* A launch that went well. `expected` is the dtype of an array or the value of a constant; of an int `expected` says
   nothing and `number` is its key in binder.py; of an array `number` says whether its address is divisible by 16.
   `packed` are the parameters, with zeros for what a call gives. */
typedef struct {
    int holders; /* the form, and the launches that are looking at it: some let other threads run meanwhile */
    PyObject *kept, *result, *expected[ARGUMENTS];
    const char *packed;
    int number[ARGUMENTS], offset[ARGUMENTS], itemsize[ARGUMENTS], plain[ARGUMENTS], code[ARGUMENTS];
    void *function, *context;
    long device, most, threads, shared;
    Py_ssize_t size;
} Known;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *kept, *fallback, *keywords, *stream, *stream_pointer, *names;
    Py_ssize_t positional, count, watches, learnt;
    PyTypeObject *types[ARGUMENTS];
    char kinds[ARGUMENTS];
    PyObject *meta[ARGUMENTS];
    Watch watched[WATCHED];
    Known *known[LEARNT];
    Attribute data, pointer, dtype, contiguous, strides, gpu, size, negated, on_gpu;
    int torch, memref, several;
    const Exchange *exchange;
    LaunchKernel launch;
    GetContext context;
} Form;

static void let_go(Known *known)
{
    if (--known->holders > 0)
        return;
    Py_XDECREF(known->kept);
    PyMem_Free(known);
}

static PyObject *fetch(const Attribute *attribute, PyObject *object)
{
    if (attribute->type != NULL && PyObject_TypeCheck(object, attribute->type))
        return attribute->get ? attribute->get(object, attribute->closure) : attribute->call(object, NULL);
    return attribute->method ? PyObject_CallMethodNoArgs(object, attribute->name)
                             : PyObject_GetAttr(object, attribute->name);
}

/* The number that an attribute holds; -1 with an error set if there is none. */
static long long fetch_number(const Attribute *attribute, PyObject *object)
{
    PyObject *value = fetch(attribute, object);
    if (value == NULL)
        return -1;
    long long number = PyLong_AsLongLong(value);
    Py_DECREF(value);
    return number;
}

static int fetch_true(const Attribute *attribute, PyObject *object)
{
    PyObject *value = fetch(attribute, object);
    Py_XDECREF(value); /* True lives on */
    return value == Py_True;
}

static int unchanged(const Watch *watch)
{
    if (PyDict_CheckExact(watch->owner))
        return PyDict_GetItemWithError(watch->owner, watch->name) == watch->value && !PyErr_Occurred();
    PyObject *now = PyObject_GetAttr(watch->owner, watch->name);
    Py_XDECREF(now);
    return now != NULL && now == watch->value;
}

/* Whether the elements lie a whole number of elements apart. */
static int in_whole_elements(const Form *form, PyObject *array, int itemsize)
{
    if (itemsize == 1 || fetch_true(&form->contiguous, array))
        return 1;
    PyObject *strides = fetch(&form->strides, array);
    int whole = strides != NULL && PyTuple_CheckExact(strides);
    for (Py_ssize_t i = 0; whole && i < PyTuple_GET_SIZE(strides); i++) {
        long long stride = PyLong_AsLongLong(PyTuple_GET_ITEM(strides, i));
        whole = stride % itemsize == 0 && !PyErr_Occurred();
    }
    Py_XDECREF(strides);
    return whole;
}

/* What an array is: its address, its dtype (alive as long as the array, so good to compare with; or as DLPack's code)
   and its GPU. */
typedef struct {
    unsigned long long address;
    PyObject *dtype;
    uint32_t code;
    long long gpu;
} Array;

static int look_at(const Form *form, PyObject *object, Array *array)
{
    PyObject *value;
    if (form->exchange) {
        Tensor tensor;
        if (form->exchange->look(object, &tensor) != 0 || tensor.device_type != CUDA)
            return 0;
        *array = (Array){(uintptr_t)tensor.data + tensor.offset, NULL, tensor.dtype, tensor.device_id};
        return 1;
    }
    if (form->torch) {
        if (!fetch_true(&form->on_gpu, object) || (value = fetch(&form->pointer, object)) == NULL)
            return 0;
        array->gpu = form->several ? fetch_number(&form->gpu, object) : 0;
    } else {
        PyObject *data = fetch(&form->data, object);
        if (data == NULL)
            return 0;
        value = fetch(&form->pointer, data);
        array->gpu = form->several ? fetch_number(&form->gpu, data) : 0;
        Py_DECREF(data);
        if (value == NULL)
            return 0;
    }
    array->address = PyLong_AsUnsignedLongLong(value);
    Py_DECREF(value);
    array->dtype = fetch(&form->dtype, object);
    Py_XDECREF(array->dtype);
    return !PyErr_Occurred();
}

static int same_constant(PyObject *value, PyObject *expected)
{
    if (value == expected)
        return 1;
    if (PyFloat_CheckExact(value)) { /* 0.0 == -0.0, but each compiles differently */
        double a = PyFloat_AS_DOUBLE(value), b = PyFloat_AS_DOUBLE(expected);
        return memcmp(&a, &b, sizeof a) == 0;
    }
    int same = PyObject_RichCompareBool(value, expected, Py_EQ);
    if (same < 0)
        PyErr_Clear();
    return same > 0;
}

static int matches(const Form *form, const Known *known, PyObject *const *values, const Array *arrays,
                   const long long *numbers)
{
    for (Py_ssize_t i = 0; i < form->count; i++)
        switch (form->kinds[i]) {
        case 'a':
            if ((form->exchange ? arrays[i].code != (uint32_t)known->code[i] : arrays[i].dtype != known->expected[i]) ||
                (arrays[i].address & 15 ? 0 : 1) != known->number[i] ||
                (form->several && arrays[i].gpu != known->device))
                return 0;
            if (form->torch ? !known->plain[i] && fetch_true(&form->negated, values[i])
                            : !in_whole_elements(form, values[i], known->itemsize[i]))
                return 0;
            break;
        case 'i':
            if ((numbers[i] == 1 ? -1 : ((numbers[i] & 15) == 0) + (numbers[i] == (int32_t)numbers[i] ? 0 : 2)) !=
                known->number[i])
                return 0;
            break;
        case 'c':
            if (!same_constant(values[i], known->expected[i]))
                return 0;
        }
    return 1;
}

static int pack(const Form *form, const Known *known, PyObject *const *values, const Array *arrays,
                const long long *numbers, unsigned char *buffer)
{
    memcpy(buffer, known->packed, (size_t)known->size);
    for (Py_ssize_t i = 0; i < form->count; i++) {
        unsigned char *at = buffer + known->offset[i];
        switch (form->kinds[i]) {
        case 'a':
            memcpy(at, &arrays[i].address, 8);
            if (form->memref) {
                int64_t rest[3] = {0, fetch_number(&form->size, values[i]), 1};
                memcpy(at + 8, &arrays[i].address, 8);
                memcpy(at + 16, rest, sizeof rest);
            }
            break;
        case 'i': {
            int32_t low = (int32_t)numbers[i];
            if (known->number[i] < 2)
                memcpy(at, &low, 4);
            else
                memcpy(at, &numbers[i], 8);
            break;
        }
        case 'f': {
            double wide = PyFloat_AS_DOUBLE(values[i]);
            float narrow = (float)wide;
            if (Py_IS_INFINITY(narrow) && !Py_IS_INFINITY(wide))
                return 0;
            memcpy(at, &narrow, 4);
            break;
        }
        case 'b':
            *at = values[i] == Py_True;
        }
    }
    return !PyErr_Occurred();
}

static int attribute_of(Attribute *attribute, PyObject *pair)
{
    /* (name, whether it is a method, what the type has under it), or None where the library has no such thing */
    if (pair == Py_None)
        return 1;
    PyObject *found;
    if (!PyArg_ParseTuple(pair, "UpO", &attribute->name, &attribute->method, &found))
        return 0;
    if (Py_IS_TYPE(found, &PyGetSetDescr_Type) && !attribute->method) {
        attribute->get = ((PyGetSetDescrObject *)found)->d_getset->get;
        attribute->closure = ((PyGetSetDescrObject *)found)->d_getset->closure;
    } else if (Py_IS_TYPE(found, &PyMethodDescr_Type) && attribute->method) {
        PyMethodDef *method = ((PyMethodDescrObject *)found)->d_method;
        if ((method->ml_flags & ~METH_COEXIST) == METH_NOARGS)
            attribute->call = method->ml_meth;
    }
    if (attribute->get || attribute->call)
        attribute->type = PyDescr_TYPE(found);
    return 1;
}
