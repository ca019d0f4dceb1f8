import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { source } from '#testing/trajectories.ts'
import { openText } from './open.ts'
import { openEach } from './open-each.ts'

const rollout = (...token_ids: number[]) => ({ token_ids, loss_mask: token_ids.map(() => 0) })
const slimeSample = { tokens: [1, 2], response_length: 1, loss_mask: [1], rollout_log_probs: [-1], status: 'completed' }

/** Yields the bytes of a text, or bytes, in pieces of these lengths. They share memory that each piece overwrites. */
async function* piecesOf(text: string | Uint8Array, lengths: readonly number[] = []): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text)
  const memory = Buffer.alloc(bytes.length)
  let at = 0
  for (const length of [...lengths, bytes.length]) {
    const piece = bytes.subarray(at, at + length)
    memory.fill(0).set(piece)
    yield memory.subarray(0, piece.length)
    at += length
  }
}

/** Returns the position and the ids of each record, or its problem. */
async function opened(text: string | Uint8Array, lengths?: readonly number[]): Promise<readonly string[]> {
  const each = await Array.fromAsync(openEach(piecesOf(text, lengths), source))
  return each.map((one) =>
    one.ok
      ? `${one.place.line ?? ''}${one.place.path ?? ''} ${ids(one.trajectory).join()}`.trimStart()
      : one.error.message,
  )
}

test.each<[string, string, readonly string[]]>([
  ['a file of blank lines', '\n \n', []],
  ['one record', JSON.stringify(rollout(1, 2)), ['1 1,2']],
  ['a record in several lines', `\n${JSON.stringify(rollout(1, 2), null, 2)}\n`, ['1,2']],
  ['a list in several lines', `[${JSON.stringify(rollout(1))}\n,${JSON.stringify(rollout(2))}]`, ['[0] 1', '[1] 2']],
  [
    'JSON lines with a blank one',
    `${JSON.stringify(rollout(1))}\n\r\n${JSON.stringify(rollout(2))}\r\n`,
    ['1 1', '3 2'],
  ],
  [
    'lines after a byte order mark',
    `\uFEFF${JSON.stringify(rollout(1))}\n${JSON.stringify(rollout(2))}`,
    ['1 1', '2 2'],
  ],
  [
    'values of several lines after each other',
    `${JSON.stringify(rollout(1), null, 2)}\n${JSON.stringify([rollout(2)], null, 2)}{"token_ids": ["x"]}`,
    ['1 1', '9[0] 2', 'line 18: token_ids[0]: expected a number, found "x"'],
  ],
  [
    'values after each other in a line',
    `${JSON.stringify(rollout(0))}\n${JSON.stringify(rollout(1))}${JSON.stringify(rollout(2))}{"token_ids": [3}`,
    ['1 0', '2 1', '2 2', expect.stringMatching(/^line 2: expected JSON, found /)],
  ],
  ['lists in lines', `[${JSON.stringify(rollout(1))}]\n[${JSON.stringify(rollout(2))}]`, ['1[0] 1', '2[0] 2']],
  ['a dump of samples', JSON.stringify({ samples: [slimeSample] }), ['1samples[0] 1,2']],
  [
    'lines of several formats',
    `${JSON.stringify(sample)}\n${JSON.stringify(slimeSample)}`,
    [`1 ${ids(sample).join()}`, '2 1,2'],
  ],
  ['a record with NaN', '{"token_ids": [1], "logprobs": [NaN]}', ['1 1']],
])('openEach finds the records of %s', async (_what, text, expected) => {
  expect(await opened(text)).toEqual(expected)
})

test('openEach reports a wrong line separately, also the first and the last', async () => {
  const good = JSON.stringify(rollout(1))
  const lines = ['{"token_ids": [1', good, '{"hello": 1}', good, '{"token_ids": ["x"]}', good, good.slice(0, 9)]
  expect(await opened(lines.join('\n'))).toEqual([
    expect.stringMatching(/^line 1: expected JSON, found /),
    '2 1',
    expect.stringMatching(/^line 3: expected a trajectory in .* found an object with hello$/),
    '4 1',
    expect.stringMatching(/^line 5: token_ids\[0\]: expected /),
    '6 1',
    expect.stringMatching(/^line 7: expected JSON, found /),
  ])
})

