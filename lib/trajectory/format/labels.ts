/**
 * Labels that people add to a trajectory, separate from its recorded content. They have their own writers: a run that
 * saves its trajectory does not undo labels that were set meanwhile.
 */
import type { Trajectory } from './trajectory.ts'

/** The labels of a trajectory. */
export type Labels = Pick<Trajectory, 'title' | 'tags' | 'note' | 'notes' | 'reward'>

/** A change of labels. null removes a label; an omitted one stays unchanged. */
export type LabelChange = { readonly [K in keyof Labels]?: NonNullable<Labels[K]> | null }

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
  return Object.fromEntries(entries) as Labels
}

/** Returns the same with only the notes whose tokens a trajectory of `count` tokens has: a repair may have removed others. */
export function withNotesInside<T extends Labels>(labelled: T, count: number): T {
  const { notes } = labelled
  if (!notes?.some(({ end }) => end > count)) return labelled
  const inside = notes.filter(({ end }) => end <= count)
  return withLabels(labelled, changedLabels(labelsOf(labelled), { notes: inside.length > 0 ? inside : null }))
}
