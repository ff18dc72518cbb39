"""Reports: a page that loads nothing and escapes everything, and Markdown that an issue takes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.model.result import ChangeView, LineView, StageView
from explorer.model.session import Session
from explorer.share import facts
from explorer.share.html import page
from explorer.share.markdown import LIMIT, markdown
from explorer.share.record import Made
from explorer.share.replay import restored
from tests.explorer.bundles import build, record, shared
from tests.explorer.explorer_support import COMMON, SOURCE, STAGES
from tests.explorer.test_explorer import WRONG

MADE = Made("2026-01-02 03:04 UTC", "3.12.1", "Linux", {"mytriton": "0.1.0", "numpy": "not installed"})
EVIL = "</code></pre><script>alert('x')</script><img src=x onerror=\"alert(1)\">&amp;```"
FOLD = replace(
    COMMON[3],
    status="ok",
    lines=COMMON[3].lines[:-1],
    stats={"ops": 8, "ops before": 9},
    changes=(ChangeView("fold", "mul_one", "%1 = mul %0, 1", "%0", "x * 1 = x", 7),),
)


def session(*stages: StageView, text: str = SOURCE) -> Session:
    """A session whose build for cuda has these stages."""
    made = replace(build("cuda"), stages=stages, planned=tuple(stage.name for stage in stages))
    return restored(replace(record(), text=text, builds=(made,)))


GOOD = (*COMMON[:3], FOLD, *STAGES["cuda"][4:])


class Page(HTMLParser):
    """What is on a page; fails where an element is not closed."""

    EMPTY = ("meta", "img", "br", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


# HTML


def test_the_page_has_everything_and_its_lines_are_linked() -> None:
    text = page(session(*GOOD), True, MADE)
    found = Page(text)
    whole = "".join(found.texts)
    for part in (
        *("add_kernel (add.py)", "cuda, sm_90, 4 warps", "*fp32:16, i32", "float4 a = x[i];", "9 -> 8 ops (-1)"),
        *("FAIL  add_kernel  n=1000  on cpu  1.00 ms", "what it did: 1 changes", "x * 1 = x", "diff against ssa"),
        *("cubin skipped: nvJitLink is not installed", "mytriton-explore add.py --backend cuda", "3.12.1"),
    ):
        assert part in whole, part
    assert whole.count("def add_kernel(x, y, out, n, BLOCK: tl.constexpr):") == 1
    linked = [attributes["data-l"] for attributes in found.all("code") if "data-l" in attributes]
    assert linked[:12] == [str(n) for n in range(1, 12)] + ["6"], "the source, then the tree"
    rows = [line.line for stage in GOOD for line in stage.lines].count(9)
    assert (rows, linked.count("9")) == (6, 8), "the source line, a row of each listing but one, and two of diffs"
    assert "the same text as that of opt/dce" in whole, "the layout"
    assert [attributes["href"] for attributes in found.all("a")] == [f"#s{n}" for n in range(len(GOOD) - 1)]
    assert [attributes.get("id") for attributes in found.all("details") if "id" in attributes] == [
        f"s{n}" for n in range(len(GOOD) - 1)
    ]


def test_the_page_loads_nothing_and_only_its_own_script_may_run() -> None:
    text = page(session(*GOOD), True, MADE)
    found = Page(text)
    assert re.findall(r"https?://|//[a-z]+\.", re.sub(r"<pre>.*?</pre>", "", text, flags=re.S)) == []
    assert {
        tag for tag, attributes in found.elements if {"src", "srcset", "style", "onclick"} & attributes.keys()
    } == set()
    assert "link" not in {tag for tag, _ in found.elements}
    policy = found.all("meta")[1]["content"] or ""
    for tag in ("script", "style"):
        (body,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.S)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")


#: What the page's script finds of a browser, and what it then does: prints which lines are lit.
BROWSER = r"""
const html = require("fs").readFileSync(0, "utf8"), script = html.match(/<script>([^]*?)<\/script>/)[1];
const lines = [], on = {};
let pre = null;
for (const m of html.matchAll(/<pre>|<code([^>]*)>/g)) {
  if (m[0] === "<pre>") { pre = {scrollTop: 0, clientHeight: 300}; continue; }
  const l = (m[1].match(/data-l="(\d+)"/) || [])[1], lit = new Set();
  const line = {dataset: {l}, parentNode: pre, offsetTop: 500, lit, closest() { return l ? this : null; }};
  line.classList = {add: name => lit.add(name), remove: name => lit.delete(name)};
  lines.push(line);
}
global.document = {
  addEventListener: (kind, f) => on[kind] = f,
  getElementById: () => ({addEventListener: (_, f) => on.theme = f}),
  documentElement: {dataset: {}},
  querySelectorAll: what => lines.filter(line => what === `[data-l="${line.dataset.l}"]`),
};
global.getSelection = () => "";
global.matchMedia = () => ({matches: false});
(0, eval)(script);
const said = [], say = () => said.push(lines.filter(line => line.lit.has("on")).map(line => line.dataset.l).join(" "));
const nine = lines.find(line => line.dataset.l === "9"), six = lines.find(line => line.dataset.l === "6");
on.mouseover({target: nine}); say();
on.mouseover({target: six}); say();
on.click({target: nine}); on.mouseover({target: six}); say();
on.keydown({key: "Escape"}); say();
on.theme(); said.push(document.documentElement.dataset.theme);
said.push(String(lines.filter(line => line.dataset.l === "9").map(line => line.parentNode.scrollTop)));
console.log(JSON.stringify(said));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_pointing_at_a_line_lights_it_everywhere_and_a_click_keeps_it() -> None:
    text = page(session(*GOOD), True, MADE)
    done = subprocess.run(["node", "-e", BROWSER], input=text, capture_output=True, text=True, check=True)
    sixes, nines = text.count('data-l="6"'), text.count('data-l="9"')
    nine = " ".join(["9"] * nines)
    assert (sixes, nines) == (5, 8)
    scrolled = ",".join(["0"] + ["400"] * (nines - 1))
    assert json.loads(done.stdout) == [nine, " ".join(["6"] * sixes), nine, "", "dark", scrolled]


