/** Messages as cards of a form: what a card shows, and the changes that it makes to the JSON text. */
import type { JsonPath } from '#lib/json/json-path.ts'
import { type JsonNode, memberOf, nodeAt, readJsonText, sourceAtMargin, withInserted } from '#lib/json/json-text.ts'

/** A message in the form. */
export interface MessageCard {
  readonly role: string
  readonly content: FormField
  /** undefined if the message has none. */
  readonly reasoning: FormField | undefined
  readonly toolCalls: readonly FormCall[]
  readonly toolCallId: string | undefined
  /** Names of the fields that the form does not show. */
  readonly others: readonly string[]
}

/** A tool call in the form. */
export interface FormCall {
  readonly id: string | undefined
  readonly name: string
  readonly arguments: FormField
  /** Path from the call to the name and the arguments: `function`, or the call itself. */
  readonly holder: JsonPath
}

/** A text, or any other value as JSON. */
export type FormField =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly source: string }
  | { readonly kind: 'missing' }

/** The cards of a JSON text, or why there are none. */
export type CardList<Card> =
  | { readonly kind: 'cards'; readonly cards: readonly Card[] }
  /** The text is not JSON, or not a list of objects: only the text can be edited. */
  | { readonly kind: 'unreadable'; readonly why: string }

/** Returns the cards of the messages. */
export function messageCards(text: string): CardList<MessageCard> {
  return cardList(text, (node) => messageCard(text, node))
}

/** A tool in the form. */
export interface ToolCard {
  readonly name: string
  readonly description: string
  readonly parameters: FormField
  /** Path from the tool to its fields: `function`, or the tool itself. */
  readonly holder: JsonPath
}

/** Returns the cards of the tools; an empty text has none. */
export function toolCards(text: string): CardList<ToolCard> {
  if (text.trim() === '') return { kind: 'cards', cards: [] }
  return cardList(text, (node) => ({
    name: textAt(node, [...holderOf(node), 'name']) ?? '',
    description: textAt(node, [...holderOf(node), 'description']) ?? '',
    parameters: formField(text, nodeAt(node, [...holderOf(node), 'parameters'])),
    holder: holderOf(node),
  }))
}

/** Inserts a message after the card `after`; -1 inserts it before all. */
export const withMessage = (text: string, after: number, role: string): string =>
  withInserted(text, [after + 1], `{"role": ${JSON.stringify(role)}, "content": ""}`)

/** Appends a tool to a text with `count` tools. */
export const withTool = (text: string, count: number): string =>
  withInserted(text.trim() === '' ? '[]' : text, [count], NEW_TOOL)

/** JSON of a new tool call. */
export const NEW_CALL = '{"type": "function", "function": {"name": "", "arguments": {}}}'

const NEW_TOOL =
  '{"type": "function", "function": {"name": "", "description": "", "parameters": {"type": "object", "properties": {}}}}'

/** Inserts a copy of the entry at `at` after it; returns the text unchanged if there is none. */
export function withDuplicate(text: string, at: number): string {
  const reading = readJsonText(text)
  const node = reading.ok ? nodeAt(reading.root, [at]) : undefined
  return node ? withInserted(text, [at + 1], sourceAtMargin(text, node)) : text
}

const SHOWN = ['role', 'content', 'reasoning_content', 'tool_calls', 'tool_call_id']

function messageCard(text: string, node: JsonNode): MessageCard {
  const calls = memberOf(node, 'tool_calls')?.value
  const reasoning = memberOf(node, 'reasoning_content')?.value
  return {
    role: textAt(node, ['role']) ?? '',
    content: formField(text, memberOf(node, 'content')?.value),
    reasoning: reasoning && formField(text, reasoning),
    toolCalls: calls?.kind === 'array' ? calls.items.map((call) => callCard(text, call)) : [],
    toolCallId: textAt(node, ['tool_call_id']),
    others:
      node.kind === 'object'
        ? node.members
            .filter(({ key, value }) => !SHOWN.includes(key) || (key === 'tool_calls' && value.kind !== 'array'))
            .map(({ key }) => key)
        : [],
  }
}

const callCard = (text: string, node: JsonNode): FormCall => ({
  id: textAt(node, ['id']),
  name: textAt(node, [...holderOf(node), 'name']) ?? '',
  arguments: formField(text, nodeAt(node, [...holderOf(node), 'arguments'])),
  holder: holderOf(node),
})

const holderOf = (node: JsonNode): JsonPath => (memberOf(node, 'function')?.value.kind === 'object' ? ['function'] : [])

function textAt(node: JsonNode, path: JsonPath): string | undefined {
  const valueNode = nodeAt(node, path)
  return valueNode?.kind === 'string' ? valueNode.value : undefined
}

function formField(text: string, node: JsonNode | undefined): FormField {
  if (!node) return { kind: 'missing' }
  return node.kind === 'string'
    ? { kind: 'text', text: node.value }
    : { kind: 'json', source: sourceAtMargin(text, node) }
}

function cardList<Card>(text: string, card: (node: JsonNode) => Card): CardList<Card> {
  const reading = readJsonText(text)
  if (!reading.ok) {
    const { message, line, column } = reading.problem
    return { kind: 'unreadable', why: `The JSON has an error in line ${line}, column ${column}: ${message}.` }
  }
  const { root } = reading
  if (root.kind !== 'array' || root.items.some(({ kind }) => kind !== 'object'))
    return { kind: 'unreadable', why: 'The JSON is not a list of objects.' }
  return { kind: 'cards', cards: root.items.map(card) }
}
