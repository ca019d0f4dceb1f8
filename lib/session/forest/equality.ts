/**
 * Equality of messages. A client sends the whole history again with every call, and some clients change how they write it. Messages
 * are strictly equal, or equal under named rules, each of which describes one change that clients are known to make
 * (docs/decisions/0096). Each message has a normal form, a text. Equal messages have equal texts, so a history is looked up and not compared.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { hasSameJson } from '#lib/json/same-json.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Names of the rules, in the order in which they are listed. */
export const EQUALITY_RULES = [
  'call-arguments',
  'empty-content',
  'dropped-reasoning',
  'call-ids',
  'text-parts',
  'cache-marks',
] as const
/** Name of a rule that treats messages as equal although they are not identical. */
export type EqualityRule = (typeof EQUALITY_RULES)[number]

/** The rules that apply to a session. */
export type EqualityRules = ReadonlySet<EqualityRule>

/** All rules. */
export const ALL_RULES: EqualityRules = new Set(EQUALITY_RULES)

/** Messages that the client sent differently, and that a rule treats as equal. */
export interface AcceptedRule {
  readonly rule: EqualityRule
  /** Number of the first such message in the history, from 1. */
  readonly message: number
}

/** A history with the normal form of each message. Forms are made when they are first read, in order. */
export interface NormalHistory {
  readonly messages: readonly Message[]
  /** Returns the normal form of a message, without its reasoning if a client may leave that out. */
  readonly form: (index: number) => string
  /** Returns the ids of calls in the order of their first occurrence, up to a number of messages. */
  readonly callIds: (messages: number) => readonly string[]
  /** Returns the forms of the first messages, for another history that begins with these. */
  readonly beginning: (messages: number) => HistoryBeginning
}

/** The normal form of a message, and the number of ids of calls up to it. */
interface KnownForm {
  readonly form: string
  readonly ids: number
}

/** What is known of the messages with which a history begins. */
interface HistoryBeginning {
  /** Ids of calls in messages before the history, and then those of its first messages. */
  readonly callIds: readonly string[]
  /** Number of ids in messages before the history. */
  readonly idsBefore: number
  /** Forms of its first messages. */
  readonly forms: readonly KnownForm[]
}

/**
 * Returns a history in normal form under the rules of an earlier one. A client sends its whole history with every call: messages with which
 * the earlier one begins too are replaced by its own, and their forms are not made again.
 */
export function grownHistory(
  messages: readonly Message[],
  rules: EqualityRules,
  earlier: NormalHistory | undefined,
): NormalHistory {
  if (!earlier) return normalHistory(messages, rules)
  const differs = messages.findIndex((message, index) => !hasSameJson(message, earlier.messages[index]))
  const shared = differs < 0 ? messages.length : differs
  const all = [...earlier.messages.slice(0, shared), ...messages.slice(shared)]
  return historyAfter(all, rules, earlier.beginning(shared))
}

/**
 * Returns a history in normal form. Reading all forms takes time linear in the size of the messages. `idsBefore` are the ids of calls
 * in messages before the history.
 */
export const normalHistory = (
  messages: readonly Message[],
  rules: EqualityRules,
  idsBefore: readonly string[] = [],
): NormalHistory => historyAfter(messages, rules, { callIds: idsBefore, idsBefore: idsBefore.length, forms: [] })

function historyAfter(
  messages: readonly Message[],
  rules: EqualityRules,
  { callIds: knownIds, idsBefore, forms }: HistoryBeginning,
): NormalHistory {
  const numbers = new Map(knownIds.map((id, index) => [id, index]))
  const known = [...forms]
  const name: IdNames = rules.has('call-ids') ? numbered(numbers) : literally
  const read = (index: number): KnownForm => {
    while (known.length <= index) {
      const message = messages[known.length]
      if (!message) throw new RangeError(`message ${index} of ${messages.length}`)
      if (name === literally) for (const id of callIdsOf(message)) numbered(numbers)(id)
      known.push({ form: formOf(message, rules, name), ids: numbers.size })
    }
    return elementAt(known, index)
  }
  const callIds = (count: number): readonly string[] => {
    const ids = count === 0 ? idsBefore : read(count - 1).ids
    return [...numbers.keys()].slice(0, ids)
  }
  return {
    messages,
    form: (index) => read(index).form,
    callIds,
    beginning: (count) => ({ callIds: callIds(count), idsBefore, forms: known.slice(0, count) }),
  }
}

/** Returns the reasoning of a message that clients may leave out: '' if there is none, or if the rule does not apply. */
export const reasoningOf = (message: Message, rules: EqualityRules): string =>
  rules.has('dropped-reasoning') && message.role === 'assistant' ? (message.reasoning ?? '') : ''

/**
 * Returns whether a client may have sent `sent` in place of a message whose reasoning is `stored`: all, nothing, or its end, because the
 * stream reader of OpenAI's JavaScript client keeps the last piece.
 */
export const hasReasoning = (stored: string, sent: string): boolean => stored.endsWith(sent)

/**
 * Returns the rules that were needed to treat two histories as equal, each with its first message. `stored` and `sent` have the same
 * number of messages, and are equal under `rules`.
 */
export function rulesNeeded(
  stored: readonly Message[],
  sent: readonly Message[],
  rules: EqualityRules,
): readonly AcceptedRule[] {
  const needed = new Map<EqualityRule, number>()
  const names = { stored: numbered(new Map()), sent: numbered(new Map()) }
  const areEqual = (one: Message, other: Message, under: EqualityRules): boolean => {
    const areNumbered = under.has('call-ids')
    return (
      formOf(one, under, areNumbered ? names.stored : literally) ===
      formOf(other, under, areNumbered ? names.sent : literally)
    )
  }
  for (const [index, one] of stored.entries()) {
    const other = sent[index]
    if (!other) break
    if (isWrittenAlike(one, other) || areEqual(one, other, new Set(needed.keys()))) continue
    for (const rule of rules)
      if (!needed.has(rule) && !areEqual(one, other, new Set([...rules].filter((each) => each !== rule))))
        needed.set(rule, index + 1)
  }
  return EQUALITY_RULES.flatMap((rule) => {
    const message = needed.get(rule)
    return message === undefined ? [] : [{ rule, message }]
  })
}

