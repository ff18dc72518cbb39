"""Launching again what was launched before: by code in Python made for the form of the call, or the same in C."""