describe('A file with bytes that are not UTF-8:', () => {
  const good = JSON.stringify(rollout(1))
  const wrong = Buffer.concat([Buffer.from('{"a": "é'), Buffer.of(0xff, 0xfe), Buffer.from('"}')])
  const found = (at: number) => `expected JSON, found bytes that are not UTF-8 (byte ${at})`

  test.each<[string, readonly (string | Uint8Array)[], readonly string[]]>([
    ['a line among others', [good, wrong, '', good], ['1 1', `line 2: ${found(good.length + 1 + 10)}`, '4 1']],
    ['the first line', [wrong, good], [`line 1: ${found(10)}`, '2 1']],
    ['a value in several lines', ['', '[', wrong, ']'], [found(13)]],
    ['a value that begins as several lines do', ['[', wrong, good], [`line 2: ${found(12)}`, '3 1']],
    ['bytes that are no text', [Buffer.of(0x31, 0xff, 0xfe)], [`line 1: ${found(2)}`]],
  ])('openEach reports it in %s, for any division of the file into chunks', async (_what, lines, expected) => {
    const bytes = Buffer.concat(lines.flatMap((one) => [Buffer.from(one), Buffer.from('\n')])).subarray(0, -1)
    const each = await opened(bytes)
    expect(each.filter((one) => !/^line 1: .* found "?the text ends/.test(one))).toEqual(expected)
    for (const length of [1, 7])
      expect(await opened(bytes, Array(Math.ceil(bytes.length / length)).fill(length))).toEqual(each)
  })
})

test('openEach reports a first line that looks like an unfinished value separately if other lines are records', async () => {
  expect(await opened(`{"token_ids": [1,\n\n${JSON.stringify(rollout(2))}`)).toEqual([
    expect.stringMatching(/^line 1: expected JSON/),
    '3 2',
  ])
  expect(await opened('{\n"hello": 1,\n7\n')).toEqual([expect.stringMatching(/^expected JSON, found /)])
})

test('openEach refuses a line or value that is too long without keeping it in memory', async () => {
  const good = JSON.stringify(rollout(1))
  const limits = { ...LIMITS, recordBytes: 40 }
  const within = async (text: string, lengths?: readonly number[]) =>
    (await Array.fromAsync(openEach(piecesOf(text, lengths), source, limits))).map((one) =>
      one.ok ? ids(one.trajectory).join() : one.error.message,
    )
  expect(await within(`${good}\n"${'x'.repeat(60)}"\n${good}`, [50, 20])).toEqual([
    '1',
    'line 2: expected a record of at most 40 bytes, found a longer record',
    '1',
  ])
  const spread = '[\n'.repeat(60)
  expect(await within(spread)).toEqual(['expected a record of at most 40 bytes, found a longer record'])
})

test('openEach gives the same result for any division of the file into chunks', async () => {
  const text = [rollout(1), slimeSample, { hello: 1 }, rollout(2, 3)].map((one) => JSON.stringify(one)).join('\r\n')
  const expected = await opened(text)
  expect(expected).toHaveLength(4)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(80)), async (lengths) => {
      expect(await opened(text, lengths)).toEqual(expected)
    }),
  )
})

test('openEach reports a chunk that cannot be read separately, and the joined trajectory names it as missing', async () => {
  const chunk = (id: unknown) =>
    JSON.stringify({ request_id: 'r', choices: [{ index: 0, token_ids: [id], finish_reason: null }] })
  const all = await Array.fromAsync(openEach(piecesOf([chunk(5), '{"request_id": ', chunk(6)].join('\n')), source))
  expect(all).toMatchObject([
    { ok: false, error: { message: expect.stringMatching(/^line 2: expected JSON/) } },
    {
      ok: true,
      trajectory: {
        segments: [{ ids: [5, 6] }],
        provenance: { lacked: expect.arrayContaining([expect.stringMatching(/^a record that could not be read/)]) },
      },
    },
  ])
})

test('openEach reports a record that its joined format refuses separately, and opens the others', async () => {
  const [row] = JSON.parse(readFileSync('lib/formats/golden/foreign/tinker-rows.json', 'utf8')) as readonly [object]
  const lines = [row, { ...row, traj_idx: 'x' }].map((one) => JSON.stringify(one)).join('\n')
  expect(await Array.fromAsync(openEach(piecesOf(lines), source))).toMatchObject([
    { ok: false, error: { message: expect.stringMatching(/^line 2: traj_idx: expected a number, found "x"/) } },
    { ok: true, trajectory: { provenance: { lacked: expect.arrayContaining([expect.stringContaining('line 2')]) } } },
  ])
})

test('openEach yields a record before it reads the next line', async () => {
  let read = 0
  async function* counted() {
    for (;;) {
      read++
      yield Buffer.from(`${JSON.stringify(rollout(1))}\n`)
    }
  }
  const each = openEach(counted(), source)
  expect((await each.next()).value).toMatchObject({ ok: true, place: { line: 1 } })
  expect(read).toBe(1)
  await each.return(undefined)
})

test('openEach joins a stream whose last chunk looks like a whole reply', async () => {
  const chunk = (id: number, finish_reason: object | null) =>
    JSON.stringify({
      text: 'a',
      output_ids: [id],
      meta_info: { id: 'g', finish_reason, completion_tokens: id - 4, output_token_logprobs: [[-1, id, null]] },
    })
  const text = `${chunk(5, null)}\n${chunk(6, { type: 'length' })}\n`
  const all = await Array.fromAsync(openEach(piecesOf(text), source))
  expect(all).toMatchObject([{ ok: true, trajectory: { segments: [{ ids: [5, 6], finish: { kind: 'length' } }] } }])
  expect(openText(text, source)).toMatchObject({ trajectories: [{ segments: [{ ids: [5, 6] }] }] })
})
