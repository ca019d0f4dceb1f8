/** OpenAI's fine-tuning lines: the messages and the tools, without tokens. */

import { chatTools, imageMessagesBySegment } from './chat-messages.ts'
import { imagesOfMessages, listDroppedContent, listDroppedForeignFields } from './export-losses.ts'
import type { Writer } from './writer.ts'

const NAME = 'openai-messages'

/** Writes messages. */
export const openaiMessagesWriter: Writer = {
  name: NAME,
  label: 'OpenAI messages',
  keeps: 'Messages with thinking, calls and results, and the tools. No token ids: encoding them again may give others.',
  takesMessagesOnly: true,
  write: (trajectory) => {
    const messages = imageMessagesBySegment(trajectory).flat()
    const tools = chatTools(trajectory.model.tools)
    return {
      value: { messages, ...(tools.length > 0 && { tools }) },
      losses: [
        'token ids, loss mask and logprobs',
        'white space around each text',
        ...(messages.some(({ content }) => content === null) ? ['texts of replies: no tokenizer was named'] : []),
        ...listDroppedContent(trajectory, ['messages', 'spans', 'texts', 'model', ...imagesOfMessages(trajectory)]),
        ...listDroppedForeignFields(trajectory, NAME),
      ],
    }
  },
}
