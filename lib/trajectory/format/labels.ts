/**
 * Labels that people add to a trajectory, separate from its recorded content. They have their own writers: a run that
 * saves its trajectory does not undo labels that were set meanwhile.
 */
import type { Trajectory } from './trajectory.ts'

/** The labels of a trajectory. */
export type Labels = Pick<Trajectory, 'title' | 'tags' | 'note' | 'notes' | 'reward'>

/** Tags that are added or removed. All others stay, also those that somebody else added meanwhile. */
export interface TagChange {
  readonly addTags?: readonly string[]
  readonly removeTags?: readonly string[]
}

/** A change of labels. null removes a label; an omitted one stays unchanged. */
export type LabelChange = TagChange & { readonly [K in keyof Labels]?: NonNullable<Labels[K]> | null }

const NAMES = ['title', 'tags', 'note', 'notes', 'reward'] as const satisfies readonly (keyof Labels)[]

/** Returns the labels that are set. */
export function labelsOf(trajectory: Labels): Labels {
  return Object.fromEntries(
    NAMES.flatMap((name) => (trajectory[name] === undefined ? [] : [[name, trajectory[name]]])),
  ) as Labels
}

/** Returns the same trajectory with exactly these labels. */
export function withLabels<T extends Labels>(trajectory: T, labels: Labels): T {
  const { title: _title, tags: _tags, note: _note, notes: _notes, reward: _reward, ...record } = trajectory
  return { ...record, ...labelsOf(labels) } as T
}

/** Applies a change to labels. */
export function changedLabels(labels: Labels, change: LabelChange): Labels {
  const entries = NAMES.flatMap((name): [string, unknown][] => {
    const value = change[name] === undefined ? labels[name] : (change[name] ?? undefined)
    return value === undefined ? [] : [[name, value]]
  })
  return withTagChange(Object.fromEntries(entries) as Labels, change)
}

function withTagChange(labels: Labels, { addTags = [], removeTags = [] }: TagChange): Labels {
  if (addTags.length + removeTags.length === 0) return labels
  const { tags = [], ...others } = labels
  const changed = [...new Set([...tags.filter((tag) => !removeTags.includes(tag)), ...addTags])]
  return changed.length > 0 ? labelsOf({ ...others, tags: changed }) : others
}

/** Returns the same with only the notes whose tokens a trajectory of `count` tokens has: a repair may have removed others. */
export function withNotesInside<T extends Labels>(labelled: T, count: number): T {
  const { notes } = labelled
  if (!notes?.some(({ end }) => end > count)) return labelled
  const inside = notes.filter(({ end }) => end <= count)
  return withLabels(labelled, changedLabels(labelsOf(labelled), { notes: inside.length > 0 ? inside : null }))
}
