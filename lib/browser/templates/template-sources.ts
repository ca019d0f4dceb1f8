/** Fetches the lab's templates from their sources. All functions throw ApiError, or the signal's reason. */
import { BUILT_IN } from '#lib/api/server-name.ts'
import type { ServerStatus } from '#lib/api/server-status.ts'
import { tokenizerFilesSchema } from '#lib/api/tokenizer-files.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import type { SourceContents } from '#lib/templates/document/document.ts'
import { conversationTexts, FIRST_CONVERSATION, FIRST_TEMPLATE, TEMPLATES } from '#lib/templates/document/samples.ts'
import { type LabSource, sourceText } from '#lib/templates/document/source.ts'
import { type NamedTemplate, openedFile, selectTemplate, templatesOf } from '#lib/templates/document/template-files.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, callApi, fetchJson } from '../api.ts'

/** Returns the name of a server's tokenizer for the loader; undefined if the server does not report it. */
export function serverTokenizerName(server: string, status: ServerStatus): string | undefined {
  if (server === BUILT_IN) return BUILT_IN
  return status.state === 'ready' ? status.tokenizerName : undefined
}

/** The functions that read a source. */
interface SourceDeps {
  readonly signal: AbortSignal
  /** Whether the conversation has tools: some models have another template for them. */
  readonly hasTools: boolean
  readonly trajectory: (key: string) => Promise<TrajectoryView>
  readonly status: (server: string) => Promise<ServerStatus>
}

/** Loads the template, and for a trajectory its conversation too. */
export async function loadSource(source: LabSource, deps: SourceDeps): Promise<SourceContents> {
  switch (source.kind) {
    case 'sample':
      return sampleTemplate(source.name, deps.signal)
    case 'tokenizer':
      return fromTokenizer(source, deps)
    case 'server': {
      const name = serverTokenizerName(source.name, await deps.status(source.name))
      if (name === undefined)
        throw new ApiError(
          0,
          'NO_TOKENIZER_TOLD',
          `The server ${source.name} names no tokenizer.`,
          'Load the template by the Hub name of its model.',
        )
      return { ...(await fromTokenizer({ kind: 'tokenizer', name, template: undefined }, deps)), source }
    }
    case 'trajectory': {
      // The template engine is loaded with it, which the page itself does not need.
      const { trajectoryInput } = await import('#lib/templates/document/trajectory-input.ts')
      return trajectoryInput(await deps.trajectory(source.key), source.key)
    }
    case 'file':
      throw new ApiError(0, 'FILE_GONE', `The file ${source.name} is not stored.`, 'Open it again.')
  }
}

/** Loads a template that comes with the application. */
export async function sampleTemplate(
  name: string,
  signal: AbortSignal,
): Promise<SourceContents & { readonly template: string }> {
  const title = TEMPLATES.find((sample) => sample.name === name)?.title ?? name
  const template = await (await callApi(`/templates/${encodeURIComponent(name)}.jinja`, { signal })).text()
  return { source: { kind: 'sample', name }, name: title, template }
}

/** Loads a conversation that comes with the application. */
export async function sampleConversation(
  name: string,
  signal: AbortSignal,
): Promise<SourceContents & Omit<LabInput, 'template'>> {
  const file = await (await callApi(`/templates/${encodeURIComponent(name)}.json`, { signal })).text()
  const texts = conversationTexts(file)
  if (!texts) throw new ApiError(200, 'BAD_SAMPLE', `the sample ${name} cannot be read`)
  return { source: undefined, name, ...texts }
}

/** Loads the first document of a new lab. */
export async function firstInput(signal: AbortSignal): Promise<SourceContents & LabInput> {
  const [template, conversation] = await Promise.all([
    sampleTemplate(FIRST_TEMPLATE, signal),
    sampleConversation(FIRST_CONVERSATION, signal),
  ])
  return { ...conversation, ...template }
}

/** Loads all chat templates of a tokenizer. */
export async function tokenizerTemplates(name: string, signal: AbortSignal): Promise<readonly NamedTemplate[]> {
  const path = `/api/tokenizers/files?name=${encodeURIComponent(name)}`
  return templatesOf(await fetchJson(path, tokenizerFilesSchema, { signal, revalidate: true }))
}

async function fromTokenizer(
  source: LabSource & { readonly kind: 'tokenizer' },
  deps: SourceDeps,
): Promise<SourceContents> {
  const templates = await tokenizerTemplates(source.name, deps.signal)
  const template =
    source.template === undefined
      ? selectTemplate(templates, deps.hasTools)
      : templates.find(({ name }) => name === source.template)
  if (!template)
    throw new ApiError(
      0,
      'NO_TEMPLATE',
      source.template === undefined
        ? `${source.name} has no chat template.`
        : `${source.name} has no template named ${source.template}.`,
      templates.length === 0 ? undefined : `It has ${templates.map(({ name }) => name).join(', ')}.`,
    )
  return { source, name: `loaded from ${sourceText(source)}`, template: template.text, tokenizer: source.name }
}

/** Reads a dropped or chosen file; of several templates it takes the one that fits the conversation. */
export async function loadFile(file: File, hasTools: boolean): Promise<SourceContents> {
  const opened = openedFile(file.name, await file.text())
  const source: LabSource = { kind: 'file', name: file.name }
  switch (opened.kind) {
    case 'templates':
      return { source, name: `loaded from ${file.name}`, template: selectTemplate(opened.templates, hasTools)?.text }
    case 'conversation':
      return { source: undefined, name: file.name, ...opened.input }
    case 'neither':
      throw new ApiError(
        0,
        'NOT_A_TEMPLATE',
        `${file.name} cannot be read as a template. ${opened.why}`,
        'A .jinja file, tokenizer_config.json, chat_template.json, or a JSON list of messages.',
      )
  }
}
