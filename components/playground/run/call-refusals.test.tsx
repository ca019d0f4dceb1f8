/** What the server cannot serve of the next call, in the composer, at the next steps and in the panel of the run. */
import { render, screen } from '@testing-library/react'
import { describe, expect, test, vi } from 'vitest'
import type { ServerCapabilities } from '#lib/api/engine/capabilities.ts'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { EMPTY_PROMPT } from '#lib/share/settings/prompt-draft.ts'
import { DEFAULT_SETUP, type Setup } from '#lib/share/settings/setup.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { PNG_URL } from '#testing/images.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { Composer } from '../prompt/composer.tsx'
import { callRefusals, type NextCall, setupErrors } from './call-refusals.ts'
import { PlaygroundOutcome } from './outcome.tsx'
import { StructuredButton } from './run-panel.tsx'

const run = exampleTrajectory('two-steps')
const raw: Trajectory = {
  ...run,
  columnMeanings: { logprobs: { quantity: 'logprob', model: 'rollout', values: 'raw' } },
}
const statusOf = (capabilities: ServerCapabilities) =>
  ({ state: 'ready', kind: 'server', latencyMs: 1, capabilities }) as const
const LLAMACPP = statusOf(ENGINE_CAPABILITIES['llama.cpp'])
const OPENAI = statusOf(ENGINE_CAPABILITIES.openai)
const SGLANG = statusOf(ENGINE_CAPABILITIES.sglang)
const NEXT: NextCall = { status: LLAMACPP, trajectory: undefined, draft: { mode: 'question' } }
const sampling = (values: Partial<Setup['sampling']>): Setup => ({
  ...DEFAULT_SETUP,
  sampling: { ...DEFAULT_SETUP.sampling, ...values },
})

describe('The next call of the playground', () => {
  test.each<[string, Setup, Partial<NextCall>, string]>([
    ['a sampling parameter', sampling({ stop_regex: 'a' }), {}, 'sampling.stop_regex'],
    ['an unknown parameter', sampling({ further: '{"new_one": 1}' }), {}, 'sampling.further.new_one'],
    ['prompt logprobs', { ...DEFAULT_SETUP, promptLogprobs: true }, {}, 'promptLogprobs'],
    ['routed experts', { ...DEFAULT_SETUP, routedExperts: true }, {}, 'routedExperts'],
    ['the chat baseline', { ...DEFAULT_SETUP, endpoint: 'chat' }, {}, 'endpoint'],
    ['an image', DEFAULT_SETUP, { draft: { mode: 'question', images: [PNG_URL] } }, 'images'],
    ['images of earlier turns', DEFAULT_SETUP, { trajectory: { ...raw, imageData: [PNG_URL] } }, 'images'],
    [
      'a further turn of a chat baseline',
      DEFAULT_SETUP,
      { trajectory: { ...raw, provenance: { kind: 'rollout', application: 'a', endpoint: 'chat' } } },
      'endpoint',
    ],
    ['a further turn after processed logprobs', DEFAULT_SETUP, { trajectory: run }, 'server'],
  ])('is refused on llama.cpp with %s', (_, setup, call, field) => {
    expect(callRefusals(setup, { ...NEXT, ...call }).map((refusal) => refusal.field)).toEqual([field])
    expect(callRefusals(setup, { ...NEXT, ...call, status: { state: 'asking' } })).toEqual([])
  })

  test.each(['text', 'ids'] as const)('is refused over a chat endpoint with a prompt as %s', (mode) => {
    const chat: Setup = { ...DEFAULT_SETUP, endpoint: 'chat' }
    expect(callRefusals(chat, { ...NEXT, status: SGLANG, draft: { mode } })).toMatchObject([{ code: 'NOT_IN_CHAT' }])
    for (const fine of ['question', 'conversation'] as const)
      expect(callRefusals(chat, { ...NEXT, status: SGLANG, draft: { mode: fine } })).toEqual([])
  })

  test('is refused over a chat endpoint with images, because its requests have texts only', () => {
    const call: NextCall = { ...NEXT, status: SGLANG, draft: { mode: 'question', images: [PNG_URL] } }
    expect(callRefusals({ ...DEFAULT_SETUP, endpoint: 'chat' }, call)).toMatchObject([
      { code: 'NOT_IN_CHAT', field: 'images' },
    ])
    expect(callRefusals(DEFAULT_SETUP, call)).toEqual([])
  })

  test('is not refused on SGLang if it is a first question with the default setup, so the page need not check it', () => {
    const first: NextCall = { ...NEXT, status: SGLANG }
    expect(callRefusals(DEFAULT_SETUP, first)).toEqual([])
    expect(setupErrors(DEFAULT_SETUP, first)).toEqual({})
  })

  test('is not refused for wrong settings, which are errors of their fields, nor for images of another prompt mode', () => {
    expect(callRefusals(sampling({ top_p: 'x', stop_regex: 'a' }), NEXT)).toEqual([])
    expect(callRefusals(DEFAULT_SETUP, { ...NEXT, draft: { mode: 'text', images: [PNG_URL] } })).toEqual([])
    expect(callRefusals(DEFAULT_SETUP, { ...NEXT, trajectory: raw })).toEqual([])
  })

  test('has errors at the fields of refused sampling parameters', () => {
    expect(setupErrors(sampling({ stop_regex: 'a' }), NEXT)).toEqual({
      stop_regex: 'llama.cpp has no parameter for stop_regex.',
    })
    expect(Object.keys(setupErrors(sampling({ further: '{"a": 1}' }), NEXT))).toEqual(['further'])
    expect(setupErrors({ ...DEFAULT_SETUP, promptLogprobs: true }, NEXT)).toEqual({})
  })
})

