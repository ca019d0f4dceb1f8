"""Writes requests and replies of Gemini in foreign/, and gemini.json: what the classes of google-genai read in them.

    pip install google-genai==3.6.1
    python lib/formats/golden/writers/make_gemini.py

Run in the root of the repository. lib/formats/conversations/gemini.test.ts compares lib/formats with the file. The first record has the
names of the HTTP interface, the second those of model_dump_json.
"""
import json
from pathlib import Path

from google.genai import types

FOREIGN = Path("lib/formats/golden/foreign")
declaration = types.FunctionDeclaration(
    name="calculator",
    description="Calculate an arithmetic expression.",
    parameters_json_schema={"type": "object", "properties": {"expression": {"type": "string"}}},
)
config = types.GenerateContentConfig(
    system_instruction=types.Content(parts=[types.Part(text="Use the calculator.")]),
    tools=[types.Tool(function_declarations=[declaration])],
    temperature=0.5,
)
pixel = types.Blob(mime_type="image/png", data=bytes([251, 239, 190, 255]))
question = types.Content(role="user", parts=[types.Part(text="What is 25 * 17?"), types.Part(inline_data=pixel)])
call = types.Content(
    role="model",
    parts=[
        types.Part(text="A product.", thought=True),
        types.Part(function_call=types.FunctionCall(id="c1", name="calculator", args={"expression": "25 * 17"})),
    ],
)
result = types.Content(role="user", parts=[types.Part(function_response=types.FunctionResponse(id="c1", name="calculator", response={"result": "425"}))])


def token(text, number, logprob):
    return types.LogprobsResultCandidate(token=text, token_id=number, log_probability=logprob)


def reply(number, *candidates):
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=40, candidates_token_count=3, thoughts_token_count=9, cached_content_token_count=16, total_token_count=52)
    return types.GenerateContentResponse(
        candidates=list(candidates),
        model_version="gemini-3-flash",
        response_id=f"r{number}",
        create_time="2026-11-24T16:00:00Z",
        usage_metadata=usage,
    )


logprobs = types.LogprobsResult(
    chosen_candidates=[token("425", 7, -0.25), token(".", 9, -0.5)],
    top_candidates=[
        types.LogprobsResultTopCandidates(candidates=[token("425", 7, -0.25), token("42", 8, -2.5)]),
        types.LogprobsResultTopCandidates(candidates=[token(".", 9, -0.5), token("!", 5, -1.5)]),
    ],
)
answer = types.Content(role="model", parts=[types.Part(text="425.")])
first = reply(1, types.Candidate(content=call, finish_reason="STOP", index=0))
second = reply(
    2,
    types.Candidate(content=answer, finish_reason="STOP", index=0, logprobs_result=logprobs),
    types.Candidate(content=types.Content(role="model", parts=[types.Part(text="It")]), finish_reason="MAX_TOKENS", index=1),
)


def http(value):
    """The notation of the HTTP interface."""
    return json.loads(value.model_dump_json(by_alias=True, exclude_none=True))


def python(value):
    return json.loads(value.model_dump_json(exclude_none=True))


body = {
    "contents": [http(question)],
    "systemInstruction": http(config.system_instruction),
    "tools": [http(tool) for tool in config.tools],
    "generationConfig": {"temperature": 0.5},
}
given = {"model": "gemini-3-flash", "contents": [python(one) for one in (question, call, result)], "config": python(config)}
records = [{"request": body, "response": http(first)}, {"request": given, "response": python(second)}]
(FOREIGN / "gemini.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
(FOREIGN / "gemini-contents.json").write_text(json.dumps([python(one) for one in (question, call, result, answer)]) + "\n")



def chunk(number, parts, finish=None, **more):
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=40, candidates_token_count=3 * number, thoughts_token_count=9)
    content = types.Content(role="model", parts=parts)
    return types.GenerateContentResponse(
        candidates=[types.Candidate(content=content, index=0, finish_reason=finish, **more)],
        model_version="gemini-3-flash",
        response_id="r3",
        usage_metadata=usage,
    )


chunks = [
    chunk(0, [types.Part(text="A pro", thought=True)]),
    chunk(0, [types.Part(text="duct.", thought=True)]),
    chunk(1, [types.Part(text="It is ")], logprobs_result=types.LogprobsResult(chosen_candidates=[token("It is ", 3, -0.75)])),
    chunk(2, [types.Part(text="425.")], logprobs_result=types.LogprobsResult(chosen_candidates=[token("425.", 4, -0.5)])),
    chunk(2, [types.Part(function_call=types.FunctionCall(id="c2", name="calculator", args={"expression": "425 + 1"}))]),
    chunk(3, [types.Part(text="", thought_signature=b"sign")], "STOP"),
]
# streamGenerateContent returns a JSON list, and with alt=sse an event for each of its elements.
(FOREIGN / "gemini-stream.json").write_text(json.dumps([http(one) for one in chunks]) + "\n")
(FOREIGN / "gemini-stream.sse").write_text("".join(f"data: {json.dumps(http(one))}\r\n\r\n" for one in chunks))

read = [types.GenerateContentResponse.model_validate(record["response"]) for record in records]
streamed = [types.GenerateContentResponse.model_validate(one) for one in json.loads((FOREIGN / "gemini-stream.json").read_text())]
made = {
    "replies": [
        {
            "texts": ["".join(part.text for part in candidate.content.parts if part.text and not part.thought) for candidate in one.candidates],
            "thoughts": "".join(part.text for part in one.candidates[0].content.parts if part.text and part.thought),
            "calls": [[called.id, called.name, called.args] for called in one.function_calls or []],
            "usage": one.usage_metadata.model_dump(exclude_none=True),
        }
        for one in read
    ],
    "stream": {
        "text": "".join(one.text or "" for one in streamed),
        "thoughts": "".join(part.text for one in streamed for part in one.candidates[0].content.parts if part.text and part.thought),
        "calls": [[called.id, called.name, called.args] for one in streamed for called in one.function_calls or []],
        "usage": streamed[-1].usage_metadata.model_dump(exclude_none=True),
    },
    "tokens": [[one.token_id, one.log_probability] for one in read[1].candidates[0].logprobs_result.chosen_candidates],
    "tops": [[[one.token_id, one.log_probability] for one in top.candidates] for top in read[1].candidates[0].logprobs_result.top_candidates],
}
Path("lib/formats/golden/gemini.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
