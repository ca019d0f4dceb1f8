"""Writes messages of the AI SDK in foreign/: those that its model reads, and those of its user interfaces.

    npm install ai@6.0.326   # in FOLDER
    python lib/formats/golden/writers/make_ai_sdk.py FOLDER

Run in the root of the repository. The model is the SDK's own mock. lib/formats/frameworks/ui-messages.test.ts opens the files.
"""
import subprocess
import sys
from pathlib import Path

FOREIGN = Path("lib/formats/golden/foreign").resolve()
CODE = """
import { writeFileSync } from 'node:fs'
import { generateText, jsonSchema, readUIMessageStream, simulateReadableStream, stepCountIs, streamText, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
const usage = { inputTokens: { total: 20 }, outputTokens: { total: 11 } }
const call = (name) => ({ type: 'tool-call', toolCallId: `call_${name}`, toolName: name, input: '{"expression":"25 * 17"}' })
const thought = (text) => ({ type: 'reasoning', text })
const steps = [[thought('A product.'), { type: 'text', text: 'I calculate.' }, call('calculator'), call('broken')], [thought('Done.'), { type: 'text', text: 'It is 425.' }]]
const finish = (index) => ({ unified: index === 0 ? 'tool-calls' : 'stop', raw: undefined })
const chunks = (content, index) => [
  ...content.flatMap((part, id) =>
    part.type === 'tool-call' ? [part] : ['start', 'delta', 'end'].map((stage) => ({ type: `${part.type}-${stage}`, id: String(id), ...(stage === 'delta' && { delta: part.text }) })),
  ),
  { type: 'finish', finishReason: finish(index), usage },
]
const model = () => {
  let index = 0
  return new MockLanguageModelV3({
    doGenerate: async () => ({ content: steps[index], finishReason: finish(index++), usage, warnings: [] }),
    doStream: async () => ({ stream: simulateReadableStream({ chunks: chunks(steps[index], index++) }) }),
  })
}
const inputSchema = jsonSchema({ type: 'object', properties: { expression: { type: 'string' } } })
const tools = {
  calculator: tool({ inputSchema, execute: () => ({ product: 425 }) }),
  broken: tool({ inputSchema, execute: () => { throw new Error('It is broken.') } }),
}
const messages = [{ role: 'user', content: 'What is 25 * 17?' }]
const settings = () => ({ model: model(), tools, messages, stopWhen: stepCountIs(3) })
const { response } = await generateText(settings())
const write = (name, value) => writeFileSync(`${process.argv[1]}/${name}`, `${JSON.stringify(value)}\\n`)
write('ai-sdk-messages.json', [...messages, ...response.messages])
let last
for await (const message of readUIMessageStream({ stream: streamText(settings()).toUIMessageStream({ onError: (error) => error.message }) })) last = message
write('ai-sdk-ui-messages.json', [{ id: 'u', role: 'user', parts: [{ type: 'text', text: messages[0].content }] }, last])
"""
subprocess.run(["node", "--input-type=module", "-e", CODE, str(FOREIGN)], cwd=sys.argv[1], check=True)
