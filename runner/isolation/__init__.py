"""Starting programs in a sandbox, bounding them, and ending all that came of them."""
