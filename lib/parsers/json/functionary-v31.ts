/** Functionary 3.1, and Llama 3.1 with a prompt that requests it: `<function=NAME>{…}</function>`. */

import type { ToolParser } from '../parser.ts'
import { headedParser, nameBefore } from '../reading/headed-call.ts'

/** Parser of Functionary 3.1. */
export const functionaryV31: ToolParser = headedParser({
  name: 'functionary_v31',
  delimiters: { open: '<function=', close: '</function>' },
  readHead: nameBefore('>', /[<>\s]/g, '">"'),
})
