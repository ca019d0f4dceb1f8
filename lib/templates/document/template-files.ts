/** Reads chat templates from the files that contain them. */

import type { TokenizerFiles } from '#lib/api/tokenizer-files.ts'
import { memberOf, nodeAt, readJsonText } from '#lib/json/json-text.ts'
import type { LabInput } from '#lib/tasks/task.ts'
import { conversationTexts } from './samples.ts'

/** A template with its name. */
export interface NamedTemplate {
  /** Name in the file: default, tool_use, rag. */
  readonly name: string
  readonly text: string
}

/** Returns the templates of a model repository. A chat_template.jinja next to the configuration wins, as in transformers. */
export function templatesOf({
  chatTemplateJinja,
  tokenizerConfigJson,
}: Partial<Pick<TokenizerFiles, 'chatTemplateJinja' | 'tokenizerConfigJson'>>): readonly NamedTemplate[] {
  if (chatTemplateJinja !== undefined) return [{ name: 'default', text: chatTemplateJinja }]
  return configuredTemplates(tokenizerConfigJson ?? '')
}

/** Returns the template that a conversation gets, as transformers chooses it. */
export const selectTemplate = (templates: readonly NamedTemplate[], hasTools: boolean): NamedTemplate | undefined =>
  (hasTools ? templates.find(({ name }) => name === 'tool_use') : undefined) ??
  templates.find(({ name }) => name === 'default') ??
  templates[0]

/** Whether a file is a shared lab document, by its first 200 characters; it may still be invalid. */
export const isSharedDocument = (start: string): boolean =>
  /^[\s\ufeff]*\{\s*"format"\s*:\s*"rollscope\.lab\//.test(start.slice(0, 200))

/** The content of a file: templates, or a conversation. */
export type TemplateFileContent =
  | { readonly kind: 'templates'; readonly templates: readonly NamedTemplate[] }
  | { readonly kind: 'conversation'; readonly input: Partial<Omit<LabInput, 'template'>> }
  | { readonly kind: 'neither'; readonly why: string }

/** Whether a file of this name belongs to the lab; other files are trajectories. */
export const isLabFile = (fileName: string): boolean =>
  /\.(jinja2?|j2|tmpl)$/i.test(fileName) ||
  /(tokenizer_config|chat_template|messages|conversation)[^/]*\.jsonc?$/i.test(fileName)

/** Reads a file by its name and text. */
export function openedFile(fileName: string, text: string): TemplateFileContent {
  if (!/\.jsonc?$/i.test(fileName)) return { kind: 'templates', templates: [{ name: 'default', text }] }
  const json = /\.jsonc$/i.test(fileName) ? withoutComments(text) : text
  const reading = readJsonText(json)
  if (!reading.ok) {
    const { message, line, column } = reading.problem
    return { kind: 'neither', why: `It is not JSON: ${message}, line ${line}, column ${column}.` }
  }
  const { root } = reading
  const templates = configuredTemplates(json)
  if (templates.length > 0) return { kind: 'templates', templates }
  if (root.kind === 'string') return { kind: 'templates', templates: [{ name: 'default', text: root.value }] }
  if (root.kind === 'array' && root.items.every((item) => memberOf(item, 'role')))
    return { kind: 'conversation', input: { messages: json.trim() } }
  if (memberOf(root, 'messages')) {
    const { messages, tools, options } = conversationTexts(json) ?? { messages: '', tools: '', options: '' }
    return { kind: 'conversation', input: { messages, tools, ...(options !== '' && { options }) } }
  }
  return { kind: 'neither', why: 'It has no chat_template, and it is not a list of messages.' }
}

/** Reads `chat_template`: a text, or a list of named templates. */
function configuredTemplates(json: string): readonly NamedTemplate[] {
  const reading = readJsonText(json)
  const valueNode = reading.ok ? memberOf(reading.root, 'chat_template')?.value : undefined
  if (valueNode?.kind === 'string') return [{ name: 'default', text: valueNode.value }]
  if (valueNode?.kind !== 'array') return []
  return valueNode.items.flatMap((item) => {
    const [name, text] = ['name', 'template'].map((key) => nodeAt(item, [key]))
    return name?.kind === 'string' && text?.kind === 'string' ? [{ name: name.value, text: text.value }] : []
  })
}

/** Replaces comments, and commas before a closing bracket, by spaces; texts remain unchanged. */
const withoutComments = (text: string): string =>
  text.replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=\s*[\]}])/g, (found) =>
    found.startsWith('"') ? found : found.replace(/[^\n]/g, ' '),
  )
