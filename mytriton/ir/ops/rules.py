"""What type rules are made of."""

from __future__ import annotations

from mytriton.ir.core import TypeRuleError


def require(condition: bool, message: str, *args: object) -> None:
    # The message is put together only if it is needed: rules run for every operation, after every pass.
    if not condition:
        raise TypeRuleError(message.format(*args))
