/* Launching what is known: the grid, the stream and the driver's call. Part of form.c. */

#include "arguments.h"

/* The extents of a grid; 0 for anything unusual, and for an empty one. */
static int extents(PyObject *grid, long most, unsigned *extent)
{
    Py_ssize_t axes = 1;
    if (PyTuple_CheckExact(grid)) {
        axes = PyTuple_GET_SIZE(grid);
        if (axes < 1 || axes > 3)
            return 0;
    } else if (!PyLong_CheckExact(grid))
        return 0;
    for (Py_ssize_t i = 0; i < axes; i++) {
        PyObject *item = PyTuple_CheckExact(grid) ? PyTuple_GET_ITEM(grid, i) : grid;
        if (!PyLong_CheckExact(item))
            return 0;
        long long number = PyLong_AsLongLong(item);
        if (number < 1 || number > (i == 0 ? most : MOST_YZ))
            return 0;
        extent[i] = (unsigned)number;
    }
    return 1;
}

static int current_stream(const Form *form, long device, void **stream)
{
    if (form->exchange)
        return form->exchange->stream(CUDA, (int32_t)device, stream) == 0;
    PyObject *number = PyLong_FromLong(device), *now = number ? PyObject_CallOneArg(form->stream, number) : NULL;
    Py_XDECREF(number);
    if (now != NULL && !form->torch) {
        PyObject *pointer = PyObject_GetAttr(now, form->stream_pointer);
        Py_DECREF(now);
        now = pointer;
    }
    if (now == NULL)
        return 0;
    *stream = PyLong_AsVoidPtr(now);
    Py_DECREF(now);
    return !PyErr_Occurred();
}

/* What a function for the grid gives for the arguments by name. */
static PyObject *computed(const Form *form, PyObject *grid, PyObject *const *values)
{
    PyObject *meta = PyDict_New();
    for (Py_ssize_t i = 0; meta != NULL && i < PyTuple_GET_SIZE(form->names); i++) {
        PyObject *value = form->meta[i]; /* a default, or the number of an argument */
        if (PyTuple_CheckExact(value))
            value = PyTuple_GET_ITEM(value, 0);
        else
            value = values[PyLong_AsSsize_t(value)];
        if (PyDict_SetItem(meta, PyTuple_GET_ITEM(form->names, i), value) < 0)
            Py_CLEAR(meta);
    }
    PyObject *given = meta ? PyObject_CallOneArg(grid, meta) : NULL;
    Py_XDECREF(meta);
    return given;
}

/* Ask the driver for a launch that is known; NULL if anything may be wrong. */
static PyObject *asked(const Form *form, const Known *known, PyObject *grid, PyObject *const *values,
                       const Array *arrays, const long long *numbers)
{
    unsigned extent[3] = {1, 1, 1}, threads = (unsigned)known->threads, shared = (unsigned)known->shared;
    unsigned char buffer[BYTES] __attribute__((aligned(16)));
    void *stream = NULL, *context = NULL;
    if (!extents(grid, known->most, extent) || !pack(form, known, values, arrays, numbers, buffer) ||
        !current_stream(form, known->device, &stream) || form->context(&context) != 0 || context != known->context)
        return NULL;
    size_t size = (size_t)known->size;
    void *extra[] = {(void *)1, buffer, (void *)2, &size, NULL};
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = form->launch(known->function, extent[0], extent[1], extent[2], threads, 1, 1, shared, stream, NULL, extra);
    Py_END_ALLOW_THREADS
    if (status != 0)
        return NULL; /* it is asked for again, by what says what is wrong */
    Py_INCREF(known->result);
    return known->result;
}

/* What a launch gives; NULL if it is not known, or may be wrong. */
static PyObject *launched(Form *form, PyObject *grid, PyObject *const *values)
{
    Array arrays[ARGUMENTS];
    long long numbers[ARGUMENTS];
    for (Py_ssize_t i = 0; i < form->watches; i++)
        if (!unchanged(&form->watched[i]))
            return NULL;
    for (Py_ssize_t i = 0; i < form->count; i++)
        if (form->kinds[i] == 'a' && !look_at(form, values[i], &arrays[i]))
            return NULL;
        else if (form->kinds[i] == 'i') {
            numbers[i] = PyLong_AsLongLong(values[i]);
            if (numbers[i] == -1 && PyErr_Occurred())
                return NULL;
        }
    Known *known = NULL;
    PyObject *result = NULL;
    for (Py_ssize_t i = 0; i < form->learnt; i++) {
        known = form->known[i];
        known->holders++;
        if (matches(form, known, values, arrays, numbers)) {
            result = asked(form, known, grid, values, arrays, numbers);
            i = LEARNT;
        }
        let_go(known);
    }
    return result;
}
