/* Launching again what was launched before, in C: what binder.py does in Python for calls of one form.

   A `Form` looks whether a call repeats one that it has learnt, packs the parameters and calls the driver, or code for
   the host. For whatever it has not learnt, or may be wrong, it calls what it stands for, the function that binder.py
   made, with the same arguments; calls of other forms it passes on. Compiled by __init__.py. */

#include "launching.h"

#include <structmember.h>

static PyObject *latest_name, *bound_name;

static PyObject *form_vectorcall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    Form *form = (Form *)self;
    Py_ssize_t given = PyVectorcall_NARGS(flags), named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
    int other = given != 1 + form->positional || given + named != 1 + form->count;
    for (Py_ssize_t i = 0; !other && i < named; i++) /* names in code are interned, others are compared */
        other = PyUnicode_Compare(PyTuple_GET_ITEM(keywords, i), PyTuple_GET_ITEM(form->keywords, i)) != 0;
    for (Py_ssize_t i = 0; !other && i < form->count; i++)
        other = Py_TYPE(args[1 + i]) != form->types[i];
    if (other)
        return PyObject_Vectorcall(form->other, args, given, keywords);
    PyObject *grid = args[0], *made = NULL, *result = NULL;
    if (!PyLong_CheckExact(grid) && !PyTuple_CheckExact(grid) && PyCallable_Check(grid) && form->learnt) {
        made = computed(form, grid, args + 1);
        if (made == NULL)
            return NULL;
        grid = PyCallable_Check(made) ? grid : made; /* another function is no grid, and is not called */
    }
    result = launched(form, grid, args + 1);
    if (result == NULL) {
        PyErr_Clear(); /* whatever it is, it is met again */
        PyObject *all[1 + ARGUMENTS] = {grid};
        memcpy(all + 1, args + 1, (size_t)form->count * sizeof *all);
        result = PyObject_Vectorcall(form->fallback, all, given, keywords);
    }
    Py_XDECREF(made);
    return result;
}

/* Whether it is what `computed` takes: a default in a tuple, or the number of an argument; else an error is set. */
static int is_meta(PyObject *value, Py_ssize_t count)
{
    if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 1)
        return 1;
    Py_ssize_t number = PyLong_Check(value) ? PyLong_AsSsize_t(value) : -1;
    if (number < 0 || number >= count)
        PyErr_SetString(PyExc_LookupError, "a parameter that no argument is given for");
    return !PyErr_Occurred();
}

static PyObject *form_new(PyTypeObject *type, PyObject *args, PyObject *named)
{
    PyObject *types, *watched, *meta, *attributes;
    const char *kinds;
    int library;
    Py_ssize_t count;
    unsigned long long launch, context;
    Form *form = (Form *)type->tp_alloc(type, 0);
    if (form == NULL)
        return NULL;
    form->vectorcall = form_vectorcall;
    form->kept = Py_NewRef(args);
    if (!PyArg_ParseTuple(args, "OOnO!O!y#O!O!O!CO!ppOUKK", &form->fallback, &form->other, &form->positional, &PyTuple_Type,
                          &form->keywords, &PyTuple_Type, &types, &kinds, &count, &PyTuple_Type, &watched, &PyTuple_Type,
                          &form->names, &PyTuple_Type, &meta, &library, &PyTuple_Type, &attributes, &form->memref,
                          &form->several, &form->stream, &form->stream_pointer, &launch, &context))
        goto failed;
    form->count = count;
    form->library = library;
    form->launch = (LaunchKernel)(uintptr_t)launch;
    form->context = (GetContext)(uintptr_t)context;
    form->watches = PyTuple_GET_SIZE(watched);
    if (count > ARGUMENTS || count != PyTuple_GET_SIZE(types) || form->watches > WATCHED || form->positional < 0 ||
        form->positional + PyTuple_GET_SIZE(form->keywords) != count || PyTuple_GET_SIZE(meta) > ARGUMENTS || PyTuple_GET_SIZE(meta) != PyTuple_GET_SIZE(form->names)) {
        PyErr_SetString(PyExc_LookupError, "too many arguments");
        goto failed;
    }
    memcpy(form->kinds, kinds, (size_t)count);
    for (Py_ssize_t i = 0; i < count; i++)
        form->types[i] = (PyTypeObject *)PyTuple_GET_ITEM(types, i);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(meta); i++)
        if (!is_meta(form->meta[i] = PyTuple_GET_ITEM(meta, i), count))
            goto failed;
    for (Py_ssize_t i = 0; i < form->watches; i++) {
        Watch *watch = &form->watched[i];
        PyObject *absent = Py_None; /* (owner, name, value), or without a value */
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(watched, i), "OO|O", &watch->owner, &watch->name, &absent))
            goto failed;
        watch->value = PyTuple_GET_SIZE(PyTuple_GET_ITEM(watched, i)) == 3 ? absent : NULL;
    }
    Attribute *all[] = {&form->data,    &form->pointer, &form->dtype,   &form->contiguous, &form->strides,
                        &form->gpu,     &form->size,    &form->negated, &form->here};
    for (Py_ssize_t i = 0; i < 9 && i < PyTuple_GET_SIZE(attributes); i++)
        if (!attribute_of(all[i], PyTuple_GET_ITEM(attributes, i)))
            goto failed;
    PyObject *capsule = PyTuple_GET_SIZE(attributes) > 9 ? PyTuple_GET_ITEM(attributes, 9) : Py_None;
    if (capsule != Py_None) {
        const Exchange *exchange = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
        if (exchange == NULL)
            goto failed;
        if (exchange->major == 1 && exchange->look && exchange->stream)
            form->exchange = exchange;
    }
    return (PyObject *)form;
