/** Python source of mock tools. It behaves as lib/tools/mock-reply.ts does, which a test verifies. It needs json and re. */
export const MOCKED = `
LONGEST_REPLY = 200_000
MISSING = object()


def mocked(mock, value, number):
    """Return the reply of a mock tool to its call \`number\`, from 1."""
    failure = mock.get("failure")
    if failure and (
        failure["kind"] == "always"
        or (failure["kind"] == "calls" and number in failure["calls"])
        or (failure["kind"] == "every" and number % failure["nth"] == 0)
    ):
        raise ValueError(failure["error"])
    reply = mock["reply"]
    return reply["text"] if reply["kind"] == "canned" else filled(reply["template"], value)


def filled(template, value):
    """Fill a templated reply: {{name}} and {{a.b.0}} are arguments, {{.}} is all of them."""

    def inserted(place):
        path = place[1].strip()
        found = value
        for name in [] if path == "." else path.split("."):
            found = member(found, name)
        if found is MISSING:
            return f"[missing: {path}]"
        return found if isinstance(found, str) else json_text(found)

    text = re.sub(r"\\{\\{([^{}]*)\\}\\}", inserted, template)
    return text if len(text) <= LONGEST_REPLY else f"{text[:LONGEST_REPLY]}[cut after {LONGEST_REPLY} characters]"


def member(value, name):
    if isinstance(value, dict):
        return value.get(name, MISSING)
    if isinstance(value, list) and name in map(str, range(len(value))):
        return value[int(name)]
    return MISSING


def json_text(value):
    """Return JSON as JavaScript writes it: without spaces, and 2.0 as 2."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{json_text(name)}:{json_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        value = int(value)
    return json.dumps(value, ensure_ascii=False)

`
