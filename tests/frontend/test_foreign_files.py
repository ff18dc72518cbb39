"""Kernels of packages that are not installed, read from the text: files of one package, decorators, configurations."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

import mytriton.language as tl
from mytriton import Target, compile_kernel, parse_signature, read_module
from mytriton.frontend.kernel import MISSING, Kernel, Unresolved
from mytriton.keys import code_key
from mytriton.language import constexpr

HEADER = "import torch\nimport triton\nimport triton.language as tl\n"


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEADER + dedent(text))


def kernel(path: Path, name: str | None = None) -> Kernel:
    found = read_module(path.read_text(), str(path)).kernel(name)
    assert found is not None
    return found


USES = """
@triton.jit
def use(x):
    tl.store(x, SCALE)
"""


@pytest.mark.parametrize(
    "line",
    [
        "from .constants import SCALE",
        "from ..pkg.constants import SCALE",
        "from . import nothing\nfrom .constants import *",
        "from pkg.constants import SCALE",
        "from pkg import SCALE",
        "from constants import SCALE",
        "from .again import SCALE",
        "try:\n    from missing import SCALE\nexcept ImportError:\n    from .constants import SCALE",
    ],
)
def test_constants_of_the_package(tmp_path: Path, line: str) -> None:
    write(
        tmp_path / "pkg",
        {
            "__init__.py": "from .constants import SCALE",
            "constants.py": "SCALE = tl.constexpr(2 * 3)",
            "again.py": "from .ring import SCALE",
            "ring.py": "from .again import OTHER\nfrom .constants import SCALE",
        },
    )
    path = tmp_path / "pkg" / "use.py"
    path.write_text(f"{HEADER}{line}\n{USES}")
    value = kernel(path).names["SCALE"]
    assert isinstance(value, constexpr)
    assert value.value == 6


def test_a_changed_file_is_read_again_also_through_another(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.py": "S = tl.constexpr(1)", "b.py": "from a import S", "use.py": "from b import S as SCALE" + USES},
    )
    assert kernel(tmp_path / "use.py").names["SCALE"].value == 1
    (tmp_path / "a.py").write_text(HEADER + "S = tl.constexpr(12)")
    assert kernel(tmp_path / "use.py").names["SCALE"].value == 12


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "it is imported from '.constants'"),
        ({"constants.py": "SCALE = tl.constexpr("}, "it is imported from '.constants'"),
        ({"constants.py": "SCALE = torch.tensor(3)"}, "it is set by code that is not executed here"),
        ({"constants.py": "def SCALE(): pass"}, "it is an ordinary Python function"),
    ],
)
def test_what_an_unknown_import_is(tmp_path: Path, files: dict[str, str], reason: str) -> None:
    write(tmp_path, {**files, "use.py": "from .constants import SCALE" + USES})
    value = kernel(tmp_path / "use.py").names["SCALE"]
    assert isinstance(value, Unresolved)
    assert value.reason == reason
    assert value.hint.startswith("decorate it with @triton.jit" if "function" in reason else "save the file")


@pytest.mark.parametrize(
    "decorators",
    [
        "@triton.jit",
        "@triton.jit(do_not_specialize=['n'])",
        "@libentry()\n@triton.autotune(configs=get(), key=['n'])\n@triton.jit",
        "@triton.heuristics({'B': lambda args: 4})\n@triton.jit",
        "@torch.library.custom_op('a', mutates_args=())\n@triton.jit",
        "@jit",
        "@ours",
        "@ours(debug=True)",
        "@imported",
    ],
)
def test_decorators_are_looked_through(tmp_path: Path, decorators: str) -> None:
    before = """
        jit = triton.jit
        from some_lib import libentry
        from .wrappers import wrap as imported
        def plain(fn):
            return fn
        def ours(fn=None, **options):
            return triton.jit(fn) if fn else lambda fn: jit(fn, **options)
        """
    write(tmp_path, {"wrappers.py": "def wrap(fn):\n    return triton.jit(fn)"})
    path = tmp_path / "use.py"
    path.write_text(
        f"{HEADER}{dedent(before)}\n@plain\ndef host(x):\n    pass\n\n{decorators}\ndef use(x, n):\n    pass\n"
    )
    assert [k.name for k in read_module(path.read_text(), str(path)).kernels] == ["use"]


DEPENDING = """
if torch.version.hip:
    S = tl.constexpr(1)
    @triton.jit
    def twice(v):
        return v
