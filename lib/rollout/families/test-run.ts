/** Runs a family's conversation through lib/rollout and lib/sglang, over HTTP. */

import { parserNamed } from '#lib/parsers/registry.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import type { ChatTemplate } from '#lib/templates/chat-template.ts'
import { applyEvent, type LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { emptyTrajectory } from '#testing/simulated-rollout.ts'
import { rollout } from '../loop/rollout.ts'
import { QUESTION, toolsFor } from './test-conversation.ts'
import { type Family, stopIdsOf, tokenizerOf } from './test-families.ts'
import type { ScriptedGenerateServer } from './test-server.ts'

/** What a run of a family sent and recorded. */
export interface FamilyRun {
  readonly trajectory: Trajectory
  /** `input_ids` of each request. */
  readonly requests: readonly (readonly number[])[]
  /** Name and input of every tool that ran, in order. */
  readonly toolRuns: readonly (readonly [string, unknown])[]
}

/** Runs a family's conversation against a scripted server, with one server reply for each of `replies`. */
export async function runFamily(
  family: Family,
  template: ChatTemplate,
  replies: readonly string[],
  server: ScriptedGenerateServer,
  stream: boolean,
): Promise<FamilyRun> {
  const tokenizer = tokenizerOf(family)
  const promptEncoder = { tokenizer, template }
  const parser = parserNamed(family.parser)
  if (!parser) throw new Error(`there is no parser ${family.parser}`)
  server.play(replies, tokenizer, stopIdsOf(family))
  const client = createClient({ baseUrl: server.baseUrl, apiKey: undefined, retry: { repetitions: 0 } })
  const toolRuns: [string, unknown][] = []
  const tools = toolsFor(family, toolRuns)
  let requests = 0
  let trajectory: LiveTrajectory | undefined
  try {
    for await (const event of rollout(
      {
        rolloutId: 'r',
        trajectory: emptyTrajectory(promptEncoder, {
          tools: tools.map(({ spec }) => spec),
          options: family.options ?? {},
          parser: family.parser,
        }),
        messages: [{ role: 'user', content: QUESTION }],
      },
      { sampling: { max_new_tokens: 4000 }, limits: {}, promptLogprobs: false, topLogprobs: 0, stream },
      {
        generate: client.generate,
        serverName: 'scripted',
        server: { kind: 'server', incrementalStreaming: false },
        promptEncoder,
        parser,
        tools,
        now: () => new Date(0),
        elapsedMs: () => 0,
        newRequestId: () => String(requests++).padStart(32, '0'),
      },
      new AbortController().signal,
    ))
      trajectory = applyEvent(trajectory, event)
  } finally {
    await client.close()
  }
  if (!trajectory) throw new Error('a rollout without events')
  return { trajectory, requests: server.requests, toolRuns }
}
