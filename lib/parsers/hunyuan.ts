/**
 * Hunyuan 3 and 4 (Hy3): `<tool_call:opensource>NAME<tool_sep:opensource><arg_key:opensource>KEY</arg_key:opensource>…`, any number of
 * calls in a section. The released tokenizers write every tag with this suffix; 4 has no separator behind the name.
 */
import { keyedParser } from './keyed-call.ts'
import type { ToolParser } from './parser.ts'

const suffix = ':opensource'

export const hunyuan: ToolParser = {
  name: 'hunyuan',
  ...keyedParser({
    suffix,
    separator: `<tool_sep${suffix}>`,
    section: { open: `<tool_calls${suffix}>`, close: `</tool_calls${suffix}>` },
  }),
}
