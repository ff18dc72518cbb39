"""Named arrangements of the panes."""

PRESETS = {"default": None, "learn": None, "lower": None, "check": None}
