import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { outcomeText } from '#components/token-view/overview/outcome-text.ts'
import { DEFAULT_SETUP, type Setup } from '#lib/share/settings/setup.ts'
import type { Outcome, OutcomeReason } from '#lib/trajectory/format/trajectory.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { nextSteps } from './next-steps.ts'

const REASONS: Readonly<Record<OutcomeReason, true>> = {
  end_turn: true,
  length: true,
  context_full: true,
  cancelled: true,
  aborted: true,
  max_tool_iterations: true,
  max_tool_calls: true,
  max_messages: true,
  max_tokens: true,
  interrupted: true,
  truncated: true,
  unknown: true,
}
const reasons = Object.keys(REASONS) as OutcomeReason[]

type Segments = TrajectoryView['segments']
const response = (toolCalls: readonly object[]) =>
  [{ kind: 'response', ids: [1, 2, 3], toolCalls }] as unknown as Segments
const written = response([])
const unread = response([{ id: 'a', result: { content: 'x' } }])
const cutBelowLimit = [
  {
    kind: 'response',
    ids: [1, 2],
    finish: { kind: 'length' },
    request: { samplingParams: { max_new_tokens: 3 } },
    toolCalls: [],
  },
] as unknown as Segments
const unsent = [{ role: 'user', content: 'Why?' }] as const

const unsentGiven = { what: 'text', ids: [1, 73, 74] } as const

const texts = (outcome: Outcome, segments: Segments = written, setup: Setup = DEFAULT_SETUP) =>
  nextSteps({ outcome, setup, segments }).map(({ text }) => text)
const ended = (reason: OutcomeReason, more: object = {}): Outcome => ({ kind: 'ended', reason, ...more })
const failed = (code: string, more: object = {}): Outcome => ({ kind: 'failed', code, message: 'm', ...more })

test('nextSteps offers each step once, and at least one exactly for outcomes that have a text', () => {
  const outcome = fc.oneof(
    fc.constantFrom(...reasons).map((reason) => ended(reason)),
    fc.stringMatching(/^[A-Z_]{1,20}$/).map((code) => failed(code)),
    fc.constantFrom('CONNECT_REFUSED', 'UPSTREAM_BUSY', 'TOKENIZER_MISMATCH', 'DEADLINE').map((code) => failed(code)),
  )
  const more = fc.constantFrom(
    {},
    { unsent },
    { unsentGiven },
    { unsent, context: { needed: 10, holds: 5 } },
    { parameter: 'top_p' },
  )
  fc.assert(
    fc.property(outcome, more, fc.constantFrom([], written, unread), (bare, added, segments) => {
      const endedOutcome = { ...bare, ...added } as Outcome
      const steps = texts(endedOutcome, segments)
      expect(steps.length > 0).toBe(outcomeText({ outcome: endedOutcome, segments }) !== undefined)
      expect(new Set(steps).size).toBe(steps.length)
    }),
  )
})

describe('nextSteps after', () => {
  test.each<[string, Outcome, Segments, readonly string[]]>([
    [
      'a response cut below max_new_tokens',
      ended('length'),
      cutBelowLimit,
      ['Resume the response', 'Check the server', 'Write the next turn'],
    ],
    ['a cut response', ended('length'), written, ['Raise max_new_tokens to 1,024', 'Write the next turn']],
    [
      'a limit with results',
      ended('max_tool_iterations'),
      unread,
      ['Continue with the results', 'Raise the limit of tool iterations to 10'],
    ],
    [
      'a limit of tokens',
      ended('max_tokens'),
      unread,
      ['Raise the limit of tokens to 8,192', 'Continue', 'Start over'],
    ],
    [
      'a limit of tokens that a question exceeds more than twofold',
      ended('max_tokens', { unsent, context: { needed: 134_051 } }),
      [],
      ['Raise the limit of tokens to 134,051', 'Continue', 'Start over', 'Restore the question'],
    ],
    ['a stop before the reply', ended('cancelled', { unsent }), [], ['Continue', 'Restore the question']],
    ['a stop in the reply', ended('cancelled'), written, ['Write the next turn']],
    [
      'an abort in the queue',
      ended('aborted', { unsent }),
      [],
      ['Try again', 'Check the server', 'Restore the question'],
    ],
    [
      'a full queue',
      failed('UPSTREAM_BUSY', { unsent }),
      [],
      ['Try again', 'Check the server', 'Restore the question'],
    ],
    ['a key that is refused', failed('UPSTREAM_AUTH', { unsent }), [], ['Check the server', 'Restore the question']],
    ['a broken connection', failed('UPSTREAM_TRUNCATED'), written, ['Check the server', 'Write the next turn']],
    ['a full context', ended('context_full', { unsent }), written, ['Start over', 'Restore the question']],
    [
      'a prompt that fills the context',
      ended('context_full', { unsent, context: { needed: 4096 + 1024, holds: 4096 } }),
      written,
      ['Start over', 'Restore the question'],
    ],
    ['a reply that is too long', failed('TOO_LARGE'), written, ['Lower max_new_tokens to 256', 'Write the next turn']],
  ])('%s offers the expected steps in order', (_, outcome, segments, expected) => {
    expect(texts(outcome, segments)).toEqual(expected)
  })
})