failed:
    Py_DECREF(form);
    return NULL;
}

static PyObject *form_learn(Form *form, PyObject *args)
{
    PyObject *expected, *places, *owner; /* of the function, which must live on */
    unsigned long long function, context;
    Known *known = PyMem_Calloc(1, sizeof *known);
    if (known == NULL)
        return PyErr_NoMemory();
    known->holders = 1;
    if (!PyArg_ParseTuple(args, "O!O!KKlllly#OO", &PyTuple_Type, &expected, &PyTuple_Type, &places, &function, &context,
                          &known->device, &known->most, &known->threads, &known->memory, &known->packed, &known->size,
                          &known->result, &owner))
        goto failed;
    if (PyTuple_GET_SIZE(expected) != form->count || PyTuple_GET_SIZE(places) != form->count ||
        known->size > PARAMETERS || (form->launch == NULL && (known->size % 8 != 0 || known->memory < CACHE_LINE))) {
        PyErr_SetString(PyExc_ValueError, "a launch of another form");
        goto failed;
    }
    known->kept = Py_NewRef(args);
    known->function = (void *)(uintptr_t)function;
    known->context = (void *)(uintptr_t)context;
    for (Py_ssize_t i = 0; i < form->count; i++) {
        known->expected[i] = PyTuple_GET_ITEM(expected, i);
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(places, i), "iiiiii", &known->number[i], &known->offset[i],
                              &known->itemsize[i], &known->plain[i], &known->code[i], &known->writable[i]))
            goto failed;
        Py_ssize_t bytes = packed_bytes(form, known, i);
        if (bytes > 0 && (known->offset[i] < 0 || known->offset[i] > known->size - bytes)) {
            PyErr_SetString(PyExc_ValueError, "a parameter outside of the packed ones");
            goto failed;
        }
        if (form->kinds[i] == 'a' && form->launch == NULL && known->itemsize[i] < 1) {
            PyErr_SetString(PyExc_ValueError, "elements without a size");
            goto failed;
        }
    }
    /* The latest is looked at first; what was learnt long ago goes. */
    Known *gone = form->learnt == LEARNT ? form->known[LEARNT - 1] : NULL;
    form->learnt -= form->learnt == LEARNT;
    memmove(form->known + 1, form->known, (size_t)form->learnt * sizeof known);
    form->known[0] = known;
    form->learnt++;
    if (gone != NULL)
        let_go(gone);
    Py_RETURN_NONE;
failed:
    let_go(known);
    return NULL;
}

static int form_traverse(Form *form, visitproc visit, void *arg)
{
    Py_VISIT(form->kept);
    for (Py_ssize_t i = 0; i < form->learnt; i++)
        Py_VISIT(form->known[i]->kept);
    return 0;
}

static int form_clear(Form *form)
{
    while (form->learnt > 0)
        let_go(form->known[--form->learnt]);
    return 0;
}

static PyObject *form_forget(Form *form, PyObject *unused)
{
    form_clear(form);
    Py_RETURN_NONE;
}

static void form_dealloc(Form *form)
{
    PyObject_GC_UnTrack(form);
    form_clear(form);
    Py_XDECREF(form->kept);
    Py_TYPE(form)->tp_free(form);
}

static PyMethodDef form_methods[] = {
    {"learn", (PyCFunction)form_learn, METH_VARARGS, "Calls like this one are launched from now on."},
    {"forget", (PyCFunction)form_forget, METH_NOARGS, "All calls go to what the form stands for."},
    {NULL},
};
static PyMemberDef form_members[] = {
    {"__wrapped__", T_OBJECT, offsetof(Form, fallback), READONLY, "What the form stands for."},
    {NULL},
};
static PyTypeObject form_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "mytriton.Form",
    .tp_basicsize = sizeof(Form),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Form, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = form_new,
    .tp_traverse = (traverseproc)form_traverse,
    .tp_clear = (inquiry)form_clear,
    .tp_dealloc = (destructor)form_dealloc,
    .tp_methods = form_methods,
    .tp_members = form_members,
    .tp_doc = "A callable for calls of one form.",
};

/* `kernel[grid]`: what launches, bound to the grid. */
static PyObject *subscript(PyObject *kernel, PyObject *grid)
{
    if (grid == Py_None)
        return PyObject_CallMethodOneArg(kernel, bound_name, grid);
    PyObject *latest = PyObject_GetAttr(kernel, latest_name);
    PyObject *bound = latest ? PyMethod_New(latest, grid) : NULL;
    Py_XDECREF(latest);
    return bound;
}

static PyObject *subscript_of(PyObject *module, PyObject *type)
{
    static PyMethodDef definition = {"__getitem__", subscript, METH_O, "A launcher for a grid."};
    return PyDescr_NewMethod((PyTypeObject *)type, &definition);
}

static PyMethodDef functions[] = {
    {"subscript_of", subscript_of, METH_O, "A faster `__getitem__` for a type of kernels."},
    {NULL},
};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "mytriton_native", .m_size = -1, .m_methods = functions,
};

PyMODINIT_FUNC PyInit_mytriton_native(void)
{
    latest_name = PyUnicode_InternFromString("_latest");
    bound_name = PyUnicode_InternFromString("_bound");
    PyObject *made = PyModule_Create(&module);
    if (made != NULL && (PyType_Ready(&form_type) < 0 || PyModule_AddObjectRef(made, "Form", (PyObject *)&form_type) < 0))
        Py_CLEAR(made);
    return made;
}
