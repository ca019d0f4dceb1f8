/** All colour modes of a trajectory, by their name in the address and as the groups of the menu. */

import { columnNames, columnRoles } from '#lib/trajectory/tokens/column-roles.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { versionSpans } from '#lib/trajectory/tokens/weight-versions.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import {
  callMode,
  clipMaskMode,
  MASK,
  rankMode,
  segmentMode,
  spanMode,
  toolMode,
  versionMode,
} from './category-modes.ts'
import type { Coloured, ColourMode, NumberMode } from './mode.ts'
import {
  COLUMN_PREFIX,
  columnMode,
  entropyMode,
  expertsMode,
  hasExperts,
  hasTrainerNumber,
  isTrainerNumber,
  MARGIN,
  PROBABILITY,
  SURPRISE,
  SURPRISE_WITH_PROMPT,
  TRAINER_NUMBERS,
  trainerMode,
} from './number-modes.ts'

const PLAIN: ColourMode = { kind: 'none', name: 'none', title: 'Plain', explanation: 'No colour' }

/** Returns the colour mode with this name; an unknown name gives the surprisal of trained tokens. */
export function colourModeNamed(trajectory: Coloured, name: string): ColourMode {
  const known = modesOf(trajectory.segments)
  // Of the open segment only its number of alternatives matters here.
  const k = Math.max(mostAlternatives(trajectory.segments), trajectory.live?.open?.topLogprobs?.k ?? 0)
  const key = name === 'rank' ? `rank of ${k}` : name
  const found = known.get(key) ?? modeNamed(trajectory, name, k)
  known.set(key, found)
  return found
}

const mostAlternatives = memoizeByIdentity((segments: readonly SegmentView[]) =>
  segments.reduce((most, { topLogprobs }) => Math.max(most, topLogprobs?.k ?? 0), 0),
)

/** Modes that were already built for these segments, since building one reads all segments. */
const modesOf = memoizeByIdentity((_segments: readonly SegmentView[]) => new Map<string, ColourMode>())

function modeNamed(trajectory: Coloured, name: string, k: number): ColourMode {
  const { segments, model } = trajectory
  switch (name) {
    case 'none':
      return PLAIN
    case 'mask':
      return MASK
    case 'logprobs':
      return SURPRISE_WITH_PROMPT
    case 'probability':
      return PROBABILITY
    case 'rank':
      return rankMode(k)
    case 'entropy':
      return entropyMode(trajectory)
    case 'margin':
      return MARGIN
    case 'experts':
      return expertsMode(trajectory)
    case 'version':
      return versionMode(trajectory)
    case 'clipmask':
      return clipMaskMode(trajectory)
    case 'segment':
      return segmentMode(segments)
    case 'span':
      return spanMode(model)
    case 'tool':
      return toolMode(segments)
    case 'call':
      return callMode(segments)
    default:
      if (isTrainerNumber(name)) return trainerMode(name, trajectory)
      return name.startsWith(COLUMN_PREFIX) ? columnMode(name.slice(COLUMN_PREFIX.length)) : SURPRISE
  }
}

interface ColourChoice {
  readonly name: string
  readonly title: string
  /** What the trajectory lacks for this mode; undefined if it can be chosen. */
  readonly missing: string | undefined
}

interface ColourGroup {
  readonly title: string
  readonly choices: readonly ColourChoice[]
}

/** Returns the modes of the menu in groups, all except mask and logprob, which have buttons. */
export function colourGroups(trajectory: Coloured): readonly ColourGroup[] {
  const known = groups.get(trajectory.segments)
  if (known) return known
  const modeGroups = groupsOf(trajectory)
  groups.set(trajectory.segments, modeGroups)
  return modeGroups
}

const groups = new WeakMap<readonly SegmentView[], readonly ColourGroup[]>()

function groupsOf(trajectory: Coloured): readonly ColourGroup[] {
  const { segments } = trajectory
  const lacks = (reason: string, has: (segment: SegmentView) => boolean) => (segments.some(has) ? undefined : reason)
  const logprobs = lacks('no logprobs', (segment) => segment.logprobs !== undefined)
  const alternatives = lacks('no alternatives', ({ topLogprobs }) => topLogprobs !== undefined)
  const runnersUp = lacks('no second alternatives', ({ topLogprobs }) => (topLogprobs?.k ?? 0) > 1)
  const versions = lacks('not recorded', (segment) => versionSpans(segment, trajectory).length > 0)
  const entropy = entropyMode(trajectory)
  const trainer = TRAINER_NUMBERS.map((name) => ({ name, has: hasTrainerNumber(name, trajectory) }))
  const calls = lacks('no calls', (segment) => segment.kind === 'response' && segment.toolCalls.length > 0)
  const choice = (name: string, title: string, missing?: string): ColourChoice => ({ name, title, missing })
  const number = ({ name, title, isApproximate }: NumberMode, missing?: string): ColourChoice =>
    choice(name, isApproximate ? `${title} (approximate)` : title, missing)
  const columns = columnNames(trajectory)
  return [
    {
      title: 'Numbers',
      choices: [
        number(SURPRISE_WITH_PROMPT, logprobs),
        number(PROBABILITY, logprobs),
        choice('rank', 'Rank', alternatives),
        number(entropy, entropy.isApproximate ? alternatives : undefined),
        number(MARGIN, runnersUp),
        ...(hasExperts(trajectory) ? [number(expertsMode(trajectory))] : []),
      ],
    },
    {
      title: 'Trainer',
      // The ratio is always offered, so that it can be found; the others only if the file has them.
      choices: [
        ...trainer
          .filter(({ name, has }) => has || name === 'ratio')
          .map(({ name, has }) => number(trainerMode(name, trajectory), has ? undefined : 'no trainer logprobs')),
        ...(columnRoles(trajectory).clipMask === undefined ? [] : [choice('clipmask', 'Clip mask')]),
      ],
    },
    {
      title: 'Kinds',
      choices: [
        choice('span', 'Span kind'),
        choice('tool', 'Tool', calls),
        choice('call', 'Tool call', calls),
        choice('segment', 'Segment'),
        choice('version', 'Weight version', versions),
      ],
    },
    ...(columns.length > 0
      ? [{ title: 'Columns of this file', choices: columns.map((column) => choice(COLUMN_PREFIX + column, column)) }]
      : []),
    { title: 'No colour', choices: [choice('none', 'Plain')] },
  ]
}

/** Returns the mode after the key that switches the mask colours on and off. */
export const maskToggled = (name: string): string => (name === 'mask' ? 'none' : 'mask')

/** Returns the mode after the key that switches heat: from any number to none, and from anything else to logprobs. */
export const heatToggled = (mode: ColourMode): string =>
  mode.kind === 'number' || mode.name === 'rank' ? 'none' : 'logprob'
