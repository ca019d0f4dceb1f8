import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runToEnd } from '#lib/tasks/task.ts'
import type { CompiledTemplate, RenderInput } from '#lib/templates/chat-template.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { simulateRollout } from '#testing/simulated-rollout.ts'
import { conversationTokens } from './conversation.ts'
import { report } from './doctor.ts'
import type { Lint, MaskMethod, MaskMethodName, MaskReport } from './report.ts'
import { forgetful, generating, plainChatMl, strict, tight, writtenTemplate } from './test-templates.ts'

const user = (content: string): Message & { content: string } => ({ role: 'user', content })
const assistant = (content: string) => ({ role: 'assistant', content }) as const
const tool = (content: string) => ({ role: 'tool', content }) as const

function diagnosed(
  template: CompiledTemplate,
  messages: RenderInput['messages'],
  { trajectory, tokenizer = byteTokenizer }: { trajectory?: Trajectory; tokenizer?: Tokenizer } = {},
): MaskReport {
  const input = { messages, tools: undefined, addGenerationPrompt: false, options: {} }
  return runToEnd(report(conversationTokens(input, template, tokenizer), trajectory, tokenizer))
}

const way = (name: MaskMethodName, { ways }: MaskReport): MaskMethod =>
  ways.find((each) => each.name === name) as MaskMethod

/** Returns the sequence with the text that a way trains in square brackets, and the text that it does not have in braces. */
function drawn(name: MaskMethodName, { sequence, ways }: MaskReport): string {
  const found = ways.find((each) => each.name === name)
  if (found?.kind !== 'computed') return '—'
  const text = (start: number, end: number) => textOf(sequence.ids.slice(start, end), sequence.vocab)
  const brackets = { trained: ['[', ']'], untrained: ['', ''], partly: ['(', ')'], unknown: ['{', '}'] } as const
  return found.runs.map(({ start, end, mark }) => brackets[mark].join(text(start, end))).join('')
}

const kinds = (lints: readonly Lint[]) => lints.map(({ kind, way }) => `${way}: ${kind}`)

const CONVERSATION = [user('hi'), assistant('a'), tool('4'), assistant('b')]
const HEADER = '<|im_start|>assistant\n'

describe('the masks of one conversation', () => {
  test('by prefixes and after a fixed base train each reply from the header to the next turn', () => {
    const found = diagnosed(plainChatMl, CONVERSATION)
    const expected = `<|im_start|>user\nhi<|im_end|>\n${HEADER}[a<|im_end|>\n]<|im_start|>tool\n4<|im_end|>\n${HEADER}[b<|im_end|>\n]`
    expect(drawn('prefix', found)).toBe(expected)
    expect(drawn('fixed-base', found)).toBe(expected)
    expect(way('generation', found)).toMatchObject({
      trained: 0,
      finding: { severity: 'error', text: 'the template has no generation block' },
    })
    expect(way('tito', found)).toEqual({ name: 'tito', kind: 'missing', why: 'no trajectory is open' })
    expect(kinds(found.lints)).toEqual([
      'generation: all-zero',
      'prefix: after-end-trained',
      'fixed-base: after-end-trained',
    ])
  })

  test('agree without findings if blocks enclose what the assistant writes and nothing follows it', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', 'é', 'e\u0301', '🙂', '\n', '<think>') })
    const turns = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(turns, (conversation) => {
        const found = diagnosed(
          tight,
          conversation.flatMap(([question, reply]) => [user(question), assistant(reply)]),
        )
        expect(found.disagreements).toEqual([])
        expect(found.lints).toEqual([])
        expect(found.pairs).toEqual([
          { ways: ['generation', 'prefix'], tokens: 0 },
          { ways: ['generation', 'fixed-base'], tokens: 0 },
          { ways: ['prefix', 'fixed-base'], tokens: 0 },
        ])
        expect(drawn('prefix', found)).toBe(
          conversation
            .map(([question, reply]) => `<|im_start|>user\n${question}<|im_end|>${HEADER}[${reply}<|im_end|>]`)
            .join(''),
        )
      }),
      { numRuns: runs(50) },
    )
  })

  test('by prefixes contain text that the whole conversation lacks if the template rewrites history', () => {
    const found = diagnosed(forgetful, [user('q'), assistant('<think>t</think>a'), user('r'), assistant('b')])
    expect(drawn('prefix', found)).toContain(`${HEADER}[a<|im_end|>\n]<|im_start|>user`)
    expect(way('prefix', found)).toMatchObject({
      foreign: { tokens: 3, trained: 3 },
      breaks: [
        {
          message: 1,
          text: 'the whole conversation renders this or an earlier message differently than the conversation that ends with it',
          difference: {
            expected: expect.stringContaining('<think>t'),
            found: expect.stringContaining('\na<|im_end|>'),
          },
          line: 3,
        },
      ],
    })
  })

  test('report where the template refuses parts of the conversation', () => {
    const system = { role: 'system', content: 's' }
    expect(diagnosed(strict, [system, user('q')]).failure).toEqual({
      where: 'template',
      className: 'TemplateError',
      message: 'system role not supported',
      line: 8,
    })
    const found = diagnosed(strict, [assistant('early'), user('q'), assistant('a')])
    expect(way('prefix', found)).toMatchObject({
      breaks: [{ message: 0, text: expect.stringContaining('no user query found'), line: 7 }, { message: 2 }],
    })
    expect(way('fixed-base', found)).toEqual({
      name: 'fixed-base',
      kind: 'missing',
      why: 'the template refuses the base conversation: system role not supported',
    })
  })

  test('report a reply that the template opens differently than its generation prompt does', () => {
    const opening = writtenTemplate(
      ({ role, content }) => [{ text: `<|im_start|>${role}\n${String(content)}<|im_end|>` }],
      () => '<|im_start|>assistant\n<think>',
    )
    expect(way('prefix', diagnosed(opening, [user('q'), assistant('abc')]))).toMatchObject({
      breaks: [{ message: 1, difference: { expected: expect.stringMatching(/<think>$/) } }],
    })
  })
})

