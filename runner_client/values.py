"""What every value on the wire is made of."""

from typing import Annotated

from msgspec import Meta, Struct

Text = Annotated[str, Meta(max_length=8_192)]
ShortText = Annotated[str, Meta(max_length=1_024)]
Index = Annotated[int, Meta(ge=0, le=9_999)]
Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class Value(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every value on the wire."""