else:
    S = tl.constexpr(2)
    @triton.jit
    def twice(v):
        return v * 2
T = tl.constexpr(3 if torch.x else 4)
B = tl.constexpr(5)
if torch.y > 2:
    B = tl.constexpr(6)
    C = tl.constexpr(7)
"""


def test_values_that_depend_on_what_is_not_known_are_told_and_taken(tmp_path: Path) -> None:
    write(tmp_path, {"values.py": DEPENDING})
    path = tmp_path / "use.py"
    path.write_text(
        HEADER + "from values import S, T, B, C, twice\n@triton.jit\ndef use(x):\n"
        "    tl.store(x, twice(S) + T + B)\n\n@triton.jit\ndef other(x):\n    tl.store(x, C)\n"
    )
    use = kernel(path, "use")
    compilation = compile_kernel(use, parse_signature(use, "*i32"), Target("interp")).run()
    tests = {"twice": "torch.version.hip", "S": "torch.version.hip", "T": "torch.x", "B": "torch.y > 2"}
    assert [d.message for d in compilation.diagnostics] == [
        f"the value of `{name}` is not known: it depends on `{test}`; here it is what it is if that does not hold"
        for name, test in tests.items()
    ]
    assert compilation.stage("opt/dce").text == "store x, 13"
    value = kernel(path, "other").names["C"]
    assert isinstance(value, Unresolved) and value.otherwise is MISSING
    changed = DEPENDING.replace("constexpr(2)", "constexpr(3)")
    write(tmp_path, {"values.py": changed})
    assert code_key(kernel(path, "use")) != code_key(use)


def test_a_function_wrapped_by_a_call_is_a_kernel() -> None:
    text = HEADER + "def body(x):\n    tl.store(x, 1)\n\nkernel = triton.jit(body)\n"
    assert [k.name for k in read_module(text, "f.py").kernels] == ["body"]


@pytest.mark.parametrize("kwargs", ["", "kwargs="])
def test_constexprs_of_the_first_configuration(kwargs: str) -> None:
    text = HEADER + dedent(
        f"""
        @triton.autotune(
            [triton.Config({kwargs}{{"BLOCK": 32 * 4, "UNKNOWN": torch.x}}, num_warps=8), triton.Config({{}})],
            key=["n"],
        )
        @triton.jit
        def use(x, n, BLOCK: tl.constexpr, UNKNOWN: tl.constexpr, KEPT: tl.constexpr = 5):
            pass
        """
    )
    params = {p.name: p.default for p in read_module(text, "f.py").kernels[0].params}
    assert params == {"x": MISSING, "n": MISSING, "BLOCK": 128, "UNKNOWN": MISSING, "KEPT": 5}


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("if Version(triton.__version__) >= Version('3.0.0'):\n    S = 1\nelse:\n    S = 2", 1),
        (
            "if triton.__version__ < '3':\n    S = 1\nelif hasattr(tl, 'exp2') and not hasattr(tl, 'no'):\n    S = 2",
            2,
        ),
        ("if os.environ.get('MYTRITON_TEST_FAST', '0') == '1':\n    S = 1\nelse:\n    S = 2", 1),
        ("if os.getenv('MYTRITON_TEST_ABSENT') is None or torch.cuda.is_available():\n    S = 1", 1),
        ("FAST = os.environ.get('MYTRITON_TEST_FAST', '0') == '1'\nif FAST:\n    S = 1\nelse:\n    S = 2", 1),
        ("S = 3\nif TYPE_CHECKING:\n    S = 1", 3),
        ("if torch.cuda.is_available():\n    S = 1\nelse:\n    S = 2", None),
        ("S = 1 if os.environ.get('MYTRITON_TEST_FAST') == '1' else torch.x", 1),
        ("S = 1 if torch.x else 2", None),
        ("S = tl.constexpr(torch.finfo(torch.bfloat16).max)", 3.3895313892515355e38),
        ("S = -np.iinfo(np.int16).min", 32768),
        ("S = torch.finfo(torch.no).max", None),
        ("def get():\n    'Its words.'\n    return 3\nS = get()", 3),
        ("def get():\n    return get()\nS = get()", None),
        ("def get(n):\n    return 3\nS = get()", None),
        ("try:\n    S = torch.x\nexcept ImportError:\n    S = 2", None),
        ("if torch.x:\n    S = triton.cdiv\nelse:\n    S = tl.cdiv", tl.cdiv),
        ("if torch.x:\n    S = tl.exp\nelse:\n    S = tl.exp2", None),
        ("if torch.x:\n    from triton import language as S\nelse:\n    T = 1", tl),
        ("try:\n    S = torch.x\nexcept ImportError:\n    S = tl.extra.libdevice.tanh", tl.math.tanh),
        ("from triton.language.extra.hip import libdevice\nS = libdevice.tanh", tl.math.tanh),
        ("from torch._inductor.runtime.triton_helpers import libdevice, math as m\nS = libdevice.tanh", tl.math.tanh),
        ("from torch._inductor.runtime.triton_helpers import math as tl_math\nS = tl_math.exp", tl.math.exp),
        ("from triton.language.standard import _log2 as S", tl.standard._log2),
        ("import triton.language.core as core\nS = core.constexpr(4)", 4),
        ("if len(x) > '3':\n    S = 1", None),
        ("try:\n    from .constants import S\nexcept ImportError:\n    S = 2", 6),
        ("try:\n    from .missing import S\nexcept ImportError:\n    S = 2", 2),
        ("try:\n    import missing\n    S = 1\nexcept ImportError:\n    S = 2\nfinally:\n    T = 1", 2),
        ("try:\n    import triton\nexcept ImportError:\n    S = 2\nelse:\n    S = 1", 1),
    ],
)
def test_conditions_that_can_be_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, value: object
) -> None:
    monkeypatch.setenv("MYTRITON_TEST_FAST", "1")
    write(tmp_path, {"constants.py": "S = tl.constexpr(6)"})
    path = tmp_path / "use.py"
    path.write_text(f"{HEADER}import os\n{before}\nSCALE = S\n{USES}")
    found = kernel(path).names["SCALE"]
    assert (None if isinstance(found, Unresolved) else found) == value


MEMBERS = """
@triton.jit
def use(x):
    tl.store(x, MODULE.doubled(1.0) + MODULE.SCALE)
