"""Textual widgets. They show what the session holds and post messages; they never compile or touch files."""
