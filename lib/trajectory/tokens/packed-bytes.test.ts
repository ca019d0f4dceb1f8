import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { unpack } from './packed.ts'
import { packedAnswer, packedBytes, readPackedAnswer, readPackedBytes } from './packed-bytes.ts'

const [first, ...others] = sampleTrajectory.segments
const wide = {
  ...sampleTrajectory,
  segments: [
    {
      ...(first as (typeof sampleTrajectory.segments)[number]),
      mask: sampleTrajectory.segments[0]?.ids.map((_, index) => (index % 2) as 0 | 1),
      columns: {
        advantage: sampleTrajectory.segments[0]?.ids.map((_, index) => (index === 1 ? null : index / 3)) ?? [],
      },
    },
    ...others,
  ],
  foreign: { slime: { é: [1, null] } },
}

test.each([
  ['with every kind of column and content without a field', wide],
  ['without content that has no field', sampleTrajectory],
  ['without segments', { ...sampleTrajectory, segments: [] }],
])('a trajectory %s is the same after it was read from bytes', (_, trajectory) => {
  const bytes = packedBytes(trajectory)
  const read = readPackedBytes(bytes.buffer)
  expect(read && unpack(read.trajectory)).toEqual(trajectory)
  expect(read?.buffers).toEqual([bytes.buffer])
})

test('a trajectory is read from bytes after a prefix', () => {
  const bytes = packedBytes(wide)
  const sent = new Uint8Array(16 + bytes.length)
  sent.set(bytes, 16)
  const read = readPackedBytes(sent.buffer, 16)
  expect(read && unpack(read.trajectory)).toEqual(wide)
})

test('bytes that are truncated, longer, of another version or of something else are not read', () => {
  const bytes = packedBytes(sampleTrajectory)
  const changed = (at: number) => bytes.map((byte, index) => (index === at ? byte + 1 : byte)).buffer
  const longer = new Uint8Array(bytes.length + 1)
  longer.set(bytes)
  for (const buffer of [bytes.slice(0, 20).buffer, bytes.slice(0, -1).buffer, longer.buffer, changed(0), changed(4)])
    expect(readPackedBytes(buffer)).toBeUndefined()
})

test.each([[{}], [{ title: 'A title', tags: ['é'], reward: null }], [{ note: 'exactly 8' }]])(
  'an answer has a record with the labels %j',
  (labels) => {
    const { buffer } = packedAnswer(labels, packedBytes(wide))
    const read = readPackedAnswer(buffer)
    expect(read && unpack(read.trajectory)).toEqual({ ...wide, ...labels })
  },
)

test('an answer with a record of another version is not read', () => {
  expect(readPackedAnswer(packedAnswer({}, new Uint8Array(64)).buffer)).toBeUndefined()
})
