/**
 * MiniMax M2: `<minimax:tool_call><invoke name="NAME"><parameter name="KEY">VALUE</parameter>…</invoke></minimax:tool_call>`, any
 * number of calls in a section.
 */

import type { ToolParser } from '../parser.ts'
import { invokeParser } from '../reading/invoke-call.ts'

const section = { open: '<minimax:tool_call>', close: '</minimax:tool_call>' } as const

/** Parser of MiniMax M2. */
export const minimaxM2: ToolParser = {
  name: 'minimax-m2',
  sglangNames: ['minimax-m2'],
  ...invokeParser({ section, call: 'invoke', parameter: 'parameter' }),
}
