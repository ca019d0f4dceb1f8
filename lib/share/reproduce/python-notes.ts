/** Lists how a script for strands-sglang differs from the run, as sentences for the head of the script. */
import { imagePartsOf } from '#lib/trajectory/images/image-boxes.ts'
import { isCalculator, toolsOf } from './python-tools.ts'
import type { RepeatableRun } from './repeatable-run.ts'

/** Tool parsers of strands-sglang 0.6.2. */
export const PARSERS = ['hermes', 'qwen_xml', 'glm', 'kimi_k2']

/** Returns the notes for the head of the script; empty if the script does what the run did. */
export function notesOn(again: RepeatableRun): readonly string[] {
  const { request, turns, results, reward, servers } = again
  const { limits = {}, parser, endpoint, tokenizer, messages = [] } = request
  const isRawPrompt = request.ids !== undefined || request.text !== undefined
  const tools = toolsOf(again)
  return [
    ...(endpoint === 'chat' ? ['The run was over a chat endpoint; this script is token-in/token-out.'] : []),
    ...(tokenizer === 'server'
      ? ['The server itself was the tokenizer: MODEL must be the tokenizer of the server’s model.']
      : []),
    ...(parser !== undefined && !PARSERS.includes(parser)
      ? [`strands-sglang has no parser ${parser}: calls are parsed with hermes.`]
      : []),
    ...['maxTokens', 'toolTimeoutMs', 'maxResultCharacters'].flatMap((name) =>
      limits[name] === undefined ? [] : [`strands-sglang has no limit ${name} (${limits[name]} in the run).`],
    ),
    ...(servers
      ? [`The setup runs on several servers (${servers.join(', ')}): run the script with the SGLANG_BASE_URL of each.`]
      : []),
    ...(reward ? [`The script computes no rewards (the rule was ${JSON.stringify(reward)}).`] : []),
    ...(messages.some(
      (message) => message.role === 'assistant' && (message.toolCalls || message.reasoning !== undefined),
    )
      ? ['Structured calls and reasoning of given replies are left out: strands-sglang uses only their text.']
      : []),
    ...(hasImages(again) ? ['The images of messages are left out: add them to the first question.'] : []),
    ...(isRawPrompt && (turns.length > 0 || tools.length > 0 || Object.keys(results).length > 0)
      ? ['The run began with text or ids, which a Strands agent cannot do. The script samples only the first response.']
      : []),
    ...(isRawPrompt && request.routedExperts
      ? ['The script does not request routed experts, which the run recorded.']
      : []),
    ...(isRawPrompt
      ? []
      : [
          ...aboutTools(
            tools.filter(({ spec }) => !spec),
            (names) =>
              `The schemas of these tools are unknown: ${names}. Add them to SPECS; without them, the first prompt has other ids.`,
          ),
          ...aboutTools(
            tools.filter((tool) => !tool.mock && !isCalculator(tool)),
            (names) => `These tools return only recorded results: ${names}. Call the real tools in answer().`,
          ),
        ]),
  ]
}

const hasImages = ({ request: { messages = [], images } }: RepeatableRun): boolean =>
  images !== undefined || messages.some((message) => imagePartsOf(message).length > 0)

const aboutTools = (tools: readonly { readonly name: string }[], note: (names: string) => string): string[] =>
  tools.length === 0 ? [] : [note(tools.map(({ name }) => name).join(', '))]
