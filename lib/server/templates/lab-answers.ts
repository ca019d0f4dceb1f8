/** Requests to the threads that render and encode, and their answers. Nothing here runs in the thread that serves requests. */

import type * as z from 'zod'
import type { TrajectoryReader } from '#lib/store/record.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import { chatTemplate, type RenderInput, type TemplateMessage } from '#lib/templates/chat-template.ts'
import { orTemplateFailure, type ReadInput, readInput } from '#lib/templates/document/input.ts'
import { fromJs, readJson, writeJson } from '#lib/templates/jinja/python/json.ts'
import { PyDict, type Value } from '#lib/templates/jinja/python/values.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { boundedTemplate } from './bounded-template.ts'
import { type LabRequest, loadChosenTemplate, rejectedInput } from './lab-request.ts'
import { type parseRequestSchema, parseRequestText } from './parse.ts'
import { renderConversation } from './render.ts'
import {
  type DoctorRequest,
  diagnose,
  type FixRequest,
  fixTemplate,
  type SearchRequest,
  searchTemplate,
} from './template-doctor.ts'

/** The fields of a request except for the texts that are read exactly. */
export type LabParts<Request> = Omit<Request, 'messages' | 'tools' | 'options'>

/** A checked request to the template lab. */
export interface LabWork<Request extends LabRequest = LabRequest> {
  readonly parts: LabParts<Request>
  readonly texts: Omit<LabInput, 'template'>
}

/** The input of a render as JSON, which keeps 1.0 and the order of keys. */
export interface RenderInputJson extends Pick<RenderInput, 'addGenerationPrompt' | 'continueFinalMessage'> {
  readonly messages: string
  readonly tools: string | undefined
  readonly options: string
}

/** A request to the threads of the template lab. */
export type LabWorkRequest =
  /** Loads a tokenizer for later requests. */
  | { readonly kind: 'load'; readonly tokenizer: string }
  /** Returns the JSON of the answer of /api/render. */
  | ({ readonly kind: 'preview' } & LabWork)
  /** Returns the rendered text of a conversation, and its ids. */
  | ({ readonly kind: 'conversation' } & LabWork)
  /** Returns the JSON of the answer of /api/templates/doctor. */
  | ({ readonly kind: 'diagnosis' } & LabWork<DoctorRequest>)
  /** The next two return the JSON of the answers of /api/templates/fix and /api/templates/search. */
  | ({ readonly kind: 'fix' } & LabWork<FixRequest>)
  | ({ readonly kind: 'search' } & LabWork<SearchRequest>)
  /** Renders a template with a tokenizer's special tokens; an undefined tokenizer has none. */
  | {
      readonly kind: 'render'
      readonly tokenizer: string | undefined
      readonly template: string
      readonly input: RenderInputJson
    }
  | { readonly kind: 'encode'; readonly tokenizer: string; readonly text: string }
  /** Returns the JSON of the answer of /api/parse. It needs no tokenizer. */
  | { readonly kind: 'parse'; readonly tokenizer: undefined; readonly request: z.infer<typeof parseRequestSchema> }

/** A rendered conversation and the ids of its text. */
export interface RenderedIds {
  readonly text: string
  readonly ids: readonly number[]
}

/** The type of the answer to each kind of request. */
export interface LabAnswers {
  readonly load: null
  readonly preview: string
  readonly conversation: ReadInput<RenderedIds>
  readonly diagnosis: string
  readonly fix: string
  readonly search: string
  readonly render: string
  readonly encode: readonly number[]
  readonly parse: string
}

interface Deps {
  readonly reader: Pick<TrajectoryReader, 'read'>
  readonly tokenizers: TokenizerLoader
}

/** Answers a request by its kind. Throws HttpProblem, TokenizerError or TemplateError. */
export type AnswerLab = <Kind extends keyof LabAnswers>(
  question: LabWorkRequest & { readonly kind: Kind },
) => Promise<LabAnswers[Kind]>

/** Returns the function that answers in a thread. */
export const createLabAnswers = (deps: Deps): AnswerLab =>
  ((question: LabWorkRequest) => answerTo(question, deps)) as AnswerLab

async function answerTo(question: LabWorkRequest, deps: Deps): Promise<LabAnswers[keyof LabAnswers]> {
  switch (question.kind) {
    case 'load':
      await deps.tokenizers.load(question.tokenizer)
      return null
    case 'encode':
      return (await deps.tokenizers.load(question.tokenizer)).tokenizer.encode(question.text)
    case 'render': {
      const { tokenizer, template, input } = question
      const compiled =
        tokenizer === undefined ? chatTemplate(template, {}) : (await deps.tokenizers.load(tokenizer)).compile(template)
      return boundedTemplate(compiled).render(fromRenderInputJson(input))
    }
    case 'parse':
      return JSON.stringify(parseRequestText(question.request))
    case 'preview':
      return JSON.stringify(renderConversation(question.texts, await chosenFor(question, deps)))
    case 'conversation':
      return conversation(question, deps)
    case 'diagnosis':
      return JSON.stringify(
        await diagnose(question.parts, question.texts, await chosenFor(question, deps), deps.reader, NEVER),
      )
    case 'fix':
      return JSON.stringify(await fixTemplate(question.parts, question.texts, await chosenFor(question, deps), NEVER))
    case 'search':
      return JSON.stringify(
        await searchTemplate(question.parts, question.texts, await chosenFor(question, deps), NEVER),
      )
  }
}

/** This signal never aborts: a client that leaves ends the whole thread. */
const NEVER = new AbortController().signal

const chosenFor = ({ parts, texts }: LabWork, deps: Deps) => loadChosenTemplate(parts, texts.tools, deps, NEVER)

/** Returns the rendered conversation, or the error that the template raised. Throws HttpProblem if the conversation cannot be read. */
async function conversation(work: LabWork, deps: Deps): Promise<ReadInput<RenderedIds>> {
  const input = readInput(work.texts)
  if (!input.ok) throw rejectedInput(input.error)
  const { compile, template, tokenizer } = await chosenFor(work, deps)
  return orTemplateFailure(() => {
    const text = compile(template).render(input.value)
    return { text, ids: tokenizer.encode(text) }
  })
}

/** Returns a render's input as it is sent to another thread. */
export const toRenderInputJson = ({
  messages,
  tools,
  options,
  addGenerationPrompt,
  continueFinalMessage,
}: RenderInput): RenderInputJson => ({
  messages: `[${messages.map((message) => (message instanceof PyDict ? writeJson(message) : messageJson(message))).join(', ')}]`,
  tools: tools && writeJson(fromJs(tools)),
  options: writeJson(fromJs(options)),
  addGenerationPrompt,
  continueFinalMessage,
})

/** A conversation has the same messages in every turn. */
const messageJson = memoizeByIdentity((message: TemplateMessage) => writeJson(fromJs(message)))

const fromRenderInputJson = ({ messages, tools, options, ...flags }: RenderInputJson): RenderInput => {
  const named = readJson(options)
  return {
    ...flags,
    messages: readJson(messages) as readonly PyDict[],
    tools: tools === undefined ? undefined : (readJson(tools) as readonly Value[]),
    options:
      named instanceof PyDict
        ? Object.fromEntries([...named.entries()].map(([name, value]) => [String(name), value]))
        : {},
  }
}
