"""A small Discord: gateway and REST in a process of their own, everything kept on disk."""
