/* Arrays of NumPy, CuPy and torch. Part of form.c. */

#include "form.h"

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

static int look_at(const Form *form, PyObject *object, Array *array)
{
    PyObject *value;
    if (form->library == NUMPY) {
        PyArrayObject *numpy = (PyArrayObject *)object;
        *array = (Array){(uintptr_t)PyArray_DATA(numpy), (PyObject *)PyArray_DESCR(numpy), 0, 0};
        return 1;
    }
    if (form->exchange) {
        Tensor tensor;
        if (form->exchange->look(object, &tensor) != 0 || tensor.device_type != (form->launch ? CUDA : HOST))
            return 0;
        *array = (Array){(uintptr_t)tensor.data + tensor.offset, NULL, tensor.dtype, tensor.device_id};
        return 1;
    }
    if (form->library == TORCH) {
        if (!fetch_true(&form->here, object) || (value = fetch(&form->pointer, object)) == NULL)
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

/* Whether the elements of a CuPy array lie a whole number of elements apart. */
static int in_whole_elements(const Form *form, PyObject *array, int itemsize)
{
    if (itemsize == 1 || fetch_true(&form->contiguous, array))
        return 1;
    PyObject *strides = fetch(&form->strides, array);
    int whole = itemsize > 0 && strides != NULL && PyTuple_CheckExact(strides);
    for (Py_ssize_t i = 0; whole && i < PyTuple_GET_SIZE(strides); i++) {
        long long stride = PyLong_AsLongLong(PyTuple_GET_ITEM(strides, i));
        whole = stride % itemsize == 0 && !PyErr_Occurred();
    }
    Py_XDECREF(strides);
    return whole;
}

/* The same of a NumPy array, which is aligned, and writable if it has to be. */
static int is_usable(const PyArrayObject *array, int itemsize, int writable)
{
    int flags = PyArray_FLAGS(array);
    if (!(flags & NPY_ARRAY_ALIGNED) || (writable && !(flags & NPY_ARRAY_WRITEABLE)))
        return 0;
    for (int i = 0; i < PyArray_NDIM(array) && !(flags & NPY_ARRAY_C_CONTIGUOUS); i++)
        if (PyArray_STRIDE(array, i) % itemsize != 0)
            return 0;
    return 1;
}

/* Whether the elements of an array, the i-th argument, are in memory like those of the one that was learnt. */
static int is_plain(const Form *form, const Known *known, Py_ssize_t i, PyObject *object, const Array *array)
{
    switch (form->library) {
    case NUMPY:
        return is_usable((const PyArrayObject *)object, known->itemsize[i], known->writable[i]);
    case CUPY:
        return in_whole_elements(form, object, known->itemsize[i]);
    default:
        return (known->plain[i] || !fetch_true(&form->negated, object)) &&
               (form->launch || array->address % (unsigned)known->itemsize[i] == 0);
    }
}
