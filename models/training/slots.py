"""What a tool's argument can be: its names, its schema, values for it, and how people say such a value in a sentence.

"in Paris" goes to an argument called city, "for 3 nights" to one called nights: this table is what the model can learn
about argument names. Arguments with invented names are always named in the question.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numerals
import words
from atoms import (
    anything,
    city,
    clock_time,
    date,
    decimal,
    email,
    identifier,
    path,
    person,
    place_name,
    query,
    quoted,
    sentence,
    statement,
    thing,
    title,
    url,
)
from source import Source


@dataclass(frozen=True)
class Slot:
    names: tuple[str, ...]
    schema: dict[str, Any]
    make: Callable[[Source], Any]
    phrases: tuple[str, ...]
    descriptions: tuple[str, ...] = ()
    quoted: float = 0.0

    @property
    def is_text(self) -> bool:
        return self.schema.get("type") == "string" and "enum" not in self.schema


def text_slot(names: str, make: Callable[[Source], str], phrases: str, descriptions: str, quoted: float = 0.0) -> Slot:
    return Slot(
        tuple(names.split()),
        {"type": "string"},
        make,
        tuple(phrases.split("|")),
        tuple(descriptions.split("|")),
        quoted,
    )


def number_slot(kind: str, names: str, make: Callable[[Source], Any], phrases: str, descriptions: str) -> Slot:
    return Slot(tuple(names.split()), {"type": kind}, make, tuple(phrases.split("|")), tuple(descriptions.split("|")))


TEXT_SLOTS = [
    text_slot(
        "city city location place town",
        city,
        "in {v}|in {v}|for {v}|at {v}",
        "City name|The name of the city|The city|Name of the place, e.g. Paris",
    ),
    text_slot(
        "destination to arrival target_city", city, "to {v}", "Where to go|Destination city|The place to travel to"
    ),
    text_slot(
        "origin from departure source_city", city, "from {v}", "Where to start|Origin city|The place of departure"
    ),
    text_slot(
        "name person user customer owner author guest employee username",
        person,
        "for {v}|of {v}|by {v}|for {v}",
        "Name of the person|The user's name|Full name|Who it is for",
    ),
    text_slot(
        "recipient receiver assignee to",
        person,
        "to {v}|for {v}",
        "Who receives it|The recipient|Name of the recipient",
    ),
    text_slot(
        "email to address recipient mail",
        email,
        "to {v}|to {v}|for {v}",
        "Email address|The e-mail address of the recipient|Where to send it",
    ),
    text_slot(
        "date day due_date start_date deadline when",
        date,
        "on {v}|for {v}|by {v}|on {v}",
        "ISO date, e.g. 2025-01-31|The date|The day|When it takes place",
    ),
    text_slot(
        "time at start_time hour", clock_time, "at {v}|at {v}|for {v}", "Time of day, HH:MM|The time|When to start"
    ),
    text_slot(
        "id key code sku order_id ticket_id reference symbol ticker number account item_id user_id",
        identifier,
        "{v}|{v}|with {a} {v}|for {v}|of {v}|{a} {v}|number {v}",
        "The id|Unique identifier|The code|Id of the entry|The key to look up",
    ),
    text_slot(
        "title name subject label caption",
        title,
        "called {v}|named {v}|titled {v}|with the {a} {v}|with {a} {v}",
        "The title|A short title|Name of the new entry|Subject line",
        0.85,
    ),
    text_slot(
        "text message body content note comment",
        sentence,
        "saying {v}|with the {a} {v}|with {a} {v}|{v}|: {v}",
        "The text|The message to send|Body of the message|Free text",
        0.9,
    ),
    text_slot(
        "query keyword term search topic phrase q",
        query,
        "for {v}|about {v}|on {v}|for {v}",
        "Search terms|What to search for|The query|Keywords",
        0.6,
    ),
    text_slot(
        "language lang target_language target to",
        lambda source: source.choose(words.LANGUAGES),
        "to {v}|into {v}|in {v}",
        "Target language|The language|Language name",
    ),
    text_slot(
        "currency to_currency target_currency",
        lambda source: source.choose(words.CURRENCIES),
        "in {v}|to {v}",
        "Currency code|The currency",
    ),
    text_slot(
        "color colour background",
        lambda source: source.choose(words.COLOURS),
        "in {v}|to {v}|with {a} {v}",
        "The colour|Name of a colour",
    ),
    text_slot(
        "path file filename folder directory file_path",
        path,
        "{v}|at {v}|in {v}|from {v}|{a} {v}",
        "Path of the file|The file|Where the file is",
        0.2,
    ),
    text_slot("url link page site", url, "{v}|from {v}|at {v}", "The URL|Address of the page"),
    text_slot(
        "room device item product category genre brand team department",
        thing,
        "for the {v}|in the {v}|of the {v}|for {v}|{a} {v}",
        "Which one|Name of the room|The item|The category",
    ),
    text_slot(
        "sql command statement code script",
        statement,
        "{v}|{v}|with {v}|: {v}",
        "What to run|The command|SQL statement|The code to run",
        0.85,
    ),
    text_slot(
        "restaurant hotel shop museum station airport venue",
        place_name,
        "at {v}|at the {a} {v}|in the {a} {v}|at {a} {v}|in {v}",
        "Name of the place|Where|The place",
        0.4,
    ),
    text_slot(
        "channel group board list project playlist",
        thing,
        "to the {a} {v}|in the {a} {v}|to {a} {v}|in {a} {v}|on {v}",
        "The channel|Which group|Where it goes",
    ),
    text_slot(
        "value key input data x target label entry",
        anything,
        "{v}|{a} {v}|with {a} {v}|for {v}",
        "The value|The input|Any text",
        0.5,
    ),
]

NUMBER_SLOTS = [
    number_slot(
        "integer",
        "count quantity number n copies times",
        lambda source: source.integer(1, 10 ** source.integer(1, 3)),
        "{v}|{v} times|with {a} {v}|{a} {v}",
        "How many|The number|Number of items",
    ),
    number_slot(
        "integer",
        "guests people seats persons adults passengers",
        lambda source: source.integer(1, 20),
        "for {v} {a}|for {v}|for {v} people|with {v} {a}",
        "Number of people|How many guests",
    ),
    number_slot(
        "integer",
        "limit max_results top max size",
        lambda source: source.integer(1, 200),
        "limit {v}|at most {v}|up to {v}|with a limit of {v}|max {v}",
        "Maximum number of results|How many results",
    ),
    number_slot(
        "integer",
        "nights days hours minutes seconds weeks",
        lambda source: source.integer(1, 60),
        "for {v} {a}|for {v} {a}|{v} {a}",
        "How long|Length of stay|Duration",
    ),
    number_slot(
        "integer",
        "page year port level age volume brightness line floor chapter",
        lambda source: source.integer(1, 10 ** source.integer(1, 4)),
        "{a} {v}|with {a} {v}|at {a} {v}|on {a} {v}",
        "The number|A whole number",
    ),
    number_slot(
        "integer",
        "id order_id ticket_id number index",
        lambda source: source.integer(1, 10 ** source.integer(1, 6)),
        "{v}|number {v}|with {a} {v}|for {v}|{a} {v}",
        "Id of the entry|The number|Numeric id",
    ),
    number_slot(
        "integer",
        "sides percent position score points",
        lambda source: source.integer(1, 100),
        "with {v} {a}|{a} {v}|to {v}",
        "A number|How many",
    ),
    number_slot(
        "number",
        "amount price budget total sum cost",
        lambda source: decimal(source, 1, 10 ** source.integer(1, 4)),
        "of {v}|{v}|for {v}|with {a} {v}",
        "The amount|Amount of money|A number",
    ),
    number_slot(
        "number",
        "temperature degrees level value",
        lambda source: decimal(source, -10, 40, 1),
        "to {v}|to {v} degrees|at {v}|{a} {v}",
        "In degrees|Target temperature|The value to set",
    ),
    number_slot(
        "number",
        "weight height width distance speed rate radius length",
        lambda source: decimal(source, 0, 10 ** source.integer(1, 3)),
        "with {a} {v}|of {v}|{a} {v}",
        "A number|In metres|In kg",
    ),
    number_slot(
        "number",
        "lat lon latitude longitude x y",
        lambda source: decimal(source, -180, 180, 4),
        "{a} {v}|at {a} {v}|with {a} {v}",
        "Coordinate|In degrees",
    ),
]

FLAG_PHRASES = ("{a} {v}", "{a}: {v}", "{a}={v}", "with {a} {v}", "{a} set to {v}", "BARE", "BARE")


def flag_slot(source: Source) -> Slot:
    return Slot(
        (source.choose(words.FLAGS),),
        {"type": "boolean"},
        lambda inner: inner.chance(0.5),
        FLAG_PHRASES,
        ("Whether to do so", "Switch it on", "true or false"),
    )


def enum_slot(source: Source) -> Slot:
    options = (
        source.choose(words.ENUMS)
        if source.chance(0.65)
        else sorted({source.any_word() for _ in range(source.integer(2, 4))})
    )
    names = tuple(
        (
            "priority mode format sort unit size status type level order kind style direction channel period plan "
            "class speed"
        ).split()
    )
    return Slot(
        names,
        {"type": "string", "enum": list(options)},
        lambda inner: inner.choose(options),
        ("{v} {a}", "{a} {v}", "with {a} {v}", "with {v} {a}", "in {v} {a}", "{a} {v}"),
        ("One of the options", "How to do it", "Which kind"),
    )


def list_slot(source: Source) -> Slot:
    maker = source.choose([thing, person, identifier, city, email, "numbers"])
    kind = "integer" if maker == "numbers" else "string"

    def make(inner: Source) -> list[Any]:
        return [
            inner.integer(1, 200) if maker == "numbers" else maker(inner)
            for _ in range(inner.weighted({1: 1, 2: 4, 3: 4, 4: 1}))
        ]

    names = {
        "numbers": "numbers values ids scores pages",
        thing: "tags items labels categories keywords",
        person: "names people attendees members users",
        identifier: "ids keys codes items",
        city: "cities places stops",
        email: "recipients emails to",
    }[maker]
    return Slot(
        tuple(names.split()),
        {"type": "array", "items": {"type": kind}},
        make,
        ("LIST",),
        ("A list", "Several values", "All of them"),
    )


def object_slot(source: Source) -> Slot:
    name, fields = source.choose(
        [
            ("address", "street city zip"),
            ("customer", "name email"),
            ("user", "name age"),
            ("position", "x y"),
            ("range", "from to"),
            ("filter", "field value"),
            ("options", "mode limit"),
            ("size", "width height"),
            ("contact", "name phone"),
            ("payment", "amount currency"),
            ("location", "city country"),
            ("window", "start end"),
            ("sender", "name email"),
            ("point", "lat lon"),
            ("settings", "key value"),
            ("meta", "key value"),
            ("profile", "name age city"),
        ]
    )
    chosen = fields.split() if source.chance(0.75) else sorted({source.choose(words.ARGUMENT_WORDS) for _ in range(2)})
    kinds = {field: NUMERIC_FIELDS.get(field, "string") for field in chosen}
    makers = {
        "string": lambda inner: inner.choose([person, city, thing, identifier])(inner),
        "integer": lambda inner: inner.integer(1, 999),
        "number": lambda inner: decimal(inner, 0, 200),
    }

    def make(inner: Source) -> dict[str, Any]:
        return {field: makers[kind](inner) for field, kind in kinds.items()}

    schema = {
        "type": "object",
        "properties": {field: {"type": kind} for field, kind in kinds.items()},
        "required": list(kinds),
    }
    return Slot((name,), schema, make, ("OBJECT",), (f"The {name}", "Several fields"))


NUMERIC_FIELDS = {
    "age": "integer",
    "x": "number",
    "y": "number",
    "limit": "integer",
    "width": "number",
    "height": "number",
    "amount": "number",
    "lat": "number",
    "lon": "number",
}


def any_slot(source: Source) -> Slot:
    kind = source.weighted({"text": 10, "number": 4.5, "flag": 1.6, "enum": 2.6, "list": 1.1, "object": 0.9})
    if kind == "text":
        return source.choose(TEXT_SLOTS)
    if kind == "number":
        return source.choose(NUMBER_SLOTS)
    return {"flag": flag_slot, "enum": enum_slot, "list": list_slot, "object": object_slot}[kind](source)


# ---- how a value is written in a question


def written(source: Source, slot: Slot, value: Any) -> str:
    """The value as it stands in the question, quoted where people quote."""
    if isinstance(value, bool):
        return source.choose(["true", "true", "on", "yes"]) if value else source.choose(["false", "false", "off", "no"])
    if isinstance(value, (int, float)):
        return (
            numerals.in_words(value)
            if isinstance(value, int) and 1 <= value <= 12 and source.chance(0.06)
            else json.dumps(value)
        )
    if isinstance(value, str):
        if "enum" in slot.schema:
            return value.capitalize() if value.islower() and source.chance(0.06) else value
        quote_it = (
            source.chance(slot.quoted) or (" " in value and slot.quoted and source.chance(0.8)) or source.chance(0.12)
        )
        return quoted(source, value) if quote_it else value
    return json.dumps(value, ensure_ascii=False)


def list_text(source: Source, name: str, values: list[Any]) -> str:
    items = [
        str(value) if not isinstance(value, str) or " " not in value else quoted(source, value) for value in values
    ]
    joined = ", ".join(items[:-1]) + source.choose([" and ", " and ", ", "]) + items[-1] if len(items) > 1 else items[0]
    if source.chance(0.2):
        joined = json.dumps(values, ensure_ascii=False)
    return source.phrase("[{a} {v}|with {a} {v}|with the {a} {v}|{a}: {v}|{a} {v}]", a=name, v=joined)


def object_text(source: Source, name: str, value: dict[str, Any]) -> str:
    if source.chance(0.15):
        return f"{name} {json.dumps(value, ensure_ascii=False)}"
    link = source.choose([" ", " ", "=", ": "])
    fields = [
        f"{key}{link}{field if not isinstance(field, str) or ' ' not in field else quoted(source, field)}"
        for key, field in value.items()
    ]
    joined = ", ".join(fields[:-1]) + source.choose([" and ", ", "]) + fields[-1] if len(fields) > 1 else fields[0]
    return source.phrase("[{a} with {v}|{a} {v}|with {a} {v}|with {a}: {v}|{a} ({v})]", a=name, v=joined)
