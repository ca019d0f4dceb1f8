/**
 * Compares the promise of every fix that the prefix doctor offers for the packages' chat templates with transformers. A
 * conversation whose next turn preserved the prefix still does, nothing that rendered raises an error, and everything outside
 * of the fix's stated costs is unchanged: first prompts and the replies after them.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { doctor } from '#lib/templates/prefix-preservation/doctor.ts'
import { fixFor } from '#lib/templates/prefix-preservation/fix/fix.ts'
import type { Cell, DoctorReport, Fix, TemplateFacts } from '#lib/templates/prefix-preservation/report.ts'
import { SAMPLE_TOOLS } from '#lib/templates/prefix-preservation/sample-tools.ts'
import { byteTokenizerWith } from '#testing/byte-tokenizer.ts'
import { type ScriptSession, startSession } from '../set-up/python.ts'
import { TEMPLATE_MARK } from './template-mark.ts'

interface OfferedFix {
  /** Package and file name. */
  readonly template: string
  /** Id of the cell for which the fix was offered. */
  readonly cell: string
  readonly why: string
  /** Changes that the fix itself states. */
  readonly costs: readonly string[]
  /** Number of conversations that transformers rendered with both templates. */
  readonly prefixPreserving: number
  /** Renders of transformers that differ from the promise; empty if it is kept. */
  readonly wrong: readonly string[]
}

/** The offered fixes of all templates. */
export interface FixSweep {
  readonly offered: readonly OfferedFix[]
  /** Number of cells for which a fix was searched: the first of each cause and line. */
  readonly cells: number
}

const TOKENS = { bos_token: '<s>', eos_token: '</s>' }

/** Returns a byte tokenizer with the marks in the template as added tokens. */
function tokenizerFor(template: string): LabTokenizer {
  const marks = [...new Set([...Object.values(TOKENS), '<|im_end|>', ...(template.match(TEMPLATE_MARK) ?? [])])]
  const added = marks.map((content, index) => ({ id: index, content, special: !/think|tool_|function/i.test(content) }))
  return {
    tokenizer: byteTokenizerWith('marks', added, added.length),
    compile: (text) => chatTemplate(text, TOKENS),
  }
}

/** Searches and checks fixes. `only` is a part of a template's name; `cells` selects the cells for which a fix is searched. */
export async function sweepFixes(
  python: string,
  chatTemplates: string,
  {
    only = '',
    cells = () => true,
    onTemplate = () => {},
  }: {
    only?: string
    cells?: (template: string, cell: string) => boolean
    onTemplate?: (name: string, found: FixSweep) => void
  } = {},
): Promise<FixSweep> {
  const transformers = startSession(python, 'templates/render_templates.py')
  try {
    await transformers.reply()
    const offered: OfferedFix[] = []
    let count = 0
    for (const folder of ['llama-cpp-python', 'trl'])
      for (const file of readdirSync(path.join(chatTemplates, folder)).toSorted()) {
        const name = `${folder}/${file.replace(/\.jinja$/, '')}`
        if (!name.includes(only)) continue
        const found = await fixesOf(
          name,
          readFileSync(path.join(chatTemplates, folder, file), 'utf8'),
          transformers,
          (cell) => cells(name, cell),
        )
        onTemplate(name, found)
        offered.push(...found.offered)
        count += found.cells
      }
    return { offered, cells: count }
  } finally {
    transformers.end()
  }
}

async function fixesOf(
  name: string,
  template: string,
  transformers: ScriptSession,
  isWanted: (cell: string) => boolean,
): Promise<FixSweep> {
  const tokenizer = tokenizerFor(template)
  const report = doctor({ template }, tokenizer)
  const cells = distinctFindings(report).filter(({ id }) => isWanted(id))
  const offered: OfferedFix[] = []
  for (const cell of cells) {
    const { fix } = runToEnd(fixFor({ input: { template }, cell: cell.id }, tokenizer))
    if (!fix || !report.facts) continue
    const { prefixPreserving, wrong } = await checkFix(template, fix, report.facts, cell, transformers)
    const costs = fix.costs.map(({ text }) => text)
    offered.push({ template: name, cell: cell.id, why: fix.why, costs, prefixPreserving, wrong })
  }
  return { offered, cells: cells.length }
}

