/** The refusal of a record while it is read: thrown where a value is wrong, and returned by `read` as its violation. */
import type * as z from 'zod/mini'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { describeValue, schemaViolation, type Violation } from '#lib/util/schema-violation.ts'
import type { Format, RecordSource } from '../format.ts'

/** A violation that makes a record invalid, with advice if there is any of its own. */
export class RecordError extends Error {
  readonly violation: Violation
  readonly hint: string | undefined
  constructor(violation: Violation, hint?: string) {
    super(violation.expected)
    this.violation = violation
    this.hint = hint
  }
}

/** Returns a `read` that reports what `trajectoriesIn` refuses. Other errors are bugs, and stay errors. */
export const catchRefusals =
  (trajectoriesIn: (value: unknown, source: RecordSource) => readonly Trajectory[]): Format['read'] =>
  (value, source) => {
    try {
      return { ok: true, trajectories: trajectoriesIn(value, source) }
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      const { violation, hint } = error
      return { ok: false, error: violation, ...(hint !== undefined && { hint }) }
    }
  }

/** Refuses a record for the value at a path. */
export function refuse(path: string, expected: string, value: unknown): never {
  throw new RecordError({ path, expected, found: describeValue(value) })
}

/** Refuses a record if there is a violation. */
export function refuseIf(violation: Violation | undefined): void {
  if (violation) throw new RecordError(violation)
}

/** Returns the value at a path by its schema, or refuses the record, with advice if there is any. */
export function parsedAt<T>(schema: z.ZodMiniType<T>, value: unknown, path: string, hint?: string): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const violation = schemaViolation(parsed.error, value)
  throw new RecordError({ ...violation, path: joinedPath(path, violation.path) }, hint)
}

/** Returns what `read` returns. Its refusals get the path of the value that it reads. */
export function readAt<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    const { violation, hint } = error
    throw new RecordError({ ...violation, path: joinedPath(path, violation.path) }, hint)
  }
}

/** Joins a path and a path inside of it. */
export const joinedPath = (path: string, inner: string): string =>
  [path, inner]
    .filter((part) => part !== '')
    .join('.')
    .replaceAll('.[', '[')