describe('nextSteps after a response that was stopped', () => {
  const stopped = (finish: string, more: object = {}) =>
    [{ kind: 'response', ids: [1, 2, 3], toolCalls: [], finish: { kind: finish }, ...more }] as unknown as Segments

  test.each<[string, Outcome, Segments]>([
    ['by the user', ended('cancelled'), stopped('cancelled')],
    ['by its length', ended('length'), stopped('length')],
    ['by the server', ended('aborted'), stopped('abort')],
    ['by a broken connection', failed('UPSTREAM_TRUNCATED'), stopped('cut')],
  ])('%s offers to resume it as the first step', (_, outcome, segments) => {
    expect(nextSteps({ outcome, setup: DEFAULT_SETUP, segments })[0]).toEqual({
      kind: 'resume',
      setup: DEFAULT_SETUP,
      text: 'Resume the response',
    })
  })

  test('offers no resume with a grammar, or while a question waits to be sent', () => {
    const bound = { ...DEFAULT_SETUP, sampling: { ...DEFAULT_SETUP.sampling, regex: 'a+' } }
    expect(texts(ended('cancelled'), stopped('cancelled'), bound)).toEqual(['Write the next turn'])
    expect(texts(ended('cancelled', { unsent }), stopped('cancelled'))).not.toContain('Resume the response')
  })
})

test('nextSteps offers to raise the context window that a run filled', () => {
  const setup = { ...DEFAULT_SETUP, limits: { ...DEFAULT_SETUP.limits, contextWindow: '512' } }
  const [first] = nextSteps({ outcome: ended('context_full', { context: { holds: 512 } }), setup, segments: written })
  expect(first).toMatchObject({
    kind: 'change',
    setup: { limits: { contextWindow: '1024' } },
    text: 'Raise the limit of tokens in the context window to 1,024',
  })
})

test('nextSteps offers to send with a smaller max_new_tokens if that fits the context', () => {
  const outcome = ended('context_full', { unsent, context: { needed: 4400, holds: 4096 } })
  const [first] = nextSteps({ outcome, setup: DEFAULT_SETUP, segments: written })
  expect(first).toMatchObject({
    kind: 'send',
    prompt: { mode: 'question', question: 'Why?' },
    setup: { sampling: { max_new_tokens: '208' } },
    text: 'Send with max_new_tokens 208',
  })
})

describe('nextSteps leaves out a parameter that the server refuses', () => {
  const further = { ...DEFAULT_SETUP, sampling: { ...DEFAULT_SETUP.sampling, further: '{"new_one": 1, "other": 2}' } }

  test('that is one of the known parameters', () => {
    const [first] = nextSteps({
      outcome: failed('UPSTREAM_REJECTED', { unsent, parameter: 'top_p' }),
      setup: DEFAULT_SETUP,
      segments: [],
    })
    expect(first).toMatchObject({ kind: 'send', setup: { sampling: { top_p: '' } }, text: 'Send again without top_p' })
  })

  test('that is one of the further parameters', () => {
    const outcome = failed('UNKNOWN_PARAMETER', { unsent, parameter: 'new_one' })
    const [first] = nextSteps({ outcome, setup: further, segments: [] })
    expect(first).toMatchObject({ setup: { sampling: { further: '{"other":2}' } } })
  })

  test('but offers nothing if the setup no longer contains it', () => {
    expect(texts(failed('UNKNOWN_PARAMETER', { unsent, parameter: 'gone' }), [])).toEqual([
      'Check the server',
      'Restore the question',
    ])
  })
})

test('nextSteps sends or restores an unread prompt of text or ids as its ids', () => {
  const outcome = failed('CONNECT_REFUSED', { unsentGiven })
  const prompt = { mode: 'ids', ids: '1 73 74', record: 0 }
  expect(nextSteps({ outcome, setup: DEFAULT_SETUP, segments: [] })).toMatchObject([
    { kind: 'send', text: 'Try again', prompt },
    { kind: 'servers' },
    { kind: 'take-back', text: 'Restore the ids', prompt },
  ])
})

test('nextSteps gives a question back with its images, and not parts that the composer cannot write', () => {
  const image = { type: 'image', image: 'data:image/png;base64,AA==' }
  const text = { type: 'text', text: 'Why?' }
  const promptOf = (content: readonly object[]) =>
    nextSteps({
      outcome: failed('CONNECT_REFUSED', { unsent: [{ role: 'user', content }] }),
      setup: DEFAULT_SETUP,
      segments: [],
    }).flatMap((step) => (step.kind === 'send' || step.kind === 'take-back' ? [step.prompt] : []))
  const asked = { mode: 'question', question: 'Why?', images: [image.image] }
  expect(promptOf([image, text])).toEqual([asked, asked])
  expect(promptOf([text, image])).toEqual([])
  expect(promptOf([{ type: 'image', reference: 'a.png' }, text])).toEqual([])
  expect(promptOf([{ type: 'video' }, text])).toEqual([])
})
