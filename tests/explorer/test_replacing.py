"""Find and replace, without a screen: exact places and texts."""

from __future__ import annotations

import signal

import pytest

from explorer.model.replacing import BadPattern, Lines, Search, count, next_match

TEXT = "x = load(X)\nload_x = x.load\n# 2x"


@pytest.mark.parametrize(
    ("search", "spans"),
    [
        (Search("x"), [(0, 1), (9, 10), (17, 18), (21, 22), (31, 32)]),
        (Search("x", case=True), [(0, 1), (17, 18), (21, 22), (31, 32)]),
        (Search("x", case=True, word=True), [(0, 1), (21, 22)]),
        (Search("load", word=True), [(4, 8), (23, 27)]),
        (Search("(X)", case=True), [(8, 11)]),
        (Search("(X)", case=True, regex=True), [(9, 10)]),
        (Search(r"^\w+", regex=True), [(0, 1), (12, 18)]),
        (Search(r"load$\n# ", regex=True), [(23, 30)]),
        (Search("q*", regex=True), []),
        (Search(""), []),
    ],
)
def test_what_is_found(search: Search, spans: list[tuple[int, int]]) -> None:
    assert [match.span() for match in search.find(TEXT)] == spans


def test_what_is_no_expression_says_why() -> None:
    with pytest.raises(BadPattern, match="missing \\), unterminated subpattern"):
        Search("(x", regex=True).find(TEXT)
    with pytest.raises(BadPattern, match="replacement: invalid group reference 2"):
        Search("(x)", regex=True).replace_all(TEXT, r"\2")


def test_an_expression_that_would_take_for_ever_is_ended() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(BadPattern, match="takes too long"):
        Search("(a+)+$", regex=True).find("a" * 60 + "b")
    assert signal.getsignal(signal.SIGALRM) is before


@pytest.mark.parametrize(
    ("search", "template", "new"),
    [
        (Search("load"), "store", "x = store(X)\nstore_x = x.store\n# 2x"),
        (Search("load", word=True), "", "x = (X)\nload_x = x.\n# 2x"),
        (Search(r"(\w+) = (\w+)", regex=True), r"\2 = \1", "load = x(X)\nx = load_x.load\n# 2x"),
        (Search("x", case=True), r"\1", r"\1 = load(X)" + "\n" + r"load_\1 = \1.load" + "\n" + r"# 2\1"),
        (Search(r"$\n", regex=True), r"\n\n", "x = load(X)\n\nload_x = x.load\n\n# 2x"),
    ],
)
def test_replacing_all(search: Search, template: str, new: str) -> None:
    start, end, text, number = search.replace_all(TEXT, template)
    assert TEXT[:start] + text + TEXT[end:] == new
    assert number == len(search.find(TEXT))


def test_places() -> None:
    lines = Lines(TEXT.split("\n"))
    assert [lines.place(at) for at in (0, 11, 12, 28, 32)] == [(0, 0), (0, 11), (1, 0), (2, 0), (2, 4)]
    assert all(lines.offset(lines.place(at)) == at for at in range(len(TEXT) + 1))
    assert lines.by_row(Search(r"load\n#|X", case=True, regex=True).find(TEXT)) == {
        0: [(9, 10)],
        1: [(11, 15)],
        2: [(0, 1)],
    }


def test_counting_and_going_on() -> None:
    found = Search("load").find(TEXT)  # at 4, 12 and 23
    assert count(found, 12, 16) == "2 of 3"
    assert count(found, 12, 15) == "3 found"
    assert count([], 0, 0) == "no match"
    spans = [next_match(found, 12, 16, step) for step in (1, 0, -1)]
    assert [match and match.start() for match in spans] == [23, 12, 4]
    around = [next_match(found, 23, 27, 1), next_match(found, 4, 8, -1), next_match([], 0, 0, 1)]
    assert [match and match.start() for match in around] == [4, 23, None]
