/**
 * Hunyuan 3 and 4 (Hy3):
 * `<tool_call:opensource>NAME<tool_sep:opensource><arg_key:opensource>KEY</arg_key:opensource>…`, any number of calls
 * in a section. The released tokenizers write every tag with this suffix, those of the preview without; 4 has no
 * separator after the name.
 */

import type { ToolParser } from '../parser.ts'
import { keyedParser, keyedTags } from '../reading/keyed-call.ts'
import { markupIn } from '../reading/rest.ts'

const withSuffix = (suffix: string) =>
  keyedParser({
    tags: keyedTags({ suffix }),
    separator: `<tool_sep${suffix}>`,
    section: { open: `<tool_calls${suffix}>`, close: `</tool_calls${suffix}>` },
  })
const released = withSuffix(':opensource')
const preview = withSuffix('')

/** Parser of Hunyuan. */
export const hunyuan: ToolParser = {
  name: 'hunyuan',
  sglangNames: ['hunyuan'],
  delimiters: { ...released.delimiters, other: preview.delimiters },
  parse: (text, shielded, tools) => spellingOf(text).parse(text, shielded, tools),
  markup: (text, calls, shielded) => markupIn(text, calls, shielded, spellingOf(text)),
}

/**
 * Returns the parser of a text: the first section decides the spelling of all tags. Other formats have calls with the same tag but no
 * section.
 */
const spellingOf = (text: string) =>
  /<tool_calls(?::opensource)?>/.exec(text)?.[0] === preview.delimiters.section?.open ? preview : released
