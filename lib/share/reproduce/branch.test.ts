/** Runs the commands of branches with a shell and with Python. */
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { BranchBody } from '#lib/api/forest/branch.ts'
import type { ForkedFrom, ResponseSegment, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { branchCurl, branchOfTrajectory, branchPython, type RepeatableBranches } from './branch.ts'
import { received } from './test-application.ts'

const request = { server: 's', samplingParams: { top_p: 0.5, odd: 1 }, inputLength: 3, inputHash: '', streamed: true }
const response: ResponseSegment = {
  kind: 'response',
  ids: [3, 4, 5],
  thinks: [],
  toolCalls: [],
  resumed: [{ at: 1, request }],
}
const prompt: Segment = { kind: 'prompt', ids: [1, 2], messages: [{ role: 'user', content: 'q' }] }

const branch = (
  fork: Partial<ForkedFrom>,
  segments: readonly Segment[],
  more: Partial<Trajectory> = {},
): Trajectory => ({
  ...sampleTrajectory,
  provenance: { kind: 'rollout', application: 'a', limits: { maxTokens: 9 } },
  ...more,
  segments: [...segments],
  forkedFrom: { trajectory: 'main', token: 3, kind: 'sampled_again', ...fork },
})
const bodyOf = (trajectory: Trajectory) => branchOfTrajectory(trajectory)?.body

describe('The request of a stored branch', () => {
  const settings = { sampling: { top_p: 0.5, further: { odd: 1 } }, server: 's', limits: { maxTokens: 9 } }

  test('has its position, and its settings if they differ', () => {
    expect(branchOfTrajectory(branch({}, [prompt, response]))).toEqual({ key: 'main', body: { at: 3, n: 1 } })
    expect(bodyOf(branch({ kind: 'continued', token: 5 }, [prompt, response]))).toEqual({ at: 5, n: 1 })
    expect(bodyOf(branch({ kind: 'cut' }, [prompt, response]))).toEqual({ at: 3, n: 0 })
    expect(bodyOf(branch({ kind: 'settings' }, [prompt, response]))).toEqual({ at: 3, n: 1, ...settings })
    const { server: _, ...anyServer } = settings
    const { server: __, ...sent } = request
    expect(
      bodyOf(branch({ kind: 'settings' }, [prompt, { ...response, resumed: [{ at: 1, request: sent }] }])),
    ).toEqual({ at: 3, n: 1, ...anyServer })
  })

  test('has the inserted ids, with the settings of the tokens after them, or without a run', () => {
    const forced = { ...response, forced: [{ start: 0, end: 1, as: 'alternative' as const }] }
    expect(bodyOf(branch({ kind: 'alternative', token: 2 }, [prompt, forced]))).toEqual({
      at: 2,
      n: 1,
      force: { alternative: 3 },
      ...settings,
    })
    const all = { ...response, forced: [{ start: 1, end: 3, as: 'text' as const }] }
    const cut = { kind: 'ended', reason: 'cancelled' } as const
    const { limits } = settings
    const force = { ids: [4, 5] }
    expect(bodyOf(branch({ kind: 'forced' }, [prompt, all], { outcome: cut }))).toEqual({ at: 3, n: 0, force, limits })
    expect(bodyOf(branch({ kind: 'forced' }, [prompt, all]))).toMatchObject({ n: 1, force })
    expect(bodyOf(branch({ kind: 'forced' }, [prompt, response]))).toBeUndefined()
    expect(bodyOf(branch({ kind: 'forced', token: 99 }, [prompt, response]))).toBeUndefined()
  })

  test('has the edited message, and is unknown if several messages may be the edited one', () => {
    const edit = { message: 0, text: 'q' }
    expect(bodyOf(branch({ kind: 'message', token: 1 }, [prompt, response]))).toMatchObject({ at: 0, n: 1, edit })
    const two: Segment = { ...prompt, messages: [{ role: 'system', content: 'x' }, ...prompt.messages] }
    expect(bodyOf(branch({ kind: 'message', token: 1 }, [two, response]))).toBeUndefined()
    expect(bodyOf(branch({ kind: 'message' }, [prompt, response]))).toBeUndefined()
    expect(bodyOf(branch({ kind: 'tool_result', token: 99 }, [prompt, response]))).toBeUndefined()
  })

  test('is unknown for a trajectory that is no branch of a run', () => {
    expect(branchOfTrajectory(sampleTrajectory)).toBeUndefined()
    expect(bodyOf(branch({ kind: 'rendered_again' }, [prompt, response]))).toBeUndefined()
    const provenance = { kind: 'recorded' } as const
    expect(bodyOf(branch({}, [prompt, response], { provenance }))).toBeUndefined()
  })
})

/** Runs a program against a server whose branches end at the second look, and returns what it received and printed. */
function receivedBranches(command: string, args: readonly string[]) {
  const outcomes = [{ kind: 'running' }, { kind: 'ended', reason: 'end_turn' }]
  return received(command, args, (method) => (method === 'POST' ? { keys: ['a/b'] } : { outcome: outcomes.shift() }))
}

const body: BranchBody = { at: 3, n: 2, force: { text: 'it’s $HOME `x` "q"\nJSON\n🙂' }, sampling: { top_p: 0.5 } }
const own: RepeatableBranches = { key: 'k~2/é', body }
const sent = { method: 'POST', url: '/api/trajectories/k~2%2F%C3%A9/branch', key: 'Bearer k', marker: '1' }

test('The curl command of branches sends the request unchanged, with the key from the environment', async () => {
  const { requests } = await receivedBranches('bash', ['-c', branchCurl(own)])
  expect(requests).toEqual([{ ...sent, text: expect.any(String) }])
  expect(JSON.parse((requests[0] as { readonly text: string }).text)).toEqual(body)
})

test.runIf(spawnSync('python3', ['--version']).status === 0)(
  'The Python script of branches sends the request, waits for the ends and prints them',
  async () => {
    const { requests, stdout } = await receivedBranches('python3', ['-c', branchPython(own)])
    const read = { ...sent, method: 'GET', url: '/api/trajectories/a%2Fb', text: '' }
    expect(requests).toEqual([{ ...sent, text: expect.any(String) }, read, read])
    expect(JSON.parse((requests[0] as { readonly text: string }).text)).toEqual(body)
    expect(stdout).toBe('a/b {"kind": "ended", "reason": "end_turn"}\n')
  },
)
