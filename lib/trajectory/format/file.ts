/** A trajectory as a file: what the server and the page say of it alike. */
import type { Trajectory } from './trajectory.ts'

/** Only letters, digits and hyphens: an id may hold anything. `format` is told where it is not our own. */
export const fileName = (trajectory: Named, format = 'rollscope'): string =>
  `${stem(trajectory)}${format === 'rollscope' ? '' : `.${format}`}.json`

/** As a page that needs no server. */
export const offlineFileName = (trajectory: Named): string => `${stem(trajectory)}.html`

type Named = Pick<Trajectory, 'id'>
const stem = ({ id }: Named): string => `trajectory-${id.replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 60)}`

/** Of several, a line each. */
export const severalFileName = (count: number, format: string): string =>
  `trajectories-${count}${format === 'rollscope' ? '' : `.${format}`}.jsonl`
