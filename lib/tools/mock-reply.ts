/**
 * Computes the result of a mock tool call. Any arguments get a reply, the same one each time, and nothing of a definition
 * is executed.
 */
import type { Mock } from '#lib/tools/tool-spec.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'

/** Returns the error of a call, or undefined if it succeeds; `callNumber` counts from 1. */
export function failureAt({ failure }: Mock, callNumber: number): string | undefined {
  if (!failure) return undefined
  switch (failure.kind) {
    case 'always':
      return failure.error
    case 'calls':
      return failure.calls.includes(callNumber) ? failure.error : undefined
    case 'every':
      return callNumber % failure.nth === 0 ? failure.error : undefined
    default:
      return unreachable(failure)
  }
}

/** Maximum length of a reply, twice that of a definition: a thousand `{{.}}` for a long input would fill the memory. */
const LONGEST_REPLY = 200_000

/** Returns the reply of a call, at most LONGEST_REPLY characters; a cut is noted at the end. */
export function replyTo({ reply }: Mock, input: unknown): string {
  return reply.kind === 'canned' ? reply.text : fillTemplate(reply.template, input)
}

const PLACE = /\{\{([^{}]*)\}\}/g

function fillTemplate(template: string, input: unknown): string {
  let text = ''
  let from = 0
  for (const place of template.matchAll(PLACE)) {
    text += template.slice(from, place.index) + insertedText(elementAt(place, 1).trim(), input)
    from = place.index + place[0].length
    if (text.length > LONGEST_REPLY) return cut(text)
  }
  return cut(text + template.slice(from))
}

const cut = (text: string): string =>
  text.length > LONGEST_REPLY ? `${text.slice(0, LONGEST_REPLY)}[cut after ${LONGEST_REPLY} characters]` : text

/** Inserts texts unchanged and other values as JSON; a missing value is reported as missing. */
function insertedText(path: string, input: unknown): string {
  const value = path === '.' ? input : path.split('.').reduce(memberOf, input)
  if (value === undefined) return `[missing: ${path}]`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Reads own members only: `constructor` and `length` are ordinary names. */
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, name) &&
  !(Array.isArray(value) && name === 'length')
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
