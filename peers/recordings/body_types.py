"""Prints which values SGLang 0.5.23 accepts for fields of request bodies: the golden file of lib/builtin-server/http.

    SGLANG_USE_CPU_ENGINE=1 PYTHONPATH=peers/set-up/stubs PYTHON peers/recordings/body_types.py > lib/builtin-server/http/golden/body-types.json

PYTHON is the interpreter into which peers/set-up/install.ts installs SGLang. pydantic (lax) validates the OpenAI endpoints, and SGLang's own
reader (strict JSON types) validates /generate.
"""

import json
import sys
import warnings

from pydantic import ValidationError
from sglang.srt.entrypoints.api_contract import generate_contract_error
from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest

warnings.simplefilter("ignore")

BOOLEANS = '"true" "false" "True" "TRUE" "tRuE" "yes" "no" "on" "off" "t" "f" "y" "n" "1" "0" 1 0 1.0 0.0 2 1.5 "maybe" "" " true" "2" "01" [] {} true false'
WHOLES = '0 -1 2 2.0 2.5 1e3 "2" "2.0" "2.00" "2." " 3 " "+2" "-2" "1_000" "1__0" "_1" "+ 2" "0x10" "1e3" "2.5" "" "x" true false [] {}'
NUMBERS = '0.5 1 -1 1e3 "0.5" ".5" "5." "1e3" "+1" "1_0.5" " 1 " "0x1" "1e" "_1" "" "x" true false [] {}'
FIELDS = {"logprobs": BOOLEANS, "top_logprobs": WHOLES, "temperature": NUMBERS}

SAMPLING = {
    "max_new_tokens": '2 2.0 2.5 1e3 "2" true null',
    "top_k": "2 2.0",
    "n": "1 1.0",
    "sampling_seed": "5 5.0",
    "stop_token_ids": "[1] [1.0] [true]",
    "stream_interval": "4 4.0",
    "temperature": '1 1.0 1e0 0.5 true "1"',
    "ignore_eos": 'true 1 1.0 "true"',
    "logit_bias": '{"5":1} {"5":1.0} {"5":"1"} {"5":true}',
    "custom_params": '{"a":1} {"a":1.0} {"a":null} {"a":[1,{"b":2.5}]} null',
}


def lax(name, text):
    body = {"model": "m", "messages": [{"role": "user", "content": "a"}], name: json.loads(text)}
    try:
        return {"value": getattr(ChatCompletionRequest(**body), name)}
    except ValidationError as error:
        return {"refused": error.errors()[0]["type"]}


def strict(name, text):
    refused = generate_contract_error({"text": "a", "sampling_params": {name: json.loads(text)}})
    return {"refused": refused} if refused else {}


def words(texts):
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(texts):
        end = decoder.raw_decode(texts, at)[1]
        found.append(texts[at:end])
        at = end + 1
    return found


json.dump(
    {
        "lax": [{"field": n, "json": t, **lax(n, t)} for n, ts in FIELDS.items() for t in words(ts)],
        "strict": [{"field": n, "json": t, **strict(n, t)} for n, ts in SAMPLING.items() for t in words(ts)],
    },
    sys.stdout,
    indent=1,
)
print()