def test_everything_is_escaped() -> None:
    stages = (
        COMMON[0],
        replace(COMMON[2], name=EVIL, lines=(LineView(EVIL, 1),), changes=(ChangeView(EVIL, EVIL, EVIL, EVIL, EVIL),)),
        replace(COMMON[2], name="opt/x", language="mlir", lines=(LineView(EVIL, 1), LineView("%0 = a", 2))),
        replace(
            COMMON[2], name="ptx", status="failed", reason=EVIL, lines=(), diagnostics=(replace(WRONG, rendered=EVIL),)
        ),
    )
    broken = session(*stages, text=f"# {EVIL}")
    broken.log.append(EVIL)
    broken.settings = replace(broken.settings, path=f"{EVIL}.py", defines={"D": EVIL})
    text = page(broken, False, replace(MADE, platform=EVIL, versions={EVIL: EVIL}))
    found = Page(text)
    assert len(found.all("script")) == len(found.all("style")) == 1
    assert found.all("img") == []
    assert "".join(found.texts).count(EVIL) >= 10


def test_a_failure_stands_open_with_what_it_was_given() -> None:
    failed = replace(STAGES["cuda"][6], status="failed", lines=(), diagnostics=(WRONG,))
    found = Page(page(session(*STAGES["cuda"][:6], failed), True, MADE))
    opened = [attributes["id"] for attributes in found.all("details") if "open" in attributes]
    assert opened == ["s5"]
    marked = [attributes.get("data-l") for attributes in found.all("code") if attributes.get("class") == "failed"]
    assert marked == ["11", "11"], "of the line that the error is about"
    assert "no: cuda failed: 11:30 expected an expression" in found.texts


def test_a_long_listing_is_not_coloured() -> None:
    long = replace(STAGES["cuda"][6], lines=tuple(LineView(f"int v{i} = {i};", 9) for i in range(5_001)))
    text = page(session(*STAGES["cuda"][:6], long), True, MADE)
    assert '<code data-l="9">int v5000 = 5000;</code>' in text
    assert len(text) < 600_000


def test_the_texts_of_both_are_there_if_they_are_compared() -> None:
    made = session(*GOOD)
    made.pinned = restored(replace(record("in A"), label="last commit"))
    whole = "".join(Page(page(made, True, MADE)).texts)
    assert "A  cuda sm_90 4 warps  add_kernel(*fp32:16, i32)" in whole
    assert "A against B" in whole
    assert "### Compared" in markdown(made, True, MADE)


# Markdown


