/**
 * LongCat: `<longcat_tool_call>NAME<longcat_arg_key>KEY</longcat_arg_key><longcat_arg_value>VALUE</longcat_arg_value>…</longcat_tool_call>`.
 * LongCat Flash Chat writes a JSON object in place of name and values.
 */

import { taggedObjects } from '../json/hermes.ts'
import type { ToolParser } from '../parser.ts'
import { keyedParser, keyedTags } from '../reading/keyed-call.ts'

const keyed = keyedParser({ tags: keyedTags({ prefix: 'longcat_' }) })
const objects = taggedObjects({ name: 'longcat', delimiters: keyed.delimiters })

/** Parser of LongCat. The first call decides which of both forms a text has. */
export const longcat: ToolParser = {
  name: 'longcat',
  delimiters: keyed.delimiters,
  parse: (text, ...where) =>
    (/<longcat_tool_call>\s*(\{?)/.exec(text)?.[1] === '{' ? objects : keyed).parse(text, ...where),
}
