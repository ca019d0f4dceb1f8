/** The golden files of this folder, and what Rollscope makes of the same input. make.py writes them. */
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type CompiledTemplate, chatTemplate, type RenderInput, TemplateError } from '../chat-template.ts'
import { readJson } from '../jinja/python/json.ts'
import { PyDict, type Value } from '../jinja/python/values.ts'

/** A text, or the error that the template ended with. */
export type Outcome = string | Failure

export interface Failure {
  readonly class: string
  readonly message: string
  /** null: the error came before the template began. */
  readonly line: number | null
}

export interface GoldenCase {
  /** Group and template, or file, conversation and options: as the list of differences names it. */
  readonly name: string
  readonly template: string
  readonly specialTokens: Readonly<Record<string, string>>
  readonly input: RenderInput
  readonly expected: Outcome
}

export interface GoldenGroup {
  readonly name: string
  readonly cases: readonly GoldenCase[]
}

/** The clock that make.py stops, in the time of this machine: strftime_now knows no zone. */
export const CLOCK = new Date(2026, 6, 4, 15, 9, 8, 123)

/** Small templates, each for one thing. */
export function featureGroups(): readonly GoldenGroup[] {
  const { 'made with': _, ...groups } = JSON.parse(read('features.json')) as Record<string, [string, Outcome][]>
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

/** Whole templates with every conversation and set of options. */
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

/** Every template with continue_final_message, or with an empty list of tools. */
export function continuingGroups(): readonly GoldenGroup[] {
  const file = members(readJson(read('continuing.json')))
  const cases = members(file.cases)
  const {
    'made with': _,
    cases: __,
    ...templates
  } = JSON.parse(read('continuing.json')) as Record<string, [string[], Outcome][]>
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
  readonly renders: readonly (readonly [conversation: string, options: readonly string[], expected: Outcome])[]
}

type TemplateSource = { readonly file: string } | { readonly config: string; readonly kind: string }

/** Of a file, or of a tokenizer_config.json. */
function templateText(source: TemplateSource): string {
  if ('file' in source) return readFileSync(source.file, 'utf8')
  const { chat_template: found } = JSON.parse(readFileSync(source.config, 'utf8')) as {
    readonly chat_template: string | readonly { readonly name: string; readonly template: string }[]
  }
  const text = typeof found === 'string' ? found : found.find(({ name }) => name === source.kind)?.template
  if (text === undefined) throw new Error(`${source.config} has no template ${source.kind}`)
  return text
}

export interface GoldenSpans extends Omit<GoldenCase, 'expected'> {
  /** Of code points, as Python counts. */
  readonly spans: readonly (readonly [start: number, end: number])[]
}

/** What generation blocks wrote. */
export function spanCases(): readonly GoldenSpans[] {
  return generation.spans.map(([template, conversation, option, spans]) => ({
    name: `${template}: ${conversation}, ${option}`,
    ...ownTemplate(template),
    input: renderInput(conversation, option),
    spans,
  }))
}

export interface GoldenMask extends Omit<GoldenCase, 'expected'> {
  readonly ids: readonly number[]
  /** Lengths of runs of the mask, the first of zeros. */
  readonly runs: readonly number[]
}

/** By tokenizer, whose files are in `folder`: the ids and the mask that return_assistant_tokens_mask gives. */
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

/** What is written in inputs.json, so that 1.0 stays 1.0. */
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

/** What Rollscope renders. */
export function outcomeOf({
  template,
  specialTokens,
  input,
}: Pick<GoldenCase, 'template' | 'specialTokens' | 'input'>): Outcome {
  try {
    return withoutAddresses(compiledOnce(template, specialTokens).render(input))
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    return { class: error.className, message: withoutAddresses(error.message), line: error.line ?? null }
  }
}

const compiled = new Map<string, CompiledTemplate>()
/** Hundreds of cases share a template. */
export function compiledOnce(template: string, specialTokens: GoldenCase['specialTokens']): CompiledTemplate {
  const key = JSON.stringify([template, specialTokens])
  const known = compiled.get(key) ?? chatTemplate(template, specialTokens)
  compiled.set(key, known)
  return known
}

/** Places in memory differ from run to run, in Python as here. */
export const withoutAddresses = (text: string): string => text.replaceAll(/(?<= at )0x[0-9a-f]+/gi, '0x0')

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, file), 'utf8')

const generation = JSON.parse(read('generation.json')) as GenerationFile

const inputs = members(readJson(read('inputs.json')))

/** A dict of names as a record of them. */
export function members(value: Value | undefined): Readonly<Record<string, Value>> {
  if (!(value instanceof PyDict)) throw new Error('not a dict')
  return Object.fromEntries(value.entries()) as Readonly<Record<string, Value>>
}

function member(value: Value | undefined, key: string): Value | undefined {
  return value instanceof PyDict ? value.get(key) : undefined
}
