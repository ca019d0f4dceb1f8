/**
 * Tests a tool call that a grammar forces on the real SGLang, with a bias against the tag’s own token, so that its tokens
 * differ from those of its encoded text. The drift is found, named and rescored, and the scores equal those of transformers.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, expect, inject, test } from 'vitest'
import { type ComparedSides, compareSides } from '#lib/analysis/compare/compare-sides.ts'
import { scorePlan } from '#lib/analysis/rescore/plan.ts'
import { rescore } from '#lib/analysis/rescore/rescoring.ts'
import { scoreBoth, withoutScores } from '#lib/analysis/rescore/score-both.ts'
import { generateReplySchema } from '#lib/sglang/server/schema.ts'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Score } from '#lib/trajectory/scoring/gathered.ts'
import { type ScoreLine, scoreLineSchema } from '#lib/trajectory/scoring/score.ts'
import { ids, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { application, difference } from '../set-up/application.ts'
import { python } from '../set-up/python.ts'

const places = inject('places')
const rollscope = application(places.application)
const SERVER = 'sglang-drift'
const TOLERANCE = 1e-4
const CALL = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "12 * 7"}}\n</tool_call>'
const escaped = CALL.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')

beforeAll(() => rollscope.addServer(SERVER, places.sglang))

const file = (name: string) => readFileSync(path.join(places.peers.model, name), 'utf8')
const tokenizer = loadTokenizerFiles(places.peers.model, {
  tokenizerJson: file('tokenizer.json'),
  tokenizerConfigJson: file('tokenizer_config.json'),
})

async function forcedCall(): Promise<Trajectory> {
  // A grammar without special tokens has the same effect: the tag is spelled.
  const [tag] = tokenizer.tokenizer.encode('<tool_call>')
  const events = await rollscope.post('/api/rollouts', {
    prompt: 'What is 12 * 7?',
    tools: ['calculator'],
    server: SERVER,
    tokenizer: places.peers.model,
    sampling: { temperature: 1, max_new_tokens: 200, regex: escaped, logit_bias: { [String(tag)]: -100 } },
    limits: { maxToolIterations: 1 },
  })
  const key = encodeURIComponent(events.headers.get('x-trajectory-id') ?? '')
  await events.text()
  const decoded = decodeValue(await (await rollscope.get(`/api/trajectories/${key}`)).json())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

function retokenized(trajectory: Trajectory): ComparedSides {
  const side = (kind: 'recorded' | 'text') => ({ as: { kind }, trajectory, tokenizer, template: undefined })
  const compared = compareSides(side('recorded'), side('text'))
  if (!compared.ok) throw new Error(compared.why)
  return compared.value
}

const overHttp: Score = async function* (request): AsyncGenerator<ScoreLine> {
  const answer = await (await rollscope.post('/api/score', request)).text()
  for (const line of answer.trimEnd().split('\n')) yield scoreLineSchema.parse(JSON.parse(line))
}

test('the drift of a call that a grammar forces is named and rescored, and the scores equal those of transformers', async () => {
  const trajectory = await forcedCall()
  const [call] = trajectory.segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))
  expect(call).toMatchObject({ kind: 'parsed', name: 'calculator', result: { status: 'success', text: '84' } })

  const compared = retokenized(trajectory)
  const { spans } = compared.comparison.report
  expect(spans.length).toBeGreaterThan(0)
  expect(spans[0]).toMatchObject({ kind: 'special-tokens', detail: 'spelled', severity: 'trained' })
  expect(new Set(spans.map(({ kind }) => kind)).difference(new Set(['special-tokens', 'split'])).size).toBe(0)

  const plan = scorePlan(compared, { servers: { left: SERVER, right: SERVER }, tokens: 'every' })
  const scores = withoutScores(plan)
  await scoreBoth(plan, scores, { score: overHttp, signal: AbortSignal.timeout(60_000) })
  const sides = [ids(compared.left.trajectory), ids(compared.right.trajectory)]
  const reference = (await python(places.peers.sglang, 'servers/scores.py', [places.peers.model], sides)) as (
    | number
    | null
  )[][]
  for (const [index, side] of [scores.left, scores.right].entries()) {
    const found = Array.from(side, (score) => (Number.isNaN(score) ? null : score))
    const { largest, compared: count } = difference(found, reference[index] ?? [])
    console.log(`rescored, side ${index + 1}: ${count} logprobs, largest difference ${largest.toExponential(1)}`)
    expect(count).toBe((sides[index]?.length ?? 0) - 1)
    expect(largest).toBeLessThan(TOLERANCE)
  }

  const { totals, noise, spans: rescored } = rescore(compared, scores)
  expect(totals.trainedTokens).toBe(lossMask(trajectory).reduce((sum, trained) => sum + trained, 0))
  expect(totals.rescoredTokens).toBe(totals.trainedTokens)
  const known = reference.map((side) => side.map((score) => score ?? 0))
  for (const [index, { ratio }] of rescored.entries()) {
    const span = spans[index]
    const sum = (side: readonly number[] = [], from = 0, to = 0) => side.slice(from, to).reduce((a, b) => a + b, 0)
    const expected = sum(known[1], span?.right.start, span?.right.end) - sum(known[0], span?.left.start, span?.left.end)
    expect(ratio).toEqual({ kind: 'known', delta: expect.closeTo(expected, 3) })
  }
  console.log(
    `drift: ${spans.map(({ kind, detail }) => `${kind} ${detail}`).join(', ')}; mean logprob ${totals.meanLogprob?.left.toFixed(2)} → ${totals.meanLogprob?.right.toFixed(2)}, sequence ${totals.delta?.toFixed(1)} nats`,
  )
  // Logprobs under a grammar are renormalised, so they cannot measure noise.
  expect(noise.left.spread).toBeUndefined()
  expect(noise.left.apart.map(({ reason }) => reason)).toEqual(['sampled with logit_bias, regex'])
})

test('prefill logprobs are at temperature 1 for any requested temperature; decode logprobs are scaled by it', async () => {
  const prompt = ids(await forcedCall()).slice(0, 60)
  const ask = async (temperature: number, max_new_tokens: number, input: readonly number[], start: number) => {
    const response = await fetch(`${places.sglang}/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        input_ids: input,
        sampling_params: { temperature, max_new_tokens, ignore_eos: true },
        return_logprob: true,
        logprob_start_len: start,
      }),
    })
    return generateReplySchema.parse(await response.json())
  }
  const prefilled = async (temperature: number, input: readonly number[]) =>
    (await ask(temperature, 0, input, 0)).meta_info.input_token_logprobs?.map(([logprob]) => logprob) ?? []
  const atOne = await prefilled(1, prompt)
  expect(atOne.length).toBe(prompt.length)
  for (const temperature of [0, 0.3, 5])
    expect(difference(await prefilled(temperature, prompt), atOne).largest).toBeLessThan(1e-5)

  for (const temperature of [1, 0.5]) {
    const { output_ids, meta_info } = await ask(temperature, 16, prompt, prompt.length - 1)
    const decoded = meta_info.output_token_logprobs?.map(([logprob]) => logprob) ?? []
    const scored = (await prefilled(1, [...prompt, ...(output_ids ?? [])])).slice(prompt.length)
    const { largest, compared } = difference(decoded, scored)
    console.log(`decoded at temperature ${temperature} against prefill: largest difference ${largest.toExponential(1)}`)
    expect(compared).toBe(16)
    if (temperature === 1) expect(largest).toBeLessThan(1e-3)
    else expect(largest).toBeGreaterThan(0.01)
  }
})
