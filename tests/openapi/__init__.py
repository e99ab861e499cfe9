"""What the bot sends, held against Discord's own description of its interface."""
