/**
 * Tests the chat baseline on the real SGLang: its report is consistent, drift is located, and the built-in server behaves the
 * same.
 */
import { expect, inject, test } from 'vitest'
import { compareSides } from '#lib/analysis/compare/compare-sides.ts'
import { turnsRead } from '#lib/analysis/compare/read-side.ts'
import { checkInputs } from '#lib/analysis/requests/check-inputs.ts'
import { recordedCalls } from '#lib/analysis/requests/recorded-calls.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { application } from '../set-up/application.ts'

const places = inject('places')
const rollscope = application(places.application)

async function baseline(server: string, request: object): Promise<Trajectory> {
  const events = await rollscope.post('/api/rollouts', {
    endpoint: 'chat',
    server,
    tools: ['calculator'],
    ...request,
  })
  const key = encodeURIComponent(events.headers.get('x-trajectory-id') ?? '')
  await events.text()
  const decoded = decodeValue(await (await rollscope.get(`/api/trajectories/${key}`)).json())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

const greedy = { temperature: 0, max_new_tokens: 256 }
const QUESTIONS = ['What is 25 * 17, and then plus 9?', 'Compute 12 * 7 and 81 / 9', 'What is (25 * 17)^3?']
const responses = ({ segments }: Trajectory): ResponseSegment[] =>
  segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))

test('a greedy baseline is the same run on SGLang and on the built-in server, to the token', async () => {
  await rollscope.addServer('sglang-baseline', places.sglang)
  let compared = 0
  for (const prompt of QUESTIONS)
    for (const enable_thinking of [true, false]) {
      const request = { prompt, sampling: greedy, templateOptions: { enable_thinking } }
      const [theirs, ours] = [await baseline('sglang-baseline', request), await baseline('built-in', request)]
      expect([theirs.outcome.kind, ids(theirs)]).toEqual([ours.outcome.kind, ids(ours)])
      expect(turnsRead(theirs)).toEqual(turnsRead(ours))
      const messages = (of: Trajectory) =>
        responses(of).map(({ message }) => [message?.content, message?.reasoning_content])
      expect(messages(theirs)).toEqual(messages(ours))
      compared += ids(theirs).length
    }
  console.log(`${compared} tokens of greedy baselines are the same`)
})

test('the report of a chat baseline is consistent, and the drift of sampled runs is located', async () => {
  await rollscope.addServer('sglang-sampled', places.sglang)
  let [turns, drifted, split] = [0, 0, 0]
  for (const prompt of [...QUESTIONS, ...QUESTIONS]) {
    const trajectory = await baseline('sglang-sampled', { prompt, sampling: { temperature: 1.2, max_new_tokens: 256 } })
    const hashes = runToEnd(checkInputs(null, trajectory)).map(({ hash }) => hash)
    expect(hashes).toEqual(recordedCalls(trajectory).map(({ request }) => request.inputHash))
    for (const segment of trajectory.segments.slice(1))
      if (segment.kind === 'prompt')
        expect(textOf(segment.ids, trajectory.vocab)).toMatch(/^\n<\|im_start\|>user\n<tool_response>/)
    const read = turnsRead(trajectory)
    turns += read.length
    drifted += read.filter(({ before, kept }) => kept < before).length
    const given = { trajectory, tokenizer: undefined, template: undefined }
    const compared = compareSides({ ...given, as: { kind: 'recorded' } }, { ...given, as: { kind: 'read' } })
    if (!compared.ok) throw new Error(compared.why)
    split += compared.value.comparison.report.spans.filter(({ kind }) => kind === 'split').length
  }
  console.log(`${drifted} of ${turns} turns read other tokens than had been sampled; ${split} spans are other splits`)
  expect(drifted).toBeGreaterThan(0)
})

test('a router removes the ids, and the run reports what it needs', async () => {
  await rollscope.addServer('router-baseline', places.router)
  const { outcome, segments } = await baseline('router-baseline', {
    prompt: 'What is 7 + 8?',
    sampling: greedy,
    tokenizer: places.peers.model,
  })
  expect(segments).toEqual([])
  expect(outcome).toMatchObject({
    kind: 'failed',
    code: 'CHAT_UNSUPPORTED',
    hint: expect.stringContaining('return_token_ids'),
  })
})
