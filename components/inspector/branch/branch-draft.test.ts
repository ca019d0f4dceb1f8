import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type Token, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import {
  type BranchAction,
  type BranchDraft,
  branchInput,
  draftFor,
  editableMessages,
  sampledAfter,
} from './branch-draft.ts'

const request = { server: 's', inputLength: 2, inputHash: '', streamed: true } as const
const trajectory: Trajectory = {
  ...sampleTrajectory,
  segments: [
    {
      kind: 'prompt',
      ids: [1, 2],
      messages: [
        { role: 'system', content: 'rules' },
        { role: 'user', content: 'q' },
      ],
    },
    {
      kind: 'response',
      ids: [3, 4, 5],
      thinks: [],
      toolCalls: [],
      request: { ...request, samplingParams: { temperature: 0, top_p: 0.9 } },
    },
  ],
}
const token = (index: number): Token => {
  const found = tokenAt(trajectory, index)
  if (!found) throw new Error('there is such a token')
  return found
}
const inputOf = (index: number, changes: Partial<BranchDraft> = {}, action: BranchAction = 'continue') =>
  branchInput({ ...draftFor(trajectory, token(index)), ...changes }, trajectory, token(index), action)

describe('branchInput', () => {
  test('requests what the draft inserts at a sampled token', () => {
    const bodyOf = (changes: Partial<BranchDraft>, action?: BranchAction) => {
      const input = inputOf(3, changes, action)
      return input.ok ? input.body : input
    }
    expect(bodyOf({})).toEqual({ at: 3, n: 1 })
    expect(bodyOf({ insertion: 7 }, 'resample')).toEqual({ at: 3, n: 8, force: { alternative: 7 } })
    expect(bodyOf({ insertion: 'text', text: ' a ' })).toEqual({ at: 3, n: 1, force: { text: ' a ' } })
    expect(bodyOf({ insertion: 'ids', text: '[1, 22  3]' })).toEqual({ at: 3, n: 1, force: { ids: [1, 22, 3] } })
    expect(bodyOf({}, 'cut')).toEqual({ at: 3, n: 0 })
  })

  test('keeps the other sampling parameters if the temperature changes, also for an edited message', () => {
    const sampling = { temperature: 1, top_p: 0.9 }
    expect(inputOf(3, { temperature: '1', server: 'b' })).toMatchObject({ ok: true, body: { sampling, server: 'b' } })
    expect(inputOf(1, { temperature: '1', message: 1, text: 'Q' })).toEqual({
      ok: true,
      body: { at: 0, n: 1, edit: { message: 1, text: 'Q' }, sampling },
    })
  })

  test('keeps the other limits of the run if the rounds of tool calls change', () => {
    const limited: Trajectory = {
      ...trajectory,
      provenance: { kind: 'rollout', application: 'a', limits: { maxTokens: 9, maxToolIterations: 5 } },
    }
    const draft = { ...draftFor(limited, token(3)), toolRounds: '0' }
    expect(branchInput(draft, limited, token(3), 'continue')).toEqual({
      ok: true,
      body: { at: 3, n: 1, limits: { maxTokens: 9, maxToolIterations: 0 } },
    })
    expect(inputOf(3, { topP: '0.5', maxNewTokens: '7' })).toMatchObject({
      body: { sampling: { temperature: 0, top_p: 0.5, max_new_tokens: 7 } },
    })
  })

  test.each<[Partial<BranchDraft>, string]>([
    [{ count: '0' }, 'count'],
    [{ count: '65' }, 'count'],
    [{ count: 'x' }, 'count'],
    [{ temperature: '-1' }, 'temperature'],
    [{ temperature: 'warm' }, 'temperature'],
    [{ topP: '0' }, 'topP'],
    [{ maxNewTokens: '1.5' }, 'maxNewTokens'],
    [{ toolRounds: '-1' }, 'toolRounds'],
    [{ insertion: 'text', text: '' }, 'text'],
    [{ insertion: 'ids', text: '1, a' }, 'text'],
    [{ insertion: 'ids', text: ' ' }, 'text'],
  ])('names the wrong field of %j', (changes, field) => {
    expect(inputOf(3, changes, 'resample')).toMatchObject({ ok: false, field })
  })

  test('refuses a message whose text is unchanged', () => {
    expect(inputOf(1, { message: 0, text: 'rules' })).toEqual({ ok: false, field: 'text', why: 'is unchanged' })
  })
})

test('The messages of a prompt can be edited, and those of a response cannot', () => {
  expect(editableMessages(trajectory, token(0))).toEqual([
    { index: 0, role: 'system', text: 'rules' },
    { index: 1, role: 'user', text: 'q' },
  ])
  expect(editableMessages(trajectory, token(2))).toEqual([])
})

test('sampledAfter counts the sampled tokens from a token on', () => {
  expect([0, 2, 3, 4].map((index) => sampledAfter(trajectory, token(index)))).toEqual([3, 3, 2, 1])
})
