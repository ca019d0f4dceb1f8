/**
 * Mock tools: what a user-defined tool answers. Pure and total: whatever the arguments are there is a reply, the same
 * one each time, and nothing of a definition is ever run.
 */
import * as z from 'zod'
import { type Mock, type Plain, schemas } from './trajectory.ts'
import { unreachable } from './unreachable.ts'

const { mockShapes, toolSpec } = schemas

/** What a provider accepts, and the SDK with it. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** A mock tool as requests define it: the tool's specification, with what it does. */
export const mockToolSchema = z.strictObject({
  name: z.string().regex(TOOL_NAME, 'a name of 1 to 64 letters, digits, "_" or "-"'),
  description: z.string().max(10_000).exactOptional(),
  inputSchema: toolSpec.shape.inputSchema,
  mock: z.strictObject({
    reply: z.discriminatedUnion('kind', [z.strictObject(mockShapes.canned), z.strictObject(mockShapes.templated)]),
    delayMs: mockShapes.delayMs.exactOptional(),
    failure: z
      .discriminatedUnion('kind', [
        z.strictObject({ ...mockShapes.always, error: mockShapes.error }),
        z.strictObject({ ...mockShapes.calls, error: mockShapes.error }),
        z.strictObject({ ...mockShapes.every, error: mockShapes.error }),
      ])
      .exactOptional()
      .describe(mockShapes.numbering),
  }),
})
export type MockTool = Plain<z.infer<typeof mockToolSchema>>

/** Why tools of these names cannot be offered together; undefined when they can. */
export function toolListProblem(names: readonly string[]): string | undefined {
  const known = new Map<string, string>()
  for (const name of names) {
    // The SDK, too, takes them for one.
    const plain = name.replaceAll('-', '_')
    const other = known.get(plain)
    if (other === name) return `there are two tools named ${JSON.stringify(name)}`
    if (other !== undefined)
      return `the tools ${JSON.stringify(other)} and ${JSON.stringify(name)} differ in "-" and "_" alone`
    known.set(plain, name)
  }
  return undefined
}

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
    text += template.slice(from, place.index) + inserted((place[1] as string).trim(), input)
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
