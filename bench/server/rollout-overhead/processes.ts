/** The processes of the rollout benches: the mock server, and the clients that run against it. */
import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { build } from 'rolldown'
import { ALLOCATOR_SETTING, NODE_FLAGS } from '../../../bin/packaged-node.js'
import nextConfig from '../../../next.config.mjs'
import type { Result, Shape, WorkloadTask } from './workload.ts'

/** Runs the client of Rollscope with Node as `npm start` does. Throws an Error with its messages if it fails. */
export const runOurs = async (task: WorkloadTask): Promise<Result> => {
  bundle ??= bundleClient()
  return runClient(process.execPath, [...NODE_FLAGS, await bundle], ALLOCATOR_SETTING, task)
}

/** Runs the client of strands-sglang with this Python. Throws an Error with its messages if it fails. */
export const runPythons = (python: string, task: WorkloadTask): Promise<Result> =>
  runClient(python, [path.join(import.meta.dirname, 'client.py')], {}, task)

let bundle: Promise<string> | undefined

/** Bundles the client with what the build of the application bundles, and returns the file. Node would need 20 MB to read TypeScript. */
async function bundleClient(): Promise<string> {
  const file = path.join(import.meta.dirname, '..', '..', '..', '.cache', 'bench', 'rollout-client.js')
  await build({
    input: path.join(import.meta.dirname, 'client.ts'),
    platform: 'node',
    external: nextConfig.serverExternalPackages ?? [],
    logLevel: 'warn',
    output: { file, format: 'esm', codeSplitting: false },
  })
  return file
}

async function runClient(
  program: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>>,
  task: WorkloadTask,
): Promise<Result> {
  const child = spawn(program, parameters, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...env,
      ...process.env,
      HF_HUB_OFFLINE: '1',
      TRANSFORMERS_OFFLINE: '1',
      PYTHONDONTWRITEBYTECODE: '1',
    },
  })
  child.stdin.end(JSON.stringify(task))
  const status = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  if ((await status) !== 0) throw new Error(`${parameters.at(-1)} failed:\n${errors.slice(-3000)}`)
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
