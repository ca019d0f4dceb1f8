/**
 * Measures which parser reads what a template writes. Two calls with known names and arguments are rendered, and each parser reads the
 * result. A template that writes no calls may still explain them to the model, in what it writes for the tools; and the tokenizer may have
 * a format's delimiters as tokens.
 */

import { isObject } from '#lib/json/json-object.ts'
import { type ForeignForm, foreignFormIn } from '#lib/parsers/foreign-forms.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { parsers } from '#lib/parsers/registry.ts'
import { suggestParser } from '#lib/parsers/suggest.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import type { AddedToken } from '#lib/tokenizer/tokenizer.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'
import { type InputError, readInput } from '../document/input.ts'
import { parseCompletion } from './analysis.ts'
import { toolsIn } from './tools.ts'
import { type ArgumentForm, writeCalls, writtenText } from './written-calls.ts'

/** How well each parser reads what a template writes. */
export interface TemplateFit {
  /** The strongest evidence that was found; in this order: written, instructions, the template's own text, tokens. */
  readonly evidence: 'written' | 'instructions' | 'text' | 'tokens' | 'none'
  /** What the template wrote for the two calls, or for the tools; '' if it wrote neither. */
  readonly text: string
  readonly argumentForm: ArgumentForm | undefined
  /** A known form that no parser here reads. */
  readonly foreign: ForeignForm | undefined
  /** The error that the template raised for messages with calls. */
  readonly error: InputError | undefined
  /** One score for each parser, in the registry's order. */
  readonly scores: readonly ParserScore[]
}

/** How well one parser fits. */
export interface ParserScore {
  readonly parser: string
  /** From 0 to 1. */
  readonly score: number
  /** Sentences without a full stop. */
  readonly reasons: readonly string[]
}

/** Measures the fit of all parsers. `options` is JSON; `addedTokens` may be empty. */
export function templateFit(
  template: CompiledTemplate,
  options: string,
  addedTokens: readonly AddedToken[],
): TemplateFit {
  const input: LabInput = { template: template.text, messages: QUESTION, tools: TOOLS, options }
  const joint = writeCalls(template, input, CALLS, '')
  // Some templates write one call in a message and raise an error for more.
  const separate = joint.ok ? [] : CALLS.map((call) => writeCalls(template, input, [call], ''))
  const written = separate.find((one) => one.ok) ?? joint
  const replies = (joint.ok ? [joint] : separate).map((one) => (one.ok ? writtenText(one.value) : ''))
  const region = replies.join('\n')
  const writesCalls = CALLS.every(({ name }) => region.includes(name))
  const instructions = instructionsOf(template, options)
  const foreign = [region, instructions, template.text].map(foreignFormIn).find(Boolean)
  const error = written.ok ? undefined : written.error
  const common = { foreign, error, argumentForm: written.ok ? written.value.argumentForm : undefined }
  if (writesCalls)
    return {
      ...common,
      evidence: 'written',
      text: region,
      scores: parsers.map((parser) => writtenScore(replies, parser)),
    }
  const instructed = parsers.map((parser) => instructedScore(instructions, parser))
  if (instructed.some(({ score }) => score > 0))
    return { ...common, evidence: 'instructions', text: instructions, scores: topOnly(instructed) }
  const suggested = suggestParser({ chatTemplate: template.text })
  if (suggested.by === 'template' && (error === undefined || error.where === 'template')) {
    const scores = parsers.map(({ name }) => ({
      parser: name,
      score: name === suggested.parser ? 0.5 : 0,
      reasons: [name === suggested.parser ? suggested.because : 'no evidence in the template'],
    }))
    return { ...common, evidence: 'text', text: '', scores }
  }
  const tokens = parsers.map((parser) => tokenScore(addedTokens, parser))
  return {
    ...common,
    evidence: tokens.some(({ score }) => score > 0) ? 'tokens' : 'none',
    text: '',
    scores: tokens,
  }
}

const QUESTION = '[{"role": "user", "content": "What is the weather?"}]'

/** Calls with values of every type, and a text with everything that formats must escape or keep. */
const EXPECTED = [
  { name: 'get_weather', arguments: { city: 'Zürich', days: 3, metric: true } },
  {
    name: 'write_note',
    arguments: { text: 'say "hi"\nto <all> & \'you\'', tags: ['a', 'b'], meta: { ratio: 1.5, none: null } },
  },
] as const

const CALLS = EXPECTED.map(({ name, arguments: input }, index) => ({
  // The id has the form of Kimi K2, whose template writes it.
  id: `functions.${name}:${index}`,
  name,
  arguments: JSON.stringify(input),
}))

const TOOLS = JSON.stringify([
  tool('get_weather', 'Weather of a city', {
    city: { type: 'string' },
    days: { type: 'integer' },
    metric: { type: 'boolean' },
  }),
  tool('write_note', 'Writes a note', {
    text: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    meta: { type: 'object' },
  }),
])
const TOOL_SPECS: readonly ToolSpec[] = toolsIn(TOOLS)

function tool(name: string, description: string, properties: Readonly<Record<string, unknown>>) {
  return {
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required: Object.keys(properties) } },
  }
}