/** Returns whether two messages have the same JSON. A client sends the same messages again and again. */
function isWrittenAlike(one: Message, other: Message): boolean {
  if (writtenAlike.get(other) === one) return true
  if (!hasSameJson(one, other)) return false
  writtenAlike.set(other, one)
  return true
}

/** Recorded messages by the sent ones with the same JSON. */
const writtenAlike = new WeakMap<Message, Message>()

/**
 * Returns a text that is equal for messages that differ at most in what the rules allow, in reasoning, and in the ids of calls. It
 * finds messages again after an edited one, where ids may have other numbers.
 */
export const formAnywhere = (message: Message, rules: EqualityRules): string =>
  formOf(message, new Set([...rules, 'dropped-reasoning']), () => '')

/** Returns the ids of calls that a message names, in order. */
export function callIdsOf(message: Message): readonly string[] {
  if (message.role === 'tool') return message.callId === undefined ? [] : [message.callId]
  if (message.role !== 'assistant') return []
  return (message.toolCalls ?? []).flatMap(({ id }) => (id === undefined ? [] : [id]))
}

/** Returns a message with other ids of calls. */
export function withCallIds<M extends Message>(message: M, rename: (id: string) => string): M {
  if (callIdsOf(message).every((id) => rename(id) === id)) return message
  if (message.role === 'tool') return { ...message, callId: rename(message.callId as string) }
  const { toolCalls = [] } = message as Extract<Message, { role: 'assistant' }>
  return {
    ...message,
    toolCalls: toolCalls.map((call) => ({ ...call, ...(call.id !== undefined && { id: rename(call.id) }) })),
  }
}

/** Returns the name of an id in a normal form. */
type IdNames = (id: string) => string | number

const literally: IdNames = (id) => id

/** Names ids by the order of their first occurrence. */
const numbered =
  (numbers: Map<string, number>): IdNames =>
  (id) => {
    const known = numbers.get(id)
    if (known !== undefined) return known
    numbers.set(id, numbers.size)
    return numbers.size - 1
  }

/** Members of messages that have a normal form of their own. */
const OWN_MEMBERS: readonly string[] = ['role', 'content', 'reasoning', 'toolCalls', 'callId']

function formOf(message: Message, rules: EqualityRules, name: IdNames): string {
  const members: JsonObject = message
  const calls = message.role === 'assistant' ? callForms(message.toolCalls, rules, name) : null
  const others = Object.keys(members)
    .filter((key) => !OWN_MEMBERS.includes(key) && !isCacheMark(key, rules) && isPresent(members[key]))
    .sort()
    .map((key) => [key, members[key]])
  return JSON.stringify([
    message.role,
    contentForm(message, rules),
    message.role === 'assistant' && !rules.has('dropped-reasoning') ? message.reasoning : null,
    calls,
    message.role === 'tool' && message.callId !== undefined ? name(message.callId) : null,
    others,
  ])
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null
const isCacheMark = (key: string, rules: EqualityRules): boolean => key === 'cache_control' && rules.has('cache-marks')

/** Returns the content without what the rules allow to differ. A content that is missing differs from one that is null. */
function contentForm({ role, content }: Message, rules: EqualityRules): unknown {
  const found = typeof content === 'object' && content !== null ? partsForm(content, rules) : content
  if (rules.has('empty-content') && isEmpty(role, found)) return ['empty']
  return found === undefined ? ['missing'] : [found]
}

/** The proxy of LiteLLM writes this text in place of an empty one, because Anthropic refuses empty texts. */
const EMPTY_OF_LITELLM = '[System: Empty message content sanitised to satisfy protocol]'

const isEmpty = (role: Message['role'], content: unknown): boolean =>
  content === undefined || content === null || content === '' || (role === 'assistant' && content === EMPTY_OF_LITELLM)

function partsForm(parts: Exclude<Message['content'], string | undefined>, rules: EqualityRules): unknown {
  const own = rules.has('cache-marks') ? parts.map(({ cache_control: _, ...part }: JsonObject) => part) : parts
  const [first] = own
  const isText =
    rules.has('text-parts') &&
    own.length === 1 &&
    first?.type === 'text' &&
    typeof first.text === 'string' &&
    Object.keys(first).every((key) => key === 'type' || key === 'text')
  return isText ? first.text : own
}

type Calls = Extract<Message, { role: 'assistant' }>['toolCalls'] | null

function callForms(calls: Calls, rules: EqualityRules, name: IdNames): unknown {
  if (!calls || (calls.length === 0 && rules.has('empty-content'))) return null
  return calls.map(({ id, input, json: _, ...call }) => [
    id === undefined ? null : name(id),
    rules.has('call-arguments') ? argumentsForm(input) : [typeof input, input],
    sortedJson(call),
  ])
}

/** Returns the form of arguments as a value, also if they are written as a JSON text. A text that is no JSON equals only itself. */
function argumentsForm(input: unknown): unknown {
  if (typeof input !== 'string') return sortedJson(input)
  try {
    return sortedJson(JSON.parse(input))
  } catch {
    return { text: input }
  }
}

/** Returns a JSON value as lists with sorted keys, so that equal values have the same text. */
function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedJson)
  if (!isObject(value)) return value
  return {
    keys: Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => [key, sortedJson(value[key])]),
  }
}
