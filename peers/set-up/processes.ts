/** Starts the servers for the peers' tests, and stops them with all their processes. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { freePort } from '../../e2e/support/free-port.ts'
import type { Llamacpp, Peers, Vllm } from './install.ts'

const root = path.resolve(import.meta.dirname, '..', '..')

/** A running server. */
export interface Running {
  readonly baseUrl: string
  stop(): Promise<void>
  /** Ends it at once, as a crash does. */
  kill(): Promise<void>
}

/** The access token of the application in the peers' tests. */
export const APPLICATION_TOKEN = 'token-of-the-peers-0123456789'

/** Starts SGLang on the CPU in fp32, with the shipped model. `more` are further command line options. */
export async function startSglang(peers: Peers, name: string, more: readonly string[] = []): Promise<Running> {
  return startOnCpu(peers, name, ['-m', 'sglang.launch_server', '--model-path', peers.model], more)
}

/** Starts SGLang with the mixture of experts, whose routing it returns, and with the LoRA adapter `math`. */
export async function startMixture(peers: Peers): Promise<Running> {
  const launcher = path.join(import.meta.dirname, 'sglang_cpu.py')
  return startOnCpu(
    peers,
    'sglang-mixture',
    [launcher, '--model-path', peers.mixture],
    [
      ...['--enable-return-routed-experts', '--incremental-streaming-output'],
      ...['--lora-paths', `math=${peers.adapter}`, '--lora-backend', 'torch_native'],
    ],
  )
}

async function startOnCpu(
  peers: Peers,
  name: string,
  program: readonly string[],
  more: readonly string[],
): Promise<Running> {
  const port = await freePort()
  const parameters = [
    ...program,
    ...['--served-model-name', 'tiny-qwen3'],
    ...[
      '--device',
      'cpu',
      '--dtype',
      'float32',
      '--attention-backend',
      'torch_native',
      '--sampling-backend',
      'pytorch',
    ],
    ...['--disable-overlap-schedule', '--skip-server-warmup', '--host', '127.0.0.1', '--port', String(port)],
    ...['--max-total-tokens', '8192', '--context-length', '4096', '--max-running-requests', '8'],
    ...['--mem-fraction-static', '0.2', '--tool-call-parser', 'qwen25', '--reasoning-parser', 'qwen3', ...more],
  ]
  return start(peers, name, peers.sglang, parameters, port, '/health', {
    PYTHONPATH: peers.stubs,
    SGLANG_USE_CPU_ENGINE: '1',
    HF_HUB_OFFLINE: '1',
    TRANSFORMERS_OFFLINE: '1',
    OMP_NUM_THREADS: '1',
  })
}

/** Starts llama.cpp's server on the CPU in fp32, with the shipped model. */
export async function startLlamacpp({ folder, python, model, adapter }: Llamacpp): Promise<Running> {
  const port = await freePort()
  const parameters = [path.join(import.meta.dirname, 'llamacpp_server.py'), model, String(port), adapter]
  return start({ folder }, 'llamacpp', python, parameters, port, '/health', {})
}

/**
 * Starts vLLM on the CPU in fp32, with the shipped model. It compiles a part of itself when it gets its first request, so one is sent
 * before it counts as started.
 */
