/**
 * MiniMax M2: `<minimax:tool_call><invoke name="NAME"><parameter name="KEY">VALUE</parameter>…</invoke></minimax:tool_call>`, any
 * number of calls in a section. dots names the section dots_function_call.
 */

import type { ToolParser } from '../parser.ts'
import { invokeParser } from '../reading/invoke-call.ts'

/** Parser of MiniMax M2. */
export const minimaxM2: ToolParser = {
  name: 'minimax-m2',
  sglangNames: ['minimax-m2'],
  ...invokesIn('minimax:tool_call'),
}
/** Parser of dots. */
export const dots: ToolParser = { name: 'dots', sglangNames: ['dots'], ...invokesIn('dots_function_call') }

function invokesIn(block: string): ReturnType<typeof invokeParser> {
  const section = { open: `<${block}>`, close: `</${block}>` }
  return invokeParser({ section, call: 'invoke', parameter: 'parameter' })
}
