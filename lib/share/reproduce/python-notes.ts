/** Lists how a script for strands-sglang differs from the run, as sentences for the head of the script. */
import type { Again } from './again.ts'
import { isCalculator, toolsOf } from './python-tools.ts'

/** Tool parsers of strands-sglang 0.6.2. */
export const PARSERS = ['hermes', 'qwen_xml', 'glm', 'kimi_k2']

/** Returns the notes for the head of the script; empty if the script does what the run did. */
export function notesOn(again: Again): readonly string[] {
  const { request, turns, results, reward } = again
  const { limits = {}, parser, endpoint, tokenizer, messages = [] } = request
  const isGiven = request.ids !== undefined || request.text !== undefined
  const tools = toolsOf(again)
  return [
    ...(endpoint === 'chat' ? ['The run was over a chat endpoint; this script is token-in/token-out.'] : []),
    ...(tokenizer === 'server'
      ? ['The server itself was the tokenizer: MODEL has to be the tokenizer of its model.']
      : []),
    ...(parser !== undefined && !PARSERS.includes(parser)
      ? [`strands-sglang has no parser ${parser}: calls are read as hermes.`]
      : []),
    ...['maxTokens', 'toolTimeoutMs', 'maxResultCharacters'].flatMap((name) =>
      limits[name] === undefined ? [] : [`No counterpart of the limit ${name} (${limits[name]}).`],
    ),
    ...(reward ? [`Rewards are left out (the rule was ${JSON.stringify(reward)}).`] : []),
    ...(messages.some(
      (message) => message.role === 'assistant' && (message.toolCalls || message.reasoning !== undefined),
    )
      ? ['Structured calls and reasoning of given answers are left out: strands-sglang passes on only their text.']
      : []),
    ...(isGiven && (turns.length > 0 || tools.length > 0 || Object.keys(results).length > 0)
      ? ['It began with text or ids, which agents of Strands cannot: this is its first response.']
      : []),
    ...(isGiven
      ? []
      : [
          ...aboutTools(
            tools.filter(({ spec }) => !spec),
            (names) => `No schema is known here of: ${names}. Put it into SPECS, or the first prompt has other ids.`,
          ),
          ...aboutTools(
            tools.filter((tool) => !tool.mock && !isCalculator(tool)),
            (names) => `These tools give only recorded results: ${names}. Put the real ones into answer().`,
          ),
        ]),
  ]
}

const aboutTools = (tools: readonly { readonly name: string }[], note: (names: string) => string): string[] =>
  tools.length === 0 ? [] : [note(tools.map(({ name }) => name).join(', '))]
