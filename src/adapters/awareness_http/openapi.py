"""The OpenAPI document: Litestar's, made from the routes and the wire types, and finished with what it has no word for.

Litestar contributes paths, operations, bodies and answers; the schemas are msgspec's of the same types that bodies are
read by and answers encoded from. Added here: query parameters, the headers of every answer, what a POST may be repeated
by, and that bodies take no unknown field. Nothing is written by hand that a type says.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, License, Reference, Schema, SecurityScheme, Tag
from litestar.plugins import OpenAPISchemaPlugin
from litestar.routes import HTTPRoute
from litestar.typing import FieldDefinition

from awareness_http.bodies import Media
from awareness_http.declarations import AS_CSV, BULK_BODY, EXAMPLES, REFUSALS, SIGNED_BY
from awareness_http.idempotency import IDEMPOTENCY_KEY, KEY_PATTERN, MAX_KEY_LENGTH
from awareness_http.paths import OPERATION, Operation
from awareness_http.wire.refusals import ErrorResponse

if TYPE_CHECKING:
    from litestar._openapi.schema_generation import SchemaCreator  # named by the method that is overridden

VERSION: Final = "1.0.0"
"""Of the interface (reference 9), not of the program."""

LITESTAR_OWN: Final = "/schema"
"""Where Litestar would serve the document itself; the gateway knows no such path."""

_REFERENCE: Final = "#/components/schemas/{name}"
_DESCRIPTION: Final = (
    "Provision employees, invite them, read the results of phishing simulations. Every request below `/api/` needs an "
    "API key, which belongs to one company. 600 requests per 15 minutes and key; every answer says what is left."
)
_TAGS: Final = (
    ("General", "Does a key work, and what may it do."),
    ("Employees", "People of the key's company."),
    ("Results", "What the simulations showed."),
    ("Health", "For orchestrators; without a key."),
)
_HEADERS: Final[Mapping[str, tuple[str, str]]] = {
    "RateLimit-Limit": ("integer", "Requests allowed per window."),
    "RateLimit-Remaining": ("integer", "Requests left in this window."),
    "RateLimit-Reset": ("integer", "Seconds until the window ends."),
    "RateLimit-Policy": ("string", "Limit and window in seconds, such as `600;w=900`."),
    "X-Request-Id": ("string", "Yours if you sent one, else a new one; the log has it too."),
    "Idempotency-Replayed": ("string", "`true` when an earlier answer is given again."),
    "Retry-After": ("integer", "Seconds to wait before the next try."),
    "WWW-Authenticate": ("string", "The scheme to authenticate with: `Bearer`, or `HMAC` for a webhook."),
}
_ON_EVERY_ANSWER: Final = tuple(_HEADERS)[:5]
_ON_STATUS: Final[Mapping[str, str]] = {
    "401": "WWW-Authenticate",
    "409": "Retry-After",
    "429": "Retry-After",
    "503": "Retry-After",
}

_NOT_ON_EACH: Final = frozenset({"Idempotency-Replayed", "Retry-After"})
_REPEATABLE: Final = (409, 422)
"""How a request with an `Idempotency-Key` may be refused for it, beside 400."""

_IDEMPOTENCY_KEY: Final[Mapping[str, Any]] = {
    "name": IDEMPOTENCY_KEY,
    "in": "header",
    "required": False,
    "description": "A name of your own for this request. Sent again with the same key, body and query, it is not "
    "carried out again: for 24 hours it is answered as the first time, with `Idempotency-Replayed: true`.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_KEY_LENGTH, "pattern": KEY_PATTERN},
}


class WireSchemas(OpenAPISchemaPlugin):
    """Refers to wire types by name, and remembers them, so that `describe` can put their schemas in."""

    def __init__(self) -> None:
        self.kinds: dict[str, type] = {}

    def is_plugin_supported_field(self, field_definition: FieldDefinition) -> bool:
        """Whether it is a wire type."""
        return isinstance(field_definition.annotation, type) and attrs.has(field_definition.annotation)

    def to_openapi_schema(  # type: ignore[override]  # the caller takes references too
        self,
        field_definition: FieldDefinition,
        schema_creator: SchemaCreator,  # noqa: ARG002 (the protocol's)
    ) -> Schema | Reference:
        """The reference to it."""
        kind: type = field_definition.annotation
        self.kinds[kind.__name__] = kind
        return Reference(_REFERENCE.format(name=kind.__name__))


def openapi_config() -> OpenAPIConfig:
    """What Litestar is to say of the whole."""
    return OpenAPIConfig(
        title="Employee Provisioning and Security Awareness Results API",
        version=VERSION,
        description=_DESCRIPTION,
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        path=LITESTAR_OWN,
        tags=[Tag(name=name, description=meaning) for name, meaning in _TAGS],
        security=[{"bearer": []}, {"apiKey": []}],
        use_handler_docstrings=True,
        components=Components(
            security_schemes={
                "bearer": SecurityScheme(type="http", scheme="bearer", description="The API key."),
                "apiKey": SecurityScheme(
                    type="apiKey", name="x-api-key", security_scheme_in="header", description="The same key."
                ),
            }
        ),
    )


def describe(app: Litestar) -> bytes:
    """The finished document of that application, as JSON."""
    document: dict[str, Any] = app.openapi_schema.to_schema()
    components = _components(app.plugins.get(WireSchemas).kinds | _bulk_kinds(app))
    refusals: dict[str, Any] = {}
    for path, operation, handler in _operations(app, document):
        declared: Operation = handler.opt.get(OPERATION, Operation())
        operation["parameters"] = [*operation.get("parameters", ()), *_parameters(declared.query)]
        if _is_repeatable(path, handler):
            operation["parameters"].append(_IDEMPOTENCY_KEY)
            operation["responses"]["200"]["headers"] = {
                "Idempotency-Replayed": _header("Idempotency-Replayed")
            }
            for status in _REPEATABLE:
                operation["responses"].setdefault(str(status), _refusal(status))
        operation["responses"] = {
            status: _shared(status, answer, refusals) for status, answer in operation["responses"].items()
        }
        answer, bodies = handler.opt.get(EXAMPLES, (None, {}))
        if answer is not None:
            _content(operation["responses"]["200"])["example"] = msgspec.to_builtins(answer)
        if handler.opt.get(AS_CSV):
            operation["responses"]["200"]["content"]["text/csv"] = {"schema": {"type": "string"}}
        signature = handler.opt.get(SIGNED_BY)
        if signature is not None:
            _describe_signed(operation, signature)
            continue
        bulk = handler.opt.get(BULK_BODY)
        if bulk is not None:
            operation["requestBody"] = _bulk_body(bulk, declared.media)
        if "requestBody" in operation:
            _finish_body(operation["requestBody"], components, bodies)
    document["components"] |= {
        "schemas": components,
        "responses": refusals,
        "headers": {
            name: {"description": meaning, "required": name not in _NOT_ON_EACH, "schema": {"type": kind}}
            for name, (kind, meaning) in _HEADERS.items()
        },
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


def _operations(
    app: Litestar, document: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any], HTTPRouteHandler]]:
    """Each operation of the document with its path and the handler that it describes."""
    for route in app.routes:
        if isinstance(route, HTTPRoute) and route.path_format in document["paths"]:
            for method, (handler, _) in route.route_handler_map.items():
                operation = document["paths"][route.path_format].get(str(method).lower())
                if operation is not None:
                    yield route.path_format, operation, handler


def _bulk_kinds(app: Litestar) -> dict[str, type]:
    kinds = [
        handler.opt[BULK_BODY]
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler, _ in route.route_handler_map.values()
        if handler.opt.get(BULK_BODY) is not None
    ]
    return {kind.__name__: kind for kind in kinds}


def _bulk_body(kind: type, media: Sequence[Media]) -> dict[str, Any]:
    json, lines = (accepted.name for accepted in media)
    return {
        "content": {
            json: {"schema": {"$ref": _REFERENCE.format(name=kind.__name__)}},
            lines: {"schema": {"type": "string", "description": inspect.getdoc(kind)}},
        },
    }


def _describe_signed(operation: dict[str, Any], header: str) -> None:
    schema = {"type": "string", "pattern": "^sha256=[0-9a-fA-F]{64}$"}
    meaning = "`sha256=` and the HMAC-SHA256 of the body under the webhook's secret, in hexadecimal."
    operation["parameters"].append(
        {"name": header, "in": "header", "required": True, "description": meaning, "schema": schema}
    )
    body = {"type": "object", "description": "As the tool sends it."}
    operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}


def _shared(status: str, answer: dict[str, Any], refusals: dict[str, Any]) -> dict[str, Any]:
    """`answer` with its headers; a refusal, which looks the same everywhere, as a reference to the only one."""
    names = [*_ON_EVERY_ANSWER, *([_ON_STATUS[status]] if status in _ON_STATUS else ())]
    answer["headers"] = {name: _header(name) for name in names} | answer.get("headers", {})
    if _content(answer)["schema"].get("$ref") != _REFERENCE.format(name=ErrorResponse.__name__):
        return answer
    refusals[f"Refusal{status}"] = answer
    return {"$ref": f"#/components/responses/Refusal{status}"}


def _header(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/headers/{name}"}


def _is_repeatable(path: str, handler: HTTPRouteHandler) -> bool:
    is_signed = handler.opt.get(SIGNED_BY) is not None
    return path.startswith("/api/") and "POST" in handler.http_methods and not is_signed


def _refusal(status: int) -> dict[str, Any]:
    schema = {"$ref": _REFERENCE.format(name=ErrorResponse.__name__)}
    return {"description": REFUSALS[status], "content": {"application/json": {"schema": schema}}}


def _content(answer: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = answer["content"]["application/json"]
    return content


def _parameters(query: type) -> list[dict[str, Any]]:
    components = msgspec.json.schema_components((query,), ref_template=_REFERENCE)[1]
    properties = components[query.__name__].get("properties", {})
    return [_parameter(name, dict(schema), components) for name, schema in properties.items()]


def _parameter(name: str, schema: dict[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    description = schema.pop("description", None)
    reference = schema.pop("$ref", None)
    if reference is not None:
        known = components[reference.rpartition("/")[2]]
        description = description or known["description"]
        schema |= {"type": "string", "enum": known["enum"]}
    parameter = {"name": name, "in": "query", "required": False, "schema": schema}
    return parameter if description is None else {**parameter, "description": description}


def _components(kinds: Mapping[str, type]) -> dict[str, Any]:
    components = msgspec.json.schema_components(tuple(kinds.values()), ref_template=_REFERENCE)[1]
    for schema in components.values():
        if "enum" in schema:
            # Their docstrings speak to who reads the code.
            schema.pop("description", None)
            schema["type"] = "string"
        elif "description" in schema:
            schema["description"] = inspect.cleandoc(schema["description"])
    return dict(sorted(components.items()))


def _finish_body(body: dict[str, Any], components: dict[str, Any], examples: Mapping[str, object]) -> None:
    content = _content(body)
    schema = components[content["schema"]["$ref"].rpartition("/")[2]]
    schema["additionalProperties"] = False
    # A body of which every field may be absent may be absent itself.
    body["required"] = bool(schema.get("required"))
    if examples:
        content["examples"] = {name: {"value": _as_sent(example)} for name, example in examples.items()}


def _as_sent(example: object) -> object:
    """An example without the fields that only say what they would say by being absent."""
    built: dict[str, object] = msgspec.to_builtins(example)
    return {name: value for name, value in built.items() if value is not False or name == "active"}
