/**
 * Hunyuan 0.5B and 7B: `<tool_call>NAME`, the arguments as a fenced block of JSON on the following lines, `</tool_call>`. Calls are in
 * a section.
 */

import type { ToolParser } from '../parser.ts'
import { headedParser, nameBefore } from '../reading/headed-call.ts'

const fenced = headedParser({
  name: 'hunyuan_fenced',
  delimiters: {
    open: '<tool_call>',
    close: '</tool_call>',
    section: { open: '<tool_calls>', close: '</tool_calls>' },
  },
  readHead: nameBefore('```json\n', /[<`\s]/g, 'a line ```json'),
  fence: '```',
})

/** Parser of Hunyuan 0.5B and 7B. Other formats have calls with the same tag but no section. */
export const hunyuanFenced: ToolParser = {
  ...fenced,
  parse: (text, ...where) => (text.includes('<tool_calls>') ? fenced.parse(text, ...where) : []),
}
