/**
 * An SGLang server for runs that are killed. It streams token by token: each reply is a tool call until the prompt has as
 * many results as its question requests, then an answer. A question that contains "python" gets a call that never ends.
 */
import { builtInTokenizer, type ScriptedSglang, startScriptedSglang } from '../../support/load/scripted-sglang.ts'

const toolCall = (name: string, values: object): string =>
  `<tool_call>\n${JSON.stringify({ name, arguments: values })}\n</tool_call>`

/** Starts the server on a free port. */
export async function startUpstream(): Promise<ScriptedSglang> {
  const { encode, decode, endOfTurn } = await builtInTokenizer()
  return startScriptedSglang(({ input_ids: sent }) => ({
    ids: [...encode(replyTo(decode(sent))), endOfTurn],
    finish: { type: 'stop', matched: endOfTurn },
    tokensPerChunk: 1,
    msPerChunk: 5,
  }))
}

function replyTo(prompt: string): string {
  if (prompt.includes('python')) return toolCall('python', { code: 'print(1)\nsum(range(10**15))' })
  const wanted = Number(/steps: (\d)/.exec(prompt)?.[1] ?? 0)
  const results = prompt.split('<tool_response>').length - 1
  return results < wanted ? toolCall('calculator', { expression: `${results} + 1` }) : 'That is the result.'
}