"""


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("import helpers", "helpers"),
        ("import pkg.helpers as h", "h"),
        ("from . import helpers", "helpers"),
        ("from pkg import helpers as h", "h"),
        ("try:\n    from . import helpers\nexcept ImportError:\n    helpers = None", "helpers"),
    ],
)
def test_what_a_module_has_is_used_through_its_name(tmp_path: Path, line: str, module: str) -> None:
    helpers = "SCALE = tl.constexpr(3)\n\n@triton.jit\ndef doubled(v):\n    return v * 2\n"
    write(tmp_path / "pkg", {"__init__.py": "", "helpers.py": helpers})
    path = tmp_path / "pkg" / "use.py"
    path.write_text(f"{HEADER}{line}\n{MEMBERS.replace('MODULE', module)}")
    found = kernel(path)
    assert set(found.names) == {"tl", module, f"{module}.doubled", f"{module}.SCALE"}
    compilation = compile_kernel(found, parse_signature(found, "*fp32", {}), Target("interp"))
    assert compilation.stage("opt/dce").text == "store x, 5.0"
    before = code_key(found)
    assert code_key(kernel(path)) == before
    (tmp_path / "pkg" / "helpers.py").write_text(HEADER + helpers.replace("v * 2", "v * 20"))
    assert code_key(kernel(path)) != before


def test_a_name_of_zero_is_found_in_a_file(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "SCALE = 0", "use.py": "from a import SCALE" + USES})
    assert kernel(tmp_path / "use.py").names["SCALE"] == 0


def test_what_a_module_has_that_no_kernel_can_use(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "def plain(v):\n    return v", "use.py": "import a" + MEMBERS.replace("MODULE", "a")})
    found = kernel(tmp_path / "use.py")
    compilation = compile_kernel(found, parse_signature(found, "*fp32", {}), Target("interp")).run()
    messages = {d.message for d in compilation.diagnostics}
    assert messages == {"`a` is a global module; a kernel reads only numbers and tl.constexpr globals"}
