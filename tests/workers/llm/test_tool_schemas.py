"""Tools' schemas for providers that take a subset."""

from typing import Any

import pytest

from shared.tools.registry import tools_for
from workers.llm.tool_schemas import plain, rooted

# Google's documented fields of a Schema.
ALLOWED = {
    *("type", "format", "title", "description", "nullable", "enum", "items", "properties"),
    *("required", "anyOf", "minItems", "maxItems", "minLength", "maxLength", "pattern"),
    *("minimum", "maximum", "minProperties", "maxProperties"),
}


def keywords(schema: dict[str, Any]) -> set[str]:
    found = set(schema)
    for inner in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        found |= keywords(inner)
    return found | (keywords(schema["items"]) if "items" in schema else set())


def test_every_tool_of_ours_is_described_in_the_subset() -> None:
    schemas = [tool.schema() for tool in tools_for("tenant")]
    assert len(schemas) > 5
    for schema in schemas:
        cut = plain(schema)
        assert keywords(cut) <= ALLOWED
        assert cut.get("properties", {}).keys() == schema["properties"].keys()
        assert cut.get("required", []) == schema.get("required", [])


@pytest.mark.parametrize(
    ("given", "cut"),
    [
        ({"type": "string", "format": "uuid", "default": "x"}, {"type": "string"}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "d"},
            {"type": "integer", "description": "d", "nullable": True},
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "string"}]},
            {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        ),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"type": "integer", "enum": [1, 2], "exclusiveMinimum": 0}, {"type": "integer"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
        (
            {"type": "object", "properties": {"a": True}, "required": ["a", "b"]},
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
        ),
        (
            {"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}]},
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
        ),
    ],
)
def test_what_is_outside_of_the_subset_is_said_inside_of_it_or_dropped(
    given: dict[str, Any], cut: dict[str, Any]
) -> None:
    assert plain(given) == cut


def test_references_are_put_in_place_and_end_where_they_go_in_circles() -> None:
    tree = {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"$ref": "#/$defs/Name", "description": "d"},
                    "inner": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            },
            "Name": {"type": "string", "maxLength": 5},
        },
    }
    assert plain(tree) == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 5, "description": "d"},
            "inner": {"type": "array", "items": {"type": "object"}},
        },
    }


def test_elsewhere_a_schema_stays_as_it_is_but_is_an_object() -> None:
    assert rooted({}) == {"type": "object", "properties": {}}
    schema = {
        "type": "object",
        "properties": {"a": {"format": "uuid"}},
        "additionalProperties": False,
    }
    assert rooted(schema) == schema
