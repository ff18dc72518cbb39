"""A session as the bytes of a file, by the kind of file."""

from __future__ import annotations

from explorer.model.session import Session
from explorer.share.record import Made, shared

#: What a session can be written as: the name's end, and what that is.
KINDS = {".html": "HTML report", ".md": "Markdown report", ".mtx": "bundle"}


def exported(session: Session, suffix: str, saved: bool = True, made: Made | None = None) -> bytes:
    """The bytes. `saved` says whether the text is what the file holds, `made` what made the listings, if not we."""
    made = made or Made.here()
    if suffix == ".mtx":
        from explorer.share.bundle import write

        return write(shared(session, saved, made))
    if suffix == ".md":
        from explorer.share.markdown import markdown

        return markdown(session, saved, made).encode(errors="replace")
    from explorer.share.html import page

    return page(session, saved, made).encode(errors="replace")
