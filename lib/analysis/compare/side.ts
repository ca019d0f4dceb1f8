/**
 * Defines one side of a comparison: a trajectory as it was recorded, or as another pipeline would keep it. URLs and command lines
 * write a side as a text: `KEY`, `KEY~text`, `KEY~structured~tokenizer=NAME`.
 */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** One side of a comparison, as it is chosen. */
export interface Side {
  /** Key under which the trajectory is stored, or `example:NAME`. */
  readonly key: string
  readonly as: Reconstruction
}

/** How the tokens of a side are obtained from its trajectory. */
export type Reconstruction =
  /** The ids that the model read and wrote (TITO). */
  | { readonly kind: 'recorded' }
  /** encode(decode(ids)). */
  | { readonly kind: 'text'; readonly tokenizer?: string }
  /** The messages as a chat pipeline keeps them, rendered with the chat template. structured: replies with parsed calls. raw: as text. */
  | {
      readonly kind: 'structured' | 'raw'
      /** Name of the tokenizer that the server loads. Omitted: the trajectory's own. */
      readonly tokenizer?: string
      /** Omitted: the trajectory's own template, or the template of the named tokenizer. */
      readonly template?: TemplateChoice
    }
  /** The last prompt that the server read in a run over a chat endpoint, and the last reply. */
  | { readonly kind: 'read' }

/** A chat template that was chosen in place of the recorded one. */
export type TemplateChoice =
  /** The template of a tokenizer's files. */
  | { readonly kind: 'tokenizer'; readonly name: string }
  /** The template of another stored trajectory. */
  | { readonly kind: 'trajectory'; readonly key: string }
  /** The template in the template lab of this browser. */
  | { readonly kind: 'lab' }

const EXAMPLE = 'example:'

/** Returns the key of an example that comes with the application. */
export const exampleKey = (name: string): string => EXAMPLE + name

/** Returns the name of an example, or undefined if the key is that of a stored trajectory. */
export const exampleName = (key: string): string | undefined =>
  key.startsWith(EXAMPLE) ? key.slice(EXAMPLE.length) : undefined

/**
 * Returns the side that a side is compared with by default: the same trajectory as a chat pipeline would keep it, or, for a run over a
 * chat endpoint, as the server read it.
 */
export function counterpart(
  { key, as }: Side,
  { segments, model, provenance }: Pick<TrajectoryView, 'segments' | 'model' | 'provenance'>,
): Side {
  if (as.kind !== 'recorded') return { key, as: { kind: 'recorded' } }
  if (isChatRun({ provenance })) return { key, as: { kind: 'read' } }
  const hasMessages = segments.some((segment) => segment.kind === 'prompt' && segment.messages.length > 0)
  const hasTemplate = model.template !== undefined && model.template.text !== ''
  return { key, as: { kind: hasMessages && hasTemplate ? 'structured' : 'text' } }
}

/** Returns true for a run over a chat endpoint: the server received messages and reported what it read. */
export const isChatRun = ({ provenance }: Pick<TrajectoryView, 'provenance'>): boolean =>
  provenance.kind === 'rollout' && provenance.endpoint === 'chat'

/** Returns the text of a side. Each side has exactly one text, and `readSide` reads it back. */
export function sideText({ key, as }: Side): string {
  const parts = [encode(key)]
  if (as.kind !== 'recorded') parts.push(as.kind)
  if ('tokenizer' in as && as.tokenizer !== undefined) parts.push(`tokenizer=${encode(as.tokenizer)}`)
  if ('template' in as && as.template !== undefined) parts.push(`template=${encode(templateText(as.template))}`)
  return parts.join('~')
}

/** Reads the text of a side. Returns undefined for a text that `sideText` does not write. */
export function readSide(text: string): Side | undefined {
  const [key = '', ...parts] = text.split('~')
  const decodedKey = decode(key)
  if (decodedKey === undefined || decodedKey === '') return undefined
  const [kind = 'recorded', ...named] = parts
  if (!isKind(kind)) return undefined
  let tokenizer: string | undefined
  let template: TemplateChoice | undefined
  for (const part of named) {
    const [name, value = ''] = part.split('=', 2)
    const decoded = decode(value)
    if (decoded === undefined || decoded === '') return undefined
    if (name === 'tokenizer') tokenizer = decoded
    else if (name === 'template') {
      template = readTemplate(decoded)
      if (!template) return undefined
    } else return undefined
  }
  const side = { key: decodedKey, as: asOf(kind, tokenizer, template) }
  return sideText(side) === text ? side : undefined
}

const KINDS = ['recorded', 'text', 'structured', 'raw', 'read'] as const
const isKind = (text: string): text is Reconstruction['kind'] => (KINDS as readonly string[]).includes(text)

function asOf(
  kind: Reconstruction['kind'],
  tokenizer: string | undefined,
  template: TemplateChoice | undefined,
): Reconstruction {
  switch (kind) {
    case 'recorded':
    case 'read':
      return { kind }
    case 'text':
      return { kind, ...(tokenizer !== undefined && { tokenizer }) }
    default:
      return { kind, ...(tokenizer !== undefined && { tokenizer }), ...(template && { template }) }
  }
}

function templateText(template: TemplateChoice): string {
  if (template.kind === 'lab') return 'lab'
  return `${template.kind}:${template.kind === 'tokenizer' ? template.name : template.key}`
}

function readTemplate(text: string): TemplateChoice | undefined {
  if (text === 'lab') return { kind: 'lab' }
  const colon = text.indexOf(':')
  const [kind, value] = [text.slice(0, colon), text.slice(colon + 1)]
  if (value === '') return undefined
  if (kind === 'tokenizer') return { kind, name: value }
  return kind === 'trajectory' ? { kind, key: value } : undefined
}

/** Escapes the separators and the percent sign. All other characters stay readable. */
const encode = (text: string): string =>
  text.replace(/[%~=]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
