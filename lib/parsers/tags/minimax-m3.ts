/**
 * MiniMax M3: `<invoke name="NAME"><KEY>VALUE</KEY>…</invoke>` in a section, each tag after a special token. Lists and
 * objects are nested elements, with `<item>` for each entry of a list; the tool's schema distinguishes them from texts.
 */

import { describeUnexpected, MAX_JSON_DEPTH, skipSpace } from '#lib/json/json-scan.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { NamedRange, ParsedCall, TextRange, ToolParser } from '../parser.ts'
import { type ArgumentTypes, argumentsSchema, type ValueSchema } from '../reading/argument-types.ts'
import type { CallFault } from '../reading/calls.ts'
import { createFinder } from '../reading/finder.ts'
import { invokesIn, NAMED } from '../reading/invoke-call.ts'
import { unclosedValueReason } from '../reading/tagged.ts'
import { type TypedValue, typedValue } from '../reading/typed-value.ts'

const MARK = ']<]minimax[>['
const section = { open: `${MARK}<tool_call>`, close: `${MARK}</tool_call>` } as const
const delimiters = { open: `${MARK}<invoke`, close: `${MARK}</invoke>`, section } as const
const TAG = /\]<\]minimax\[>\[<([^<>\s/"]+)>/y
const ITEM = 'item'
const words = new Map<string, unknown>()

/** Parser of MiniMax M3. */
export const minimaxM3: ToolParser = { name: 'minimax-m3', sglangNames: ['minimax-m3'], delimiters, parse }

/** A named value. Without elements in it, it is a text. */
interface Element extends NamedRange {
  readonly elements: readonly Element[]
}

type Elements =
  | { readonly ok: true; readonly elements: readonly Element[]; readonly close: number }
  | ({ readonly ok: false; readonly elements: readonly Element[] } & CallFault)

function parse(text: string, shielded: readonly TextRange[], tools: readonly ToolSpec[]): readonly ParsedCall[] {
  const readElements = elementsReader(text)
  return invokesIn(text, shielded, { delimiters, opening: NAMED, mustClose: true }, (start, name, nameText) => {
    const { elements: values, ...read } = readElements(start, delimiters.close, 0)
    const schema = argumentsSchema(tools, name)
    return {
      tagged: read.ok
        ? { ok: true, name, nameText, values, close: read.close }
        : { ok: false, why: read.why, at: read.at, name, values },
      readValue: (argument) => valueIn(text, argument as Element, schema.member(argument.name)),
    }
  })
}

/** Reads consecutive elements from a position up to a closing tag. Depth is limited, and so is recursion. */
function elementsReader(text: string): (start: number, close: string, depth: number) => Elements {
  const nextMark = createFinder(text, MARK)
  return readElements

  function readElements(start: number, close: string, depth: number): Elements {
    const elements: Element[] = []
    const fault = (why: string, at: number): Elements => ({ ok: false, elements, why, at })
    let position = skipSpace(text, start, text.length)
    while (!text.startsWith(close, position)) {
      TAG.lastIndex = position
      const name = TAG.exec(text)?.[1]
      if (name === undefined)
        return fault(describeUnexpected(text, position, text.length, `an element or ${close}`), position)
      const valueStart = TAG.lastIndex
      const keyEnd = valueStart - '>'.length
      const end = nextMark(valueStart)
      const closing = `${MARK}</${name}>`
      const isText = end >= 0 && text.startsWith(closing, end)
      if (end < 0 || (!isText && text.startsWith(`${MARK}</`, end))) return fault(unclosedValueReason(name), valueStart)
      if (depth === MAX_JSON_DEPTH) return fault(`nested deeper than ${MAX_JSON_DEPTH} levels`, position)
      const inner = isText ? undefined : readElements(valueStart, closing, depth + 1)
      if (inner && !inner.ok) return fault(inner.why, inner.at)
      const valueEnd = inner?.close ?? end
      elements.push({
        name,
        key: { start: keyEnd - name.length, end: keyEnd },
        text: { start: valueStart, end: valueEnd },
        elements: inner?.elements ?? [],
      })
      position = skipSpace(text, valueEnd + closing.length, text.length)
    }
    return { ok: true, elements, close: position }
  }
}

function valueIn(text: string, { elements, text: range }: Element, schema: ValueSchema): TypedValue {
  const { types } = schema
  if (elements.length === 0) {
    const isEmpty = range.start === range.end && types !== undefined && !types.has('string')
    if (isEmpty && types.has('array')) return { ok: true, value: [] }
    if (isEmpty && types.has('object')) return { ok: true, value: {} }
    return typedValue(text, range, types, words)
  }
  const isList = elements.every(({ name }) => name === ITEM) && mayBe(types, 'array')
  if (!isList && !mayBe(types, 'object'))
    return { ok: false, why: `is not of type ${[...(types as ReadonlySet<string>)].join(' or ')}`, at: range.start }
  const values: unknown[] = []
  const members = new Map<string, unknown>()
  for (const element of elements) {
    const { name, key } = element
    if (!isList && members.has(name)) return { ok: false, why: `has ${JSON.stringify(name)} twice`, at: key.start }
    const typed = valueIn(text, element, isList ? schema.item() : schema.member(name))
    if (!typed.ok) return { ...typed, why: `has ${JSON.stringify(name)}, which ${typed.why}` }
    values.push(typed.value)
    members.set(name, typed.value)
  }
  return { ok: true, value: isList ? values : Object.fromEntries(members) }
}

const mayBe = (types: ArgumentTypes, type: 'array' | 'object'): boolean => !types || types.has(type)
