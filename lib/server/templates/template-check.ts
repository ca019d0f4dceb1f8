/** Compares a render with that of another renderer: the server's own template, or transformers in the user's Python. */

import path from 'node:path'
import * as z from 'zod'
import type { TemplateCheck } from '#lib/api/template-check.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { parseWritten } from '#lib/json/written-json.ts'
import { type PythonRenderAnswer, renderInPython } from '#lib/python-renderer/python-renderer.ts'
import { ENGINE_NAMES } from '#lib/sampling/engine-names.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { InputError, ReadInput } from '#lib/templates/document/input.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { textOf, vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { commonIds, commonText } from '#lib/util/common-prefix.ts'
import type { Services } from '../services.ts'
import type { LabWork, RenderedIds } from './lab-answers.ts'
import { conversationShape, labShape, loadChosenTemplate, type TokenizerWithTemplate } from './lab-request.ts'
import { labAnswer } from './lab-thread.ts'

const rendererSchema = z.enum(['server', 'python'])

/** Schema of the body of POST /api/templates/check. */
export const checkRequestSchema = z
  .strictObject({
    ...labShape,
    ...conversationShape,
    renderer: rendererSchema
      .exactOptional()
      .describe(
        'server: the server renders with its own template. python: ROLLSCOPE_PYTHON renders the given template.',
      ),
    judge: rendererSchema.exactOptional().meta({
      deprecated: true,
      description: 'The earlier name of renderer, which version 0.2 will refuse. Required if there is no renderer.',
    }),
    server: z.string().exactOptional().describe('Name of a saved server. Default: the default server.'),
  })
  .transform(({ judge, renderer = judge, ...others }, context) => {
    if (renderer !== undefined) return { ...others, renderer }
    context.issues.push({ code: 'custom', path: ['renderer'], input: renderer, message: 'one of "server" or "python"' })
    return z.NEVER
  })
/** The body of POST /api/templates/check, after its check. */
export type CheckRequest = z.infer<typeof checkRequestSchema>

/** Returns the comparison with the other renderer. Throws HttpProblem if the conversation cannot be read. */
export async function checkTemplate(
  work: LabWork<CheckRequest>,
  all: Services,
  signal: AbortSignal,
): Promise<TemplateCheck> {
  const { parts, texts } = work
  const { renderer, server } = parts
  const chosen = await loadChosenTemplate(parts, texts.tools, all, signal)
  const ours = await labAnswer(all.rendering, { kind: 'conversation', ...work }, signal)
  return renderer === 'python'
    ? checkByPython(ours, texts, chosen, all, signal)
    : checkByServer(ours, texts, chosen, server ?? all.servers.defaultName, all, signal)
}

async function checkByPython(
  ours: ReadInput<RenderedIds>,
  texts: Omit<LabInput, 'template'>,
  { name, template, tokenizer, loaded }: TokenizerWithTemplate,
  { config, tokenizers }: Services,
  signal: AbortSignal,
): Promise<TemplateCheck> {
  const { tokenizerJson } = await tokenizers.files(name, signal)
  const question = { ...texts, template, specialTokens: loaded.specialTokens, tokenizerJson }
  const answer = await renderInPython(
    {
      program: config.python,
      script: path.join(config.applicationFolder, 'lib', 'python-renderer', 'python-renderer.py'),
    },
    question,
    signal,
  )
  if (answer.kind === 'unavailable') return { renderer: 'python', verdict: 'unavailable', detail: answer.why }
  return { renderer: 'python', version: answer.version, ...againstPython(ours, answer, tokenizer) }
}

