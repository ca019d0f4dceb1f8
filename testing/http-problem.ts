/** Runs what a route does, for tests of its refusals. */
import { HttpProblem } from '#lib/server/http/problem.ts'

/** Returns the details of the HttpProblem that an action throws; undefined if it throws nothing. Other errors are thrown. */
export function problemOf(action: () => unknown): HttpProblem['details'] | undefined {
  try {
    action()
  } catch (error) {
    if (error instanceof HttpProblem) return error.details
    throw error
  }
  return undefined
}

/** Returns the status, code and detail of the HttpProblem that an action rejects with or throws; undefined if it succeeds. */
export async function httpRefusalOf(action: () => unknown): Promise<readonly [number, string, string] | undefined> {
  try {
    await action()
  } catch (error) {
    if (error instanceof HttpProblem) return [error.details.status, error.details.code, error.details.detail]
    throw error
  }
  return undefined
}
