/** Reads the golden files of this folder, which make.py writes, and renders the same input. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type CompiledTemplate, chatTemplate, type RenderInput, TemplateError } from '../chat-template.ts'
import { readJson } from '../jinja/python/json.ts'
import { PyDict, type Value } from '../jinja/python/values.ts'

/** A text, or the error that ended the render. */
export type RenderOutcome = string | RenderFailure

/** The error that ended a render. */
export interface RenderFailure {
  readonly class: string
  readonly message: string
  /** null if the error was raised before the template began. */
  readonly line: number | null
}

/** One render that is compared with transformers. */
export interface GoldenCase {
  /** Name in the list of known differences: group and template, or file, conversation and options. */
  readonly name: string
  readonly template: string
  readonly specialTokens: Readonly<Record<string, string>>
  readonly input: RenderInput
  readonly expected: RenderOutcome
}

/** Cases that one test compares. */
export interface GoldenGroup {
  readonly name: string
  readonly cases: readonly GoldenCase[]
}

/** The time of make.py's clock, in the time zone of this machine, because strftime_now has no zone. */
export const CLOCK = new Date(2026, 6, 4, 15, 9, 8, 123)

/** Returns small templates, each for one feature. */
export function featureGroups(): readonly GoldenGroup[] {
  const { 'made with': _, ...groups } = JSON.parse(read('features.json')) as Record<string, [string, RenderOutcome][]>
  const input: RenderInput = {
    messages: [{ role: 'user', content: 'hi' }],
    tools: undefined,
    addGenerationPrompt: false,
    options: members(inputs.variables),
  }
  return Object.entries(groups).map(([group, cases]) => ({
    name: group,
    cases: cases.map(([template, expected]) => ({
      name: `${group}: ${template}`,
      template,
      specialTokens: {},
      input,
      expected,
    })),
  }))
}

/** Returns whole templates with every conversation and set of options. */
export function renderGroups(): readonly GoldenGroup[] {
  return globSync('renders/*.json', { cwd: import.meta.dirname })
    .toSorted()
    .map((file) => {
      const { template, specialTokens, renders } = JSON.parse(read(file)) as RenderFile
      const text = templateText(template)
      const name = path.basename(file, '.json')
      return {
        name,
        cases: renders.flatMap(([conversation, options, expected]) =>
          options.map((option) => ({
            name: `${name}: ${conversation}, ${option}`,
            template: text,
            specialTokens,
            input: renderInput(conversation, option),
            expected,
          })),
        ),
      }
    })
}

/** Returns every template with continue_final_message, or with an empty list of tools. */
export function continuingGroups(): readonly GoldenGroup[] {
  const file = members(readJson(read('continuing.json')))
  const cases = members(file.cases)
  const {
    'made with': _,
    cases: __,
    ...templates
  } = JSON.parse(read('continuing.json')) as Record<string, [string[], RenderOutcome][]>
  return Object.entries(templates).map(([name, renders]) => ({
    name,
    cases: renders.flatMap(([names, expected]) =>
      names.map((one) => {
        const { messages, tools, prompt, continue: field, options } = members(cases[one])
        return {
          name: `${name} continues: ${one}`,
          ...ownTemplate(name),
          input: {
            messages: messages as RenderInput['messages'],
            tools: (tools ?? undefined) as readonly Value[] | undefined,
            addGenerationPrompt: prompt === true,
            continueFinalMessage: typeof field === 'string' ? field : Boolean(field),
            options: members(options),
          },
          expected,
        }
      }),
    ),
  }))
}

interface RenderFile {
  readonly template: TemplateSource
  readonly specialTokens: Readonly<Record<string, string>>
  readonly renders: readonly (readonly [conversation: string, options: readonly string[], expected: RenderOutcome])[]
}

type TemplateSource = { readonly file: string } | { readonly config: string; readonly kind: string }

/** Returns the template of a file, or of a tokenizer_config.json. */
function templateText(source: TemplateSource): string {
  if ('file' in source) return readFileSync(source.file, 'utf8')
  const { chat_template: found } = JSON.parse(readFileSync(source.config, 'utf8')) as {
    readonly chat_template: string | readonly { readonly name: string; readonly template: string }[]
  }
  const text = typeof found === 'string' ? found : found.find(({ name }) => name === source.kind)?.template
  if (text === undefined) throw new Error(`${source.config} has no template ${source.kind}`)
  return text
}

