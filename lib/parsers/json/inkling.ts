/**
 * Inkling: `<|message_model|>NAME<|content_invoke_tool_json|>{"name": …, "args": {…}}<|end_message|>`. A reply consists of messages: the
 * author, the kind of the content, the content, its end. The prompt may end with the start of the first.
 */
import type { ToolParser } from '../parser.ts'
import { markupOf } from '../reading/rest.ts'
import { taggedObjects } from './hermes.ts'

/** Headers and ends of messages. */
const FRAME =
  /<\|message_model\|>[^<]*(?:<\|content_text\|>)?|<\|content_text\|>|<\|(?:end_message|content_model_end_sampling)\|>/g

/** Parser of Inkling. */
export const inkling: ToolParser = {
  ...taggedObjects({
    name: 'inkling',
    sglangNames: ['inkling'],
    delimiters: {
      open: '<|content_invoke_tool_json|>',
      close: '<|end_message|>',
      around: ['<|message_model|>', '<|content_text|>', '<|content_model_end_sampling|>'],
    },
    members: { arguments: ['args'] },
  }),
  markup: (text, calls, shielded) => markupOf(text, FRAME, calls, shielded),
}
