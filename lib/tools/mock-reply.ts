/**
 * What a call of a mock tool gets: pure and total. Whatever the arguments are there is a reply, the same one each time,
 * and nothing of a definition is ever run.
 */
import type { Mock } from '#lib/tools/tool-spec.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'

/** The error that a call ends with; undefined when it is answered. `callNumber` counts from 1. */
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

/** Twice what a definition may hold: `{{.}}` a thousand times over a long input would fill the memory. */
const LONGEST_REPLY = 200_000

/** What a call is answered, at most LONGEST_REPLY characters: what was cut is said at the end. */
export function replyTo({ reply }: Mock, input: unknown): string {
  return reply.kind === 'canned' ? reply.text : filled(reply.template, input)
}

const PLACE = /\{\{([^{}]*)\}\}/g

function filled(template: string, input: unknown): string {
  let text = ''
  let from = 0
  for (const place of template.matchAll(PLACE)) {
    text += template.slice(from, place.index) + inserted(elementAt(place, 1).trim(), input)
    from = place.index + place[0].length
    if (text.length > LONGEST_REPLY) return cut(text)
  }
  return cut(text + template.slice(from))
}

const cut = (text: string): string =>
  text.length > LONGEST_REPLY ? `${text.slice(0, LONGEST_REPLY)}[cut after ${LONGEST_REPLY} characters]` : text

/** Texts as they are, everything else as JSON; what is not there is said to be missing. */
function inserted(path: string, input: unknown): string {
  const value = path === '.' ? input : path.split('.').reduce(memberOf, input)
  if (value === undefined) return `[missing: ${path}]`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Own members only: `constructor` and `length` are names like any other. */
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' &&
  value !== null &&
  Object.hasOwn(value, name) &&
  !(Array.isArray(value) && name === 'length')
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined
