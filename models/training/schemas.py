"""How a tool is declared. The same tool is written in many styles, because every library writes its own."""

from __future__ import annotations

from typing import Any

from source import Source

DIALECTS = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"]


def declare(
    source: Source, name: str, description: str | None, properties: dict[str, Any], required: list[str]
) -> dict[str, Any]:
    function: dict[str, Any] = {"name": name}
    if description is not None:
        function["description"] = description
    function["parameters"] = parameters(source, properties, required)
    if description is not None and source.chance(0.04):
        function = {"description": description, "name": name, "parameters": function["parameters"]}
    return {"type": "function", "function": function}


def parameters(source: Source, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if not required and source.chance(0.5):
        del schema["required"]
    style = source.random.random()
    if style < 0.55:
        return schema
    if style < 0.72:
        return {**schema, "additionalProperties": False}
    if style < 0.82:
        return {"$schema": source.choose(DIALECTS), **schema, "additionalProperties": False}
    if style < 0.88:
        return {**schema, "additionalProperties": False, "$schema": source.choose(DIALECTS)}
    if style < 0.94:
        return {key: schema[key] for key in ("properties", "required", "type") if key in schema}
    # the style of pydantic: a title on everything
    titled = {
        key: {**value, "title": key.replace("_", " ").title()} if "type" in value else value
        for key, value in properties.items()
    }
    return {**schema, "properties": titled, "title": source.choose(["Parameters", "Input", "Arguments"])}
