/**
 * Step 3: `<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="NAME"><steptml:parameter
 * name="KEY">VALUE</steptml:parameter>…</steptml:invoke><｜tool_call_end｜>`, any number of calls in a section.
 */

import type { ToolParser } from '../parser.ts'
import { invokeParser } from '../reading/invoke-call.ts'
import { markupOf } from '../reading/rest.ts'
import { typedBySchema } from '../reading/tagged.ts'
import { PYTHON_VALUES } from '../reading/typed-value.ts'

const section = { open: '<｜tool_calls_begin｜>', close: '<｜tool_calls_end｜>' } as const
const FRAME = /<｜tool_calls_(?:begin|end)｜>|<｜tool_call_begin｜>[^<]*<｜tool_sep｜>|<｜tool_call_end｜>/g

/** Parser of Step 3. */
export const step3: ToolParser = {
  name: 'step3',
  sglangNames: ['step3'],
  ...invokeParser({
    section,
    call: 'steptml:invoke',
    parameter: 'steptml:parameter',
    valueReader: (text, tools) => typedBySchema(text, tools, PYTHON_VALUES),
  }),
  markup: (text, calls, shielded) => markupOf(text, FRAME, calls, shielded, section),
}
