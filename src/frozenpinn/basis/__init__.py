"""The frozen network: hidden layer, boundary-compliant layer, SVD layer. Knows nothing of PDEs."""
