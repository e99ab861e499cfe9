"""Accounts: who may use the bot, how much, and from which terminal."""
