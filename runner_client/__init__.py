"""What a bot and a runner say to each other, and the one client that talks to a runner."""
