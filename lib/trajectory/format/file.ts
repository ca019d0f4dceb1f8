/** File names of trajectories, shared by the server and the page. */
import type { Trajectory } from './trajectory.ts'

/**
 * Returns the file name of a trajectory. It has only letters, digits and hyphens, because an id may contain any
 * character. `format` is part of the name unless it is our own.
 */
export const fileName = (trajectory: Named, format = 'rollscope'): string =>
  `${stem(trajectory)}${format === 'rollscope' ? '' : `.${format}`}.json`

/** Returns the file name of a trajectory as a standalone page. */
export const offlineFileName = (trajectory: Named): string => `${stem(trajectory)}.html`

type Named = Pick<Trajectory, 'id'>
const stem = ({ id }: Named): string => `trajectory-${id.replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 60)}`

/** Returns the file name of several trajectories, one on each line. */
export const severalFileName = (count: number, format: string): string =>
  `trajectories-${count}${format === 'rollscope' ? '' : `.${format}`}.jsonl`
