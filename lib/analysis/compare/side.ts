/**
 * What stands on one side of a comparison: a trajectory, as it was recorded or as another pipeline would hold it. A side
 * has a text, which addresses and command lines hold: `KEY`, `KEY~text`, `KEY~structured~tokenizer=NAME`.
 */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

export interface Side {
  /** Under which the trajectory is stored, or `example:NAME`. */
  readonly key: string
  readonly as: As
}

export type As =
  /** The ids that the model read and wrote (TITO). */
  | { readonly kind: 'recorded' }
  /** encode(decode(ids)). */
  | { readonly kind: 'text'; readonly tokenizer?: string }
  /** The messages as a chat pipeline holds them, through the chat template. */
  | {
      readonly kind: 'structured' | 'raw'
      /** Name as the server's loader takes it. Omitted: the trajectory's own. */
      readonly tokenizer?: string
      /** Omitted: the trajectory's own, or that of the tokenizer named. */
      readonly template?: TemplateChoice
    }
  /** What the server read in the end, of a run over a chat endpoint: its last prompt and last reply. */
  | { readonly kind: 'read' }

export type TemplateChoice =
  /** That of a tokenizer's files. */
  | { readonly kind: 'tokenizer'; readonly name: string }
  /** That of another stored trajectory. */
  | { readonly kind: 'trajectory'; readonly key: string }
  /** What stands in the template lab of this browser. */
  | { readonly kind: 'lab' }

const EXAMPLE = 'example:'

/** The key of an example that comes with the application. */
export const exampleKey = (name: string): string => EXAMPLE + name

/** Name of the example; undefined: the key is that of a stored trajectory. */
export const exampleName = (key: string): string | undefined =>
  key.startsWith(EXAMPLE) ? key.slice(EXAMPLE.length) : undefined

/**
 * What a side is held against where nothing else was chosen: itself, as a chat pipeline would hold it; a run over a chat
 * endpoint, as the server read it.
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

/** Whether a server was sent messages and has told what it read. */
export const isChatRun = ({ provenance }: Pick<TrajectoryView, 'provenance'>): boolean =>
  provenance.kind === 'rollout' && provenance.endpoint === 'chat'

/** Every side has one text, and `readSide` gives it back. */
export function sideText({ key, as }: Side): string {
  const parts = [encode(key)]
  if (as.kind !== 'recorded') parts.push(as.kind)
  if ('tokenizer' in as && as.tokenizer !== undefined) parts.push(`tokenizer=${encode(as.tokenizer)}`)
  if ('template' in as && as.template !== undefined) parts.push(`template=${encode(templateText(as.template))}`)
  return parts.join('~')
}

/** Undefined for what no `sideText` gives. */
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
const isKind = (text: string): text is As['kind'] => (KINDS as readonly string[]).includes(text)

function asOf(kind: As['kind'], tokenizer: string | undefined, template: TemplateChoice | undefined): As {
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

/** What separates parts, and the sign of an escape itself: all else stays as a person writes it. */
const encode = (text: string): string =>
  text.replace(/[%~=]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
