import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LabInput, type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { type CompiledTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import { PyDict } from '#lib/templates/jinja/python/values.ts'
import type { RenderedPiece } from '#lib/templates/jinja/rendering.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { compareRevisions, type RevisionComparison } from './compare.ts'
import { countTurns, type TurnCounts, turnPattern } from './turns.ts'

type Message = { readonly role: string; readonly content: string }

const field = (message: RenderInput['messages'][number], name: 'role' | 'content'): string =>
  String(message instanceof PyDict ? message.get(name) : message[name])

/** Templates made of functions that write one line for each message, because the tests do not depend on how they are written. */
const written: Readonly<Record<string, (message: Message, isLast: boolean) => string>> = {
  plain: ({ role, content }) => `${role}:${content}\n`,
  longer: ({ role, content }) => `<${role}>${content}</${role}>\n`,
  /** Marks every message but the last. */
  stamped: ({ role, content }, isLast) => `${isLast ? '' : '!'}${role}:${content}\n`,
  /** Drops the content of earlier replies. */
  forgetful: ({ role, content }, isLast) => `${role}:${role === 'assistant' && !isLast ? '' : content}\n`,
}

function compile(name: string): CompiledTemplate {
  const write = written[name]
  if (!write) throw new TemplateError(`no ${name}`, { className: 'TemplateSyntaxError', line: 1 })
  const parts = ({ messages, addGenerationPrompt }: RenderInput): string[] => [
    ...messages.map((message, index) => {
      if (field(message, 'content') === 'raise') throw new TemplateError('raised', { line: 1 })
      return write({ role: field(message, 'role'), content: field(message, 'content') }, index === messages.length - 1)
    }),
    ...(addGenerationPrompt ? [write({ role: 'assistant', content: '' }, true).split('\n')[0] ?? ''] : []),
  ]
  return {
    text: name,
    render: (input) => parts(input).join(''),
    trace: (input) => {
      const pieces: RenderedPiece[] = []
      let at = 0
      for (const [index, part] of parts(input).entries()) {
        const message = index < input.messages.length ? index : undefined
        pieces.push({ start: at, end: at + part.length, line: 1, message, source: 'template' })
        at += part.length
      }
      const generation = pieces.filter(({ message }) => message !== undefined && message % 2 === 1)
      return { text: parts(input).join(''), pieces, generation, hasGenerationTag: name !== 'longer' }
    },
  }
}

const tokenizer: LabTokenizer = { tokenizer: byteTokenizer, compile }

const input = (template: string, messages: readonly Message[]): LabInput => ({
  template,
  messages: JSON.stringify(messages),
  tools: '',
  options: '{}',
})
/** Compares two templates; `left` is the one with which the shown template is compared. */
const compared = (left: string, shown: string, messages: readonly Message[], turns = 3): RevisionComparison =>
  runToEnd(compareRevisions({ input: input(shown, messages), against: left, turns }, [tokenizer]))

const arbitraryMessages = fc.array(
  fc.record({
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    content: fc.string({ unit: 'grapheme', maxLength: 5 }),
  }),
  { minLength: 1, maxLength: 6 },
)

describe('a comparison of templates', () => {
  test('with themselves finds nothing', () => {
    fc.assert(
      fc.property(arbitraryMessages, (messages) => {
        const { sides, differences, turns } = compared('plain', 'plain', messages)
        expect(sides[0]).toEqual(sides[1])
        expect(turns[0]).toEqual(turns[1])
        expect(differences).toMatchObject({ isSameText: true, mask: { onlyLeft: 0, onlyRight: 0 } })
        expect(differences?.commonPrefix).toBe(sides[0].kind === 'rendered' ? sides[0].tokens : undefined)
      }),
    )
  })

  test('counts every token in the message in which it begins', () => {
    fc.assert(
      fc.property(arbitraryMessages, (messages) => {
        const { sides, differences } = compared('plain', 'longer', messages)
        for (const side of [0, 1] as const) {
          const sum = differences?.messages.reduce((total, { tokens }) => total + tokens[side], 0)
          expect(sum).toBe(sides[side].kind === 'rendered' && sides[side].tokens)
        }
      }),
    )
  })

  test('reports where the masks disagree on lines that both have', () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'yo' },
      { role: 'user', content: 'hm' },
    ]
    expect(compared('plain', 'forgetful', messages).differences?.mask).toEqual({
      compared: 'user:hi\nuser:hm\n'.length,
      onlyLeft: 0,
      onlyRight: 0,
    })
    // No line is the same.
    expect(compared('plain', 'longer', messages).differences?.mask).toEqual({ compared: 0, onlyLeft: 0, onlyRight: 0 })
  })

  test('shows the other side if one does not compile', () => {
    const { sides, differences, turns } = compared('plain', 'broken', [{ role: 'user', content: 'hi' }])
    expect(sides.map(({ kind }) => kind)).toEqual(['rendered', 'refused'])
    expect(sides[1]).toMatchObject({ error: { where: 'template', className: 'TemplateSyntaxError', line: 1 } })
    expect(differences).toBeUndefined()
    expect(turns.map(({ kind }) => kind)).toEqual(['none', 'none'])
  })

  test('reports on both sides that the conversation is not JSON', () => {
    const { sides } = runToEnd(
      compareRevisions({ input: { ...input('plain', []), messages: '[' }, against: 'longer', turns: 1 }, [tokenizer]),
    )
    expect(sides).toMatchObject([
      { kind: 'refused', error: { where: 'messages' } },
      { kind: 'refused', error: { where: 'messages' } },
    ])
  })
})

