"""How much of every stage of the examples links to the kernel's lines: `python -m tests.links [--only PART]`.

A row of a listing is an instruction (or operation, or statement), or it is none: a directive, label, comment, brace.
Instructions have a link, or are marked as made by a stage and of no line, or have neither: those are counted by kind.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mytriton import Compilation, ExampleCase, JITFunction
from mytriton.check import built
from mytriton.stage import Line, Stage
from tests.sanitize import examples

BACKENDS = ("cuda", "mlir", "cpu")

#: What an instruction looks like, by the language of a listing: its kind is the first group.
_INSTRUCTIONS = {
    "python": re.compile(r"\s*(\S+)"),
    "ptx": re.compile(r"\s*(?:\{\s*)?(?:@!?%\w+\s+)?([a-z][\w.:]*)[^:]*;"),
    "sass": re.compile(r"/\*[0-9a-f]+\*/ (?:\[[^]]+\] )?(?:@!?U?P\w+ )?([\w.]+)"),
    "asm": re.compile(r"    (\S+)"),
    "llvm": re.compile(r"  (?:[%@][\w.\"$-]+ = )?((?:tail |musttail )?\w+)"),
    "mlir": re.compile(r"\s*(?:%[\w, :%.$]+ = )?\"?([a-z][\w.]*)"),
    "cuda": re.compile(r"\s*((?:for|if|while|else|do|return)\b|(?=.*[;={]))"),
    "layout": re.compile(r"\s*(?:%[\w, :%.$]+ = )?([a-z]\w*)"),
    "ssa": re.compile(r"\s*(?:%[\w, :%.$]+ = )?([a-z]\w*)"),
    "tree": re.compile(r"\s*(\S+)"),
}


@dataclass
class Count:
    """Of one stage: instructions, those with a link, those marked as of no line, and the kinds of the others."""

    instructions: int = 0
    linked: int = 0
    marked: int = 0
    unlinked: Counter[str] = field(default_factory=Counter)

    def add(self, stage: Stage) -> None:
        """Count a listing."""
        for line, kind in instructions(stage.language, stage.lines):
            self.instructions += 1
            if line.span is not None:
                self.linked += 1
            elif line.made_by:
                self.marked += 1
                self.unlinked[f"({line.made_by}) {kind}"] += 1
            else:
                self.unlinked[kind] += 1


def instructions(language: str, lines: Sequence[Line]) -> Iterator[tuple[Line, str]]:
    """The rows that are instructions, each with its kind."""
    pattern, inside = _INSTRUCTIONS.get(language), language != "llvm"
    for line in lines:
        if language == "llvm":
            inside = line.text.startswith("define") or (inside and line.text != "}")
        counts = pattern is not None and inside and line.text.strip() != "module {"  # which MLIR prints around
        found = pattern.match(line.text) if counts else None
        if found:
            yield line, found[1]


def compiled(kernel: JITFunction, case: ExampleCase, backend: str, chip: str = "sm_90") -> Compilation:
    """An example compiled; nothing is run."""
    example = built(kernel, case)
    options = {name: value for name, value in example.options.items() if name not in ("backend", "chip")}
    return kernel.base.prepare(example.grid, **example.args, **options, backend=backend, chip=chip).compilation


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="examples whose label holds this")
    parser.add_argument("--backends", nargs="+", choices=BACKENDS, default=BACKENDS)
    parser.add_argument("--chip", default="sm_90a")
    parser.add_argument("--stage", default="", help="stages whose name holds this")
    parser.add_argument("--show", default="", help="print the rows of this kind that have no link, with the example")
    given = parser.parse_args(arguments)
    firsts = {
        label.split()[0]: (k, case) for label, k, case in reversed(list(examples(given.only))) if "feature" not in label
    }
    for backend in given.backends:
        counts: dict[str, Count] = {}
        for label, (kernel, case) in firsts.items():
            for stage in compiled(kernel, case, backend, given.chip).run().stages:
                if stage.kind != "binary" and stage.ok and given.stage in stage.name:
                    counts.setdefault(stage.name, Count()).add(stage)
                    if given.show:
                        for line, kind in instructions(stage.language, stage.lines):
                            if line.span is None and kind == given.show:
                                print(f"{label} {stage.name}: {line.text}")
        for name, count in counts.items():
            kinds = ", ".join(f"{kind or 'statement'} {n}" for kind, n in count.unlinked.most_common(12))
            share = count.linked / max(count.instructions, 1)
            made = count.marked / max(count.instructions, 1)
            print(f"{backend:5} {name:32} {count.instructions:7} {share:7.2%} {made:7.2%}  {kinds}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
