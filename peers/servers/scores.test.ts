/** Compares the logprobs of both servers with those of transformers in fp32. */
import { expect, inject, test } from 'vitest'
import { generateReplySchema } from '#lib/sglang/server/schema.ts'
import { scoreLineSchema } from '#lib/trajectory/scoring/score.ts'
import { application, difference, type Tokens, tokenColumns } from '../set-up/application.ts'
import { python } from '../set-up/python.ts'
import { conversations } from './conversations.ts'

const places = inject('places')
const rollscope = application(places.application)
const TOLERANCE = 1e-4

/** Returns the prefill logprobs of a whole sequence. */
async function scored(baseUrl: string, ids: readonly number[]): Promise<(number | null)[]> {
  const response = await fetch(`${baseUrl}/generate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      input_ids: ids,
      sampling_params: { max_new_tokens: 0, temperature: 0 },
      return_logprob: true,
      logprob_start_len: 0,
    }),
  })
  const { input_token_logprobs: entries } = generateReplySchema.parse(await response.json()).meta_info
  expect(entries?.map(([, id]) => id)).toEqual(ids)
  return (entries ?? []).map(([logprob]) => logprob)
}

/** Returns logprobs through Rollscope's own interface, requested for prefixes that grow by a few tokens. */
async function verified(server: string, ids: readonly number[]): Promise<(number | null)[]> {
  const PORTION = 64
  const ranges = Array.from({ length: Math.ceil(ids.length / PORTION) }, (_, index) => ({
    start: index * PORTION,
    end: Math.min(ids.length, (index + 1) * PORTION),
  }))
  const answer = await (await rollscope.post('/api/score', { ids, server, ranges })).text()
  const lines = answer
    .trimEnd()
    .split('\n')
    .map((line) => scoreLineSchema.parse(JSON.parse(line)))
  expect(lines.at(-1)).toEqual({ kind: 'done' })
  return lines.flatMap((line) => (line.kind === 'scores' ? line.logprobs : []))
}

test('prefill and greedy logprobs agree with transformers', async () => {
  await rollscope.addServer('sglang-scores', places.sglang)
  const trajectories: Tokens[] = []
  for (const conversation of conversations)
    trajectories.push(
      tokenColumns(await rollscope.converse(conversation, { server: 'built-in', stream: true, promptLogprobs: true })),
    )
  const reference = (await python(
    places.peers.sglang,
    'servers/scores.py',
    [places.peers.model],
    trajectories.map(({ ids }) => ids),
  )) as (number | null)[][]
  const columns: [string, (index: number) => Promise<readonly (number | null)[]>][] = [
    ['a rollout of the built-in server', async (index) => trajectories[index]?.logprobs ?? []],
    [
      'scored by the built-in server',
      (index) => scored(`${places.application}/sglang`, trajectories[index]?.ids ?? []),
    ],
    ['scored by SGLang', (index) => scored(places.sglang, trajectories[index]?.ids ?? [])],
    ['scored by SGLang on growing prefixes', (index) => verified('sglang-scores', trajectories[index]?.ids ?? [])],
  ]
  for (const [name, column] of columns) {
    const found = []
    for (const [index, expected] of reference.entries()) found.push(difference(await column(index), expected))
    const largest = Math.max(...found.map((one) => one.largest))
    const compared = found.reduce((sum, one) => sum + one.compared, 0)
    console.log(`${name}: ${compared} logprobs, largest difference from transformers ${largest.toExponential(1)}`)
    expect(compared).toBe(reference.reduce((sum, { length }) => sum + length - 1, 0))
    expect(largest).toBeLessThan(TOLERANCE)
  }
})
