/** Conversations that fast-check generates and shrinks: plain data, from which the messages are built. */
import * as fc from 'fast-check'
import type { ReplyBoundary } from './boundary.ts'
import type { ThinkingState } from './facts.ts'
import type { ScriptCall, ScriptMessage, ScriptReply } from './fix/script.ts'
import type { TemplateFacts } from './report.ts'

/** The parts of a generated conversation. Texts are lists of fragments. */
export interface Plan {
  readonly system: Fragments | null
  readonly question: Fragments
  readonly turns: readonly PlannedTurn[]
}

interface PlannedTurn {
  readonly thinking: Fragments | null
  readonly content: Fragments
  readonly calls: readonly (readonly PlannedArgument[])[]
  /** Texts of the results, one for each call that there may be. */
  readonly results: readonly [Fragments, Fragments]
  /** Whether the second result comes first. */
  readonly reversed: boolean
  readonly next: 'user' | 'system'
  readonly nextText: Fragments
}

type Fragments = readonly string[]
type PlannedArgument = { readonly name: string; readonly value: string }

/** Fragments of texts, the simplest first, because shrinking prefers it. */
const FRAGMENTS = [
  'a',
  'b',
  ' ',
  '\n',
  '\n\n',
  '\t',
  '.',
  '"',
  '\\',
  '{',
  '}',
  '<',
  'é',
  'e\u0301',
  '文',
  '🙂',
  '\u00a0',
  '1.0',
  '<think>',
  '</think>',
  '<tool_call>',
  '<tool_response>',
  '</tool_response>',
] as const
const VALUES = [
  '1',
  '1.0',
  '1e-7',
  '-0.0',
  '1e16',
  '12345678901234567890',
  'true',
  'null',
  '""',
  '"a"',
  '"é"',
  '"\\n"',
  '"\\""',
  '"</think>"',
  '[]',
  '{}',
  '{"b": 1, "a": [1, 2]}',
] as const
const NAMES = ['a', 'b', '1', 'é'] as const

/** Texts whose edges no template changes. */
const WORDS = ['a', 'b', 'Oslo.', '文'] as const

const argument = fc.record({ name: fc.constantFrom(...NAMES), value: fc.constantFrom(...VALUES) })

/**
 * Returns a generator of plans. It uses no maps and chains, because their values cannot be shrunk without a memory of how they were made.
 */
function plansOf(fragments: readonly string[]): fc.Arbitrary<Plan> {
  const text = (minLength = 0) => fc.array(fc.constantFrom(...fragments), { minLength, maxLength: 4 })
  return fc.record({
    system: fc.option(text(), { nil: null }),
    question: text(),
    turns: fc.array(
      fc.record({
        thinking: fc.option(text(1), { nil: null }),
        content: text(),
        calls: fc.array(fc.array(argument, { maxLength: 3 }), { maxLength: 2 }),
        results: fc.tuple(text(), text()),
        reversed: fc.boolean(),
        next: fc.constantFrom('user', 'system'),
        nextText: text(),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
}

/** Generated conversations with texts of every kind. */
export const plans = plansOf(FRAGMENTS)
/** Generated conversations that break by their structure only: a template that trims breaks most of the others. */
export const plainPlans = plansOf(WORDS)

/** Returns the turn of a plan. The last reply of the conversation is the one that is checked. */
export function turnOf(
  { system, question, turns }: Plan,
  {
    facts,
    state,
    toolName,
  }: { readonly facts: TemplateFacts; readonly state: ThinkingState; readonly toolName: string },
): ReplyBoundary {
  const messages: ScriptMessage[] = [
    ...(system && facts.takesSystem ? [{ role: 'system', content: system.join('') } as const] : []),
    { role: 'user', content: question.join('') },
  ]
  let replyIndex = 0
  for (const [index, turn] of turns.entries()) {
    const isThinking = state.prompt === 'opens' || (turn.thinking !== null && state.delimiters !== undefined)
    const calls =
      facts.calls === 'refused' ? [] : turn.calls.map((planned, n) => callOf(planned, 2 * index + n, toolName))
    const reply: ScriptReply = {
      role: 'assistant',
      thinking: isThinking ? (turn.thinking ?? ['a']).join('') : undefined,
      content: turn.content.join(''),
      calls,
    }
    replyIndex = messages.push(reply) - 1
    const results = calls.map((call, n) => ({ role: 'tool', call, content: (turn.results[n] ?? []).join('') }) as const)
    if (results.length > 0) messages.push(...(turn.reversed ? results.reverse() : results))
    else
      messages.push({
        role: turn.next === 'system' && facts.takesSystem ? 'system' : 'user',
        content: turn.nextText.join(''),
      })
  }
  return {
    history: messages.slice(0, replyIndex),
    reply: messages[replyIndex] as ScriptReply,
    added: messages.slice(replyIndex + 1),
  }
}

function callOf(planned: readonly PlannedArgument[], number: number, name: string): ScriptCall {
  const values = new Map(planned.map((each) => [each.name, each.value]))
  const members = [...values].map(([key, value]) => `${JSON.stringify(key)}: ${value}`)
  return { id: `call${String(number).padStart(5, '0')}`, name, arguments: `{${members.join(', ')}}` }
}
