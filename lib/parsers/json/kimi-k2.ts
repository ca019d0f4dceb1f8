/**
 * Kimi K2: any number of `<|tool_call_begin|>functions.NAME:INDEX<|tool_call_argument_begin|>{…}<|tool_call_end|>` in a
 * section. The model writes the id, and its template repeats it above the result of the call. The section may stay
 * unclosed, because a reply that stops at the section's end does not contain it.
 */

import { describeUnexpected, skipSpace } from '#lib/json/json-scan.ts'
import type { ToolParser } from '../parser.ts'
import { endOfName } from '../reading/calls.ts'
import { type Head, headedParser } from '../reading/headed-call.ts'

const ARGUMENTS = '<|tool_call_argument_begin|>'
const section = { open: '<|tool_calls_section_begin|>', close: '<|tool_calls_section_end|>' } as const
const delimiters = { open: '<|tool_call_begin|>', close: '<|tool_call_end|>', section } as const

/** Parser of Kimi K2. */
export const kimiK2: ToolParser = headedParser({
  name: 'kimi_k2',
  sglangNames: ['kimi_k2'],
  delimiters,
  readHead,
  headEnd: 'id',
})

const ID_END = /[<\s]/g
const PREFIX = 'functions.'
const INDEX = /:\d+$/

function readHead(text: string, start: number): Head {
  const idStart = skipSpace(text, start, text.length)
  const id = text.slice(idStart, endOfName(text, idStart, ID_END))
  if (id === '') return { ok: false, why: 'the call has no id', at: idStart }
  const name = nameIn(id)
  if (name === '') return { ok: false, why: `the id ${JSON.stringify(id)} names no tool`, at: idStart, writtenId: id }
  const at = skipSpace(text, idStart + id.length, text.length)
  if (!text.startsWith(ARGUMENTS, at))
    return { ok: false, why: describeUnexpected(text, at, text.length, ARGUMENTS), at, name, writtenId: id }
  const nameStart = idStart + (id.startsWith(PREFIX) ? PREFIX.length : 0)
  const nameText = { start: nameStart, end: nameStart + name.length }
  return { ok: true, name, nameText, argumentsAt: at + ARGUMENTS.length, writtenId: id }
}

/** Removes the prefix and the index of an id. */
const nameIn = (id: string): string => (id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id).replace(INDEX, '')