/** Returns the first cell of each cause and line. */
function distinctFindings({ cells }: DoctorReport): readonly Cell[] {
  const first = new Map<string, Cell>()
  for (const cell of cells) {
    if (cell.verdict.kind !== 'unstable') continue
    const { cause, line, expectedLine } = cell.verdict.finding
    const key = `${cause.kind} ${line} ${expectedLine}`
    if (!first.has(key)) first.set(key, cell)
  }
  return [...first.values()].slice(0, MOST_CELLS)
}

const MOST_CELLS = 4

type Json = Readonly<Record<string, unknown>> & { readonly role: string }

async function checkFix(
  original: string,
  fix: Fix,
  facts: TemplateFacts,
  { place }: Cell,
  transformers: ScriptSession,
): Promise<{ readonly prefixPreserving: number; readonly wrong: readonly string[] }> {
  const wrong: string[] = []
  let prefixPreserving = 0
  const placed = place.kind === 'script' ? place.options : {}
  const sets = [
    {},
    ...facts.options.flatMap(({ name, values }) => values.map((value) => ({ [name]: value }))),
    Object.fromEntries(Object.entries(placed).filter(([, value]) => value !== null)),
  ]
  const optionSets = [...new Map(sets.map((set) => [JSON.stringify(set), set])).values()]
  for (const options of optionSets) {
    const isSaid = fix.costs.some((cost) => cost.options.some((set) => JSON.stringify(set) === JSON.stringify(options)))
    const render = async (template: string, messages: readonly Json[], prompt: boolean, tools: unknown) => {
      const text = await transformers.ask({
        template,
        messages: JSON.stringify(messages),
        tools,
        variables: JSON.stringify({ ...TOKENS, ...options }),
        addGenerationPrompt: prompt,
      })
      return typeof text === 'string' ? text : undefined
    }
    const needsTools = (await render(original, [{ role: 'user', content: 'Hi' }], true, undefined)) === undefined
    for (const { title, messages } of conversations(facts)) {
      const tools = needsTools || messages.some(({ tool_calls }) => tool_calls) ? SAMPLE_TOOLS : undefined
      const both = (list: readonly Json[], prompt: boolean) =>
        Promise.all([original, fix.template].map((template) => render(template, list, prompt, tools)))
      const label = `${title} ${JSON.stringify(options)}`
      let isRendered = false
      for (const [index, message] of messages.entries()) {
        if (message.role !== 'assistant') continue
        const [before, fixedBefore] = await both(messages.slice(0, index), true)
        if (before === undefined) continue
        isRendered = true
        if (index < 3 && before !== fixedBefore) wrong.push(`${label}: the prompt of message ${index} changes`)
        const [reply, fixedReply] = await both(messages.slice(0, index + 1), false)
        // The model writes as in the template that it was trained with. If a template writes a reply differently after its
        // prompt, no reply with these options is known.
        const written = reply?.startsWith(before) ? reply.slice(before.length).trimEnd() : undefined
        const isPlain = !messages
          .slice(0, index + 1)
          .some((one) => one.role === 'tool' || one.tool_calls || thinks(one))
        if (isPlain && reply !== undefined && reply !== fixedReply && !isSaid)
          wrong.push(`${label}: the plain reply ${index} changes`)
        const next = messages.findIndex((one, at) => at > index && one.role === 'assistant')
        const [after, fixedAfter] = await both(messages.slice(0, next < 0 ? messages.length : next), true)
        if (written === undefined || after === undefined || index === messages.length - 1) continue
        const keeps = after.startsWith(before + written)
        if (keeps && fixedAfter === undefined) wrong.push(`${label}: the turn after ${index} raises`)
        else if (keeps && !fixedAfter?.startsWith((fixedBefore ?? '') + written))
          wrong.push(`${label}: the turn after ${index} no longer keeps the prefix`)
      }
      if (isRendered) prefixPreserving++
    }
  }
  return { prefixPreserving, wrong }
}

const thinks = (message: Json): boolean =>
  ['reasoning_content', 'reasoning', 'thinking'].some((field) => field in message) ||
  String(message.content).includes('think')

