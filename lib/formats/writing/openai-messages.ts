/** Lines with the messages and the tools, without tokens: for fine-tuning at OpenAI, and for trainers that render chat templates. */

import { writtenObject } from '#lib/json/written-json.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { chatTools, type ImageMessage, imageMessagesBySegment } from './chat-messages.ts'
import { imagesOfMessages, listDroppedContent, listDroppedForeignFields } from './export-losses.ts'
import type { Writer } from './writer.ts'

const KEEPS =
  'Messages with thinking, calls and results, and the tools. No token ids: encoding them again may give others.'

/** Writes messages with the arguments of calls as JSON texts, as OpenAI's interface has them. */
export const openaiMessagesWriter: Writer = {
  name: 'openai-messages',
  label: 'OpenAI messages',
  keeps: KEEPS,
  takesMessagesOnly: true,
  write: (trajectory) => write(trajectory, 'openai-messages', withWeight),
}

/**
 * Writes messages with the arguments of calls as objects, as transformers documents them. Templates with `arguments | tojson`, such as those of
 * Qwen2.5 and Llama 3.1, encode a text a second time, and TRL trains what they render.
 */
export const templateMessagesWriter: Writer = {
  name: 'template-messages',
  label: 'Messages for chat templates',
  keeps: `${KEEPS} Arguments are objects, as chat templates read them.`,
  takesMessagesOnly: true,
  write: (trajectory) => write(trajectory, 'template-messages', withObjects),
}

function write(trajectory: Trajectory, name: string, notation: (message: ImageMessage, segment: Segment) => object) {
  const bySegment = imageMessagesBySegment(trajectory)
  const messages = bySegment.flat()
  const tools = chatTools(trajectory.model.tools)
  const written = bySegment.flatMap((own, index) =>
    own.map((message) => notation(message, elementAt(trajectory.segments, index))),
  )
  return {
    value: { messages: written, ...(tools.length > 0 && { tools }) },
    losses: [
      'token ids, loss mask and logprobs',
      'white space around each text',
      ...(messages.some(({ content }) => content === null) ? ['texts of replies: no tokenizer was named'] : []),
      ...listDroppedContent(trajectory, ['messages', 'spans', 'texts', 'model', ...imagesOfMessages(trajectory)]),
      ...listDroppedForeignFields(trajectory, name),
    ],
  }
}

/** OpenAI trains every message of the model without a weight. */
const withWeight = (message: ImageMessage, segment: Segment): object =>
  message.role === 'assistant' && !hasTrained(segment) ? { ...message, weight: 0 } : message

/** A response without ids is trained unless its file gives it no weight. */
const hasTrained = (segment: Segment): boolean =>
  segment.kind === 'response' && segment.ids.length === 0
    ? segment.message?.weight !== 0
    : segment.ids.some((_, token) => isTrained(segment, token))

/** Arguments that are no JSON object stay text. */
const withObjects = ({ tool_calls, ...message }: ImageMessage): object => ({
  ...message,
  ...(tool_calls && {
    tool_calls: tool_calls.map((call) => ({
      ...call,
      function: { ...call.function, arguments: writtenObject(call.function.arguments) ?? call.function.arguments },
    })),
  }),
})
