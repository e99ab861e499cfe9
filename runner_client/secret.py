"""A secret that does not show itself in a log, a repr or an error."""


class Secret:
    """Holds a token; only `reveal` gives it out."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        if not text or any(character.isspace() for character in text):
            raise ValueError("expected a secret without white space")
        self._text = text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.reveal() == self._text

    def __hash__(self) -> int:
        return hash(self._text)

    def reveal(self) -> str:
        """Return the text itself."""
        return self._text
