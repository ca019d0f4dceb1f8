/**
 * Notices that a server was started anew as something else while a run was under way. A server that goes takes all its
 * connections with it, so only a connection that is new since the last look can lead to another one; only then is it
 * asked, and the answer compared with what the run began with. See docs/decisions/0007-a-server-that-changes.md.
 */
import type { ServerDescription } from '#lib/api/server-status.ts'
import { SglangError } from '../client/errors.ts'

export type ServerIdentity = Partial<Pick<ServerDescription, 'modelName' | 'tokenizerName' | 'weightVersion'>>

export interface IdentityWatch {
  /** Notes who answered, for free. `connections`: how many had been opened before the question was sent. */
  saw(identity: ServerIdentity, connections: number): void
  /** After a reply has begun and before it is believed. Throws SglangError SERVER_CHANGED. */
  check(expected: ServerIdentity, signal: AbortSignal): Promise<void>
}

/** `connections`: how many have been opened so far. */
export function createIdentityWatch(
  ask: (signal: AbortSignal) => Promise<ServerIdentity>,
  connections: () => number,
): IdentityWatch {
  let seen: { readonly identity: ServerIdentity; readonly connections: number } | undefined
  return {
    saw(identity, before) {
      seen = { identity, connections: before }
    },
    async check(expected, signal) {
      if (expected.modelName === undefined && expected.tokenizerName === undefined) return
      if (!seen || connections() > seen.connections) {
        const before = connections()
        try {
          seen = { identity: await ask(signal), connections: before }
        } catch (error) {
          // A server that answers /generate and nothing else has not said that it is another.
          if (error instanceof SglangError) return
          throw error
        }
      }
      const change = changeBetween(expected, seen.identity)
      if (change !== undefined)
        throw new SglangError('SERVER_CHANGED', `the server is not the one that the run began with: ${change}`)
    },
  }
}

/**
 * What makes it another server, in words. New weights do not: they change the version, and loaded from a folder the
 * model's name too. A new name under the same version does: nothing would tell which of the two wrote which token.
 */
export function changeBetween(expected: ServerIdentity, found: ServerIdentity): string | undefined {
  const differs = (key: keyof ServerIdentity) =>
    expected[key] !== undefined && found[key] !== undefined && expected[key] !== found[key]
  if (differs('tokenizerName')) return `its tokenizer was ${expected.tokenizerName} and is ${found.tokenizerName}`
  if (differs('modelName') && !differs('weightVersion'))
    return `its model was ${expected.modelName} and is ${found.modelName}`
  return undefined
}
