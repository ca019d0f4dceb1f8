/** The library over HTTP: lists, deletes and restores stored trajectories. */
import type * as z from 'zod'
import {
  firstOrder,
  type Neighbours,
  SORT_COLUMNS,
  SORT_ORDERS,
  type TrajectoryPage,
  type TrajectorySummary,
} from '#lib/api/library.ts'
import type { revisionSchema } from '#lib/api/trajectory-labels.ts'
import { HEALTH_FILTERS } from '#lib/store/health.ts'
import type { ListFilter, PlaceQuery } from '#lib/store/listing/listing.ts'
import type { Health } from '#lib/trajectory/health/health.ts'
import { OVERLONG, type TrainerCut, trainerCutSchema } from '#lib/trajectory/health/trainer-cut.ts'
import type { Plain } from '#lib/util/plain.ts'
import { cursorText, readCursor } from '../http/list-cursor.ts'
import { HttpProblem } from '../http/problem.ts'
import { queryWord, wholeNumber } from '../http/query.ts'
import type { Services } from '../services.ts'
import { MAX_TAGS } from './labels.ts'
import { noTrajectory } from './trajectories.ts'

/** How a list shows groups of samples. */
const GROUPS = ['open', 'folded'] as const
/** Whether a list has the samples of value estimates. */
const ESTIMATES = ['shown', 'hidden'] as const

const LONGEST_PAGE = 200
const LONGEST_SEARCH = 500

/** Returns one page of the list that the query describes. Throws HttpProblem. */
export function listPage(request: Request, { store }: Services): TrajectoryPage {
  const cursor = new URL(request.url).searchParams.get('cursor')
  const place = placeQueryIn(request)
  const { sort } = place
  const page = store.list({
    ...place,
    limit: Math.min(LONGEST_PAGE, Math.max(1, wholeNumber(request, 'limit', 50))),
    ...(cursor !== null && { cursor: readCursor(cursor, sort) }),
  })
  return {
    trajectories: page.rows,
    ...(page.cut && { cut: page.cut }),
    ...(page.groups && { groups: page.groups }),
    ...(page.hidden !== undefined && { hidden: page.hidden }),
    total: page.total,
    start: page.start,
    ...(page.previous && { previous: cursorText(page.previous, sort) }),
    ...(page.next && { next: cursorText(page.next, sort) }),
  }
}

/** Returns the trainer's cut of the query; undefined if it has none. Throws HttpProblem. */
function cutIn(request: Request): TrainerCut | undefined {
  const text = new URL(request.url).searchParams.get('cut')
  if (text === null) return undefined
  const parsed = trainerCutSchema.safeParse({
    tokens: Number(text),
    overlong: queryWord(request, 'overlong', OVERLONG, 'cut'),
  })
  if (parsed.success) return parsed.data
  throw new HttpProblem({
    status: 400,
    code: 'BAD_QUERY',
    detail: `"cut" must be a number of tokens from 1 to 100,000,000, not ${JSON.stringify(text.slice(0, 40))}`,
  })
}

/** Returns the neighbours of a trajectory in the list of the same query. Throws HttpProblem 404. */
export function trajectoryNeighbours(key: string, request: Request, { store }: Services): Neighbours {
  const found = store.neighbours(key, placeQueryIn(request))
  if (!found) throw noTrajectory(key, store)
  return found
}

/** Returns which rows a list has, and in which order. Throws HttpProblem. */
function placeQueryIn(request: Request): PlaceQuery {
  const by = queryWord(request, 'sort', SORT_COLUMNS, 'added')
  const cut = cutIn(request)
  return {
    filter: filterIn(request),
    sort: { by, order: queryWord(request, 'order', SORT_ORDERS, firstOrder(by)) },
    foldsGroups: queryWord(request, 'groups', GROUPS, 'open') === 'folded',
    ...(cut && { cut }),
  }
}

function filterIn(request: Request): ListFilter {
  const query = new URL(request.url).searchParams
  const text = query.get('q') ?? ''
  if (text.length > LONGEST_SEARCH)
    throw new HttpProblem({
      status: 400,
      code: 'BAD_QUERY',
      detail: `"q" is longer than ${LONGEST_SEARCH} characters`,
    })
  const tags = query.getAll('tag')
  if (tags.length > MAX_TAGS)
    throw new HttpProblem({
      status: 400,
      code: 'BAD_QUERY',
      detail: `"tag" is there ${tags.length} times, and at most ${MAX_TAGS} are allowed`,
    })
  const outcome = query.get('outcome')
  const health = query.get('health')
  const knownHealth = HEALTH_FILTERS.find((known) => known === health)
  if (health !== null && knownHealth === undefined)
    throw new HttpProblem({
      status: 400,
      code: 'BAD_QUERY',
      detail: `"health" must be one of ${HEALTH_FILTERS.join(', ')}, not ${JSON.stringify(health.slice(0, 40))}`,
    })
  const group = query.get('group')
  const source = query.get('source')
  const [kind = '', ...format] = source?.split(':') ?? []
  return {
    text,
    tags,
    ...(outcome !== null && { outcome }),
    ...(knownHealth !== undefined && { health: knownHealth }),
    ...(group !== null && { group }),
    ...(source !== null && { source: { kind, ...(format.length > 0 && { format: format.join(':') }) } }),
    ...(queryWord(request, 'estimates', ESTIMATES, 'shown') === 'hidden' && { estimates: 'hidden' }),
  }
}

/** Returns the stored health, or checks the trajectory now. Throws HttpProblem 404. */
export async function trajectoryHealth(key: string, { store, health }: Services): Promise<Health> {
  const found = store.isDeleted(key) ? undefined : await health.healthOf(key)
  if (!found) throw noTrajectory(key, store)
  return found
}

/** Returns how often the tokens or columns of a trajectory were changed, and its labels. Throws HttpProblem 404. */
export function trajectoryRevision(key: string, { store }: Services): Plain<z.infer<typeof revisionSchema>> {
  const revision = store.revision(key)
  const labels = store.labels(key)
  if (revision === undefined || labels === undefined) throw noTrajectory(key, store)
  return { revision, labels }
}

/**
 * Deletes a trajectory, which can be restored, and stops its value estimates. Throws HttpProblem if there is none (404) or a rollout
 * writes it (409).
 */
export function removeTrajectory(key: string, { store, estimates }: Services): void {
  const running = store.estimatesOf(key).filter(({ state }) => state === 'running')
  const removal = store.remove(key)
  if (removal === 'absent') throw noTrajectory(key, store)
  if (removal === 'running')
    throw new HttpProblem({
      status: 409,
      code: 'RUNNING',
      detail: 'a rollout of this trajectory is running, so it was not deleted',
      hint: 'Stop the rollout, or wait until it has ended, then delete the trajectory.',
    })
  // Their samples would cost tokens, and no page shows them any more.
  for (const { id } of running) void estimates.cancel(id)
}

/** Restores a deleted trajectory and returns its row; one that is not deleted stays unchanged. Throws HttpProblem 404. */
export function restoreTrajectory(key: string, { store }: Services): TrajectorySummary {
  const row = store.restore(key)
  if (!row) throw noTrajectory(key, store)
  return row
}