function againstPython(
  ours: ReadInput<RenderedIds>,
  theirs: Exclude<PythonRenderAnswer, { kind: 'unavailable' }>,
  tokenizer: Tokenizer,
): Pick<TemplateCheck, 'verdict' | 'detail' | 'firstDifference'> {
  if (theirs.kind === 'raised') {
    const raised = sentence(theirs)
    if (ours.ok) return { verdict: 'differs', detail: `Python raises ${raised}; here it renders.` }
    return sentence(ours.error) === raised
      ? { verdict: 'same', detail: `Python raises the same: ${raised}.` }
      : { verdict: 'differs', detail: `Python raises ${raised}; here it is ${sentence(ours.error)}.` }
  }
  if (!ours.ok) return { verdict: 'differs', detail: `Python renders; here it raises ${sentence(ours.error)}.` }
  const { text, ids } = ours.value
  if (text !== theirs.text) {
    const at = commonText(text, theirs.text)
    return {
      verdict: 'differs',
      detail: `Python renders a different text, from character ${at}.`,
      firstDifference: { unit: 'character', at, ours: excerpt(text, at), theirs: excerpt(theirs.text, at) },
    }
  }
  return againstIds(ids, theirs.ids ?? [], tokenizer, 'Python')
}

async function checkByServer(
  ours: ReadInput<RenderedIds>,
  texts: Omit<LabInput, 'template'>,
  { tokenizer }: TokenizerWithTemplate,
  name: string,
  { servers }: Services,
  signal: AbortSignal,
): Promise<TemplateCheck> {
  const client = servers.client(name)
  try {
    const { modelName, version, capabilities } = await client.describe(signal)
    const engine = ENGINE_NAMES[capabilities?.engine ?? 'sglang']
    const serverVersion = [`server ${name}`, version && `${engine} ${version}`, modelName].filter(Boolean).join(', ')
    const ids = await client.tokenizeMessages(asWritten(texts), signal)
    if (!ours.ok)
      return {
        renderer: 'server',
        version: serverVersion,
        verdict: 'differs',
        detail: `The server renders with its own template; here it raises ${sentence(ours.error)}.`,
      }
    return {
      renderer: 'server',
      version: serverVersion,
      ...againstIds(ours.value.ids, ids, tokenizer, 'The server, with its own template,'),
    }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { renderer: 'server', verdict: 'unavailable', detail: `the server ${name} cannot render: ${error.message}` }
  }
}

function againstIds(
  ours: readonly number[],
  theirs: readonly number[],
  tokenizer: Tokenizer,
  who: string,
): Pick<TemplateCheck, 'verdict' | 'detail' | 'firstDifference'> {
  const at = commonIds(ours, theirs)
  if (at === ours.length && at === theirs.length)
    return { verdict: 'same', detail: `${who} has the same ${ours.length} tokens.` }
  const texts = (ids: readonly number[]) => {
    const some = ids.slice(at, at + 40)
    return textOf(some, Object.fromEntries(some.map((id) => [id, vocabEntry(tokenizer.bytes(id))])))
  }
  return {
    verdict: 'differs',
    detail: `${who} has different tokens, from token ${at} (${theirs.length} tokens, here ${ours.length}).`,
    firstDifference: { unit: 'token', at, ours: excerpt(texts(ours), 0), theirs: excerpt(texts(theirs), 0) },
  }
}

/**
 * Returns the texts as values for a request's JSON, with numbers in their spelling. Integer-like keys come first, as in every JavaScript
 * object.
 */
function asWritten({ messages, tools, options }: Omit<LabInput, 'template'>) {
  const {
    add_generation_prompt: addGenerationPrompt,
    continue_final_message: continued,
    ...others
  } = parseOrEmpty(options) as Record<string, unknown>
  return {
    messages: parseOrEmpty(messages) as [],
    tools: tools.trim() === '' ? undefined : (parseWritten(tools) as []),
    addGenerationPrompt: Boolean(addGenerationPrompt),
    continueFinalMessage: typeof continued === 'string' ? continued : Boolean(continued),
    options: others,
  }
}

/** Parses JSON with numbers as they are written. An empty text is an empty object. */
const parseOrEmpty = (text: string): unknown => parseWritten(text.trim() === '' ? '{}' : text)

const sentence = ({
  className,
  message,
  line,
}: Pick<InputError, 'className' | 'message'> & { readonly line?: number | undefined }): string =>
  `${className}: ${message}${line === undefined ? '' : ` (line ${line})`}`

const EXCERPT = 120

const excerpt = (text: string, at: number): string =>
  text.length - at > EXCERPT ? `${text.slice(at, at + EXCERPT)}…` : text.slice(at)
