/** Lists the tasks that the compare page runs in its worker. They are pure functions of plain data; see lib/tasks/task.ts. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { checkSample } from '../corpus/check.ts'
import type { Sample, SampleOrigin } from '../corpus/sample.ts'
import type { CorpusSettings } from '../corpus/settings.ts'
import { type CompareStep, comparingSides } from './compare-sides.ts'
import { type PackedComparison, packComparison } from './sent-comparison.ts'
import type { LoadedSide, SideTokenizer } from './shown-side.ts'
import type { Reconstruction } from './side.ts'

/** A task. It receives the trajectories and tokenizers that the page names, each in the order in which they are named. */
export type CompareTask<Request, Progress, Result> = (
  request: Request,
  trajectories: readonly TrajectoryView[],
  tokenizers: readonly SideTokenizer[],
) => Generator<Progress, Result>

/** A side in a request. `trajectory` and `tokenizer` are indices into the lists that the task receives. */
export interface SideRequest {
  readonly as: Reconstruction
  readonly trajectory: number
  readonly tokenizer?: number
  /** Text of the chosen template. Omitted: the trajectory's own template, or else the tokenizer's. */
  readonly template?: string
}

const compareTask: CompareTask<
  { readonly left: SideRequest; readonly right: SideRequest },
  CompareStep,
  PackedComparison
> = function* ({ left, right }, trajectories, tokenizers) {
  const loadedSide = ({ as, trajectory, tokenizer, template }: SideRequest): LoadedSide => ({
    as,
    trajectory: elementAt(trajectories, trajectory),
    tokenizer: tokenizer === undefined ? undefined : tokenizers[tokenizer],
    template,
  })
  const sides = { left: loadedSide(left), right: loadedSide(right) }
  const comparing = yield* comparingSides(sides.left, sides.right)
  return packComparison(comparing, { left: sides.left.trajectory, right: sides.right.trajectory })
}

/** Compares one sample of a corpus with its own reconstruction. */
const sampleTask: CompareTask<{ readonly place: SampleOrigin; readonly as: CorpusSettings['as'] }, 'checking', Sample> =
  function* ({ place, as }, trajectories, tokenizers) {
    yield 'checking'
    const [trajectory, tokenizer] = [elementAt(trajectories, 0), elementAt(tokenizers, 0)]
    return checkSample(place, { as, trajectory, tokenizer, template: undefined })
  }

/** Tasks of the compare page. Their keys are the names that the page sends to its worker. */
export const compareTasks = { compare: compareTask, sample: sampleTask }

type Tasks = typeof compareTasks
type CompareTaskName = keyof Tasks
type AnyTask = CompareTask<never, unknown, unknown>
type RequestOf<Name extends CompareTaskName> = Tasks[Name] extends AnyTask ? Parameters<Tasks[Name]>[0] : never
type ProgressOf<Name extends CompareTaskName> =
  Tasks[Name] extends CompareTask<never, infer Progress, unknown> ? Progress : never
type ResultOf<Name extends CompareTaskName> =
  Tasks[Name] extends CompareTask<never, unknown, infer Result> ? Result : never

/** Runs a task in a worker. Rejects with the signal's reason if it is cancelled. */
export type RunComparison = <Name extends CompareTaskName>(
  name: Name,
  request: RequestOf<Name>,
  options: {
    readonly trajectories: readonly TrajectoryView[]
    /** Names of tokenizers that the server loads for the task. */
    readonly tokenizers: readonly string[]
    readonly signal: AbortSignal
    readonly onProgress?: (progress: ProgressOf<Name>) => void
  },
) => Promise<ResultOf<Name>>