test.each(['question', 'text'] as const)(
  'The composer does not send a prompt as %s that the server refuses, and says why',
  (mode) => {
    const onSend = vi.fn()
    render(
      <Composer
        draft={{ ...EMPTY_PROMPT, mode, question: 'hi', text: 'hi' }}
        onChange={() => {}}
        onAttach={() => {}}
        refusal="vLLM has no parameter for watermark. Remove it."
        onSend={onSend}
        onStop={() => {}}
        state="ready"
        isFirst
        onStartOver={() => {}}
        onPreview={() => new Promise<never>(() => {})}
        previewed={{}}
      />,
    )
    expect(screen.getByRole<HTMLButtonElement>('button', { name: /Send/ }).disabled).toBe(true)
    expect(screen.getByRole('alert').textContent).toBe('vLLM has no parameter for watermark. Remove it.')
  },
)

test('A next step whose call the server refuses is disabled with the reason; one without the parameter is enabled', () => {
  const failed = {
    ...raw,
    outcome: {
      kind: 'failed',
      code: 'UPSTREAM_REJECTED',
      message: 'no stop_regex here',
      parameter: 'stop_regex',
      unsent: [{ role: 'user', content: 'a' }],
    },
  } as const
  const setup = sampling({ stop_regex: 'a' })
  const whyNot = (using: Setup) => callRefusals(using, { ...NEXT, trajectory: failed })[0]?.detail
  const { rerender } = render(<PlaygroundOutcome trajectory={failed} setup={setup} whyNot={whyNot} onStep={() => {}} />)
  const step = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name })
  expect(step('Send again without stop_regex').disabled).toBe(false)
  const late = { ...failed, outcome: { ...failed.outcome, code: 'DEADLINE', parameter: undefined } } as never
  rerender(<PlaygroundOutcome trajectory={late} setup={setup} whyNot={whyNot} onStep={() => {}} />)
  expect([step('Try again').disabled, step('Try again').title]).toEqual([
    true,
    'llama.cpp has no parameter for stop_regex.',
  ])
})

test.each([
  ['llama.cpp', LLAMACPP, false],
  ['another OpenAI-compatible server', OPENAI, true],
])('The button for structured output on %s is enabled if its engine takes a JSON Schema', (_, status, isDisabled) => {
  render(<StructuredButton status={status} onOpen={() => {}} />)
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Request structured output…' })
  expect(button.disabled).toBe(isDisabled)
  expect(screen.queryAllByText(/has no parameter for json_schema/)).toHaveLength(isDisabled ? 1 : 0)
})
