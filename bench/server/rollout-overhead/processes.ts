/** The processes of the rollout benches: the mock server, and the clients that run against it. */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { ALLOCATOR_SETTING, NODE_FLAGS } from '../../../bin/packaged-node.js'
import type { Result, Shape, WorkloadTask } from './workload.ts'

/** Runs a client, `client.ts` with Node as `npm start` runs it, or `client.py` with Python. Throws an Error with its messages if it fails. */
export async function runClient(program: string, script: string, task: WorkloadTask): Promise<Result> {
  const isNode = program === process.execPath
  const flags = isNode ? NODE_FLAGS : []
  const child = spawn(program, [...flags, path.join(import.meta.dirname, script)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...(isNode && ALLOCATOR_SETTING),
      ...process.env,
      HF_HUB_OFFLINE: '1',
      TRANSFORMERS_OFFLINE: '1',
      PYTHONDONTWRITEBYTECODE: '1',
    },
  })
  child.stdin.end(JSON.stringify(task))
  const status = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if ((await status) !== 0) throw new Error(`${script} failed:\n${errors.slice(-3000)}`)
  return JSON.parse(output)
}

/** Starts the mock server for replies of a shape. */
export async function startMockServer({
  turns,
  tokens,
  alternatives,
  streamed,
  replyMs = 0,
}: Shape): Promise<{ readonly server: ChildProcess; readonly baseUrl: string }> {
  const file = path.join(import.meta.dirname, 'server.ts')
  const options = [turns, tokens, alternatives, streamed ?? '', replyMs]
  const server = spawn(process.execPath, [file, ...options.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { value: baseUrl, done } = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()
  if (done) throw new Error('the mock server did not start')
  return { server, baseUrl }
}

/** Returns the milliseconds of processor time for 1,000 output tokens. */
export const perThousand = ({ cpuMs, outputTokens }: Pick<Result, 'cpuMs' | 'outputTokens'>): number =>
  (1000 * cpuMs) / outputTokens
