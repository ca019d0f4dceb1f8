"""What continue_final_message is tried with: the last message stays open, or transformers says why it cannot."""

QUESTION = {"role": "user", "content": "Write a poem."}


def reply(**fields):
    return {"role": "assistant", **fields}


def case(last, field=True, *before, **more):
    return {"messages": [QUESTION, *before, last], "continue": field, "prompt": False, "tools": None, "options": {}, **more}


CASES = {
    "text": case(reply(content="Roses are")),
    "text with blanks around": case(reply(content="\n  Roses are \n\n")),
    "text that ends with the tag's space": case(reply(content="Roses are ")),
    "empty text": case(reply(content="")),
    "text with the tag in it": case(reply(content="CONTINUE_FINAL_MESSAGE_TAG and CONTINUE_FINAL_MESSAGE_TAG more")),
    "letters": case(reply(content="é😀 \u2028naïve\u00a0")),
    "later turn": case(reply(content="Violets"), True, reply(content="Roses are red."), {"role": "user", "content": "Go on"}),
    "question": case({"role": "user", "content": "And then"}, True, reply(content="Roses")),
    "thinking inside": case(reply(content="<think>\nWell\n</think>\n\nRoses")),
    "open thinking": case(reply(content="<think>\nWell")),
    "reasoning beside": case(reply(content="Roses", reasoning_content="Flowers.")),
    "reasoning continued": case(reply(content="", reasoning_content="Flowers rhyme"), "reasoning_content"),
    "reasoning under another name": case(reply(content="Roses", reasoning="Flowers rhyme"), "reasoning"),
    "thinking continued": case(reply(content="Roses", thinking="Flowers rhyme"), "thinking"),
    "role continued": case(reply(content="Roses"), "role"),
    "tool result": case({"role": "tool", "tool_call_id": "call_00001", "content": "3.0, and"}, True, reply(content="", tool_calls=[{"id": "call_00001", "type": "function", "function": {"name": "add", "arguments": {"a": 1.0}}}])),
    "reply with a call": case(reply(content="I add", tool_calls=[{"id": "call_00001", "type": "function", "function": {"name": "add", "arguments": {"a": 1.0}}}])),
    "blocks": case(reply(content=[{"type": "text", "text": "Roses"}, {"type": "text", "text": "are "}, {"type": "image"}])),
    "no tools in a list": case(reply(content="Roses"), tools=[]),
    "false": case(reply(content="Roses"), False),
    "empty name": case(reply(content="Roses"), ""),
    "one": case(reply(content="Roses"), 1),
    "with a generation prompt": case(reply(content="Roses"), prompt=True),
    "no content": case(reply(tool_calls=[])),
    "content is null": case(reply(content=None)),
    "field that is not there": case(reply(content="Roses"), "reasoning_content"),
    "field that the template does not read": case(reply(content="Roses", notes="Flowers"), "notes"),
    "number": case(reply(content=5)),
    "dict": case(reply(content={"text": "Roses"})),
    "blocks without text": case(reply(content=[{"type": "image"}])),
    "blocks that are texts": case(reply(content=["no", "text"])),
    "blocks that are numbers": case(reply(content=[1])),
    "block whose text is a number": case(reply(content=[{"type": "text", "text": 1.0}])),
    "block whose text is a list": case(reply(content=[{"type": "text", "text": ["a"]}])),
    "no blocks": case(reply(content=[])),
    "documents that are texts": case(reply(content="Roses"), options={"documents": ["a"]}),
    "documents that are a number": case(reply(content="Roses"), options={"documents": 1}),
}
