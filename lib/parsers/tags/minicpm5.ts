/**
 * MiniCPM5: `<function name="NAME"><param name="KEY">VALUE</param></function>`, XML: a value with markup is in CDATA,
 * where it is unchanged; other values use XML's five escapes. Its template writes values that are not texts in Python.
 */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { ToolParser } from '../parser.ts'
import { argumentTypes } from '../reading/argument-types.ts'
import { invokeParser } from '../reading/invoke-call.ts'
import type { ValueReader } from '../reading/tagged.ts'
import { PYTHON_VALUES, typedLiteral } from '../reading/typed-value.ts'

const frame = { open: '<![CDATA[', close: ']]>' } as const
const ENTITY = /&(?:lt|gt|amp|quot|apos);/g
const CHARACTERS: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
}

/** Parser of MiniCPM5. */
export const minicpm5: ToolParser = {
  name: 'minicpm5',
  sglangNames: ['minicpm5'],
  ...invokeParser({ call: 'function', parameter: 'param', frame, valueReader }),
}

function valueReader(text: string, tools: readonly ToolSpec[]): ValueReader {
  return ({ name, text: { start, end } }, tool) => {
    const isFramed = text.startsWith(frame.open, start - frame.open.length)
    const written = text.slice(start, end)
    const value = isFramed ? written : unescapedXml(written)
    const types = argumentTypes(tools, tool, name)
    const typed = typedLiteral(value, { start: 0, end: value.length }, types, PYTHON_VALUES)
    return typed.ok ? typed : { ...typed, at: value === written ? start + typed.at : start }
  }
}

/** Decodes XML's five escapes. */
export const unescapedXml = (text: string): string => text.replaceAll(ENTITY, (entity) => CHARACTERS[entity] as string)
