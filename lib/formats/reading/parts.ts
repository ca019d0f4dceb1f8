/** Takes files apart: the content of containers, until JSON or the rows of a table remain. */

import type { Limits } from '#lib/util/limits.ts'
import { isAddedBySystem } from '#lib/util/text/file-names.ts'
import {
  type Budget,
  BudgetError,
  type ByteSource,
  ContainerError,
  createBudget,
  type Row,
  type UnpackTools,
} from '../containers/container.ts'
import { type Container, containers } from '../containers/registry.ts'
import { BEGINNING, decodedBeginning, fileTypeOf, printableBeginning } from './file-type.ts'
import { type FileProblem, fileProblem, otherType } from './records.ts'

/** A part of a file with records. `entry` is its name in an archive; undefined if the file has only one part. */
export type FilePart = {
  readonly entry: string | undefined
} /** `isEvents`: its records are events, which may be chunks of few trajectories. */ & (
  | { readonly kind: 'json'; readonly bytes: ByteSource; readonly isEvents: boolean }
  | { readonly kind: 'rows'; readonly rows: AsyncIterable<Row> }
  /** It cannot be opened. `isWhole`: the file is refused, whatever its other parts are. */
  | { readonly kind: 'failed'; readonly problem: FileProblem; readonly isWhole: boolean }
)

interface PartsOptions {
  readonly limits: Limits
  readonly tools: UnpackTools
}

/** Yields the parts of a file. Each must be read before the next one is requested. Rejects if reading rejects. */
export function partsOf(
  bytes: ByteSource,
  file: string | undefined,
  { limits, tools }: PartsOptions,
): AsyncGenerator<FilePart> {
  return partsIn(
    bytes,
    { file, entry: undefined, depth: 0, isEvents: false },
    { limits, tools, budget: createBudget(limits) },
  )
}

interface Place {
  readonly file: string | undefined
  readonly entry: string | undefined
  /** Number of containers around it. */
  readonly depth: number
  /** Whether the container around it has events. */
  readonly isEvents: boolean
}

async function* partsIn(
  bytes: ByteSource,
  { file, entry, depth, isEvents }: Place,
  around: PartsOptions & { readonly budget: Budget },
): AsyncGenerator<FilePart> {
  const failed = (problem: FileProblem, isWhole = false): FilePart => ({ kind: 'failed', entry, problem, isWhole })
  const beginning = decodedBeginning(await bytes.read(0, Math.min(BEGINNING, bytes.size)))
  const type = fileTypeOf(beginning, entry ?? file)
  if (type) return yield failed(otherType(type))
  const container = containerOf(beginning)
  if (!container) return yield { kind: 'json', entry, bytes, isEvents }
  if (depth === around.limits.containers) {
    const expected = `at most ${depth} containers in each other`
    return yield failed(fileProblem({}, { path: '', expected, found: `${container.name} in them` }, 'Unpack it first.'))
  }
  try {
    const read = await container.load()
    for await (const one of read({ bytes, ...around })) {
      if (one.name?.split('/').some(isAddedBySystem)) continue
      const inner = [entry, one.name].filter((name) => name !== undefined).join('/') || undefined
      if (one.kind === 'rows') yield { kind: 'rows', entry: inner, rows: one.rows }
      else if (one.kind === 'failed')
        yield { kind: 'failed', entry: inner, problem: containerProblem(one.error), isWhole: false }
      else
        try {
          yield* partsIn(
            one.bytes,
            { file, entry: inner, depth: depth + 1, isEvents: container.hasEvents ?? false },
            around,
          )
        } finally {
          await one.bytes.close()
        }
    }
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error
    yield failed(containerProblem(error), error instanceof BudgetError)
  }
}

/** Returns the container of a file with this beginning; undefined if it is none. */
export function containerOf(beginning: string): Container | undefined {
  const printable = printableBeginning(beginning)
  return containers.find(({ begins }) => begins.test(printable))
}

/** Returns the problem of a container. */
export const containerProblem = ({ violation, hint }: ContainerError): FileProblem => fileProblem({}, violation, hint)
