"""Which thread owns which elements: layouts, their choice, and the laid-out program that the GPU emitters print."""
