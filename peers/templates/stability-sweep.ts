/** Runs the prefix doctor, TRL and transformers on every chat template of the packages. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  type CompiledTemplate,
  chatTemplate,
  TemplateError,
  type TemplateMessage,
} from '#lib/templates/chat-template.ts'
import { CLOCK, type RenderOutcome } from '#lib/templates/golden/test-golden.ts'
import { scriptedTurn } from '#lib/templates/prefix-preservation/boundary.ts'
import { doctor, readTemplateUnderTest } from '#lib/templates/prefix-preservation/doctor.ts'
import { thinkingOf } from '#lib/templates/prefix-preservation/facts.ts'
import { messagesJson, type ScriptMessage } from '#lib/templates/prefix-preservation/fix/script.ts'
import { trainedForm, writingOf } from '#lib/templates/prefix-preservation/fix/writing.ts'
import {
  cellId,
  type MatrixSettings,
  placesOf,
  type ScriptCell,
  subjectForCell,
} from '#lib/templates/prefix-preservation/matrix.ts'
import type { CauseKind, Cell, DoctorReport } from '#lib/templates/prefix-preservation/report.ts'
import type { Subject } from '#lib/templates/prefix-preservation/subject.ts'
import {
  keyOfInput,
  markTokenizer,
  type TrlAnswer,
  type TrlGolden,
} from '#lib/templates/prefix-preservation/trl/test-trl.ts'
import { type ScriptSession, startSession } from '../set-up/python.ts'
import { TEMPLATE_MARK } from './template-mark.ts'

/** A template with the report of the doctor. */
export interface DoctoredTemplate {
  /** Package and file name. */
  readonly name: string
  readonly text: string
  readonly marks: readonly string[]
  readonly report: DoctorReport
}

const SPECIAL_TOKENS = { bos_token: '<s>', eos_token: '</s>' }

/** Returns all templates in the folder of chat templates. */
export const templatesIn = (chatTemplates: string): readonly { readonly name: string; readonly text: string }[] =>
  ['llama-cpp-python', 'trl'].flatMap((folder) =>
    readdirSync(path.join(chatTemplates, folder))
      .toSorted()
      .map((file) => ({
        name: `${folder}/${file.replace(/\.jinja$/, '')}`,
        text: readFileSync(path.join(chatTemplates, folder, file), 'utf8'),
      })),
  )

const compiled = (text: string): CompiledTemplate => {
  const template = chatTemplate(text, SPECIAL_TOKENS)
  return {
    text,
    render: (input) => template.render({ ...input, clock: () => CLOCK }),
    trace: (input, budget) => template.trace({ ...input, clock: () => CLOCK }, budget),
  }
}

/** Runs the doctor with the marks of the template as added tokens. */
export function doctored({ name, text }: { readonly name: string; readonly text: string }): DoctoredTemplate {
  const marks = marksOf(text)
  return {
    name,
    text,
    marks,
    report: doctor({ template: text }, { tokenizer: markTokenizer(marks), compile: compiled }),
  }
}

/** The marks of a template; the last four are those of MiniMax. */
const MARK = new RegExp(`${TEMPLATE_MARK.source}|\\]~b\\]|\\]!p~\\[|\\]~!b\\[|\\]<\\]minimax\\[>\\[`, 'g')

/** Returns the marks in the source and in some renders, because a template may assemble marks. */
function marksOf(text: string): readonly string[] {
  const template = compiled(text)
  const call = { id: 'call00001', type: 'function', function: { name: 'f', arguments: { x: 1 } } }
  const messages = ['', 'C'].map((content): TemplateMessage[] => [
    { role: 'user', content: 'Q' },
    { role: 'assistant', content, reasoning_content: 'T', ...(content === '' && { tool_calls: [call] }) },
    content === '' ? { role: 'tool', content: 'R', tool_call_id: 'call00001' } : { role: 'user', content: 'Q' },
  ])
  const texts = messages.flatMap((all) =>
    [1, 2, 3].map((count) => {
      try {
        return template.render({
          messages: all.slice(0, count),
          tools: undefined,
          addGenerationPrompt: count !== 2,
          options: {},
        })
      } catch (error) {
        if (error instanceof TemplateError) return ''
        throw error
      }
    }),
  )
  return [...new Set(['<s>', '</s>', ...[text, ...texts].flatMap((each) => each.match(MARK) ?? [])])]
}

/** Returns TRL's answer for every template. */
export async function trlGolden(python: string, templates: readonly DoctoredTemplate[]): Promise<TrlGolden> {
  const trl = startSession(python, 'templates/trl_verdicts.py')
  try {
    const madeWith = String(await trl.reply())
    const answers: [string, TrlAnswer][] = []
    for (const { name, text, marks } of templates) {
      const { renders, ...answer } = (await trl.ask({ template: text, marks })) as Omit<TrlAnswer, 'renders'> & {
        readonly renders: readonly (readonly [messages: readonly unknown[], prompt: boolean, outcome: RenderOutcome])[]
      }
      const byInput = renders.map(([messages, prompt, outcome]) => [keyOfInput(messages, prompt), outcome] as const)
      answers.push([name, { ...answer, marks, renders: Object.fromEntries(byInput) }])
    }
    return { 'made with': madeWith, templates: Object.fromEntries(answers) }
  } finally {
    trl.end()
  }
}

