"""The text in the editor, line by line: lines end where Python ends them."""

from __future__ import annotations

from textual.widgets.text_area import Document, EditResult, Location

from explorer.model.source_text import split_lines


class PythonDocument(Document):
    """Textual's document cuts at form feeds and other characters that end no line of Python, and so would lose them."""

    def __init__(self, text: str) -> None:
        super().__init__("")
        self._lines = split_lines(text)

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace what is between two places; the only way in which the text changes."""
        (top, left), (bottom, right) = sorted((start, end))
        replaced = self.get_text_range(start, end)
        before = self._lines[top][:left] if top < len(self._lines) else ""
        after = self._lines[bottom][right:] if bottom < len(self._lines) else ""
        *inserted, last = split_lines(before + text)
        self._lines[top : bottom + 1] = [*inserted, last + after]
        return EditResult((top + len(inserted), len(last)), replaced)
