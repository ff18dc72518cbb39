"""Python source to statements and expression trees, and from there to typed SSA."""
