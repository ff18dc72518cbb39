"""The cuda backend: laid-out program -> CUDA C++ -> PTX -> cubin -> SASS."""
