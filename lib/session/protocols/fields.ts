/** Checks request bodies: every field of a protocol is read, ignored for a reason, or refused by name. */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { allowedValues } from '#lib/sampling/allowed-values.ts'
import { SAMPLING_PARAMETERS, type SamplingName } from '#lib/sampling/parameters.ts'
import { type SamplingRequest, valueSchemas } from '#lib/sampling/values.ts'
import { refusedOption } from '#lib/templates/chat-template.ts'
import { jsonObject, type ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { readForeignMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { describeValue, schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import type { CallMetadata, SessionCall, StructuredOutput, ToolChoice } from '../call.ts'
import { CallRefusal } from './refusal.ts'

/** Fields of a protocol that are not read, each with the reason. */
export interface UnreadFields {
  /** They change nothing that a session does. */
  readonly ignored: Readonly<Record<string, string>>
  /** They are refused unless they are null, false or an empty list. */
  readonly refused: Readonly<Record<string, string>>
}

/** Returns the checked body. `schema` is a strict object of all fields that are read. Throws CallRefusal. */
export function checkedBody<T>(body: unknown, schema: z.core.$ZodType<T>, { ignored, refused }: UnreadFields): T {
  if (!isObject(body)) throw new CallRefusal('', `The body must be a JSON object, but it is ${describeValue(body)}.`)
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    if (Object.hasOwn(refused, name)) {
      if (!isNeutral(value)) throw new CallRefusal(name, `${name} is not supported by sessions: ${refused[name]}.`)
    } else if (!Object.hasOwn(ignored, name) && value !== null) read[name] = value
  }
  const parsed = z.safeParse(schema, read)
  if (parsed.success) return parsed.data
  const violation = schemaViolation(parsed.error, read)
  throw new CallRefusal(violation.path, `The request cannot be read: ${violationText(violation)}.`)
}

const isNeutral = (value: unknown): boolean =>
  value === null || value === false || (Array.isArray(value) && value.length === 0)

/** Returns an optional field that may also be null. */
export const maybe = <T extends z.core.$ZodType>(schema: T) => z.optional(z.nullable(schema))

const isNothing = (): boolean => false

/** A field whose value is not read. */
export const unread = z.optional(z.unknown())

/** Returns a field that only accepts null or nothing; `why` completes "expected …". */
export const absent = (why: string) =>
  z.optional(z.nullable(z.custom<never>(isNothing, { error: `nothing, because ${why}` })))

/** Returns the schema of a sampling parameter, which says the range. */
export const sampled = (name: SamplingName) =>
  maybe(
    z
      .unknown()
      .check(z.refine((value) => z.safeParse(valueSchemas[name], value).success, { error: allowedValues(name) })),
  )

/** Returns the sampling values that a client set. */
export const samplingOf = (values: Readonly<Partial<Record<SamplingName, unknown>>>): SamplingRequest =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  ) as SamplingRequest

/** Names of sampling parameters that clients of SGLang and vLLM send beside those of OpenAI. */
export const FURTHER_SAMPLING = (Object.keys(SAMPLING_PARAMETERS) as SamplingName[]).filter(
  (name) =>
    SAMPLING_PARAMETERS[name].group !== 'Grammar' &&
    !['max_new_tokens', 'sampling_seed', 'stop', 'temperature', 'top_p'].includes(name),
)

/** A data URL of an image. Nothing is fetched, so other addresses are refused. */
export const imageUrl = z
  .string()
  .check(z.regex(/^data:image\//i, 'a data URL (data:image/…;base64,…): sessions fetch no images'))

/** Returns the template variables of a request. Throws CallRefusal for names that are no variables. */
export function templateArguments(
  effort: string | null | undefined,
  given: JsonObject | null | undefined,
  field = 'chat_template_kwargs',
): SessionCall['templateArguments'] {
  for (const name of Object.keys(given ?? {})) {
    const why = refusedOption(name, 'run')
    if (why !== undefined) throw new CallRefusal(`${field}.${name}`, `${field}: ${why}.`)
  }
  return { ...(typeof effort === 'string' && effortArguments(effort)), ...given }
}

/** Templates that know efforts have the variable reasoning_effort; those that only switch thinking have the others. */
const effortArguments = (effort: string): JsonObject => ({
  reasoning_effort: effort,
  ...(effort === 'none' && { enable_thinking: false, thinking: false }),
})

/** Returns what a client says about itself. The session may be named as harnesses do it. */
export function callMetadata(metadata: JsonObject | null | undefined, user: unknown): CallMetadata {
  const sessionId = ['session_id', 'x-session-id', 'sessionId'].map((key) => metadata?.[key]).find(isFilled)
  const named = [user, metadata?.user_id].find(isFilled)
  return { ...(sessionId !== undefined && { sessionId }), ...(named !== undefined && { user: named }) }
}

const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * Returns the messages of a checked value. A result is without the name of its tool, which its call has. Throws CallRefusal for values that
 * no schema of this folder lets through.
 */
export function messagesIn(value: unknown): readonly Message[] {
  const messages = readForeignMessage(isObject(value) && value.role === 'tool' ? without(value, ['name']) : value)
  if (!messages) throw new CallRefusal('messages', `A message cannot be read: it is ${describeValue(value)}.`)
  return messages
}

/** Schema of the parameters of a function. */
export const parametersSchema = jsonObject

/** A function in the tools of OpenAI's protocols. */
interface FunctionFields {
  readonly name: string
  readonly description?: string | null | undefined
  readonly parameters?: ToolSpec['inputSchema'] | null | undefined
}

/** Fields of a function in OpenAI's protocols, which differ in where they put them. */
export const functionFields = {
  name: z.string().check(z.minLength(1)),
  description: maybe(z.string()),
  parameters: maybe(parametersSchema),
  // Arguments are parsed strictly and never repaired; no grammar guarantees them.
  strict: unread,
}

/** Fields of a schema of the reply in OpenAI's protocols, which differ in where they put them. */
export const replySchemaFields = {
  name: maybe(z.string()),
  description: unread,
  schema: parametersSchema,
  // The grammar of the schema is always strict.
  strict: unread,
}

/** Returns the structured output that a schema of the reply asks for. */
export const outputBySchema = ({
  name,
  schema,
}: {
  readonly name?: string | null | undefined
  readonly schema: JsonObject
}): StructuredOutput => ({ kind: 'schema', ...(typeof name === 'string' && { name }), schema })

/** Returns the tool that a function of OpenAI's protocols is. */
export const functionTool = ({ name, description, parameters }: FunctionFields): ToolSpec => ({
  name,
  ...(typeof description === 'string' && { description }),
  inputSchema: parameters ?? {},
})

/** Returns the tools. Throws CallRefusal if two have the same name. */
export function checkedTools(tools: readonly ToolSpec[]): readonly ToolSpec[] {
  const names = new Set<string>()
  for (const [index, { name }] of tools.entries()) {
    if (names.has(name))
      throw new CallRefusal(`tools[${index}]`, `Two tools have the name ${JSON.stringify(name)}: rename one of them.`)
    names.add(name)
  }
  return tools
}

/** Returns the choice. Throws CallRefusal if it demands a call that no tool allows. */
export function checkedChoice(choice: ToolChoice, tools: readonly ToolSpec[]): ToolChoice {
  if (choice === 'required' && tools.length === 0)
    throw new CallRefusal('tool_choice', 'tool_choice requires a call, but the request has no tools.')
  if (typeof choice === 'object' && !tools.some(({ name }) => name === choice.name))
    throw new CallRefusal(
      'tool_choice',
      `tool_choice names the tool ${JSON.stringify(choice.name)}, but the request has no such tool.`,
    )
  return choice
}

/** Returns the structured output of a reply, undefined if the reply must be a call: it has no text then. */
export const structureOfText = (
  structured: StructuredOutput | undefined,
  choice: ToolChoice,
): StructuredOutput | undefined => (choice === 'auto' || choice === 'none' ? structured : undefined)
