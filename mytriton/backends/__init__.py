"""The backends: each turns optimized SSA into stages of its own, and may load the result for launching."""
