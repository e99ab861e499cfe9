"""The HTTP service that popcorn-cli speaks to, over the same job service as Discord."""
