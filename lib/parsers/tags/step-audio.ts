/** Step-Audio R1.1: `<|CALL_START|>function`, the name and the arguments as JSON on lines of their own, `<|CALL_END|>`. */

import { describeUnexpected } from '#lib/json/json-scan.ts'
import type { ToolParser } from '../parser.ts'
import { headedParser, nameBefore } from '../reading/headed-call.ts'

const TYPE = 'function\n'
const readName = nameBefore('', /[<{\s]/g)

/** Parser of Step-Audio R1.1. */
export const stepAudio: ToolParser = headedParser({
  name: 'step_audio',
  delimiters: { open: '<|CALL_START|>', close: '<|CALL_END|>' },
  readHead: (text, start) =>
    text.startsWith(TYPE, start)
      ? readName(text, start + TYPE.length)
      : { ok: false, why: describeUnexpected(text, start, text.length, 'a line "function"'), at: start },
})
