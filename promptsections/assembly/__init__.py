"""Context for a call, assembled from slots: purposes, sources, formatters, and a gateway."""