describe('a token across a boundary', () => {
  /** The byte tokenizer, except that a newline and the letter a after it are one token. */
  const merging: Tokenizer = {
    ...byteTokenizer,
    encode: (text) => {
      const ids = byteTokenizer.encode(text)
      return ids.flatMap((id, index) =>
        id === 10 && ids[index + 1] === 97 ? [1000] : id === 97 && ids[index - 1] === 10 ? [] : [id],
      )
    },
    bytes: (id) => (id === 1000 ? Uint8Array.of(10, 97) : byteTokenizer.bytes(id)),
  }

  test('is found by every way to a mask', () => {
    const found = diagnosed(tight, [user('q'), assistant('ab')], { tokenizer: merging })
    expect(kinds(found.lints)).toEqual(['generation: merge', 'prefix: merge', 'fixed-base: merge'])
    const [generation, prefix, fixed] = found.lints.map(({ places }) => places)
    const whole = [expect.objectContaining({ text: '\na', inSequence: { start: 18, end: 19 }, line: 2, message: 1 })]
    expect(generation).toEqual(whole)
    expect(prefix).toEqual(whole)
    // The cut by the number of tokens loses the letter.
    expect(fixed).toEqual([expect.objectContaining({ text: '\n', inSequence: undefined })])
    expect(drawn('fixed-base', found)).toContain('assistant{\na}[b<|im_end|>]')
  })
})

describe('an open trajectory in the mask report', () => {
  const END = byteId('<|im_end|>')
  const stop = { kind: 'stop', matched: END } as const
  const reply = (text: string) => ({ reply: [...byteTokenizer.encode(text), END], finish: stop })
  const chatml =
    "{%- for m in messages -%}{{- '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' -}}{%- endfor -%}{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
  const { trajectory } = simulateRollout(chatml, [
    { messages: [user('q')], ...reply('<think>t</think>a') },
    { messages: [user('r')], ...reply('b') },
  ])
  const messages = [user('q'), assistant('<think>t</think>a'), user('r'), assistant('b')]

  test('is the sequence on which the other ways are compared', () => {
    const found = diagnosed(plainChatMl, messages, { trajectory })
    expect(found.sequence.of).toBe('trajectory')
    expect(drawn('tito', found)).toBe(
      `<|im_start|>user\nq<|im_end|>\n${HEADER}[<think>t</think>a<|im_end|>]\n<|im_start|>user\nr<|im_end|>\n${HEADER}[b<|im_end|>]`,
    )
    expect(way('tito', found)).toMatchObject({ finding: { severity: 'none', text: 'nothing found' } })
    expect(found.pairs[1]).toEqual({ ways: ['tito', 'prefix'], tokens: 1 })
    expect(found.disagreements.map(({ text, line, message }) => [text, line, message])).toEqual([
      ['<think>t</think>a<|im_end|>', 3, 1],
      ['\n', 4, 1],
      ['b<|im_end|>', 3, 3],
    ])
  })

  test('shows which of its tokens the template has lost', () => {
    const found = diagnosed(forgetful, messages, { trajectory })
    expect(drawn('generation', found)).toContain('{<think>t</think>}a')
    expect(drawn('prefix', found)).toContain('[<think>t</think>a<|im_end|>\n]')
    expect(way('generation', found)).toMatchObject({
      finding: { text: 'the template has no generation block · 7 sampled missing' },
    })
  })

  test('is the only computed way if its conversation cannot be rendered', () => {
    const found = diagnosed(strict, [assistant('x')], { trajectory })
    expect(found.failure?.message).toBe('no user query found')
    expect(found.ways.map(({ kind }) => kind)).toEqual(['computed', 'missing', 'missing', 'missing'])
  })
})

test('the mask report has the template line and the message of every token', () => {
  const { sequence } = diagnosed(generating, [user('q'), assistant('a')])
  expect(sequence.origins.map(({ start, end, line, message }) => [start, end, line, message])).toEqual([
    [0, 6, 2, 0],
    [6, 7, 3, 0],
    [7, 8, 4, 0],
    [8, 9, 5, 0],
    [9, 20, 2, 1],
    [20, 21, 3, 1],
    [21, 22, 4, 1],
    [22, 23, 5, 1],
  ])
})
