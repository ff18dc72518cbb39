"""Where Triton keeps `TensorDescriptor`, so that `from mytriton.tools.tensor_descriptor import ...` works."""
