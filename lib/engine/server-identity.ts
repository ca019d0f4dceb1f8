/**
 * Notices that a server was restarted with another model during a run. A server that stops closes all its connections,
 * so only a connection opened since the last check can lead to another server. Only then its identity is requested and
 * compared with that at the start of the run. See docs/decisions/0007-a-server-that-changes.md.
 */
import type { ServerDescription } from '#lib/api/server-status.ts'
import { EngineError } from './http/errors.ts'

/** The fields that identify the model of a server; unknown ones are omitted. */
export type ServerIdentity = Partial<Pick<ServerDescription, 'modelName' | 'tokenizerName' | 'weightVersion'>>

/** Checks that the same model answers all calls of a run. */
export interface IdentityWatch {
  /** Remembers the identity of an answer. `connections` is the number of connections opened before the request was sent. */
  saw(identity: ServerIdentity, connections: number): void
  /** Must be called after a reply has begun and before it is used. Throws EngineError SERVER_CHANGED. */
  check(expected: ServerIdentity, signal: AbortSignal): Promise<void>
}

/** Creates a watch. `connections` returns the number of connections opened so far. */
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
          // A server that only answers /generate gives no evidence of a change.
          if (error instanceof EngineError) return
          throw error
        }
      }
      const change = changeBetween(expected, seen.identity)
      if (change !== undefined)
        throw new EngineError('SERVER_CHANGED', `the server changed after the run had begun: ${change}`)
    },
  }
}

/**
 * Returns the change in words, or undefined if the server is the same. New weights are no change: they have a new version,
 * and with weights from a folder also a new model name. A new name with the same version is a change, because then nothing
 * shows which model wrote which token.
 */
export function changeBetween(expected: ServerIdentity, found: ServerIdentity): string | undefined {
  const differs = (key: keyof ServerIdentity) =>
    expected[key] !== undefined && found[key] !== undefined && expected[key] !== found[key]
  if (differs('tokenizerName')) return `its tokenizer was ${expected.tokenizerName} and is ${found.tokenizerName}`
  if (differs('modelName') && !differs('weightVersion'))
    return `its model was ${expected.modelName} and is ${found.modelName}`
  return undefined
}
