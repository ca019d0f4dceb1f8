"""Tool calls that do not go well, and what the model does then.

A passing failure: the same call again, once. A failure that will stay: say so. A call that was wrong: make it right.
"""

from __future__ import annotations

from conversation import Assistant, Call, ToolResults, Turn
from source import Source

PASSING = [
    "Error: timeout",
    "Error: service unavailable",
    "Error: connection reset",
    "Error: too many requests",
    "Error: temporary failure",
    "Error: timed out after 10 seconds",
    "Error: the service is busy, try again",
    "Error: network error",
    "Error: 503 Service Unavailable",
    "Error: 429 Too Many Requests",
    "Error: rate limit reached, please retry",
    "Error: temporarily unavailable",
    "Error: connection refused",
    "Error: the server did not answer in time",
    "TimeoutError: timed out",
    "Error: internal server error, please try again",
    "Error: request timed out",
    '{"error": "timeout"}',
    '{"error": "service unavailable, try again"}',
    "Error: server overloaded",
]

LASTING = [
    "not found",
    "access denied",
    "permission denied",
    "no such {word}",
    "unknown {word}",
    "the {word} does not exist",
    "not allowed",
    "{word} not found",
    "the account is closed",
    "quota exceeded for this month",
    "invalid {word}",
    "out of stock",
    "the {word} is locked",
    "no results",
    "unauthorised",
    "forbidden",
    "not supported",
    "the {word} has expired",
    "already exists",
    "disk full",
]


def calls(
    source: Source, thought: str, made: tuple[Call, ...], results: tuple[str, ...], likelihood: float = 0.05
) -> tuple[list[Turn], bool]:
    """-> (the turns up to and with the tool results, whether it ended in a failure that was already answered)"""
    kind = source.random.random() / likelihood if likelihood else 1
    right: list[Turn] = [Assistant(thought, calls=made), ToolResults(results)]
    if len(made) > 1 or kind >= 1:
        return right, False
    if kind < 0.5:
        return [
            Assistant(thought, calls=made),
            ToolResults((source.choose(PASSING),)),
            Assistant("The call failed. I will try again.", calls=made),
            ToolResults(results),
        ], False
    if kind < 0.6:
        first, second = source.choose(PASSING), source.choose(PASSING)
        reason = stated(second)
        return [
            Assistant(thought, calls=made),
            ToolResults((first,)),
            Assistant("The call failed. I will try again.", calls=made),
            ToolResults((second,)),
            Assistant("It failed again.", f"Sorry, {made[0].name} does not work now: {reason}."),
        ], True
    return [
        *mistake(source, thought, made[0]),
        Assistant("My call was wrong. I will correct it.", calls=made),
        ToolResults(results),
    ], False


def lasting(source: Source, thought: str, call: Call) -> list[Turn]:
    reason = source.choose(LASTING).format(word=source.plain_word())
    shown = source.choose(["Error: {r}", "Error: {r}", "Error: {r}.", '{{"error": "{r}"}}', "Failed: {r}"]).format(
        r=reason
    )
    return [
        Assistant(thought, calls=(call,)),
        ToolResults((shown,)),
        Assistant("The tool returned an error.", f"{call.name} failed: {reason}."),
    ]


def stated(shown: str) -> str:
    if shown.startswith("{"):
        return shown.split('"')[3]
    return shown.split(": ", 1)[1]


def mistake(source: Source, thought: str, call: Call) -> list[Turn]:
    """A wrong call as the history shows it, and the error it gets. Sometimes the call was right all the same."""
    kind = source.random.random()
    wrong, argument = call, next(iter(call.arguments), "input")
    listed = source.choose([f" Available tools: {call.name}", f". Available: {call.name}", "", "."])
    if kind < 0.35:
        name = source.choose(
            [
                call.name[:-1] or "x",
                f"{call.name}s",
                source.any_word(),
                f"get_{call.name}",
                call.name.replace("_", "") + "x",
            ]
        )
        wrong = Call(name, call.arguments)
        error = (
            source.choose(
                [
                    "Error: unknown tool {n}",
                    'Error: unknown tool "{n}"',
                    "Unknown tool: {n}",
                    "Error: tool {n} not found",
                    "Error: there is no tool named {n}",
                    'Error: no tool "{n}"',
                ]
            ).format(n=name)
            + listed
        )
    elif kind < 0.65 and call.arguments:
        other = source.choose(["input", "value", "arg", argument + "s", source.any_word()])
        wrong = Call(call.name, {other if key == argument else key: value for key, value in call.arguments.items()})
        error = source.choose(
            [
                "Error: missing required argument {a}",
                "Error: missing argument: {a}",
                "Error: {a} is required",
                'Error: invalid arguments: "{a}" is a required property',
                "Error: '{a}' is a required property",
                "Error: unexpected argument {o}, expected {a}",
                "Error: invalid arguments: {a}: Required",
            ]
        ).format(a=argument, o=other)
    else:
        error = source.choose(
            [
                "Error: invalid JSON in the tool call",
                "Error: the tool call was malformed",
                "Error: could not parse the tool call",
                "Error: malformed tool call",
                "Error: invalid JSON",
                "Error: the arguments are not valid JSON",
                "Error: tool call is not valid JSON: Expecting value",
                "Error: the call could not be read. Write it again.",
                "Error: malformed arguments",
            ]
        )
    return [Assistant(thought, calls=(wrong,), trained=False), ToolResults((error,))]
