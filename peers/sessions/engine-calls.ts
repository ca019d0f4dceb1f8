/** Runs a client through a session on a real engine, and compares everything that the session recorded with what the engine reported. */
import { expect } from 'vitest'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type ApplicationClient, tokenColumns } from '../set-up/application.ts'
import { APPLICATION_TOKEN } from '../set-up/processes.ts'
import { type ClientTask, type SessionClient, sessionClients } from './clients.ts'
import type { RecordingProxy } from './recording-proxy.ts'

/** The question that the shipped model answers with a call of the tool. */
const TASK: ClientTask = { question: 'What is 17 + 25?', tool: 'calculator', maxTokens: 200, temperature: 0 }

/** Returns the clients that the shipped model can serve, whole and streamed. It knows no shell, so that mini-swe-agent has a test of its own. */
export const engineClients = (python: string) =>
  sessionClients(python)
    .filter(({ name }) => !name.startsWith('mini-swe-agent'))
    .flatMap((client) => client.streams.map((stream) => ({ ...client, stream, mode: stream ? 'streamed' : 'whole' })))

/** Where a client runs. */
export interface EngineUnderTest {
  readonly rollscope: ApplicationClient
  /** Name of the server of the session, which is the proxy. */
  readonly server: string
  readonly proxy: RecordingProxy
  /** Omitted: the tokenizer that the server reports. */
  readonly tokenizer?: string
}

interface MilesRecords {
  readonly records: readonly {
    readonly request: { readonly input_ids: readonly number[] }
    readonly response: MilesChoice & { readonly choices?: readonly MilesChoice[] }
  }[]
  readonly metadata: { readonly accumulated_token_ids: readonly number[] }
}

interface MilesChoice {
  readonly meta_info?: { readonly output_token_logprobs: readonly (readonly [number | null, number, string | null])[] }
}

/** Runs the client, and fails unless the ids, the mask and the logprobs of its session are those that the engine reported. */
export async function expectEngineColumns(
  { run, stream }: SessionClient & { readonly stream: boolean },
  { rollscope, server, proxy, tokenizer }: EngineUnderTest,
): Promise<{ readonly tokens: number }> {
  const created = await rollscope.post('/sessions', { server, ...(tokenizer !== undefined && { tokenizer }) })
  const { session_id: id } = (await created.json()) as { readonly session_id: string }
  proxy.takeCalls()
  const { text, results } = await run({
    origin: `${rollscope.baseUrl}/sessions/${id}`,
    key: APPLICATION_TOKEN,
    stream,
    task: TASK,
  })
  expect(results).toEqual(['42'])
  expect(text).toContain('42')

  const reported = proxy.takeCalls()
  expect(reported).toHaveLength(2)
  const [first, second] = reported
  if (!first || !second) return expect.fail('the engine was called twice')
  const before = [...first.inputIds, ...first.outputIds]
  expect(second.inputIds.slice(0, before.length)).toEqual(before)

  const { records, metadata } = await json<MilesRecords>(rollscope, `/sessions/${id}`)
  const recorded = records.map(({ request, response: { choices, ...whole } }) => {
    const rows = (choices?.[0] ?? whole).meta_info?.output_token_logprobs ?? []
    return {
      inputIds: request.input_ids,
      outputIds: rows.map(([, token]) => token),
      logprobs: rows.map(([logprob]) => logprob),
    }
  })
  expect(recorded).toEqual(reported)
  const added = second.inputIds.slice(before.length)
  const ids = [...before, ...added, ...second.outputIds]
  expect(metadata.accumulated_token_ids).toEqual(ids)

  const none = (count: number) => Array.from({ length: count }, () => null)
  const { calls } = await json<{ readonly calls: readonly { readonly attached: { readonly kind: string } }[] }>(
    rollscope,
    `/api/sessions/${id}`,
  )
  expect(calls.map(({ attached }) => attached.kind)).toEqual(['new-root', 'continued'])
  const mask = [
    ...first.inputIds.map(() => 0),
    ...first.outputIds.map(() => 1),
    ...added.map(() => 0),
    ...second.outputIds.map(() => 1),
  ]
  expect(tokenColumns(await onlyTrajectory(rollscope, id))).toEqual({
    ids,
    mask,
    logprobs: [...none(first.inputIds.length), ...first.logprobs, ...none(added.length), ...second.logprobs],
  })
  return { tokens: mask.filter((trained) => trained === 1).length }
}

/** Returns the training sample of a session that has one. */
export async function onlyTrajectory(rollscope: ApplicationClient, id: string): Promise<Trajectory> {
  const file = await (await rollscope.get(`/sessions/${id}/trajectories`)).text()
  const decoded = decodeValue(JSON.parse(file))
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

const json = async <T>(rollscope: ApplicationClient, path: string): Promise<T> =>
  (await (await rollscope.get(path)).json()) as T
