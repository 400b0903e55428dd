"""The hook through which Litestar reads JSON bodies: strictly, and as the type that the OpenAPI shows.

Litestar's own reading coerces, forgets repeated names and answers some broken bodies with 500, so it is given a data
transfer object that reads for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from litestar.dto import AbstractDTO
from litestar.openapi.spec import Reference, Schema
from litestar.typing import FieldDefinition

from awareness_core.errors import ValidationFailed
from awareness_http.strict_json import parse_json
from awareness_http.typed_reader import Taken, take

if TYPE_CHECKING:
    from collections.abc import Generator

    from litestar._openapi.schema_generation import SchemaCreator  # named by the method that is overridden
    from litestar.dto.data_structures import DTOFieldDefinition


class JsonBody(AbstractDTO[Any]):
    """Reads a body as `shape`, and makes of it what the route takes. Subclassed by `json_body`."""

    shape: ClassVar[type]
    may_be_absent: ClassVar[bool]

    @staticmethod
    def make(taken: Taken) -> object:
        """What the route takes. Raises `ValidationFailed` when something was wrong."""
        raise NotImplementedError

    def decode_bytes(self, value: bytes) -> object:
        """What the route takes. Raises `ValidationFailed` with every fault."""
        if self.may_be_absent and not value.strip():
            return self.make(take(self.shape, {}))
        return self.make(take(self.shape, parse_json(value)))

    @classmethod
    def create_for_field_definition(cls, *_args: object, **_keywords: object) -> None:
        """Nothing to prepare: no code is generated for this type."""

    @classmethod
    def create_openapi_schema(
        cls,
        field_definition: FieldDefinition,  # noqa: ARG003 (Litestar's hook)
        handler_id: str,  # noqa: ARG003
        schema_creator: SchemaCreator,
    ) -> Reference | Schema:
        """The schema of `shape`, whatever the route makes of it."""
        return schema_creator.for_field_definition(FieldDefinition.from_annotation(cls.shape))

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Generator[DTOFieldDefinition, None, None]:  # noqa: ARG003
        """None: fields are the reader's business."""
        yield from ()

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:  # noqa: ARG003
        """Never asked, as no code is generated."""
        return False


def json_body(
    shape: type, *, make: Callable[[Taken], object] | None = None, may_be_absent: bool = False
) -> type[JsonBody]:
    """A `JsonBody` for an attrs class. `make` turns what was read into what the route takes: by default a `shape`."""

    def whole(taken: Taken) -> object:
        if taken.faults:
            raise ValidationFailed(taken.faults)
        return shape(**taken.fields)

    members = {"shape": shape, "make": staticmethod(make or whole), "may_be_absent": may_be_absent}
    return type(f"{shape.__name__}Json", (JsonBody,), members)
