"""The GPU side: HTTP service, queue, engines, ncu command, export, manifest."""
