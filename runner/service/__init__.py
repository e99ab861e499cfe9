"""The HTTP side: routes, authentication, TLS."""
