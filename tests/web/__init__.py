"""The HTTP service for terminals, over real sockets."""
