/**
 * The document of the template lab: revisions of a template, a conversation, a tokenizer. One reducer writes it, and every
 * step of it can be undone: loading, fixing, switching and deleting revisions as well as typing.
 */

import type { LabInput } from '#lib/tasks/task.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import type { LabSource } from './source.ts'

export interface Revision {
  /** From 1; what it is called by. */
  readonly number: number
  /** Why it is there, in a few words: `loaded from Qwen/Qwen3-8B`, `fix: keep thinking`. */
  readonly name: string
  /** `draft`: typing goes into it. The others stay as they are: typing makes a draft of them. */
  readonly kind: 'draft' | 'kept'
  /** The revision that it was made of; undefined for one that was loaded. */
  readonly parent: number | undefined
  readonly template: string
}

export interface LabDocument {
  /** Never empty; in the order in which they were made. */
  readonly revisions: readonly Revision[]
  /** Number of the one that is shown. */
  readonly shown: number
  /** JSON texts, as in LabInput. */
  readonly messages: string
  readonly tools: string
  readonly options: string
  readonly tokenizer: string
  /** Where the template that was loaded last came from. */
  readonly source: LabSource | undefined
  /** Key of the trajectory whose conversation was loaded; undefined once another one was. */
  readonly trajectory: string | undefined
}

export interface LabHistory {
  /** Oldest first. */
  readonly past: readonly LabDocument[]
  readonly now: LabDocument
  /** What was undone, the next to be done again first. */
  readonly future: readonly LabDocument[]
  /** The typing that the next may join: one step back takes a burst of keys, not one key. */
  readonly typing: { readonly field: LabField; readonly at: number } | undefined
}

export type LabField = keyof LabInput

/** What a source gives; what it leaves out stays. */
export interface Loaded extends Partial<Omit<LabInput, 'template'>> {
  /** Undefined where it brings no template. */
  readonly source: LabSource | undefined
  readonly name: string
  readonly template?: string | undefined
  readonly tokenizer?: string | undefined
  /** Of which the messages are. */
  readonly trajectory?: string | undefined
}

export type LabAction =
  /** `at`: milliseconds of any clock that only goes on. */
  | { readonly type: 'typed'; readonly field: LabField; readonly text: string; readonly at: number }
  /** A whole text by something other than a keyboard: a form, a fix, a counterexample. */
  | { readonly type: 'changed'; readonly field: Exclude<LabField, 'template'>; readonly text: string }
  | { readonly type: 'fixed'; readonly template: string; readonly why: string }
  | { readonly type: 'loaded'; readonly loaded: Loaded }
  /** Another whole document: of another window, or an earlier one. */
  | { readonly type: 'opened'; readonly document: LabDocument }
  | { readonly type: 'tokenizer'; readonly name: string }
  | { readonly type: 'shown'; readonly number: number }
  /** The draft that is shown stays as it is from here on. */
  | { readonly type: 'kept'; readonly name: string }
  | { readonly type: 'renamed'; readonly number: number; readonly name: string }
  | { readonly type: 'deleted'; readonly number: number }
  | { readonly type: 'undone' }
  | { readonly type: 'redone' }

/** Keys that follow each other faster are one step. */
const BURST_MS = 600
/** Texts are shared between steps: a step costs little more than the one text that it changed. */
const LONGEST_PAST = 400

export const historyOf = (now: LabDocument): LabHistory => ({ past: [], now, future: [], typing: undefined })

export function applyLabAction(history: LabHistory, action: LabAction): LabHistory {
  switch (action.type) {
    case 'undone': {
      const before = history.past.at(-1)
      if (!before) return history
      const { past, now, future } = history
      return { past: past.slice(0, -1), now: before, future: [now, ...future], typing: undefined }
    }
    case 'redone': {
      const [next, ...future] = history.future
      if (!next) return history
      return { past: [...history.past, history.now], now: next, future, typing: undefined }
    }
    case 'typed': {
      const { field, at } = action
      const now = typedDocument(history.now, field, action.text)
      if (now === history.now) return history
      const { typing } = history
      const isBurst = typing?.field === field && at - typing.at < BURST_MS && history.future.length === 0
      return { ...(isBurst ? { ...history, now } : step(history, now)), typing: { field, at } }
    }
    default:
      return step(history, changedDocument(history.now, action))
  }
}

export const shownRevision = ({ revisions, shown }: LabDocument): Revision =>
  revisions.find(({ number }) => number === shown) ?? elementAt(revisions, 0)

