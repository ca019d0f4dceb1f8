/** Converts between a mock tool and its text fields in the editor. */
import { type MockTool, mockToolSchema, toolListProblem } from '#lib/tools/mock-tool.ts'
import { checkToolSchema } from '#lib/tools/tool-schema.ts'
import { expectation, violationText } from '#lib/util/schema-violation.ts'
import { lineOfPath, parseWrittenJson } from '../prompt/json-lines.ts'

/** Fields of the editor as typed. */
export interface MockToolDraft {
  readonly name: string
  readonly description: string
  /** JSON Schema as typed. */
  readonly schema: string
  readonly replyKind: 'canned' | 'templated'
  readonly reply: string
  readonly delayMs: string
  readonly failureKind: 'never' | 'always' | 'calls' | 'every'
  /** Numbers of the calls that fail, or the n of every nth call. */
  readonly failing: string
  readonly error: string
}

type DraftErrors = Readonly<Partial<Record<keyof MockToolDraft, string>>>

/** A valid draft that the user can change. */
export const FIRST_DRAFT: MockToolDraft = {
  name: 'get_weather',
  description: 'Get the weather in a city.',
  schema: JSON.stringify(
    {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city' } },
      required: ['city'],
    },
    null,
    2,
  ),
  replyKind: 'templated',
  reply: 'Sunny in {{city}}.',
  delayMs: '',
  failureKind: 'never',
  failing: '2',
  error: 'service unavailable',
}

/** Returns the fields for an existing tool. */
export function mockToolDraftOf({ name, description = '', inputSchema, mock }: MockTool): MockToolDraft {
  const { reply, failure } = mock
  return {
    name,
    description,
    schema: JSON.stringify(inputSchema, null, 2),
    replyKind: reply.kind,
    reply: reply.kind === 'canned' ? reply.text : reply.template,
    delayMs: mock.delayMs === undefined ? '' : String(mock.delayMs),
    failureKind: failure?.kind ?? 'never',
    failing: failingOf(failure),
    error: failure?.error ?? FIRST_DRAFT.error,
  }
}

function failingOf(failure: MockTool['mock']['failure']): string {
  if (failure?.kind === 'calls') return failure.calls.join(', ')
  return failure?.kind === 'every' ? String(failure.nth) : FIRST_DRAFT.failing
}

/** The tool that a draft defines, or errors by field. */
export type MockToolResult =
  | { readonly ok: true; readonly tool: MockTool }
  | { readonly ok: false; readonly errors: DraftErrors }

/** Returns the tool of a draft, or its errors. `others` are the names of the other mock tools, which must differ. */
export function toolOf(draft: MockToolDraft, others: readonly string[]): MockToolResult {
  const schema = schemaIn(draft.schema)
  const value = {
    name: draft.name.trim(),
    ...(draft.description.trim() !== '' && { description: draft.description }),
    inputSchema: schema.ok ? schema.value : {},
    mock: {
      reply:
        draft.replyKind === 'canned'
          ? { kind: 'canned', text: draft.reply }
          : { kind: 'templated', template: draft.reply },
      ...(draft.delayMs.trim() !== '' && { delayMs: Number(draft.delayMs) }),
      ...(draft.failureKind !== 'never' && { failure: failureIn(draft) }),
    },
  }
  const clash = toolListProblem([...others, value.name].map((name) => ({ name })))
  const errors = {
    ...(clash !== undefined && { name: clash }),
    ...(!schema.ok && { schema: schema.error }),
    ...violations(value, draft),
  }
  return Object.keys(errors).length > 0 ? { ok: false, errors } : { ok: true, tool: value as MockTool }
}

function schemaIn(text: string) {
  const json = parseWrittenJson(text)
  if (!json.ok) return json
  const checked = checkToolSchema(json.value)
  if (checked.ok) return json
  const error = `line ${lineOfPath(text, checked.at)}: ${violationText(checked.violation)}`
  return { ok: false, error } as const
}

function failureIn({ failureKind, failing, error }: MockToolDraft): object {
  if (failureKind === 'calls')
    return {
      kind: 'calls',
      calls: failing
        .split(/[\s,]+/)
        .filter((part) => part !== '')
        .map(Number),
      error,
    }
  return failureKind === 'every' ? { kind: 'every', nth: Number(failing), error } : { kind: 'always', error }
}

/** Field of the editor for each path in the definition. */
const PLACES: readonly (readonly [prefix: string, field: keyof MockToolDraft])[] = [
  ['name', 'name'],
  ['description', 'description'],
  ['mock.reply', 'reply'],
  ['mock.delayMs', 'delayMs'],
  ['mock.failure.error', 'error'],
  ['mock.failure', 'failing'],
]

const FAILING = {
  calls: 'must be numbers of calls from 1, for example 1, 3',
  every: 'must be a whole number from 2',
} as const

function violations(value: object, { failureKind }: MockToolDraft): DraftErrors {
  const { error } = mockToolSchema.safeParse(value)
  const errors: Partial<Record<keyof MockToolDraft, string>> = {}
  for (const issue of error?.issues ?? []) {
    const path = issue.path.join('.')
    const field = PLACES.find(([prefix]) => path.startsWith(prefix))?.[1]
    if (field === 'failing' && failureKind in FAILING) errors.failing = FAILING[failureKind as keyof typeof FAILING]
    else if (field) errors[field] ??= `must be ${expectation(issue)}`
  }
  return errors
}
