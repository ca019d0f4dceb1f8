/** Tests samples of one prompt on the real SGLang, scored once and read from its prefix cache, and many runs at once. */
import { expect, inject, test } from 'vitest'
import type { GroupStarted } from '#lib/api/group.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { application } from '../set-up/application.ts'

const places = inject('places')
const rollscope = application(places.application)

const stored = async (key: string): Promise<Trajectory> =>
  (await rollscope.get(`/api/trajectories/${encodeURIComponent(key)}`)).json()

/** Starts a group and returns its samples after all have ended. */
async function sampled(request: object): Promise<Trajectory[]> {
  const started: GroupStarted = await (await rollscope.post('/api/groups', request)).json()
  await (await rollscope.get(`/api/groups/${started.groupId}/events`)).text()
  return Promise.all(started.samples.map(({ trajectoryId }) => stored(trajectoryId)))
}

async function ran(request: object): Promise<Trajectory> {
  const response = await rollscope.post('/api/rollouts', request)
  await response.text()
  return stored(response.headers.get('x-trajectory-id') ?? '')
}

test.each(['sglang', 'incremental'] as const)(
  'the samples of a prompt share its scores and its cache on %s',
  async (name) => {
    await rollscope.addServer(`group-${name}`, places[name])
    const trajectories = await sampled({
      // No other test has this prompt, so none of it is in the cache.
      prompt: `What is 31 * 17, asked by the group of ${name}?`,
      server: `group-${name}`,
      tokenizer: places.peers.model,
      samples: 6,
      promptLogprobs: true,
      sampling: { max_new_tokens: 16 },
    })
    const [first] = trajectories
    const responses = trajectories.map(({ segments }) => segments[1] as ResponseSegment)
    expect(new Set(responses.map(({ request }) => request?.scoring?.rid)).size).toBe(1)
    for (const [index, response] of responses.entries()) {
      expect(trajectories[index]?.segments[0]?.logprobs).toEqual(first?.segments[0]?.logprobs)
      expect(response.usage?.cachedTokens).toBeGreaterThanOrEqual((response.request?.inputLength ?? 0) - 1)
    }
  },
)

/**
 * SGLang's seeds have no effect here, because deterministic inference needs an attention backend of a GPU. So samples are
 * greedy with one answer for each prompt, and each group has another prompt, with one or two calls of the calculator.
 */
const QUESTIONS = Array.from({ length: 8 }, (_, group) =>
  group % 2 === 0 ? `What is ${11 + group} * 17?` : `What is ${20 + group} * 3, and then plus ${group}?`,
)

test.each([
  ['plain', 'sglang', false],
  ['cumulative', 'sglang', true],
  ['incremental', 'incremental', true],
] as const)(
  '8 groups of 8 samples at once, beside single runs and scoring, give the ids of each prompt run alone (%s)',
  async (manner, server, stream) => {
    const name = `busy-${manner}`
    await rollscope.addServer(name, places[server])
    const settings = {
      server: name,
      tokenizer: places.peers.model,
      tools: ['calculator'],
      sampling: { temperature: 0, max_new_tokens: 96 },
      limits: { maxToolIterations: 3 },
      stream,
    }
    const alone: number[][] = []
    for (const prompt of QUESTIONS) alone.push(ids(await ran({ prompt, ...settings, promptLogprobs: true })))

    const [groups, singles, scorings] = await Promise.all([
      Promise.all(QUESTIONS.map((prompt) => sampled({ prompt, ...settings, samples: 8, promptLogprobs: true }))),
      Promise.all(QUESTIONS.map((prompt, index) => ran({ prompt, ...settings, promptLogprobs: index % 2 === 0 }))),
      Promise.all(
        alone.map(async (whole) =>
          (await rollscope.post('/api/score', { ids: whole, server: name, topLogprobs: 2 })).json(),
        ),
      ),
    ])
    for (const [index, expected] of alone.entries()) {
      const runs = [...(groups[index] ?? []), singles[index] as Trajectory]
      expect(runs.map(({ outcome }) => outcome)).toEqual(runs.map(() => ({ kind: 'ended', reason: 'end_turn' })))
      for (const run of runs) expect(ids(run)).toEqual(expected)
      expect(scorings[index]).toMatchObject({ logprobs: { length: expected.length }, topLogprobs: { k: 2 } })
    }
    expect(groups.flat()).toHaveLength(64)
  },
)
