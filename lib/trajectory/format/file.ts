/** File names of trajectories, shared by the server and the page. */
import type { Trajectory } from './trajectory.ts'

/**
 * Returns the file name of a trajectory. It has only letters, digits and hyphens, because an id may contain any
 * character. `format` is part of the name unless it is our own, or the extension says it.
 */
export const fileName = (trajectory: Named, format = 'rollscope', extension = 'json'): string =>
  `${stem(trajectory)}${suffix(format, extension)}`

/** Returns the file name of a trajectory as a standalone page. */
export const offlineFileName = (trajectory: Named): string => `${stem(trajectory)}.html`

type Named = Pick<Trajectory, 'id'>
const stem = ({ id }: Named): string => `trajectory-${id.replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 60)}`

/** Returns the file name of several trajectories, with JSON on each line unless the extension says otherwise. */
export const severalFileName = (count: number, format: string, extension = 'jsonl'): string =>
  `trajectories-${count}${suffix(format, extension)}`

const suffix = (format: string, extension: string): string =>
  format === 'rollscope' || format === extension ? `.${extension}` : `.${format}.${extension}`
