/* Launching what is known: the grid, and the driver's call or that of code for the host. Part of form.c. */

#include "arguments.h"

enum { CACHE_LINE = 64 };

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
    if (now != NULL && form->library != TORCH) {
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

/* Ask the driver for a launch that is known; 0 if anything may be wrong. */
static int asked(const Form *form, const Known *known, const unsigned *extent, unsigned char *buffer)
{
    unsigned threads = (unsigned)known->threads, shared = (unsigned)known->memory;
    void *stream = NULL, *context = NULL;
    if (!current_stream(form, known->device, &stream) || form->context(&context) != 0 || context != known->context)
        return 0;
    size_t size = (size_t)known->size;
    void *extra[] = {(void *)1, buffer, (void *)2, &size, NULL};
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = form->launch(known->function, extent[0], extent[1], extent[2], threads, 1, 1, shared, stream, NULL, extra);
    Py_END_ALLOW_THREADS
    return status == 0; /* else it is asked for again, by what says what is wrong */
}

/* Memory for one call; NULL if there is none. */
static Scratch *scratch_of(Known *known)
{
    Scratch *scratch = known->idle;
    if (scratch != NULL)
        known->idle = scratch->next;
    else if (posix_memalign((void **)&scratch, CACHE_LINE, (size_t)known->memory) != 0)
        return NULL;
    return scratch;
}

/* Call code for the host, which gets pointers to its parameters, each in 8 bytes of the buffer, and to those that
   `EXTRA` in backends/cpu/emit.py lists. 0, and nothing is called, if it is for Python to share among threads. */
static int called(Known *known, const unsigned *extent, unsigned char *buffer)
{
    int64_t programs = (int64_t)extent[0] * extent[1] * extent[2];
    Scratch *scratch = programs <= known->most ? scratch_of(known) : NULL;
    if (scratch == NULL)
        return 0;
    int64_t extra[EXTRA] = {(intptr_t)scratch, 0, programs, extent[0], extent[1], extent[2]};
    memcpy(buffer + known->size, extra, sizeof extra);
    void *pointers[PARAMETERS / 8 + EXTRA];
    for (Py_ssize_t i = 0; i < known->size / 8 + EXTRA; i++)
        pointers[i] = buffer + 8 * i;
    Py_BEGIN_ALLOW_THREADS
    ((void (*)(void **))known->function)(pointers);
    Py_END_ALLOW_THREADS
    scratch->next = known->idle;
    known->idle = scratch;
    return 1;
}

/* Launch what is known; NULL if anything may be wrong. */
static PyObject *repeated(const Form *form, Known *known, PyObject *grid, PyObject *const *values, const Array *arrays,
                          const long long *numbers)
{
    unsigned extent[3] = {1, 1, 1};
    unsigned char buffer[PARAMETERS + 8 * EXTRA] __attribute__((aligned(16)));
    if (!extents(grid, known->most, extent) || !pack(form, known, values, arrays, numbers, buffer) ||
        !(form->launch ? asked(form, known, extent, buffer) : called(known, extent, buffer)))
        return NULL;
    return Py_NewRef(known->result);
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
            result = repeated(form, known, grid, values, arrays, numbers);
            i = LEARNT;
        }
        let_go(known);
    }
    return result;
}
