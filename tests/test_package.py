"""What is installed is all that is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("package", ["mytriton", "explorer"])
def test_files_that_are_no_modules_are_installed_too(package: str) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("tomllib is of Python 3.11")
    import tomllib

    data = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"][package]
    folder = ROOT / package
    files = {path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert files - {path for pattern in data for path in folder.glob(pattern)} == set()
