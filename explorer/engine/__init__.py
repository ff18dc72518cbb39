"""The child processes that compile and run kernels, and the client that owns them. Nothing in here imports Textual."""