/** A verdict of the doctor that transformers does not confirm. */
interface FalseVerdict {
  readonly template: string
  readonly cell: string
  readonly why: string
}

/** Numbers of confirmed verdicts, and the refuted ones. */
export interface ConfirmedCells {
  readonly stable: number
  readonly unstable: number
  readonly refuted: readonly FalseVerdict[]
}

/**
 * Checks the doctor's claim that the next turn begins with the ids that were read and written, with transformers' renders
 * alone: of the prompt, of the conversation with the reply, and of the next turn. If the second begins with the first, the
 * reply is the addition, up to the doctor's own end of the turn; otherwise only the prompt is known to have been read.
 */
export async function confirmedCells(python: string, templates: readonly DoctoredTemplate[]): Promise<ConfirmedCells> {
  const transformers = startSession(python, 'templates/render_templates.py')
  try {
    await transformers.reply()
    const refuted: FalseVerdict[] = []
    const count = { stable: 0, unstable: 0 }
    for (const template of templates)
      for (const [cell, why] of await refutations(template, transformers)) {
        if (why !== undefined) refuted.push({ template: template.name, cell: cell.id, why })
        else if (cell.verdict.kind === 'stable' || cell.verdict.kind === 'unstable') count[cell.verdict.kind]++
      }
    return { ...count, refuted }
  } finally {
    transformers.end()
  }
}

/** Returns every cell with a verdict, with the reason if transformers refutes it. */
async function refutations(
  { text, marks, report }: DoctoredTemplate,
  transformers: ScriptSession,
): Promise<readonly (readonly [Cell, string | undefined])[]> {
  const read = readTemplateUnderTest({ template: text }, { tokenizer: markTokenizer(marks), compile: compiled })
  if (!read.ok) return []
  const { subject, settings } = read.value
  const known = new Map<string, RenderOutcome>()
  const found: (readonly [Cell, string | undefined])[] = []
  const places = new Map(placesOf(settings.facts, subject).map((place) => [cellId(place), place]))
  for (const cell of report.cells) {
    const place = places.get(cell.id)
    if (!place || (cell.verdict.kind !== 'stable' && cell.verdict.kind !== 'unstable')) continue
    const placed = subjectForCell(subject, place)
    const render: Render = async (messages, addGenerationPrompt) => {
      const question = {
        template: text,
        messages,
        tools: placed.tools ?? null,
        variables: JSON.stringify({ ...SPECIAL_TOKENS, ...placed.options }),
        addGenerationPrompt,
      }
      const key = JSON.stringify(question)
      const outcome = known.get(key) ?? ((await transformers.ask(question)) as RenderOutcome)
      known.set(key, outcome)
      return typeof outcome === 'string' ? outcome : `\u0000${outcome.class}: ${outcome.message}`
    }
    found.push([cell, await refutation(cell, place, placed, settings, render)])
  }
  return found
}

/** Renders messages, which are a JSON list. */
type Render = (messages: string, addGenerationPrompt: boolean) => Promise<string>

async function refutation(
  { verdict }: Cell,
  place: ScriptCell['place'],
  subject: Subject,
  { facts, toolName }: MatrixSettings,
  render: Render,
): Promise<string | undefined> {
  const { delimiters } = thinkingOf(subject)
  const trained = { subject, facts, delimiters }
  const { history, reply, added: following } = scriptedTurn({ ...place, takesSystem: facts.takesSystem, toolName })
  const form = trainedForm(trained)
  const rendered = (messages: readonly ScriptMessage[], prompt: boolean) => render(messagesJson(messages, form), prompt)
  const prompt = await rendered(history, true)
  const whole = await rendered([...history, reply], false)
  const next = await rendered([...history, reply, ...following], following.length > 0)
  const { end } = writingOf({ history, reply }, trained)
  const added = whole.startsWith(prompt) ? whole.slice(prompt.length) : undefined
  // The reply ends with the token at which the model stops, even if the template leaves it out.
  const close = end === '' ? -1 : (added?.lastIndexOf(end) ?? -1)
  const written = added === undefined ? '' : `${close < 0 ? added.trimEnd() : added.slice(0, close)}${end}`
  const isKept = next.startsWith(prompt + written)
  if (verdict.kind === 'stable')
    return isKept ? undefined : 'the next turn does not begin with what was read and written'
  if (!isKept || verdict.kind !== 'unstable') return undefined
  const { cause } = verdict.finding
  const behind = next.slice(prompt.length)
  const isLost = (text: string | undefined): boolean => text !== undefined && !behind.includes(text)
  const places = following.map(({ content }) => behind.indexOf(content))
  const confirms: Partial<Record<CauseKind, boolean>> = {
    'message-dropped': following.some(({ content }) => isLost(content)),
    'results-reordered': places.join() !== places.toSorted((one, other) => one - other).join(),
    'thinking-stripped': isLost(reply.thinking),
    'content-dropped': isLost(reply.content),
    'call-dropped': reply.calls.some(({ name, id }) => isLost(name) && isLost(id)),
    // The prefix is preserved, but Rollscope appends other text, as the recipe of the report states too.
    'new-messages-rewritten': true,
  }
  return confirms[cause.kind] ? undefined : `the prefix is kept, and the cross says: ${cause.text}`
}
