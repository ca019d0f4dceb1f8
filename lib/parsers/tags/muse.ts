/**
 * Muse Glimmer, ATEM: `<atem:invoke name="NAME"><atem:parameter name="KEY">VALUE</atem:parameter>…</atem:invoke>` in a
 * section, in a message to the tool: `<|start|>assistant to=NAME<|message|>…<|eom|>`. The prompt ends with the start of
 * the first message.
 */

import type { ToolParser } from '../parser.ts'
import { invokeParser } from '../reading/invoke-call.ts'
import { markupOf } from '../reading/rest.ts'

const section = { open: '<atem:function_calls>', close: '</atem:function_calls>' } as const
const FRAME = /<\|start\|>[^<]*<\|message\|>|^[^<]*<\|message\|>|<\|(?:eom|eot)\|>|<\/?atem:function_calls>/g

const invokes = invokeParser({ section, call: 'atem:invoke', parameter: 'atem:parameter' })

/** Parser of Muse Glimmer. */
export const muse: ToolParser = {
  name: 'muse',
  sglangNames: ['muse'],
  ...invokes,
  parse(text, shielded, tools) {
    // The template announces a tool without a namespace as `NAME.*`, so models call NAME.NAME.
    const doubled = new Map(tools.map((tool) => [`${tool.name}.${tool.name}`, tool]))
    for (const { name } of tools) doubled.delete(name)
    const named = Array.from(doubled, ([name, tool]) => ({ ...tool, name }))
    return invokes.parse(text, shielded, [...tools, ...named]).map((call) => {
      const tool = doubled.get(call.name ?? '')
      return tool ? { ...call, name: tool.name } : call
    })
  },
  markup: (text, calls, shielded) => markupOf(text, FRAME, calls, shielded, section),
}