describe('the repeated turns of a conversation', () => {
  const counted = (template: string, messages: readonly Message[], calls: number): TurnCounts =>
    runToEnd(
      countTurns(template, { messages, tools: undefined, addGenerationPrompt: false, options: {} }, calls, tokenizer),
    )
  const conversation = [
    { role: 'system', content: 'be' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'call' },
    { role: 'tool', content: 'r' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'unanswered' },
  ]

  test('are what follows the system messages, to the last reply', () => {
    expect(turnPattern(conversation)).toEqual({ head: conversation.slice(0, 1), cycle: conversation.slice(1, 5) })
    expect(turnPattern(conversation.slice(0, 2))).toBeUndefined()
  })

  test('keep the whole cache if a template only appends', () => {
    const turns = counted('plain', conversation, 5)
    expect(turns).toMatchObject({
      kind: 'counted',
      turns: [{ tokens: 'system:be\nuser:a\nassistant:'.length }, {}, {}, {}, {}],
    })
    if (turns.kind !== 'counted') return
    for (const { cached } of turns.turns.slice(1)) expect(cached?.kept).toBe(cached?.of)
    expect(turns.turns[0]?.cached).toBeUndefined()
    expect(turns.rows).toEqual({ count: 1, extra: 0, realigned: 0 })
  })

  test('keep what precedes the reply if a template drops earlier replies', () => {
    const turns = counted('forgetful', conversation, 2)
    expect(turns).toMatchObject({
      turns: [
        {},
        {
          cached: {
            kept: 'system:be\nuser:a\nassistant:'.length,
            of: 'system:be\nuser:a\nassistant:call\n'.length,
            step: 'realign',
          },
        },
      ],
    })
  })

  test('count a training row for each prompt that changes what precedes the last reply', () => {
    const { rows } = counted('stamped', conversation, 4) as Extract<TurnCounts, { kind: 'counted' }>
    expect(rows).toMatchObject({ count: 4, realigned: 0 })
  })

  test('end where the template raises, and keep those before', () => {
    const turns = counted(
      'plain',
      [...conversation.slice(1, 3), { role: 'user', content: 'raise' }, ...conversation.slice(2, 3)],
      9,
    )
    expect(turns).toMatchObject({
      kind: 'refused',
      turns: [{ tokens: 'user:a\nassistant:'.length }],
      error: { message: 'raised' },
    })
  })
})
