/**
 * Writes a run as a Python script for strands-sglang 0.6.2. Tools have the schema that the model was shown, and return their recorded
 * results. The head of the script lists what the package cannot express.
 */

import { pythonLiteral } from '#lib/analysis/requests/request-code.ts'
import { DEFAULT_MAX_NEW_TOKENS } from '#lib/api/run-request.ts'
import { inDocstring, pythonString } from '#lib/templates/document/python-source.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { messageText } from '#lib/trajectory/messages/conversation.ts'
import { notesOn, PARSERS } from './python-notes.ts'
import { toolImports, toolSource, toolsOf } from './python-tools.ts'
import type { RepeatableRun } from './repeatable-run.ts'

/** Addresses that a script uses. */
export interface ScriptPlaces {
  /** URL of the server without a key. Undefined: the script requires the variable SGLANG_BASE_URL. */
  readonly baseUrl: string | undefined
}

const STRANDS_SGLANG = '0.6.2'

/** Returns the source of the script. It prints one line of JSON for each rollout. */
export function pythonScript(again: RepeatableRun, { baseUrl }: ScriptPlaces): string {
  const isRawPrompt = again.request.ids !== undefined || again.request.text !== undefined
  const what = again.samples > 1 ? `${again.samples} runs of one prompt` : 'A run'
  return `"""${what} of Rollscope as a script for strands-sglang ${STRANDS_SGLANG}. It prints a line of JSON for each rollout.

    pip install strands-sglang==${STRANDS_SGLANG}    # Python 3.12 or later
    SGLANG_BASE_URL=http://… MODEL=… python script.py

MODEL: the Hub name or the folder of the tokenizer.
${notesOn(again)
  .map((note) => `\n${inDocstring(note)}\n`)
  .join('')}"""
${isRawPrompt ? rawPromptSource(again, baseUrl) : agentSource(again, baseUrl)}`
}

/** Merges known and further parameters into one object, as the server expects them. */
const sentSampling = ({ further, ...known }: NonNullable<RepeatableRun['request']['sampling']>): object =>
  Object.assign({ max_new_tokens: DEFAULT_MAX_NEW_TOKENS }, further, known)

