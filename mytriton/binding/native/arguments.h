/* The arguments of a launch: what must hold, and how they are packed. Part of form.c. */

#include "arrays.h"

static void let_go(Known *known)
{
    if (--known->holders > 0)
        return;
    for (Scratch *scratch = known->idle, *next; scratch != NULL; scratch = next) {
        next = scratch->next;
        free(scratch);
    }
    Py_XDECREF(known->kept);
    PyMem_Free(known);
}

static int unchanged(const Watch *watch)
{
    if (PyDict_CheckExact(watch->owner))
        return PyDict_GetItemWithError(watch->owner, watch->name) == watch->value && !PyErr_Occurred();
    PyObject *now = PyObject_GetAttr(watch->owner, watch->name);
    Py_XDECREF(now);
    return now != NULL && now == watch->value;
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
                (form->several && arrays[i].gpu != known->device) || !is_plain(form, known, i, values[i], &arrays[i]))
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

/* How many bytes `pack` writes of the i-th argument. */
static Py_ssize_t packed_bytes(const Form *form, const Known *known, Py_ssize_t i)
{
    switch (form->kinds[i]) {
    case 'a':
        return form->memref ? 40 : 8;
    case 'i':
        return known->number[i] < 2 ? 4 : 8;
    case 'f':
        return 4;
    default:
        return form->kinds[i] == 'b';
    }
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
