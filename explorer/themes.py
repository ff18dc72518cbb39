"""The colour themes. Each is a few colours to start from: what text, rows of a diff and dialogs look like is derived
from them, so that every text has the contrast its theme promises on every background it can stand on."""

from __future__ import annotations

from rich.color import ColorSystem
from textual.color import Color
from textual.theme import Theme

from explorer.model.theme_names import TERMINAL
from mytriton.records import dataclass

#: WCAG's least contrast of text (AA), and that of the high-contrast themes (AAA).
READABLE, HIGH = 4.5, 7.0


@dataclass(frozen=True, slots=True)
class Seeds:
    """What a theme is derived from: the backgrounds (`surface` of lines, `panel` of headings, `focus` of the heading in
    focus), the text, and six hues. `tint` is how much of a hue a row of a diff has."""

    background: str
    surface: str
    panel: str
    focus: str
    foreground: str
    keyword: str
    name: str
    function: str
    number: str
    good: str
    bad: str
    dark: bool
    contrast: float
    tint: float

    def backgrounds(self, few: bool = False) -> dict[str, Color]:
        """Every background that text can stand on, by theme variable; for a terminal of `few` colours (256)."""
        ground = Color.parse(self.background)

        def row(hue: str) -> Color:
            tinted = ground.blend(Color.parse(hue), self.tint)
            # The nearest of the 256 to a dark or a pale colour is a grey: too little to be seen, but for high contrast.
            return _saturated(Color.parse(hue), self.dark) if few and self.contrast != HIGH else tinted

        return {
            "background": ground,
            "surface": Color.parse(self.surface),
            "panel": Color.parse(self.panel),
            "surface-lighten-2": ground.blend(Color.parse(self.foreground), 0.12),  # the cursor's row
            "success-muted": row(self.good),
            "error-muted": row(self.bad),
            "accent-muted": row(self.function),
            "primary": Color.parse(self.focus),
            "warning-muted": row(self.number),
            "screen-selection-background": row(self.name),
        }

    def texts(self, few: bool = False) -> dict[str, Color]:
        """The colours of text, by theme variable: each as near to its hue as its contrast allows."""
        grounds = self.backgrounds(few)
        muted = Color.parse(self.foreground).blend(Color.parse(self.background), 0.45).hex
        hues = {
            "foreground": self.foreground,
            "foreground-muted": muted,
            "text-primary": self.keyword,
            "text-secondary": self.name,
            "text-accent": self.function,
            "text-warning": self.number,
            "text-success": self.good,
            "text-error": self.bad,
        }
        return {
            variable: readable(hue, [grounds[name] for name in stands_on(variable)], self.contrast, self.dark, few)
            for variable, hue in hues.items()
        }


def stands_on(text: str) -> tuple[str, ...]:
    """The backgrounds that a colour of text can stand on."""
    lines = ("background", "surface", "panel", "surface-lighten-2", "success-muted", "error-muted", "accent-muted")
    if text == "foreground":
        return (*lines, "primary", "warning-muted", "screen-selection-background")
    return (*lines, "primary") if text in ("text-warning", "text-error") else lines


def luminance(colour: Color) -> float:
    """Relative luminance, as WCAG defines it."""

    def linear(part: int) -> float:
        value = part / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)