/** Returns conversations in the form that the template accepts. */
function conversations(
  facts: TemplateFacts,
): readonly { readonly title: string; readonly messages: readonly Json[] }[] {
  const system = facts.takesSystem ? [{ role: 'system', content: 'Be brief.' }] : []
  const user = (content: string): Json => ({ role: 'user', content })
  const thought = (text: string | undefined, content: string) =>
    text === undefined
      ? { content }
      : facts.thinkingFields.length > 0
        ? { ...Object.fromEntries(facts.thinkingFields.map((field) => [field, text])), content }
        : facts.thinking
          ? { content: `${facts.thinking.open}${text}${facts.thinking.close}${content}` }
          : { content }
  const says = (content: string, text?: string): Json => ({ role: 'assistant', ...thought(text, content) })
  const calls = (content: string, cities: readonly string[], text?: string): Json => ({
    ...says(content, text),
    tool_calls: cities.map((city) => ({
      id: `id${city.padEnd(7, 'x').slice(0, 7)}`,
      type: 'function',
      function: {
        name: 'get_weather',
        arguments: facts.calls === 'string' ? JSON.stringify({ city, days: 2 }) : { city, days: 2 },
      },
    })),
  })
  const result = (city: string, content: string): Json => ({
    role: 'tool',
    tool_call_id: `id${city.padEnd(7, 'x').slice(0, 7)}`,
    name: 'get_weather',
    content,
  })
  const plain = [
    { title: 'one answer', messages: [user('Hi'), says('Hello.')] },
    { title: 'two answers', messages: [user('Hi'), says('Hello.'), user('Again'), says('Hello again.')] },
    {
      title: 'four answers with a system message',
      messages: [...system, ...['a', 'b', 'c', 'd'].flatMap((one) => [user(`Say ${one}`), says(one)]), user('And?')],
    },
    { title: 'an empty answer', messages: [user('Hi'), says(''), user('Well?'), says('Yes.')] },
    { title: 'line ends', messages: [user('a\n\nb'), says('c\n\nd'), user('e\nf'), says('g')] },
    {
      title: 'thinking',
      messages: [user('Hi'), says('Hello.', 'A greeting.'), user('Again'), says('Yes.', 'Once more.')],
    },
    { title: 'thinking once', messages: [user('Hi'), says('Hello.', 'A greeting.'), user('Again'), says('Yes.')] },
    {
      title: 'thinking later',
      messages: [
        ...system,
        user('Hi'),
        says('Hello.'),
        user('Again'),
        says('Yes.', 'Once more.'),
        user('More'),
        says('No.'),
      ],
    },
  ]
  if (facts.calls === 'refused') return plain
  const order = [calls('', ['Oslo', 'Rome']), result('Oslo', 'rain'), result('Rome', 'sun')]
  return [
    ...plain,
    {
      title: 'a call',
      messages: [
        user('Oslo?'),
        calls('', ['Oslo']),
        result('Oslo', 'rain'),
        says('Rain.'),
        user('Thanks'),
        says('Fine.'),
      ],
    },
    {
      title: 'a call with text',
      messages: [user('Oslo?'), calls('I look.', ['Oslo']), result('Oslo', 'rain'), says('Rain.')],
    },
    {
      title: 'calls in a chain',
      messages: [
        ...system,
        user('Oslo, then Rome?'),
        calls('', ['Oslo']),
        result('Oslo', 'rain'),
        calls('', ['Rome']),
        result('Rome', 'sun'),
        says('Both.'),
        user('Ok'),
        says('Bye.'),
      ],
    },
    {
      title: 'parallel calls',
      messages: [user('Oslo and Rome?'), ...order, says('Both.'), user('Again'), ...order, says('Both again.')],
    },
    {
      title: 'calls of a thinking model',
      messages: [
        user('Oslo?'),
        calls('', ['Oslo'], 'I look it up.'),
        result('Oslo', 'rain'),
        calls('', ['Rome'], 'Next.'),
        result('Rome', 'sun'),
        says('Both.', 'Done.'),
        user('Ok'),
        says('Bye.', 'The end.'),
      ],
    },
    {
      title: 'a call after a plain turn',
      messages: [
        user('Hi'),
        says('Hello.'),
        user('Oslo?'),
        calls('', ['Oslo']),
        result('Oslo', 'rain'),
        says('Rain.'),
        user('Rome?'),
        calls('', ['Rome']),
        result('Rome', 'sun'),
        says('Sun.'),
      ],
    },
  ]
}
