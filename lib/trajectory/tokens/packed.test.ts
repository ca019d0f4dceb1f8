import { describe, expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { pack, unpack } from './packed.ts'
import { statistics } from './statistics.ts'
import { logprobs, lossMask, tokenAt, tokenCount } from './tokens.ts'
import type { TrajectoryView } from './trajectory-view.ts'

const packed = pack(sampleTrajectory)

describe('a packed trajectory', () => {
  test('is equal to the original after unpacking', () => {
    expect(unpack(packed.trajectory)).toEqual(sampleTrajectory)
  })

  test('is transferred between threads by its buffers', () => {
    const { trajectory, buffers } = pack(sampleTrajectory)
    const received: TrajectoryView = structuredClone(trajectory, { transfer: [...buffers] })
    expect(buffers.every(({ byteLength }) => byteLength === 0)).toBe(true)
    expect(unpack(received)).toEqual(sampleTrajectory)
  })

  test('has content without a field as bytes, so that the page does not hold its values', () => {
    const from = { ...sampleTrajectory, foreign: { slime: { é: [[-0.5, 3, null]] } } }
    const { trajectory, buffers } = pack(from)
    const received: TrajectoryView = structuredClone(trajectory, { transfer: [...buffers] })
    expect(received.foreign).toBeInstanceOf(Uint8Array)
    expect(unpack(received)).toEqual(from)
  })

  test('reads like the trajectory itself', () => {
    expect(logprobs(packed.trajectory)).toEqual(logprobs(sampleTrajectory))
    expect(lossMask(packed.trajectory)).toEqual(lossMask(sampleTrajectory))
    expect(statistics(packed.trajectory)).toEqual(statistics(sampleTrajectory))
    for (let index = 0; index < tokenCount(sampleTrajectory); index++) {
      const { segment: _, ...token } = tokenAt(packed.trajectory, index) ?? {}
      const { segment: _own, ...expected } = tokenAt(sampleTrajectory, index) ?? {}
      expect(token).toEqual(expected)
    }
  })

  test('omits the state of a running rollout', () => {
    const live = { ...packed.trajectory, live: { runningCalls: {} } }
    expect(unpack(live)).toEqual(sampleTrajectory)
  })
})