/** A render whose generation blocks are compared. */
export interface GoldenSpans extends Omit<GoldenCase, 'expected'> {
  /** Ranges of code points, as Python counts. */
  readonly spans: readonly (readonly [start: number, end: number])[]
}

/** Returns the renders whose generation blocks are compared. */
export function spanCases(): readonly GoldenSpans[] {
  return generation.spans.map(([template, conversation, option, spans]) => ({
    name: `${template}: ${conversation}, ${option}`,
    ...ownTemplate(template),
    input: renderInput(conversation, option),
    spans,
  }))
}

/** A render whose loss mask is compared. */
export interface GoldenMask extends Omit<GoldenCase, 'expected'> {
  readonly ids: readonly number[]
  /** Lengths of the runs of the mask; the first run has zeros. */
  readonly runs: readonly number[]
}

/** Returns, for each tokenizer with files in `folder`, the ids and masks of return_assistant_tokens_mask. */
export function maskGroups(): readonly {
  readonly name: string
  readonly folder: string
  readonly cases: readonly GoldenMask[]
}[] {
  return Object.entries(generation.tokenizers).map(([tokenizer, folder]) => ({
    name: tokenizer,
    folder,
    cases: generation.masks
      .filter(([, , name]) => name === tokenizer)
      .map(([template, conversation, , ids, runs]) => ({
        name: `${template}: ${conversation}`,
        ...ownTemplate(template),
        input: renderInput(conversation, 'plain'),
        ids,
        runs,
      })),
  }))
}

interface GenerationFile {
  readonly tokenizers: Readonly<Record<string, string>>
  readonly spans: readonly (readonly [string, string, string, GoldenSpans['spans']])[]
  readonly masks: readonly (readonly [string, string, string, readonly number[], readonly number[]])[]
}

function ownTemplate(name: string): Pick<GoldenCase, 'template' | 'specialTokens'> {
  const { template, specialTokens } = JSON.parse(read(`renders/${name}.json`)) as RenderFile
  return { template: templateText(template), specialTokens }
}

/** Returns an input as it is written in inputs.json, so that 1.0 remains 1.0. */
function renderInput(conversation: string, option: string): RenderInput {
  const { messages, tools } = members(member(inputs.conversations, conversation))
  const { withTools, addGenerationPrompt, variables: options } = members(member(inputs.options, option))
  return {
    messages: messages as RenderInput['messages'],
    tools: withTools === true ? ((tools ?? inputs.tools) as readonly Value[]) : undefined,
    addGenerationPrompt: addGenerationPrompt === true,
    options: members(options),
  }
}

/** Returns what Rollscope renders. */
export function renderGolden({
  template,
  specialTokens,
  input,
}: Pick<GoldenCase, 'template' | 'specialTokens' | 'input'>): RenderOutcome {
  try {
    return withoutAddresses(compiledOnce(template, specialTokens).render(input))
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { class: error.className, message: withoutAddresses(error.message), line: error.line ?? null }
  }
}

const compiled = new Map<string, CompiledTemplate>()
/** Compiles a template once, because hundreds of cases share it. */
export function compiledOnce(template: string, specialTokens: GoldenCase['specialTokens']): CompiledTemplate {
  const key = JSON.stringify([template, specialTokens])
  const known = compiled.get(key) ?? chatTemplate(template, specialTokens)
  compiled.set(key, known)
  return known
}

/** Replaces addresses in memory, which differ from run to run, in Python as here. */
export const withoutAddresses = (text: string): string => text.replaceAll(/(?<= at )0x[0-9a-f]+/gi, '0x0')

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, file), 'utf8')

const generation = JSON.parse(read('generation.json')) as GenerationFile

const inputs = members(readJson(read('inputs.json')))

/** Returns the entries of a dict whose keys are names. Throws for other values. */
export function members(value: Value | undefined): Readonly<Record<string, Value>> {
  if (!(value instanceof PyDict)) throw new Error('not a dict')
  return Object.fromEntries(value.entries()) as Readonly<Record<string, Value>>
}

function member(value: Value | undefined, key: string): Value | undefined {
  return value instanceof PyDict ? value.get(key) : undefined
}
