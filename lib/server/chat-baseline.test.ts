/** Tests the chat baseline from the request to the comparison, over HTTP, with the built-in server and the shipped model. */
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareSides } from '#lib/analysis/compare/compare-sides.ts'
import { turnsRead } from '#lib/analysis/compare/read-side.ts'
import { checkInputs } from '#lib/analysis/requests/check-inputs.ts'
import { recordedCalls, sentBodies } from '#lib/analysis/requests/recorded-calls.ts'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { createTestModel, loadModelTokenizer } from '#lib/builtin-server/test-model.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import type { DriftReport } from '#lib/trajectory/drift/report.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfFile } from '#testing/files/folders.ts'
import { listeningUrl } from '#testing/listening.ts'
import { noMcpServers, threadedHere } from '#testing/services.ts'
import { plainTool } from './runs/built-in-tools.ts'
import { continueRollout, type RolloutRequest, startRollout } from './runs/rollouts.ts'
import { createRuns } from './runs/runs.ts'
import type { Services } from './services.ts'

const never = new AbortController().signal
const model = createTestModel()
const folder = folderOfFile()
const server = createServer(async (incoming, outgoing) => {
  const parts: Buffer[] = []
  for await (const part of incoming) parts.push(part)
  const { url, method = 'GET' } = incoming
  const answer = await model.handle(
    new Request(`http://localhost${url}`, {
      method,
      headers: { 'content-type': incoming.headers['content-type'] ?? 'application/json' },
      ...(parts.length > 0 && { body: Buffer.concat(parts) }),
    }),
  )
  outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
})

let client: EngineClient
let all: Services
beforeAll(async () => {
  client = createClient({ baseUrl: await listeningUrl(server), apiKey: undefined })
  all = {
    version: '0',
    store: openTrajectoryStore(folder, { now: () => new Date() }),
    builtInTools: [plainTool(calculator)],
    mcpServers: noMcpServers,
    runs: createRuns(),
    servers: { defaultName: BUILT_IN, client: () => client },
    tokenizers: { load: loadModelTokenizer },
    threaded: threadedHere({ load: loadModelTokenizer } as unknown as Services['tokenizers']),
  } as unknown as Services
})
afterAll(async () => {
  all.store.close()
  await client.close()
  server.closeAllConnections()
  server.close()
  await model.close()
})

async function ran(run: Promise<{ readonly rolloutId: string; readonly key: string }>) {
  const { rolloutId, key } = await run
  for await (const _ of all.runs.follow(rolloutId, 0, never));
  return { key, trajectory: all.store.get(key) as Trajectory }
}

const ask = (request: Partial<RolloutRequest> = {}) =>
  ran(
    startRollout(
      {
        prompt: 'What is 25 * 17, and then plus 9?',
        tools: ['calculator'],
        endpoint: 'chat',
        sampling: { temperature: 0 },
        ...request,
      },
      all,
      never,
    ),
  )

/** Compares the sampled tokens with the prompt that the server read last. */
function drift(trajectory: Trajectory): DriftReport {
  const given = { trajectory, tokenizer: undefined, template: undefined }
  const compared = compareSides({ ...given, as: { kind: 'recorded' } }, { ...given, as: { kind: 'read' } })
  if (!compared.ok) throw new Error(compared.why)
  return compared.value.comparison.report
}

const responses = ({ segments }: Trajectory): ResponseSegment[] =>
  segments.flatMap((segment) => (segment.kind === 'response' ? [segment] : []))

describe('A chat baseline of the built-in model', () => {
  test('loses its thinking to the template turn by turn, and reports the loss to the exact token', async () => {
    const { trajectory } = await ask()
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(responses(trajectory).at(-1)?.message?.content).toContain('434')
    const turns = turnsRead(trajectory)
    expect(turns.map(({ before, kept }) => kept < before)).toEqual([false, true, true])
    expect(drift(trajectory).spans.length).toBeGreaterThanOrEqual(2)
    expect(responses(trajectory).every(({ logprobs, ids }) => logprobs?.length === ids.length)).toBe(true)
    expect(decode(encode(trajectory))).toEqual({ ok: true, trajectory })
    // The body of each request is reproduced to the token and to the message.
    const calls = recordedCalls(trajectory)
    expect(runToEnd(checkInputs(null, trajectory)).map(({ hash }) => hash)).toEqual(
      calls.map(({ request }) => request.inputHash),
    )
    const bodies = calls.flatMap((call) => sentBodies(trajectory, call, Array.from))
    expect(await Promise.all(bodies.map(({ body }) => promptOf(body)))).toEqual(turns.map(({ prompt }) => prompt))
  })

  test('is continued over messages', async () => {
    const { key } = await ask({ prompt: 'What is 7 + 8?' })
    const { trajectory } = await ran(
      continueRollout(key, { prompt: 'What is 2 + 2?', sampling: { temperature: 0 } }, all, never),
    )
    const [, second] = [...recordedCalls(trajectory)].reverse()
    expect(sentBodies(trajectory, second as NonNullable<typeof second>, Array.from)[0]?.path).toBe(
      '/v1/chat/completions',
    )
    expect(trajectory.outcome).toEqual({ kind: 'ended', reason: 'end_turn' })
    expect(runToEnd(checkInputs(null, trajectory)).map(({ hash }) => hash)).toEqual(
      recordedCalls(trajectory).map(({ request }) => request.inputHash),
    )
  })

  test('writes calls in tokens that change when they are read again, at a temperature above 0', async () => {
    let isSplit = false
    for (let sampling_seed = 1; sampling_seed <= 8 && !isSplit; sampling_seed++) {
      const sampling = { temperature: 1.2, sampling_seed }
      const { trajectory } = await ask({ prompt: 'Compute 12 * 7 and 81 / 9', sampling })
      // A plain loss has tokens on one side only; this span has tokens on both.
      isSplit = drift(trajectory).spans.some(({ left, right }) => left.end > left.start && right.end > right.start)
    }
    expect(isSplit).toBe(true)
  })
})

/** Returns the number of prompt tokens that a body results in. */
async function promptOf(body: Readonly<Record<string, unknown>>): Promise<number> {
  const response = await model.handle(
    new Request('http://localhost/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, rid: undefined, max_completion_tokens: 1 }),
    }),
  )
  return (await response.json()).usage.prompt_tokens
}