/** Scores a parser: half for a call that is found by its name, half for its arguments. */
function writtenScore(replies: readonly string[], parser: ToolParser): ParserScore {
  const calls = replies.flatMap((reply) => parseCompletion(reply, parser, TOOL_SPECS).calls)
  const malformed = calls.filter((call) => call.kind === 'malformed')
  const reasons: string[] = []
  let score = 0
  const whole: string[] = []
  for (const { name, arguments: expected } of EXPECTED) {
    const call = calls.find((one) => one.kind === 'parsed' && one.name === name)
    if (call?.kind !== 'parsed') continue
    const names = Object.keys(expected)
    const wrong = names.filter(
      (key) => sortedJson(call.input[key]) !== sortedJson(expected[key as keyof typeof expected]),
    )
    score += (0.5 + (0.5 * (names.length - wrong.length)) / names.length) / EXPECTED.length
    if (wrong.length === 0) whole.push(name)
    else
      reasons.push(`reads ${name}, but not ${wrong.map((key) => `${key} (${valueFound(call.input, key)})`).join(', ')}`)
  }
  if (whole.length === EXPECTED.length)
    reasons.push('reads both calls that the template writes, with all arguments unchanged')
  else for (const name of whole) reasons.push(`reads ${name}, with all arguments unchanged`)
  const [first] = malformed
  if (first?.kind === 'malformed') reasons.push(`${countWithNoun(malformed.length, 'call')} malformed: ${first.why}`)
  const strange = calls.filter((call) => call.kind === 'parsed' && !EXPECTED.some(({ name }) => name === call.name))
  if (strange.length > 0)
    reasons.push(`reads a name without a tool: ${JSON.stringify(excerpt(strange[0]?.name ?? '', 60))}`)
  if (calls.length === 0) reasons.push('finds no call in the text that the template writes')
  return { parser: parser.name, score, reasons }
}

/** Returns JSON with sorted keys, because some templates sort the members of an object. */
const sortedJson = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )

const valueFound = (input: Readonly<Record<string, unknown>>, key: string): string =>
  Object.hasOwn(input, key) ? `comes back as ${excerpt(JSON.stringify(input[key]), 60)}` : 'missing'

/** Returns what the template writes because of tools, before any call: the explanation of the format. */
function instructionsOf(template: CompiledTemplate, options: string): string {
  const render = (tools: string): string | undefined => {
    const read = readInput({ messages: QUESTION, tools, options })
    if (!read.ok) return undefined
    try {
      return template.render({ ...read.value, addGenerationPrompt: false, continueFinalMessage: false })
    } catch {
      return undefined
    }
  }
  const [without, withTools] = [render(''), render(TOOLS)]
  if (without === undefined || withTools === undefined) return ''
  const start = commonText(without, withTools)
  let behind = 0
  const most = Math.min(without.length, withTools.length) - start
  while (behind < most && without.at(-1 - behind) === withTools.at(-1 - behind)) behind++
  return withTools.slice(start, withTools.length - behind)
}

/** Scores how far a parser reads into an explanation. Names and values in it are placeholders, so that few are read to the end. */
function instructedScore(text: string, parser: ToolParser): ParserScore {
  const { calls } = parseCompletion(text, parser, [])
  // A placeholder may have braces; a name with quotes is JSON that a lenient format read as a name.
  const reaches = calls.map((call) =>
    call.name?.includes('"') ? 0 : call.kind === 'parsed' ? Infinity : call.at - call.text.start,
  )
  const reach = Math.max(0, ...reaches)
  const beyondTag = reach - parser.delimiters.open.length - 1
  const [first] = calls
  return {
    parser: parser.name,
    score: Math.max(0, beyondTag),
    reasons:
      reach === Infinity
        ? ['reads the example that the template shows the model']
        : first?.kind === 'malformed'
          ? [`does not read the example that the template shows the model: ${first.why}`]
          : ['finds no example in the template’s instructions to the model'],
  }
}

/** Returns the scores of the parsers that read furthest, and 0 for the others: how far they read is not a share. */
function topOnly(scores: readonly ParserScore[]): readonly ParserScore[] {
  const best = Math.max(...scores.map(({ score }) => score))
  return scores.map((one) =>
    one.score < best
      ? { ...one, score: 0 }
      : {
          ...one,
          score: best === Infinity ? 0.8 : 0.6,
          reasons: best === Infinity ? one.reasons : ['reads most of the example that the template shows the model'],
        },
  )
}

/** Scores a parser by its delimiter in the tokenizer. Delimiters that several formats share count for none. */
function tokenScore(addedTokens: readonly AddedToken[], parser: ToolParser): ParserScore {
  const { open } = parser.delimiters
  const isOwn = parsers.every((other) => other === parser || other.delimiters.open !== open)
  const has = isOwn && addedTokens.some(({ content }) => content === open)
  return {
    parser: parser.name,
    score: has ? 0.5 : 0,
    reasons: [
      has
        ? `the tokenizer has ${open} as a token; the template itself writes no calls`
        : 'no evidence in the template or the tokenizer',
    ],
  }
}
