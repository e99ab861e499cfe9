"""SQLAlchemy models, sessions and artifact files. Nothing else in the bot knows the database."""
