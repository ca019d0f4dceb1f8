/** Samples of one prompt on the real SGLang: scored once, and read from its prefix cache by all of them. */
import { expect, inject, test } from 'vitest'
import type { GroupStarted } from '#lib/core/group.ts'
import type { ResponseSegment, Trajectory } from '#lib/core/trajectory.ts'
import { application } from './application.ts'

const places = inject('places')
const rollscope = application(places.application)

test.each(['sglang', 'incremental'] as const)(
  '%s: the samples of a prompt share its scores and its cache',
  async (name) => {
    await rollscope.addServer(`group-${name}`, places[name])
    const started: GroupStarted = await (
      await rollscope.post('/api/groups', {
        // No other test has asked this: nothing of it is in the cache.
        prompt: `What is 31 * 17, asked by the group of ${name}?`,
        server: `group-${name}`,
        tokenizer: places.peers.model,
        samples: 6,
        sampling: { max_new_tokens: 16 },
      })
    ).json()
    await (await rollscope.get(`/api/groups/${started.groupId}/events`)).text()
    const trajectories: Trajectory[] = await Promise.all(
      started.samples.map(async ({ trajectoryId }) =>
        (await rollscope.get(`/api/trajectories/${trajectoryId}`)).json(),
      ),
    )
    const [first] = trajectories
    const responses = trajectories.map(({ segments }) => segments[1] as ResponseSegment)
    expect(new Set(responses.map(({ request }) => request?.scoring?.rid)).size).toBe(1)
    for (const [index, response] of responses.entries()) {
      expect(trajectories[index]?.segments[0]?.logprobs).toEqual(first?.segments[0]?.logprobs)
      expect(response.usage?.cachedTokens).toBeGreaterThanOrEqual((response.request?.inputLength ?? 0) - 1)
    }
  },
)
