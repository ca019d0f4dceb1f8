/**
 * K2 Horizon: `<ifm|tool_call>NAME<ifm|arg_key>KEY</ifm|arg_key><ifm|arg_value>VALUE</ifm|arg_value>…</ifm|tool_call>`, any number of
 * calls in a section. An option of its template writes `<ifm|arg_type>TYPE</ifm|arg_type>` before each value, another one a JSON object
 * in place of name and values.
 */

import { taggedObjects } from '../json/hermes.ts'
import type { ToolParser } from '../parser.ts'
import { keyedParser, keyedTags } from '../reading/keyed-call.ts'
import { requireSections } from '../reading/sections.ts'

const section = { open: '<ifm|tool_calls>', close: '</ifm|tool_calls>' } as const
const keyed = keyedParser({
  tags: keyedTags({ prefix: 'ifm|' }),
  section,
  mayLackSection: true,
  type: ['<ifm|arg_type>', '</ifm|arg_type>'],
})
const objects = taggedObjects({ name: 'k2_horizon', delimiters: keyed.delimiters })

/** Parser of K2 Horizon. The first call decides which of both forms a text has. */
export const k2Horizon: ToolParser = {
  name: 'k2_horizon',
  sglangNames: ['k2_horizon'],
  delimiters: keyed.delimiters,
  parse(text, shielded, tools) {
    if (/<ifm\|tool_call>\s*(\{?)/.exec(text)?.[1] !== '{') return keyed.parse(text, shielded, tools)
    const calls = objects.parse(text, shielded, tools)
    return requireSections(text, calls, shielded, { section, mustClose: false, mayLack: true })
  },
}
