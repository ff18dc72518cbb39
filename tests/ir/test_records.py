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


def test_objects_are_made_as_standard_ones() -> None:
    def classes(decorator: Any) -> Any:
        @decorator(kw_only=True)
        class Base:
            name: str = ""
            tags: list[str] = dataclasses.field(default_factory=list)

        @decorator()
        class Made(Base):
            first: int
            second: int = 2
            third: int = dataclasses.field(default=3, kw_only=True)
            double: int = dataclasses.field(init=False)
            kept: dict[str, int] = dataclasses.field(init=False, default_factory=dict)

            def __post_init__(self) -> None:
                self.double = 2 * self.first

        return Base, Made

    (base, ours), (_, standard) = classes(dataclass), classes(dataclasses.dataclass)
    for given in ({}, {"second": 5, "name": "a", "tags": ["b"]}, {"third": 4}):
        assert dataclasses.asdict(ours(1, **given)) == dataclasses.asdict(standard(1, **given))
    assert ours(1).tags is not ours(1).tags
    assert base().name == "" and base(name="b").tags == []
    for wrong in ({"double": 3}, {"unknown": 3}, {"first": 2}):
        with pytest.raises(TypeError, match=r"Made\.__init__\(\) got"):
            ours(1, **wrong)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        ours()


def test_a_class_that_inherits_makes_its_own_objects() -> None:
    class Derived(Pair):
        pass

    assert type(Derived(1)) is Derived and Derived(1, 2) == Derived(1)
    assert Pair(1, 2).second == 2