export async function startVllm({ folder, python, model }: Vllm): Promise<Running> {
  const port = await freePort()
  const parameters = [
    // The command `vllm` looks for a package of this name, which the wheel for the CPU does not have.
    ...['-m', 'vllm.entrypoints.openai.api_server', '--model', model, '--served-model-name', 'tiny-qwen3'],
    ...['--dtype', 'float32'],
    ...['--enforce-eager', '--max-model-len', '4096', '--max-num-seqs', '8', '--enable-prompt-tokens-details'],
    ...['--host', '127.0.0.1', '--port', String(port)],
    ...['--enable-auto-tool-choice', '--tool-call-parser', 'hermes', '--reasoning-parser', 'qwen3'],
  ]
  const server = await start({ folder }, 'vllm', python, parameters, port, '/health', {
    CUDA_VISIBLE_DEVICES: '',
    HF_HUB_OFFLINE: '1',
    TRANSFORMERS_OFFLINE: '1',
    VLLM_CPU_KVCACHE_SPACE: '1',
    VLLM_CPU_OMP_THREADS_BIND: 'nobind',
    VLLM_HOST_IP: '127.0.0.1',
    VLLM_NO_USAGE_STATS: '1',
    DO_NOT_TRACK: '1',
    OMP_NUM_THREADS: '1',
  })
  try {
    const body = JSON.stringify({ model: 'tiny-qwen3', prompt: [1], max_tokens: 1 })
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(START_MS)
    const answer = await fetch(`${server.baseUrl}/v1/completions`, { method: 'POST', headers, body, signal })
    if (!answer.ok) throw new Error(`vLLM answered its first request with ${answer.status}: ${await answer.text()}`)
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Starts sglang-router in front of workers, which are given by address. */
export async function startRouter(peers: Peers, ...workers: readonly string[]): Promise<Running> {
  const port = await freePort()
  const metrics = await freePort()
  const parameters = [
    ...[
      '-m',
      'sglang_router.launch_router',
      '--worker-urls',
      ...workers,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ],
    ...['--prometheus-port', String(metrics)],
  ]
  return start(peers, 'router', peers.router, parameters, port, '/readiness', {})
}

/** The files that the application uses. */
export interface ApplicationPlaces {
  /** The folder of its log. */
  readonly folder: string
  /** The folder of tokenizers that it may open. */
  readonly tokenizers: string
  /** Python with transformers, which the application uses for renders. */
  readonly python: string
  /** Omitted: a free one. */
  readonly port?: number
  /** Its data folder. Omitted: a new one. */
  readonly data?: string
  /** Address of its default server. Omitted: the built-in model. */
  readonly server?: string
}

/** Starts the built application. */
export async function startApplication({
  folder,
  tokenizers,
  python,
  port: fixedPort,
  data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-peers-')),
  server = '',
}: ApplicationPlaces): Promise<Running> {
  const port = fixedPort ?? (await freePort())
  return start(
    { folder },
    'rollscope',
    process.execPath,
    [path.join(root, 'scripts', 'serve.ts')],
    port,
    '/api/health',
    {
      PORT: String(port),
      ROLLSCOPE_TOKEN: APPLICATION_TOKEN,
      ROLLSCOPE_DATA: data,
      ROLLSCOPE_TOKENIZERS: tokenizers,
      SGLANG_BASE_URL: server,
      ROLLSCOPE_PYTHON: python,
    },
  )
}

const START_MS = 900_000

async function start(
  { folder }: Pick<Peers, 'folder'>,
  name: string,
  program: string,
  parameters: readonly string[],
  port: number,
  ready: string,
  environment: Readonly<Record<string, string>>,
): Promise<Running> {
  const log = path.join(folder, `${name}.log`)
  const output = openSync(log, 'w')
  // It has its own process group, because SGLang starts further processes that must end with it.
  const child = spawn(program, parameters, {
    detached: true,
    stdio: ['ignore', output, output],
    env: { ...process.env, ...environment },
  })
  closeSync(output)
  const baseUrl = `http://127.0.0.1:${port}`
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const stop = async () => {
    signal(child, 'SIGTERM')
    const patience = setTimeout(() => signal(child, 'SIGKILL'), 10_000)
    await ended
    clearTimeout(patience)
    signal(child, 'SIGKILL')
  }
  const kill = () => {
    signal(child, 'SIGKILL')
    return ended
  }
  const started = performance.now()
  while (!(await answers(`${baseUrl}${ready}`))) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() - started > START_MS) {
      await stop()
      throw new Error(`${name} did not start:\n${readFileSync(log, 'utf8').slice(-3000)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  console.log(`${name} answers after ${((performance.now() - started) / 1000).toFixed(0)} s`)
  return { baseUrl, stop, kill }
}

function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

async function answers(address: string): Promise<boolean> {
  try {
    return (await fetch(address, { signal: AbortSignal.timeout(5000) })).ok
  } catch {
    return false
  }
}