def test_markdown_says_what_an_issue_needs() -> None:
    text = markdown(session(*GOOD), False, MADE)
    rows = text.splitlines()
    assert rows[0] == r"## add\_kernel (add.py)"
    assert r"| file | add.py (edited, not saved) |" in rows
    assert r"| opt/fold | ok | | 9 -\> 8 ops (-1) 1 changes |".replace(r"\>", "&gt;") in [
        " ".join(r.split()) for r in rows
    ]
    assert "<details><summary>opt/fold: what it did</summary>" in rows
    assert "line 7: %1 = mul %0, 1" in rows
    assert "- store out, %3, %7, %4" in rows, "the diff"
    assert "<details><summary>source</summary>" in rows
    assert text.count("<details>") == text.count("</details>")
    assert rows[-1] == (
        "Made by `mytriton-explore add.py --backend cuda --chip sm_90 --kernel add_kernel --report report.md`"
    )
    assert "| mytriton | 0.1.0 |" in rows
    assert "| numpy | not installed |" not in rows


def test_markdown_stays_below_the_limit_and_says_what_it_left_out() -> None:
    long = replace(STAGES["cuda"][6], lines=tuple(LineView(f"int v{i} = {i};") for i in range(9_000)))
    text = markdown(session(*GOOD[:6], long, *STAGES["cuda"][7:]), True, MADE)
    assert len(text) <= LIMIT
    left_out = next(row for row in text.splitlines() if row.startswith("Left out"))
    assert left_out == (
        "Left out, as an issue takes 65,536 characters: cuda (9000 lines). An HTML report or a bundle has all."
    )
    assert "ld.global.f32" in text, "what is shorter is there"
    many = replace(WRONG, rendered="\n".join(f"row {i} " + "x" * 90 for i in range(2_000)))
    failed = replace(STAGES["cuda"][6], status="failed", lines=(), diagnostics=(many,))
    text = markdown(session(*STAGES["cuda"][:6], failed), True, MADE)
    assert len(text) <= LIMIT
    assert "... (shortened)" in text
    assert len(markdown(session(*GOOD), True, MADE, limit=4_000)) <= 4_000


def test_fences_and_tables_hold_whatever_stands_in_them() -> None:
    stages = (*COMMON[:2], replace(COMMON[2], lines=(LineView("````"), LineView("a | b"))))
    text = markdown(session(*stages, text="x = '```'\n"), True, MADE)
    assert "````python\nx = '```'\n````" in text
    assert "`````text\n````\na | b\n`````" in text
    stage = replace(COMMON[2], name="a|b`c", status="skipped", reason="<b>\nno | way")
    text = markdown(session(COMMON[0], stage), True, MADE)
    assert r"| a\|b\`c | skipped | 0.30 ms | &lt;b&gt; |" in text


# The command line


def test_reports_from_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from explorer.share.bundle import write

    monkeypatch.chdir(tmp_path)
    Path("add.mtx").write_bytes(write(shared()))
    assert main(["add.mtx", "--report", "r.html"]) == 1, "its run failed"
    assert capsys.readouterr().err == f"{Path('r.html').stat().st_size:,} bytes to r.html\n"
    assert Path("r.html").read_text().startswith('<!DOCTYPE html>\n<html lang="en">')
    assert Path("r.html").stat().st_mode & 0o111 == 0
    assert main(["add.mtx", "--report", "r.html"]) == 2
    assert capsys.readouterr().err == "mytriton-explore: r.html is there already; --overwrite replaces it\n"
    assert main(["add.mtx", "--report", "r.html", "--overwrite"]) == 1
    assert main(["add.mtx", "--report", "/absent/r.md"]) == 2
    assert "/absent/r.md cannot be written: No such file or directory" in capsys.readouterr().err
    assert main(["add.mtx", "--report", "r.md", "--compare", "mlir"]) == 1
    assert "### Compared" in Path("r.md").read_text()


def test_the_command_that_makes_it_again_is_one() -> None:
    made = session(*GOOD)
    made.settings = replace(made.settings, path="my kernels/add.py", defines={"BLOCK": 64, "ACT": "relu"}, num_warps=8)
    made.settings = replace(made.settings, signature="*fp32, 64", execute=False)
    assert facts.again(made, "--stages") == (
        "mytriton-explore 'my kernels/add.py' --backend cuda --chip sm_90 --kernel add_kernel --num-warps 8 "
        """-D BLOCK=64 -D 'ACT='"'"'relu'"'"'' --signature '*fp32, 64' --no-exec --stages"""
    )
