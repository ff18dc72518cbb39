"""The compiler's dataclasses behave as the standard library's frozen ones do, but for the guard."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    first: Any
    second: Any = 2
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclasses.dataclass(frozen=True)
class Standard:
    first: Any
    second: Any = 2
    note: str = dataclasses.field(default="", compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class Named:
    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass()
class Plain:
    numbers: list[int]


def test_they_compare_hash_and_print_as_standard_ones() -> None:
    for values in ((1,), (1, "x"), ("a", (1, 2), "note")):
        ours, standard = Pair(*values), Standard(*values)
        assert repr(ours) == repr(standard).replace("Standard", "Pair")
        assert hash(ours) == hash(standard)
        assert ours == Pair(*values) and ours != Pair("other") and ours != standard and ours != values
    assert Pair(1) == Pair(1, 2, "another note")
    assert dataclasses.replace(Pair(1), second=3) == Pair(1, 3)


def test_what_does_not_compare_by_its_fields_is_itself_only() -> None:
    one, other = Named("a"), Named("a")
    assert one == one and one != other and len({one, other}) == 2
    assert repr(one) == "a", "its own stays"
    assert Plain([1]) == Plain([1])
    with pytest.raises(TypeError, match="unhashable"):
        hash(Plain([1]))
