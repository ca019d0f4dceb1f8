/**
 * The document of the template lab: revisions of a template, a conversation, a tokenizer. One reducer writes it, and each of its steps can
 * be undone: loading, fixing, switching and deleting revisions as well as typing.
 */

import type { LabInput } from '#lib/tasks/task.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import type { LabSource } from './source.ts'

/** One version of the template. */
export interface TemplateRevision {
  /** Number from 1, which is part of its name on screen. */
  readonly number: number
  /** Why it exists, in a few words: `loaded from Qwen/Qwen3-8B`, `fix: keep thinking`. */
  readonly name: string
  /** Typing changes a `draft`. The others remain unchanged: typing makes a draft of them. */
  readonly kind: 'draft' | 'kept'
  /** Number of the revision from which it was made; undefined for a loaded one. */
  readonly parent: number | undefined
  readonly template: string
}

/** All that the template lab shows and saves. */
export interface LabDocument {
  /** Revisions in the order in which they were made; never empty. */
  readonly revisions: readonly TemplateRevision[]
  /** Number of the shown revision. */
  readonly shown: number
  /** JSON texts, as in LabInput. */
  readonly messages: string
  readonly tools: string
  readonly options: string
  readonly tokenizer: string
  /** Source of the template that was loaded last. */
  readonly source: LabSource | undefined
  /** Key of the trajectory whose conversation was loaded; undefined after another conversation was loaded. */
  readonly trajectory: string | undefined
}

/** A document with its undo history. */
export interface LabHistory {
  /** Earlier documents, the oldest first. */
  readonly past: readonly LabDocument[]
  readonly now: LabDocument
  /** Documents that were undone, the next to redo first. */
  readonly future: readonly LabDocument[]
  /** The last typing, which the next may join: one undo takes a burst of keys, not one key. */
  readonly typing: { readonly field: LabField; readonly at: number } | undefined
}

/** A text of the lab's input. */
export type LabField = keyof LabInput

/** What a source contains; parts that it leaves out remain unchanged. */
export interface SourceContents extends Partial<Omit<LabInput, 'template'>> {
  /** undefined if it has no template. */
  readonly source: LabSource | undefined
  readonly name: string
  readonly template?: string | undefined
  readonly tokenizer?: string | undefined
  /** Key of the trajectory that contains the messages. */
  readonly trajectory?: string | undefined
}

/** One step of the document. */
export type LabAction =
  /** `at` is in milliseconds of any clock that does not go back. */
  | { readonly type: 'typed'; readonly field: LabField; readonly text: string; readonly at: number }
  /** A whole text that is not typed: from a form, a fix or a counterexample. */
  | { readonly type: 'changed'; readonly field: Exclude<LabField, 'template'>; readonly text: string }
  | { readonly type: 'fixed'; readonly template: string; readonly why: string }
  | { readonly type: 'loaded'; readonly loaded: SourceContents }
  /** Another whole document: of another window, or an earlier one. */
  | { readonly type: 'opened'; readonly document: LabDocument }
  | { readonly type: 'tokenizer'; readonly name: string }
  | { readonly type: 'shown'; readonly number: number }
  /** The shown draft remains unchanged from now on. */
  | { readonly type: 'kept'; readonly name: string }
  | { readonly type: 'renamed'; readonly number: number; readonly name: string }
  | { readonly type: 'deleted'; readonly number: number }
  | { readonly type: 'undone' }
  | { readonly type: 'redone' }

/** Keys that follow each other within this time are one step. */
const BURST_MS = 600
/** Most steps that can be undone. Steps share their texts, so that each costs little more than the text that it changed. */
const LONGEST_PAST = 400

/** Returns the history of a document without earlier steps. */
export const historyOf = (now: LabDocument): LabHistory => ({ past: [], now, future: [], typing: undefined })

/** Applies one step; returns the same history if the step changes nothing. */
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

/** Returns the revision that is shown. */
export const displayedRevision = ({ revisions, shown }: LabDocument): TemplateRevision =>
  revisions.find(({ number }) => number === shown) ?? elementAt(revisions, 0)

/** Returns the other side of A/B: the named revision, otherwise the last one with another text; undefined if there is none. */
export const comparedRevision = (
  revisions: readonly TemplateRevision[],
  { shown, named }: { readonly shown: string; readonly named: string | undefined },
): TemplateRevision | undefined =>
  revisions.find(({ number }) => String(number) === named) ?? revisions.findLast(({ template }) => template !== shown)

/** Returns the name of a revision on screen. */
export const revisionName = ({ number, name }: Pick<TemplateRevision, 'number' | 'name'>): string =>
  `${number} · ${name}`

/** Returns the texts that are rendered. */
export const inputOf = (document: LabDocument): LabInput => ({
  template: displayedRevision(document).template,
  messages: document.messages,
  tools: document.tools,
  options: document.options,
})

/** Returns the first part in which two documents differ, to show what an undo or redo has changed. */
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
  const displayed = displayedRevision(document)
  if (displayed.template === text) return document
  if (displayed.kind === 'draft') return withRevision(document, { ...displayed, template: text })
  return withNew(document, { name: 'edited', kind: 'draft', parent: displayed.number, template: text })
}

type Step = Exclude<LabAction, { readonly type: 'undone' | 'redone' | 'typed' }>

function changedDocument(document: LabDocument, action: Step): LabDocument {
  switch (action.type) {
    case 'changed':
      return typedDocument(document, action.field, action.text)
    case 'fixed': {
      const { number, template } = displayedRevision(document)
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
      return withRevision(document, { ...displayedRevision(document), name: action.name, kind: 'kept' })
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

/** Loads a source. The same template with the same name is shown again and is not added. */
function loadedDocument(document: LabDocument, loaded: SourceContents): LabDocument {
  const { template, name, source = document.source, tokenizer = document.tokenizer } = loaded
  const { messages = document.messages, tools = document.tools, options = document.options } = loaded
  const trajectory = loaded.messages === undefined ? document.trajectory : loaded.trajectory
  const changed = { ...document, source, tokenizer, messages, tools, options, trajectory }
  if (template === undefined) return changed
  const known = document.revisions.find((revision) => revision.template === template && revision.name === name)
  if (known) return { ...changed, shown: known.number }
  return withNew(changed, { name, kind: 'kept', parent: undefined, template })
}

function withNew(document: LabDocument, revision: Omit<TemplateRevision, 'number'>): LabDocument {
  const number = 1 + Math.max(...document.revisions.map(({ number }) => number))
  return { ...document, revisions: [...document.revisions, { ...revision, number }], shown: number }
}

const withRevision = (document: LabDocument, changed: TemplateRevision): LabDocument => ({
  ...document,
  revisions: document.revisions.map((revision) => (revision.number === changed.number ? changed : revision)),
})

/** Deletes a revision, except the last one, because there is always a template. Its parent is shown instead, or the revision before it. */
function withoutRevision(document: LabDocument, number: number): LabDocument {
  const gone = revisionOf(document, number)
  if (!gone || document.revisions.length === 1) return document
  const revisions = document.revisions.filter((revision) => revision !== gone)
  const before = document.revisions[document.revisions.indexOf(gone) - 1] ?? elementAt(revisions, 0)
  const instead = gone.parent !== undefined && revisionOf(document, gone.parent) ? gone.parent : before.number
  return { ...document, revisions, shown: document.shown === number ? instead : document.shown }
}

const revisionOf = ({ revisions }: LabDocument, wanted: number): TemplateRevision | undefined =>
  revisions.find(({ number }) => number === wanted)
