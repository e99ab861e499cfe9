"""A census: every kernel launched in the `custom_kernel` range, counted at native speed."""
