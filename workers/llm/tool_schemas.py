"""Tools' schemas in the subset of JSON Schema that every provider takes.

Gemini refuses keywords outside of its own `Schema` object with status 400: of objects, arrays,
strings and numbers it takes what is listed here; types are single, null is `nullable`, enums
are of strings. What is dropped is still checked when the tool is called.
"""

from typing import Any

_KEPT = (
    "title",
    "description",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "pattern",
)
_FORMATS = ("date-time", "enum", "float", "double", "int32", "int64")
_NULL = {"type": "null"}


def rooted(schema: dict[str, Any]) -> dict[str, Any]:
    """With what OpenAI wants at the root: an object with properties, however few."""
    return {"type": "object", "properties": {}, **schema}


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema in the subset."""
    definitions = schema.get("$defs") or schema.get("definitions") or {}
    return _Plainer(definitions).plain(schema, frozenset())


class _Plainer:
    def __init__(self, definitions: dict[str, Any]) -> None:
        self._definitions = definitions

    def plain(self, schema: Any, within: frozenset[str]) -> dict[str, Any]:
        """`within` names the definitions that this is a part of: one may hold itself."""
        if not isinstance(schema, dict):
            return {"type": "string"}
        schema, within = self._followed(schema, within)
        kept = {name: schema[name] for name in _KEPT if name in schema}
        if schema.get("format") in _FORMATS:
            kept["format"] = schema["format"]
        choices = schema.get("anyOf") or schema.get("oneOf") or []
        branches = [self.plain(choice, within) for choice in choices if choice != _NULL]
        nullable = _NULL in choices
        if len(branches) == 1:
            kept = {**branches[0], **kept}
        elif branches:
            kept["anyOf"] = branches
        else:
            nullable |= self._typed(kept, schema, within)
        if nullable:
            kept["nullable"] = True
        return kept

    def _typed(self, kept: dict[str, Any], schema: dict[str, Any], within: frozenset[str]) -> bool:
        """Add the type and what belongs to it; whether null is among the types."""
        given = schema.get("type")
        types = [given] if isinstance(given, str) else list(given or ())
        values = [schema["const"]] if "const" in schema else schema.get("enum") or []
        fallback = "object" if "properties" in schema else "string"
        kind = kept["type"] = next((name for name in types if name != "null"), fallback)
        if values and kind == "string":
            kept["enum"] = [str(value) for value in values if value is not None]
        if kind == "array":
            kept["items"] = self.plain(schema.get("items"), within)
        properties = schema.get("properties")
        if kind == "object" and isinstance(properties, dict) and properties:
            kept["properties"] = {k: self.plain(v, within) for k, v in properties.items()}
            required = [name for name in schema.get("required", ()) if name in properties]
            if required:
                kept["required"] = required
        return "null" in types or None in values

    def _followed(
        self, schema: dict[str, Any], within: frozenset[str]
    ) -> tuple[dict[str, Any], frozenset[str]]:
        """With what it refers to, or is made of, put in its place."""
        while "$ref" in schema or "allOf" in schema:
            rest = {k: v for k, v in schema.items() if k not in ("$ref", "allOf")}
            name = str(schema.get("$ref", "")).rpartition("/")[2]
            if name in within:
                return {"type": "object"}, within
            parts = [part for part in schema.get("allOf", ()) if isinstance(part, dict)]
            if name:
                parts.append(self._definitions.get(name, {}))
                within |= {name}
            schema = _merged(rest, parts)
        return schema, within


def _merged(schema: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    for part in parts:
        properties = {**part.get("properties", {}), **schema.get("properties", {})}
        required = [*schema.get("required", ()), *part.get("required", ())]
        schema = {**part, **schema}
        if properties:
            schema |= {"properties": properties, "required": required}
    return schema
