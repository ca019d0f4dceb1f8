/**
 * Makes public/examples: real runs of the built-in model through the application's own HTTP interface. Sampled runs have the
 * first seed whose run demonstrates the purpose of the example. Run it with `npm run examples`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { EXAMPLES } from '#lib/browser/library/examples.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { responseText } from '#lib/trajectory/messages/conversation.ts'
import { loadedTokenizer } from '#testing/tokenizers.ts'

const folder = path.resolve(import.meta.dirname, '..')
const TOKEN = 'token-that-makes-the-examples'
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'x-rollscope': '1', 'content-type': 'application/json' }
const MOST_SEEDS = 400

interface Recipe {
  readonly name: string
  readonly questions: readonly [string, ...string[]]
  readonly thinking: boolean
  readonly temperature: number
  /** Returns whether a run demonstrates the purpose of the example. */
  readonly shows: (trajectory: Trajectory, tokenizer: Tokenizer) => boolean
}

const calls = (trajectory: Trajectory) =>
  trajectory.segments.map((segment) => (segment.kind === 'response' ? segment.toolCalls : []))

const recipes: readonly Recipe[] = [
  {
    name: 'two-steps',
    questions: ['What is 25 * 17, and then plus 9?'],
    thinking: true,
    temperature: 0,
    shows: (trajectory) => calls(trajectory).filter(({ length }) => length > 0).length === 2,
  },
  {
    name: 'parallel-calls',
    questions: ['What is 12 * 31 and what is 144 / 16?', 'Now add 9.'],
    thinking: true,
    temperature: 0,
    shows: (trajectory) => calls(trajectory).some(({ length }) => length === 2),
  },
  {
    name: 'retokenization-drift',
    questions: ['Alice has 36 apples and buys 19 more. How many apples does she have?'],
    thinking: true,
    temperature: 1,
    shows: (trajectory, tokenizer) => driftingResponses(trajectory, tokenizer).length > 0,
  },
  {
    name: 'tool-error',
    questions: ['What is 84 / 0?'],
    thinking: true,
    temperature: 0,
    shows: (trajectory) => calls(trajectory).some((those) => those.some(({ result }) => result?.status === 'error')),
  },
]

if (import.meta.main) await makeExamples()

/** Returns the indices of the responses whose text encodes to ids that differ from the sampled ones. */
export function driftingResponses(trajectory: Trajectory, tokenizer: Tokenizer): number[] {
  return trajectory.segments.flatMap((segment, index) => {
    if (segment.kind === 'prompt') return []
    const end = segment.ids.at(-1) === trajectory.model.tokenizer?.endOfTurnId ? -1 : undefined
    const sampled = segment.ids.slice(0, end)
    return tokenizer.encode(responseText(segment, trajectory)).join() === sampled.join() ? [] : [index]
  })
}

async function makeExamples(): Promise<void> {
  const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-examples-'))
  const child = spawn(process.execPath, ['scripts/serve.ts'], {
    cwd: folder,
    env: { ...process.env, PORT: '3198', HOST: '127.0.0.1', ROLLSCOPE_DATA: data, ROLLSCOPE_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const base = await addressOf(child)
    const { tokenizer } = loadedTokenizer(path.join(folder, 'models', 'tiny-qwen3'))
    for (const recipe of recipes) {
      const trajectory = await firstThatShows(recipe, base, tokenizer)
      const about = EXAMPLES.find(({ name }) => name === recipe.name)
      if (!about) throw new Error(`lib/browser/library/examples.ts says nothing about ${recipe.name}`)
      const example = { ...trajectory, id: `example-${about.name}`, title: about.title, note: about.note }
      writeFileSync(path.join(folder, 'public', 'examples', `${recipe.name}.json`), encode(example))
    }
  } finally {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
    rmSync(data, { recursive: true })
  }
}

/** Returns the address of the application when it is listening. Rejects if it exits before. */
async function addressOf(child: ChildProcess): Promise<string> {
  let log = ''
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk) => {
      log += chunk
      const address = /http:\/\/[^/]+(?=\/\?token=)/.exec(log)
      if (address) resolve(address[0])
    })
    child.once('exit', () => reject(new Error(`the application did not start: ${log}`)))
  })
}

async function firstThatShows(recipe: Recipe, base: string, tokenizer: Tokenizer): Promise<Trajectory> {
  for (let seed = 1; seed <= (recipe.temperature === 0 ? 1 : MOST_SEEDS); seed++) {
    const trajectory = await play(recipe, seed, base)
    if (trajectory.outcome.kind === 'ended' && recipe.shows(trajectory, tokenizer)) {
      console.log(`${recipe.name}: seed ${seed}, ${trajectory.segments.length} segments`)
      return trajectory
    }
  }
  throw new Error(`no run of ${recipe.name} shows what it is for`)
}

async function play(recipe: Recipe, seed: number, base: string): Promise<Trajectory> {
  const sampling = { temperature: recipe.temperature, ...(recipe.temperature > 0 && { sampling_seed: seed }) }
  const [first, ...later] = recipe.questions
  const options = { enable_thinking: recipe.thinking }
  const key = await post(`${base}/api/rollouts`, {
    prompt: first,
    tools: ['calculator'],
    templateOptions: options,
    sampling,
  })
  const address = `${base}/api/trajectories/${encodeURIComponent(key)}`
  for (const prompt of later) await post(`${address}/continue`, { prompt, sampling })
  const decoded = decode(await (await fetch(`${address}/export`, { headers: HEADERS })).text())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

/** Posts a request that starts a run, and waits for the end of the run. Returns the key of its trajectory. */
async function post(url: string, body: object): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) })
  const text = await response.text()
  const key = response.headers.get('x-trajectory-id')
  if (!response.ok || key === null) throw new Error(text)
  return key
}
