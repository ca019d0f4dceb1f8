/** Compares the scoring server with the sampling one: model, weights and tokenizer by name. */

import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import type { ScoringServer } from './score.ts'

/** A compared value. */
export interface ServedFact {
  readonly name: 'model' | 'weights' | 'tokenizer'
  readonly verdict: 'same' | 'other' | 'unknown'
  /** The comparison in words. */
  readonly text: string
}

/** Returns the comparisons; `versions` are the weight versions that answered, each once. */
export function servedFacts(
  { model, segments }: TrajectoryView,
  server: ScoringServer,
  versions: readonly string[],
): readonly ServedFact[] {
  const recordedVersions = [
    ...new Set(
      segments.flatMap((segment) =>
        segment.kind === 'response' ? (segment.weightVersions ?? []).map(({ version }) => version) : [],
      ),
    ),
  ]
  const found = versions.length > 0 ? versions : server.weightVersion === undefined ? [] : [server.weightVersion]
  return [
    fact('model', listOf(model.name), listOf(server.modelName)),
    fact('weights', recordedVersions, found),
    // Compared by fingerprint; a fingerprint from a server's answers is not comparable with one of files.
    model.tokenizer?.source === 'server'
      ? fact('tokenizer', [], [])
      : fact('tokenizer', listOf(model.tokenizer?.fingerprint), listOf(server.tokenizer?.fingerprint), {
          recorded: model.tokenizer?.name,
          found: server.tokenizer?.name,
        }),
  ]
}

const listOf = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value])

function fact(
  name: ServedFact['name'],
  recorded: readonly string[],
  found: readonly string[],
  shownValues: { readonly recorded?: string | undefined; readonly found?: string | undefined } = {},
): ServedFact {
  const [before, now] = [shownValues.recorded ?? recorded.join(', '), shownValues.found ?? found.join(', ')]
  if (recorded.length === 0 || found.length === 0)
    return {
      name,
      verdict: 'unknown',
      text: found.length === 0 ? 'not reported by the server' : `${now}; not recorded`,
    }
  const isSame = recorded.length === found.length && recorded.every((value) => found.includes(value))
  return isSame
    ? { name, verdict: 'same', text: `${now}, as recorded` }
    : { name, verdict: 'other', text: before === now ? `${now}, but different` : `${now}; recorded: ${before}` }
}
