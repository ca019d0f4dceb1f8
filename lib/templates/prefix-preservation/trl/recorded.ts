/** Checks the boundaries that a trajectory really has: its ids, compared with the render of its messages. */

import { argumentsSource } from '#lib/parsers/reading/written-arguments.ts'
import type { Message, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { responseText, responseTextWithStarts, withResultText } from '#lib/trajectory/messages/conversation.ts'
import { textOf, textWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { messagePartsOf } from '../cause.ts'
import { type Region, regionsOf, renderParts } from '../compare.ts'
import { messageForm, type ThinkingState, thinkingOf } from '../facts.ts'
import { findingAt } from '../finding.ts'
import { messagesJson, type ScriptMessage, type ScriptReply, templateMessages } from '../fix/script.ts'
import type { MatrixSettings } from '../matrix.ts'
import type { Boundary, Cell, TemplateVerdict } from '../report.ts'
import { renderedText, renderTurn, type Subject } from '../subject.ts'

type Form = Extract<Cell['place'], { kind: 'trajectory' }>['form']

/** Yields one cell after the other, because a long trajectory takes time. */
export function* recordedCells(trajectory: Trajectory, given: Subject, settings: MatrixSettings): Generator<Cell> {
  const written = new Date(trajectory.createdAt)
  const subject = { ...given, ...(!Number.isNaN(written.getTime()) && { clock: () => written }) }
  const state = thinkingOf(subject)
  let number = 0
  for (const [segmentIndex, segment] of trajectory.segments.entries()) {
    if (segment.kind !== 'response') continue
    number++
    const next = trajectory.segments[segmentIndex + 1]
    const added = next?.kind === 'prompt' ? next : undefined
    const turn: RecordedTurn = { trajectory, segment, segmentIndex, added }
    for (const form of ['text', 'parsed'] as const)
      yield {
        id: `turn-${number}/as-${form}`,
        place: { kind: 'trajectory', segmentIndex, boundary: boundaryBefore(added?.messages ?? []), form },
        verdict: verdictOf(turn, form, state, subject, settings),
      }
  }
}

interface RecordedTurn {
  readonly trajectory: Trajectory
  readonly segment: ResponseSegment
  readonly segmentIndex: number
  /** The prompt that follows; undefined if the trajectory ends with the reply. */
  readonly added: Extract<Segment, { kind: 'prompt' }> | undefined
}

function boundaryBefore(messages: readonly Message[]): Boundary {
  const roles = messages.map(({ role }) => role)
  if (roles.length === 0) return 'end'
  const results = roles.filter((role) => role === 'tool').length
  if (results > 0) return results > 1 ? 'parallel' : 'tool'
  return roles.includes('user') ? 'user' : 'system'
}

function verdictOf(
  turn: RecordedTurn,
  form: Form,
  state: ThinkingState,
  subject: Subject,
  { facts }: MatrixSettings,
): TemplateVerdict {
  const { trajectory, segmentIndex, added } = turn
  const segments = trajectory.segments.slice(0, segmentIndex + (added ? 2 : 1))
  const read = segments.map((segment) => scriptMessages(segment, trajectory, form, state))
  if (read.includes(undefined))
    return { kind: 'notApplicable', why: 'The conversation contains parts that are not text.' }
  const messages = read.flatMap((list) => list ?? [])
  // These messages have the thinking in a field of its own, wherever `messages` keep it.
  const parsed = segments.flatMap((segment) => scriptMessages(segment, trajectory, 'parsed', state) ?? [])
  const replyIndex = read.slice(0, segmentIndex).flatMap((list) => list ?? []).length
  const messageFormat = { ...messageForm(facts), thinking: state.delimiters ?? facts.thinking }
  const after = renderTurn(subject, templateMessages(messages, messageFormat), added !== undefined)
  if (!after.ok && after.refused)
    return { kind: 'notApplicable', why: `The template raises an error: ${after.error.message}` }
  if (!after.ok) return { kind: 'error', failure: after.error }
  const side = renderParts(subject.tokenizer, [after.rendering.text])
  const ids = segments.flatMap((segment) => segment.ids)
  // The model has not read what the template writes after the last reply.
  const length = added ? Math.max(ids.length, side.ids.length) : ids.length
  let at = 0
  while (at < length && ids[at] === side.ids[at]) at++
  if (at >= length) return { kind: 'stable', tokens: side.ids.length }
  const { text, starts } = textWithStarts(ids, trajectory.vocab)
  const comparison = {
    expected: {
      text,
      ids,
      starts: () => starts,
      regions: () => regionsOf(rangesBetween(turn, subject)),
    },
    rendered: { ...side, rendering: after.rendering },
    before: undefined,
    tokenIndex: at,
    textDiffers: added ? side.text !== text : !side.text.startsWith(text),
  }
  const problem = {
    comparison,
    messages: parsed.map(messagePartsOf),
    replyIndex,
    tags: state.tags,
    endOfTurn: facts.endOfTurn,
    addedTokens: subject.tokenizer.addedTokens,
  }
  return {
    kind: 'unstable',
    finding: findingAt(at, problem, subject.tokenizer, messagesJson(messages, messageFormat)),
  }
}

/** Returns the messages of a segment; undefined if a message contains more than text. */
function scriptMessages(
  segment: Segment,
  trajectory: Trajectory,
  form: Form,
  state: ThinkingState,
): readonly ScriptMessage[] | undefined {
  if (segment.kind === 'response') return [replyOf(segment, trajectory, form, state)]
  const calls = toolCallsOf(trajectory)
  const messages = segment.messages.map((message): ScriptMessage | undefined => {
    const { content = '' } = withResultText(message, trajectory)
    if (typeof content !== 'string' && content.some(({ type }) => type !== 'text')) return undefined
    const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('')
    if (message.role === 'tool') {
      const call = calls.find(({ id }) => id === message.callId)
      const answered = { id: call?.writtenId ?? message.callId ?? '', name: call?.name ?? '' }
      return { role: 'tool', call: answered, content: text }
    }
    if (message.role !== 'assistant') return { role: message.role, content: text }
    const toolCalls = (message.toolCalls ?? []).map(({ id = '', name, input, json }) => ({
      id,
      name,
      arguments: json ?? JSON.stringify(input),
    }))
    return { role: 'assistant', thinking: message.reasoning, content: text, calls: toolCalls }
  })
  return messages.every((message) => message !== undefined) ? messages : undefined
}

/** Returns a reply. 'text': the content is all that was written. 'parsed': thinking and calls are separate, as clients keep them. */
function replyOf(segment: ResponseSegment, trajectory: Trajectory, form: Form, { tags }: ThinkingState): ScriptReply {
  if (form === 'text')
    return { role: 'assistant', thinking: undefined, content: responseText(segment, trajectory), calls: [] }
  const { text, starts } = responseTextWithStarts(segment, trajectory)
  const calls = segment.toolCalls.flatMap((call) => (call.kind === 'parsed' ? [call] : []))
  const think = tags ? segment.thinks[0] : undefined
  const thinkEnd = think ? (starts[think.end] ?? text.length) : 0
  const block = think ? text.slice(starts[think.start] ?? 0, thinkEnd).trim() : undefined
  let content = ''
  let at = thinkEnd
  for (const call of calls) {
    content += text.slice(at, Math.max(at, call.text.start))
    at = Math.max(at, call.text.end)
  }
  return {
    role: 'assistant',
    thinking: block === undefined ? undefined : withoutTags(block, tags).trim(),
    content: (content + text.slice(at)).trim(),
    calls: calls.map((call) => ({
      id: call.writtenId ?? call.id,
      name: call.name,
      arguments: argumentsSource(call, text),
    })),
  }
}

function withoutTags(block: string, tags: ThinkingState['tags']): string {
  const { open = '', close = '' } = tags ?? {}
  const start = block.startsWith(open) ? open.length : 0
  return block.slice(start, close !== '' && block.endsWith(close) ? -close.length : undefined)
}

function rangesBetween(
  { trajectory, segment, segmentIndex, added }: RecordedTurn,
  subject: Subject,
): readonly { readonly kind: Region; readonly text: string }[] {
  const { vocab } = trajectory
  const before = textOf(
    trajectory.segments.slice(0, segmentIndex).flatMap(({ ids }) => ids),
    vocab,
  )
  const prompt = generationPrompt(subject)
  const header = before.endsWith(prompt) ? before.length - prompt.length : before.length
  const kindAt = (index: number): Region => {
    const isIn = ({ start, end }: { readonly start: number; readonly end: number }) => start <= index && index < end
    if (segment.thinks.some(isIn)) return 'thinking'
    if (segment.toolCalls.some(({ span }) => isIn(span))) return 'calls'
    const isStop =
      index === segment.ids.length - 1 && subject.tokenizer.addedTokens.some(({ id }) => id === segment.ids[index])
    return isStop ? 'end' : 'content'
  }
  return [
    { kind: 'history', text: before.slice(0, header) },
    { kind: 'prompt', text: before.slice(header) },
    ...segment.ids.map((id, index) => ({ kind: kindAt(index), text: textOf([id], vocab) })),
    { kind: 'added', text: added ? textOf(added.ids, vocab) : '' },
  ]
}

function generationPrompt(subject: Subject): string {
  const question = [{ role: 'user', content: 'U' }]
  const [without, prompt] = [false, true].map((isAdded) => renderedText(subject, question, isAdded) ?? '') as [
    string,
    string,
  ]
  return prompt.startsWith(without) ? prompt.slice(without.length) : ''
}
