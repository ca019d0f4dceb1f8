/**
 * Runs rollouts of Rollscope against the mock server with the same modules as POST /api/rollouts: client, tokenizer, chat
 * template, agent, recorder and events. Nothing is stored or assembled a second time. It reads a Task from standard input and
 * prints a Result.
 */
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { parserNamed } from '#lib/parsers/registry.ts'
import { rollout } from '#lib/rollout/loop/rollout.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { createTokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import { FORMAT, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { rolloutWithoutSdk } from './loop-without-sdk.ts'
import { PARTS, type Result, type WorkloadTask } from './workload.ts'

const task: WorkloadTask = JSON.parse(await text(process.stdin))
const loaded = await createTokenizerLoader({
  builtIn: {},
  folders: [path.dirname(task.tokenizerFolder)],
  hub: { url: undefined, token: undefined, cacheFolder: undefined, cachedOnly: true },
  packedFolder: task.packedFolder,
}).load(task.tokenizerFolder)
const template = loaded.template(true)
const parser = parserNamed('hermes')
if (!template || !parser) throw new Error('the tokenizer has no chat template')
const promptEncoder = { tokenizer: loaded.tokenizer, template }
const client = createClient({ baseUrl: task.baseUrl, apiKey: undefined })
const server = await client.describe(new AbortController().signal)
const endOfTurn = endOfTurnId(promptEncoder, {})
const tools: readonly AgentTool[] = [
  { spec: task.tool, run: ({ page }) => task.pages[Number(page)] ?? 'There is no such page.' },
  ...task.otherTools.map((spec): AgentTool => ({ spec, run: () => 'Nothing was found.' })),
]

const before = await rollouts(0, task.warmUp)
const startedAt = performance.now()
const started = process.cpuUsage()
const peaksMebibytes: number[] = []
const { outputTokens } = await rollouts(task.warmUp, task.prompts.length, (done, all) => {
  if (done >= ((peaksMebibytes.length + 1) * all) / PARTS) peaksMebibytes.push(process.resourceUsage().maxRSS / 1024)
})
const { user, system } = process.cpuUsage(started)
const result: Result = {
  cpuMs: (user + system) / 1000,
  outputTokens,
  wallMs: performance.now() - startedAt,
  peaksMebibytes,
  idsHash: inputHash(before.firstIds),
  idsLength: before.firstIds.length,
}
await client.close()
console.log(JSON.stringify(result))

/** Runs the prompts of a range, several at a time. `onEnd` receives the number of rollouts that have ended, and of all. */
async function rollouts(from: number, to: number, onEnd: (done: number, all: number) => void = () => {}) {
  let next = from
  let done = 0
  let outputTokens = 0
  let firstIds: readonly number[] = []
  const work = async (): Promise<void> => {
    while (next < to) {
      const number = next++
      const events = await oneRollout(number)
      for (const event of events) if (event.type === 'tokens') outputTokens += event.ids.length
      if (number === from) firstIds = ids(trajectoryOf(events))
      onEnd(++done, to - from)
    }
  }
  await Promise.all(Array.from({ length: task.concurrency }, work))
  return { outputTokens, firstIds }
}

async function oneRollout(number: number): Promise<readonly RolloutEvent[]> {
  const { tokenizer } = promptEncoder
  const start: Trajectory = {
    format: FORMAT,
    id: crypto.randomUUID(),
    createdAt: new Date().toISOString(),
    model: {
      ...(server.modelName !== undefined && { name: server.modelName }),
      ...(server.contextLength !== undefined && { contextLength: server.contextLength }),
      tokenizer: {
        name: tokenizer.name,
        fingerprint: tokenizer.fingerprint,
        vocabularySize: tokenizer.vocabularySize,
        specialIds: [],
        ...(endOfTurn !== undefined && { endOfTurnId: endOfTurn }),
      },
      template: { text: promptEncoder.template.text, options: {} },
      tools: tools.map(({ spec }) => spec),
      parser: 'hermes',
    },
    vocab: {},
    segments: [],
    outcome: { kind: 'running' },
    provenance: { kind: 'rollout', application: 'rollscope/bench' },
  }
  const begin = {
    rolloutId: crypto.randomUUID(),
    trajectory: start,
    messages: [
      { role: 'system', content: task.systemPrompt },
      { role: 'user', content: task.prompts[number] ?? '' },
    ],
  } as const
  const settings = {
    sampling: task.sampling,
    limits: {},
    promptLogprobs: true,
    topLogprobs: task.alternatives,
    stream: task.isStreamed,
  }
  const dependencies = {
    generate: client.generate,
    serverName: 'mock',
    server,
    promptEncoder,
    parser: parser as NonNullable<typeof parser>,
    tools,
    now: () => new Date(),
    elapsedMs: () => performance.now(),
    newRequestId: () => crypto.randomUUID().replaceAll('-', ''),
  }
  const { signal } = new AbortController()
  const seen: RolloutEvent[] = []
  if (task.withSdk) for await (const event of rollout(begin, settings, dependencies, signal)) seen.push(event)
  else seen.push(...(await rolloutWithoutSdk(begin, settings, dependencies, signal)))
  const end = seen.at(-1)
  if (end?.type !== 'ended' || end.outcome.kind !== 'ended' || end.outcome.reason !== 'end_turn')
    throw new Error(`rollout ${number} ended as ${JSON.stringify(end)}`)
  return seen
}

function trajectoryOf(events: readonly RolloutEvent[]): Trajectory {
  const fold = createFold()
  for (const event of events) fold.add(event)
  if (!fold.trajectory) throw new Error('a rollout without events')
  return fold.trajectory
}
