/** Renders templates with the user's Python as a reference: one process for each request, without our environment. */
import { spawn } from 'node:child_process'
import * as z from 'zod'

/** A render request to Python. */
export interface PythonRenderRequest {
  readonly template: string
  /** The next three are JSON texts, so that 1.0 stays 1.0; '' means none. */
  readonly messages: string
  readonly tools: string
  readonly options: string
  /** Variables of the template such as bos_token. */
  readonly specialTokens: Readonly<Record<string, string>>
  /** Text of tokenizer.json; undefined if no ids are requested. */
  readonly tokenizerJson: string | undefined
}

/** The result of a request. */
export type PythonRenderAnswer =
  | {
      readonly kind: 'rendered'
      readonly version: string
      readonly text: string
      readonly ids: readonly number[] | undefined
    }
  /** Variant for a template that raised an error, in Python's words. */
  | {
      readonly kind: 'raised'
      readonly version: string
      readonly className: string
      readonly message: string
      readonly line: number | undefined
    }
  /** Variant for a missing Python, or one that lacks transformers; `why` says what to do. */
  | { readonly kind: 'unavailable'; readonly why: string }

/** Limits of one request. */
export interface PythonRenderLimits {
  /** Longest time in milliseconds; importing transformers alone takes seconds. */
  readonly milliseconds: number
  /** Largest output in bytes. */
  readonly output: number
}

const LIMITS: PythonRenderLimits = { milliseconds: 60_000, output: 64 << 20 }

interface Python {
  /** The Python program, always from the configuration and never from a request. */
  readonly program: string
  /** Path of python-renderer.py, because bundled code does not know its own folder. */
  readonly script: string
}

/**
 * Renders one request in a Python process. Only one process runs at a time, because each may use gigabytes: a request waits for earlier
 * ones. Throws the reason of the signal.
 */
export function renderInPython(
  renderer: Python,
  question: PythonRenderRequest,
  signal: AbortSignal,
  limits: PythonRenderLimits = LIMITS,
): Promise<PythonRenderAnswer> {
  const answer = before.then(() => {
    signal.throwIfAborted()
    return answerOf(renderer, question, signal, limits)
  })
  before = answer.catch(() => {})
  return answer
}

let before: Promise<unknown> = Promise.resolve()

async function answerOf(
  renderer: Python,
  question: PythonRenderRequest,
  signal: AbortSignal,
  limits: PythonRenderLimits,
): Promise<PythonRenderAnswer> {
  const python = renderer.program
  const ended = await run(
    renderer,
    JSON.stringify({ ...question, tokenizerJson: question.tokenizerJson ?? null }),
    signal,
    limits,
  )
  if (ended.kind === 'failed') return { kind: 'unavailable', why: ended.why }
  const answer = readAnswer(ended.output)
  if (!answer) return { kind: 'unavailable', why: `${python} ended without an answer: ${lastLine(ended.errors)}` }
  const version = Object.entries(answer.versions)
    .map(([name, number]) => `${name} ${number}`)
    .join(', ')
  if (answer.missing !== undefined)
    return {
      kind: 'unavailable',
      why: `${python} (${version}) cannot render chat templates: ${answer.missing}. Try ${python} -m pip install transformers "jinja2>=3.1.6", or set ROLLSCOPE_PYTHON to another Python.`,
    }
  if (answer.error) return { kind: 'raised', version, ...answer.error, line: answer.error.line ?? undefined }
  return { kind: 'rendered', version, text: answer.text ?? '', ids: answer.ids ?? undefined }
}

const answerSchema = z.object({
  versions: z.record(z.string(), z.string()),
  missing: z.string().optional(),
  text: z.string().optional(),
  ids: z.array(z.int()).nullish(),
  error: z.object({ className: z.string(), message: z.string(), line: z.int().nullable() }).optional(),
})

function readAnswer(output: string): z.infer<typeof answerSchema> | undefined {
  try {
    return answerSchema.parse(JSON.parse(output))
  } catch {
    return undefined
  }
}

type Ended =
  | { readonly kind: 'ended'; readonly output: string; readonly errors: string }
  | { readonly kind: 'failed'; readonly why: string }

/** Variables that a child process needs to find its libraries; none contains keys or tokens. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'VIRTUAL_ENV',
  'CONDA_PREFIX',
  'SYSTEMROOT',
  'LD_LIBRARY_PATH',
]

const environment = (): NodeJS.ProcessEnv => ({
  ...process.env,
  ...Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (PASSED_ON.includes(name) ? [] : [[name, undefined]])),
  ),
  // Requests are UTF-8 in any locale.
  PYTHONUTF8: '1',
  // A render needs neither the network nor weights.
  HF_HUB_OFFLINE: '1',
  TRANSFORMERS_VERBOSITY: 'error',
  USE_TORCH: '0',
})

function run(
  { program: python, script }: Python,
  input: string,
  signal: AbortSignal,
  limits: PythonRenderLimits,
): Promise<Ended> {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>()
  const child = spawn(python, [script], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environment(),
  })
  const stop = (why: string) => {
    resolve({ kind: 'failed', why })
    child.kill('SIGKILL')
  }
  const timer = setTimeout(
    () => stop(`${python} took longer than ${limits.milliseconds / 1000} s`),
    limits.milliseconds,
  )
  const leave = () => {
    reject(signal.reason)
    child.kill('SIGKILL')
  }
  signal.addEventListener('abort', leave, { once: true })
  const output = collectText(
    child.stdout,
    () => stop(`${python} returned more than ${limits.output >> 20} MiB`),
    limits.output,
  )
  const errors = collectText(child.stderr, () => {}, 1 << 20)
  child.stdin.on('error', () => {})
  // Stdin stays open and ends with this process, so the child ends with it.
  child.stdin.write(`${input}\n`)
  child.on('error', (error: NodeJS.ErrnoException) =>
    stop(
      error.code === 'ENOENT'
        ? `there is no ${python} on this machine. Set ROLLSCOPE_PYTHON to a Python with transformers.`
        : `${python} cannot be started: ${error.message}`,
    ),
  )
  child.on('close', () => resolve({ kind: 'ended', output: output(), errors: errors() }))
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
  })
}

/** Collects the output of a stream up to a limit in bytes. */
function collectText(stream: NodeJS.ReadableStream, onTooMuch: () => void, limit: number): () => string {
  const chunks: Buffer[] = []
  let size = 0
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) chunks.push(chunk)
    else onTooMuch()
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

const lastLine = (text: string): string => text.trim().split('\n').at(-1) || 'it printed nothing'
