/**
 * What people say of a trajectory, apart from what was recorded of it. It has writers of its own: a run that saves its
 * record does not undo what was said meanwhile.
 */
import type { Trajectory } from './trajectory.ts'

export type Labels = Pick<Trajectory, 'title' | 'tags' | 'note' | 'reward'>

/** null takes a label away; an omitted one stays as it is. */
export type LabelChange = { readonly [K in keyof Labels]?: NonNullable<Labels[K]> | null }

const NAMES = ['title', 'tags', 'note', 'reward'] as const satisfies readonly (keyof Labels)[]

/** Those that are given. */
export function labelsOf(trajectory: Labels): Labels {
  return Object.fromEntries(
    NAMES.flatMap((name) => (trajectory[name] === undefined ? [] : [[name, trajectory[name]]])),
  ) as Labels
}

/** The same record with these labels and no others. */
export function withLabels<T extends Labels>(trajectory: T, labels: Labels): T {
  const { title: _title, tags: _tags, note: _note, reward: _reward, ...record } = trajectory
  return { ...record, ...labelsOf(labels) } as T
}

export function changedLabels(labels: Labels, change: LabelChange): Labels {
  const kept = NAMES.flatMap((name): [string, unknown][] => {
    const value = change[name] === undefined ? labels[name] : (change[name] ?? undefined)
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(kept) as Labels
}