def contrast(one: Color, other: Color) -> float:
    """The contrast ratio of two colours, as WCAG defines it: 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def nearest(colour: Color) -> Color:
    """The one of the 256 colours that a terminal which has no others shows."""
    red, green, blue = colour.rich_color.downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
    return Color(red, green, blue)


def _saturated(hue: Color, dark: bool) -> Color:
    """The darkest colour of a hue that the 256 have, or the palest."""
    low, high = (0, 0x5F) if dark else (0xD7, 0xFF)
    middle = (min(hue.rgb) + max(hue.rgb)) / 2
    red, green, blue = (high if part >= middle else low for part in hue.rgb)
    return Color(red, green, blue)


def readable(hue: str, backgrounds: list[Color], least: float, dark: bool, few: bool = False) -> Color:
    """The colour `hue`, made lighter (on `dark` backgrounds, else darker) until it has the contrast on each of them, as
    it is seen."""
    colour, pole = Color.parse(hue), Color.parse("#ffffff" if dark else "#000000")

    def seen(shown: Color) -> Color:
        return nearest(shown) if few else shown

    grounds = [seen(background) for background in backgrounds]
    steps = (colour.blend(pole, step / 20) for step in range(21))
    return next((step for step in steps if all(contrast(seen(step), ground) >= least for ground in grounds)), pole)


def seeds(grounds: str, hues: str, dark: bool = True, contrast: float = READABLE, tint: float = 0.22) -> Seeds:
    """Seeds from hexadecimal colours: background, surface, panel, focus and text, then the hues in their order."""
    background, surface, panel, focus, foreground = (f"#{colour}" for colour in grounds.split())
    keyword, name, function, number, good, bad = (f"#{colour}" for colour in hues.split())
    return Seeds(
        background=background,
        surface=surface,
        panel=panel,
        focus=focus,
        foreground=foreground,
        keyword=keyword,
        name=name,
        function=function,
        number=number,
        good=good,
        bad=bad,
        dark=dark,
        contrast=contrast,
        tint=tint,
    )


SEEDS = {
    # Neutral greys: they stay apart in 256 colours, which is what most get through ssh.
    "dark": seeds(
        "161616 1e1e1e 2a2a2a 26496b d8d8d8",
        "7ab4f5 6fcfd0 d3a6e8 e8b96a 8fcf7c f28b82",
    ),
    "light": seeds(
        "ffffff f4f4f4 e6e6e6 bcd8f2 202020",
        "0a4fa8 00696b 7b2d9b 8a5200 1f6f1f b3261e",
        dark=False,
        tint=0.14,
    ),
    "contrast-dark": seeds(
        "000000 000000 1c1c1c 003a6e ffffff",
        "9fd0ff 8ff0f0 f0b8ff ffd75f 9dff8a ffa8a0",
        contrast=HIGH,
        tint=0.18,
    ),
    "contrast-light": seeds(
        "ffffff ffffff eeeeee c5e0ff 000000",
        "00347a 00454a 56106e 5c3300 0b450b 7d0f0a",
        dark=False,
        contrast=HIGH,
        tint=0.12,
    ),
    # Good is blue and bad is orange: red and green look alike to one man in twelve. The hues are Okabe and Ito's.
    "colour-blind-dark": seeds(
        "161616 1e1e1e 2a2a2a 454545 d8d8d8",
        "ffffff a9d6f5 cc79a7 f0e442 56b4e9 e69f00",
        tint=0.3,
    ),
    "colour-blind-light": seeds(
        "ffffff f4f4f4 e6e6e6 d0d0d0 202020",
        "000000 00507d 8a3d68 6b6000 0060a8 a84800",
        dark=False,
        tint=0.27,
    ),
}


def _theme(name: str, seeds: Seeds, few: bool) -> Theme:
    texts = {variable: colour.hex for variable, colour in seeds.texts(few).items()}
    backgrounds = {variable: colour.hex for variable, colour in seeds.backgrounds(few).items()}
    text, focus = texts["foreground"], backgrounds["primary"]
    # What Textual's own widgets take.
    widgets = {
        "text": text,
        "text-muted": texts["foreground-muted"],
        "text-disabled": texts["foreground-muted"],
        "foreground-disabled": texts["foreground-muted"],
        "block-cursor-foreground": text,
        "block-cursor-background": focus,
        "block-cursor-blurred-foreground": text,
        "block-cursor-blurred-background": focus,
        "input-selection-background": focus,
        "input-selection-foreground": text,
        "screen-selection-foreground": text,
        "button-foreground": text,
        "button-color-foreground": text,
        "border": texts["text-primary"],
        "scrollbar": texts["foreground-muted"],
        "panel-darken-1": backgrounds["panel"],
    }
    return Theme(
        name=name,
        primary=focus,
        secondary=texts["text-secondary"],
        warning=texts["text-warning"],
        error=texts["text-error"],
        success=texts["text-success"],
        accent=texts["text-accent"],
        foreground=text,
        background=backgrounds["background"],
        surface=backgrounds["surface"],
        panel=backgrounds["panel"],
        dark=seeds.dark,
        variables={**texts, **backgrounds, **widgets},
    )


def _terminal() -> Theme:
    """The terminal's own 16 colours on its own background. Rows and what is in focus are told by underline and reverse
    (the widgets' rules for `:ansi`): which colours can be read on others, only its owner knows."""
    plain = {
        f"block-cursor{blurred}-{part}": value
        for blurred in ("", "-blurred")
        for part, value in (
            ("foreground", "ansi_default"),
            ("background", "ansi_default"),
            ("text-style", "bold underline"),
        )
    }
    return Theme(
        name=TERMINAL,
        ansi=True,
        primary="ansi_default",
        secondary="ansi_cyan",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_green",
        accent="ansi_magenta",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        variables={
            **plain,
            **dict.fromkeys(("foreground-muted", "text-muted", "text-disabled"), "ansi_default"),
            "text-primary": "ansi_blue",
            "border": "ansi_default",
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "scrollbar-background": "ansi_default",
            "input-selection-background": "ansi_default",
            "screen-selection-background": "ansi_default",
        },
    )


def theme(name: str, few: bool = False) -> Theme:
    """A theme by its name, for a terminal that has `few` colours (256) or all."""
    return _theme(name, SEEDS[name], few) if name in SEEDS else _terminal()
