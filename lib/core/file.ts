/** A trajectory as a file: what the server and the page say of it alike. */
import type { Trajectory } from './trajectory.ts'

/** Only letters, digits and hyphens: an id may hold anything. `format` is told where it is not our own. */
export const fileName = ({ id }: Pick<Trajectory, 'id'>, format = 'rollscope'): string =>
  `trajectory-${id.replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 60)}${format === 'rollscope' ? '' : `.${format}`}.json`

/** Of several, a line each. */
export const severalFileName = (count: number, format: string): string =>
  `trajectories-${count}${format === 'rollscope' ? '' : `.${format}`}.jsonl`