function head({ request, samples }: RepeatableRun, baseUrl: string | undefined): string {
  const { tokenizer } = request
  // Names without a slash, such as built-in, exist only in Rollscope.
  const model = tokenizer?.includes('/') ? `os.environ.get("MODEL", ${pythonString(tokenizer)})` : 'os.environ["MODEL"]'
  const base =
    baseUrl === undefined
      ? 'os.environ["SGLANG_BASE_URL"]'
      : `os.environ.get("SGLANG_BASE_URL", ${pythonString(baseUrl)})`
  return `BASE_URL = ${base}
${request.ids === undefined ? `MODEL = ${model}\n` : ''}SAMPLING = ${pythonLiteral(sentSampling(request.sampling ?? {}))}
${request.adapter === undefined ? '' : `ADAPTER = ${pythonString(request.adapter)}  # a LoRA adapter that the server has loaded\n`}${samples > 1 ? `SAMPLES = ${samples}\n` : ''}CONTEXT_WINDOW = ${request.limits?.contextWindow ?? 'None'}  # None: the value that the server reports
`
}

/** Returns the Python expression for the sampling of sample `index`. Seeds differ, because equal seeds give equal samples. */
const samplingOf = ({ request, samples }: RepeatableRun): string =>
  samples > 1 && typeof request.sampling?.sampling_seed === 'number'
    ? '{**SAMPLING, "sampling_seed": SAMPLING["sampling_seed"] + index}'
    : 'SAMPLING'

/** Returns the Python line that adds the adapter to every request: SGLangModel has no option for it. */
const adapted = ({ request }: RepeatableRun): string =>
  request.adapter === undefined
    ? ''
    : '        client.generate = functools.partial(client.generate, lora_path=ADAPTER)  # SGLangModel has no option for it\n'

const functoolsImport = ({ request }: RepeatableRun): string =>
  request.adapter === undefined ? '' : 'import functools\n'

/** Returns the Python source that runs `rollout(client, given, index)` for each sample. */
const all = ({ samples }: RepeatableRun, promptArgument: string): string =>
  samples > 1
    ? `        for made in await asyncio.gather(*(rollout(client, ${promptArgument}, index) for index in range(SAMPLES))):
            print(json.dumps(made))`
    : `        print(json.dumps(await rollout(client, ${promptArgument}, 0)))`

function agentSource(again: RepeatableRun, baseUrl: string | undefined): string {
  const { request, turns, results } = again
  const { limits = {}, parser, chatTemplate, templateOptions = {} } = request
  const promptMessages = [
    ...(request.system === undefined ? [] : [{ role: 'system' as const, content: request.system }]),
    ...(request.messages ?? [{ role: 'user' as const, content: request.prompt ?? '' }]),
  ]
  const system = promptMessages.filter(({ role }) => role === 'system' || role === 'developer').map(messageText)
  const { history, question } = strandsMessages(
    promptMessages.filter(({ role }) => role !== 'system' && role !== 'developer'),
  )
  const prompts = [...(question === undefined ? [null] : [question]), ...turns]
  const tools = toolsOf(again)
  const limiter = Object.entries(LIMITS).flatMap(([ours, theirs]) =>
    limits[ours] === undefined ? [] : [`${theirs}=${limits[ours]}`],
  )
  const chosen = parser !== undefined && PARSERS.includes(parser) ? parser : 'hermes'
  return `import asyncio
${functoolsImport(again)}import json
import os
${toolImports(tools)}
from strands import Agent
from strands.agent.conversation_manager import NullConversationManager
${tools.length > 0 ? 'from strands.tools.tools import PythonAgentTool\n' : ''}from strands_sglang import ${limiter.length > 0 ? 'LoopLimiter, ' : ''}SGLangClient, SGLangModel, get_tool_parser
from transformers import AutoTokenizer

${head(again, baseUrl)}SYSTEM = ${system.length === 0 ? 'None' : pythonString(system.join('\n'))}
HISTORY = ${pythonLiteral(history)}
PROMPTS = ${pythonLiteral(prompts)}
${chatTemplate === undefined ? '' : `CHAT_TEMPLATE = ${pythonString(chatTemplate)}\n`}OPTIONS = ${pythonLiteral(templateOptions)}
${toolSource(tools, results)}

def with_options(render):
    """Pass OPTIONS to the template, and drop enable_thinking, which strands-sglang always passes."""

    def rendered(messages, enable_thinking=None, **given):
        return render(messages, **given, **OPTIONS)

    return rendered


async def rollout(client, tokenizer, index):
    model = SGLangModel(
        client=client,
        tokenizer=tokenizer,
        tool_parser=get_tool_parser(${pythonString(chosen)}),
        sampling_params=${samplingOf(again)},
        context_window_limit=CONTEXT_WINDOW,${request.routedExperts ? '\n        return_routed_experts=True,' : ''}
    )
${tools.length > 0 ? '    model.format_tool_specs = lambda _: SPECS\n' : ''}${limiter.length > 0 ? `    limiter = LoopLimiter(${limiter.join(', ')})\n` : ''}    agent = Agent(
        model=model,
        system_prompt=SYSTEM,
        messages=list(HISTORY),
        tools=${tools.length > 0 ? 'tools_of_a_run()' : '[]'},${limiter.length > 0 ? '\n        hooks=[limiter],' : ''}
        conversation_manager=NullConversationManager(),  # other managers remove messages whose tokens are kept
        callback_handler=None,
    )
    stopped = None
    for prompt in PROMPTS:
        stopped = None
${limiter.length > 0 ? '        limiter.reset()\n' : ''}        try:
            await agent.invoke_async(prompt)
        except Exception as error:  # a limit, or the length of a response: the next question continues from there
            stopped = repr(error)
    return {"rollout": json.loads(model.rollout.model_dump_json()), "stopped": stopped}


async def main():
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
${chatTemplate === undefined ? '' : '    tokenizer.chat_template = CHAT_TEMPLATE\n'}    tokenizer.apply_chat_template = with_options(tokenizer.apply_chat_template)
    async with SGLangClient(base_url=BASE_URL) as client:
${adapted(again)}${all(again, 'tokenizer')}


asyncio.run(main())
`
}

const LIMITS = {
  maxToolIterations: 'max_tool_iters',
  maxToolCalls: 'max_tool_calls',
  maxParallelToolCalls: 'max_parallel_tool_calls',
  maxMessages: 'max_messages',
} as const

function rawPromptSource(again: RepeatableRun, baseUrl: string | undefined): string {
  const { ids, text } = again.request
  return `import asyncio
${functoolsImport(again)}import json
import os

from strands_sglang import Rollout, SGLangClient
${ids === undefined ? 'from transformers import AutoTokenizer\n' : ''}
${head(again, baseUrl)}${ids === undefined ? `TEXT = ${pythonString(text ?? '')}` : `IDS = ${pythonLiteral(ids)}`}


async def rollout(client, ids, index):
    sampling = {"skip_special_tokens": False, **${samplingOf(again)}}
    context = CONTEXT_WINDOW or await client.max_model_len()
    if context:
        sampling["max_new_tokens"] = min(sampling["max_new_tokens"], context - len(ids))
    reply = await client.generate(
        ids,
        sampling_params=sampling,
        return_logprob=True,
        logprob_start_len=0,
    )
    meta = reply["meta_info"]
    made = Rollout()
    made.add_prompt(ids, [entry[0] for entry in meta["input_token_logprobs"]])
    written = meta["output_token_logprobs"]
    made.add_response([entry[1] for entry in written], [entry[0] for entry in written])
    return {"rollout": json.loads(made.model_dump_json()), "stopped": meta["finish_reason"]}


async def main():
    ids = ${ids === undefined ? 'AutoTokenizer.from_pretrained(MODEL)(TEXT)["input_ids"]' : 'IDS'}
    async with SGLangClient(base_url=BASE_URL) as client:
${adapted(again)}${all(again, 'ids')}


asyncio.run(main())
`
}

/** A conversation in the form of Strands agents. */
interface StrandsConversation {
  /** Messages with which the agent begins. */
  readonly history: readonly object[]
  /** Prompt of the agent; undefined if the last message is not from the user, so that the agent continues the history. */
  readonly question: string | undefined
}

/** Converts messages, which must not contain system messages. */
export function strandsMessages(messages: readonly Message[]): StrandsConversation {
  const last = messages.at(-1)
  const isAsked = last?.role === 'user'
  return {
    history: groupMessages(isAsked ? messages.slice(0, -1) : messages),
    question: isAsked ? messageText(last) : undefined,
  }
}

/** Converts messages to the form of Strands, where consecutive tool results are one user message. */
function groupMessages(messages: readonly Message[]): readonly object[] {
  const all: { readonly role: string; readonly content: object[] }[] = []
  let isAfterResult = false
  for (const message of messages) {
    const isResult = message.role === 'tool'
    const block = isResult
      ? {
          toolResult: {
            toolUseId: message.callId ?? 'call',
            status: 'success',
            content: [{ text: messageText(message) }],
          },
        }
      : { text: messageText(message) }
    if (isResult && isAfterResult) all.at(-1)?.content.push(block)
    else all.push({ role: message.role === 'assistant' ? 'assistant' : 'user', content: [block] })
    isAfterResult = isResult
  }
  return all
}
