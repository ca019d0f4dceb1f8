/**
 * Solar Open: any number of `<|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{…}<|tool_call:end|>` in a
 * section. A reply consists of messages: `<|begin|>assistant`, the kind of the message, its content, its end. The
 * prompt ends with the start of the first. The model writes the id, and the template repeats it above the result of the
 * call.
 */

import { describeUnexpected } from '#lib/json/json-scan.ts'
import type { ToolParser } from '../parser.ts'
import { endOfName } from '../reading/calls.ts'
import { type Head, headedParser } from '../reading/headed-call.ts'
import { markupOf } from '../reading/rest.ts'

const section = { open: '<|tool_calls|>', close: '<|calls|>' } as const
const delimiters = { open: '<|tool_call:begin|>', close: '<|tool_call:end|>', section } as const
const NAME = '<|tool_call:name|>'
const ARGUMENTS = '<|tool_call:args|>'
const TAG = /</g
/** Headers and ends of messages. */
const FRAME = /(?:<\|begin\|>[^<]*)?<\|(?:content|tool_calls)\|>|<\|begin\|>[^<]*|<\|(?:end|flush|calls)\|>/g

/** Parser of Solar Open. */
export const solarOpen: ToolParser = {
  ...headedParser({ name: 'solar_open', delimiters, readHead }),
  markup: (text, calls, shielded) => markupOf(text, FRAME, calls, shielded, section),
}

function readHead(text: string, start: number): Head {
  const idEnd = endOfName(text, start, TAG)
  const id = text.slice(start, idEnd).trim()
  const writtenId = id !== '' && { writtenId: id }
  if (!text.startsWith(NAME, idEnd))
    return { ok: false, why: describeUnexpected(text, idEnd, text.length, NAME), at: idEnd, ...writtenId }
  const nameStart = idEnd + NAME.length
  const nameEnd = endOfName(text, nameStart, TAG)
  const name = text.slice(nameStart, nameEnd)
  if (name.trim() === '') return { ok: false, why: 'the call has no name', at: nameStart, ...writtenId }
  if (!text.startsWith(ARGUMENTS, nameEnd))
    return {
      ok: false,
      why: describeUnexpected(text, nameEnd, text.length, ARGUMENTS),
      at: nameEnd,
      name,
      ...writtenId,
    }
  const nameText = { start: nameStart, end: nameEnd }
  return { ok: true, name, nameText, argumentsAt: nameEnd + ARGUMENTS.length, ...writtenId }
}