/** The other side of A/B: the one that is named, otherwise the last with another text; undefined: there is none. */
export const comparedRevision = (
  revisions: readonly Revision[],
  { shown, named }: { readonly shown: string; readonly named: string | undefined },
): Revision | undefined =>
  revisions.find(({ number }) => String(number) === named) ?? revisions.findLast(({ template }) => template !== shown)

/** What a revision is called on screen. */
export const revisionName = ({ number, name }: Pick<Revision, 'number' | 'name'>): string => `${number} · ${name}`

export const inputOf = (document: LabDocument): LabInput => ({
  template: shownRevision(document).template,
  messages: document.messages,
  tools: document.tools,
  options: document.options,
})

/** The part in which two documents differ first, for showing what a step back or on has changed. */
export function changedPart(a: LabDocument, b: LabDocument): LabField | 'tokenizer' | undefined {
  if (a.revisions !== b.revisions || a.shown !== b.shown) return 'template'
  return (['messages', 'tools', 'options', 'tokenizer'] as const).find((part) => a[part] !== b[part])
}

function step(history: LabHistory, now: LabDocument): LabHistory {
  if (now === history.now) return history
  return { past: [...history.past.slice(1 - LONGEST_PAST), history.now], now, future: [], typing: undefined }
}

function typedDocument(document: LabDocument, field: LabField, text: string): LabDocument {
  if (field !== 'template') return document[field] === text ? document : { ...document, [field]: text }
  const shown = shownRevision(document)
  if (shown.template === text) return document
  if (shown.kind === 'draft') return withRevision(document, { ...shown, template: text })
  return withNew(document, { name: 'edited', kind: 'draft', parent: shown.number, template: text })
}

type Step = Exclude<LabAction, { readonly type: 'undone' | 'redone' | 'typed' }>

function changedDocument(document: LabDocument, action: Step): LabDocument {
  switch (action.type) {
    case 'changed':
      return typedDocument(document, action.field, action.text)
    case 'fixed': {
      const { number, template } = shownRevision(document)
      if (template === action.template) return document
      return withNew(document, { name: action.why, kind: 'kept', parent: number, template: action.template })
    }
    case 'loaded':
      return loadedDocument(document, action.loaded)
    case 'opened':
      return action.document
    case 'tokenizer':
      return document.tokenizer === action.name ? document : { ...document, tokenizer: action.name }
    case 'shown':
      return document.shown === action.number || !revisionOf(document, action.number)
        ? document
        : { ...document, shown: action.number }
    case 'kept':
      return withRevision(document, { ...shownRevision(document), name: action.name, kind: 'kept' })
    case 'renamed': {
      const revision = revisionOf(document, action.number)
      return revision && revision.name !== action.name
        ? withRevision(document, { ...revision, name: action.name })
        : document
    }
    case 'deleted':
      return withoutRevision(document, action.number)
    default:
      return unreachable(action)
  }
}

/** The same template again, from the same place, is not another revision. */
function loadedDocument(document: LabDocument, loaded: Loaded): LabDocument {
  const { template, name, source = document.source, tokenizer = document.tokenizer } = loaded
  const { messages = document.messages, tools = document.tools, options = document.options } = loaded
  const trajectory = loaded.messages === undefined ? document.trajectory : loaded.trajectory
  const changed = { ...document, source, tokenizer, messages, tools, options, trajectory }
  if (template === undefined) return changed
  const known = document.revisions.find((revision) => revision.template === template && revision.name === name)
  if (known) return { ...changed, shown: known.number }
  return withNew(changed, { name, kind: 'kept', parent: undefined, template })
}

function withNew(document: LabDocument, revision: Omit<Revision, 'number'>): LabDocument {
  const number = 1 + Math.max(...document.revisions.map(({ number }) => number))
  return { ...document, revisions: [...document.revisions, { ...revision, number }], shown: number }
}

const withRevision = (document: LabDocument, changed: Revision): LabDocument => ({
  ...document,
  revisions: document.revisions.map((revision) => (revision.number === changed.number ? changed : revision)),
})

/** The last one stays: there is always a template. The one that it was made of is shown instead, or the one before it. */
function withoutRevision(document: LabDocument, number: number): LabDocument {
  const gone = revisionOf(document, number)
  if (!gone || document.revisions.length === 1) return document
  const revisions = document.revisions.filter((revision) => revision !== gone)
  const before = document.revisions[document.revisions.indexOf(gone) - 1] ?? elementAt(revisions, 0)
  const instead = gone.parent !== undefined && revisionOf(document, gone.parent) ? gone.parent : before.number
  return { ...document, revisions, shown: document.shown === number ? instead : document.shown }
}

const revisionOf = ({ revisions }: LabDocument, wanted: number): Revision | undefined =>
  revisions.find(({ number }) => number === wanted)
