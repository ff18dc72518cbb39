"""A Triton-style kernel compiler whose every stage can be looked at."""
