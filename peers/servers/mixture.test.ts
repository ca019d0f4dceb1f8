/** Runs conversations on the real SGLang with a mixture of experts and a LoRA adapter, and compares its experts with transformers. */
import { beforeAll, expect, inject, test } from 'vitest'
import { strandsSglang } from '#lib/formats/strands-sglang.ts'
import { expertAgreement } from '#lib/trajectory/experts/agreement.ts'
import { expertShape, joinedExperts, unpackExperts } from '#lib/trajectory/experts/routed-experts.ts'
import { nestedExperts } from '#lib/trajectory/experts/slices.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { scoreAnswerSchema } from '#lib/trajectory/scoring/score.ts'
import { ids, logprobs, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { application, difference } from '../set-up/application.ts'
import { python } from '../set-up/python.ts'
import { conversations } from './conversations.ts'

const { peers, application: address, server } = inject('mixture')
const rollscope = application(address)
const SHAPE = { layers: 6, perLayer: 2 }
/** Router weights differ by rounding between kernels, so a token near a tie may have another expert. */
const LEAST_AGREEMENT = 0.999

const experts: Trajectory[] = []
beforeAll(async () => {
  await rollscope.addServer('mixture', server)
  for (const conversation of conversations)
    experts.push(await rollscope.converse(conversation, { server: 'mixture', stream: true, routedExperts: true }))
})

const problemsOf = ({ segments }: Trajectory) => segments.flatMap(({ problems = [] }) => problems)

test('Every token of a run has experts, except the last, in the layers of the model', () => {
  for (const trajectory of experts) {
    expect(problemsOf(trajectory)).toEqual([])
    const rows = joinedExperts(trajectory)
    expect(rows && expertShape(rows)).toEqual(SHAPE)
    expect(nestedExperts(trajectory)).toHaveLength(tokenCount(trajectory) - 1)
  }
  expect(experts.flatMap(({ segments }) => segments).length).toBeGreaterThan(20)
})

test('The experts are those of transformers, and those of a prefill by the same server', async () => {
  const theirs = (await python(peers.sglang, 'servers/experts.py', [peers.mixture], experts.map(ids))) as number[][][][]
  const agreements: number[] = []
  for (const [index, trajectory] of experts.entries()) {
    const rows = joinedExperts(trajectory)
    if (!rows) throw new Error('a run has no experts')
    const reference = { start: 0, perToken: rows.perToken, entries: Int32Array.from(theirs[index]?.flat(2) ?? []) }
    const body = { ids: ids(trajectory), server: 'mixture', routedExperts: true }
    const scored = scoreAnswerSchema.parse(await (await rollscope.post('/api/score', body)).json())
    if (!scored.routedExperts) throw new Error('the prefill has no experts')
    for (const other of [reference, unpackExperts(scored.routedExperts)]) {
      const found = expertAgreement(rows, other, tokenCount(trajectory))
      expect(found).toMatchObject({ tokens: tokenCount(trajectory) - 1, ...SHAPE })
      agreements.push(found?.mean ?? 0)
    }
  }
  console.log(`agreement of experts, the least of ${agreements.length} comparisons: ${Math.min(...agreements)}`)
  expect(Math.min(...agreements)).toBeGreaterThanOrEqual(LEAST_AGREEMENT)
})

test('strands-sglang decodes the experts of an exported run', async () => {
  const rollouts = experts.map((trajectory) => strandsSglang.write?.(trajectory).value)
  const parameters = [SHAPE.layers, SHAPE.perLayer].map(String)
  expect(await python(peers.strands, 'servers/decode_experts.py', parameters, rollouts)).toEqual(
    experts.map(nestedExperts),
  )
})

test('A run with the LoRA adapter differs from the base model, and its prefill with the adapter gives the same logprobs', async () => {
  const [conversation] = conversations
  const [base] = experts
  if (!conversation || !base) throw new Error('there are no conversations')
  const adapted = await rollscope.converse(conversation, { server: 'mixture', stream: true, adapter: 'math' })
  const responses = adapted.segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))
  expect(responses.map(({ request }) => request?.adapter)).toEqual(responses.map(() => 'math'))
  const score = async (adapter: object) =>
    scoreAnswerSchema.parse(
      await (await rollscope.post('/api/score', { ids: ids(adapted), server: 'mixture', ...adapter })).json(),
    ).logprobs
  const own = difference(logprobs(adapted), await score({ adapter: 'math' }))
  const other = difference(logprobs(adapted), await score({}))
  console.log(`with the adapter ${own.largest.toExponential(1)}, without ${other.largest.toExponential(1)}`)
  expect(own.compared).toBeGreaterThan(20)
  expect(own.largest).toBeLessThan(1e-3)
  expect(other.largest).toBeGreaterThan(1e-2)
})

test('An adapter that the server does not list is refused before the run', async () => {
  const [conversation] = conversations
  if (!conversation) throw new Error('there are no conversations')
  await expect(rollscope.converse(conversation, { server: 'mixture', stream: true, adapter: 'other' })).rejects.toThrow(
    /422 .*it has math/s,
  )
})
